// Spools of programs with teams of threads, as the wrappers of OpenMP record them.
#pragma once

#include "weave_fixture.hpp"

namespace timeloom::weave {

// Regions: f calls g, which has the parallel region; work is done in it, then the barrier.
enum TeamRegion : std::uint32_t { kF, kG, kParallel, kWork, kBarrier, kTask };

class TeamsTest : public WeaveTest {
 protected:
  // Times are ticks after the start of the run: the program's own, so results do not depend on
  // the machine.
  std::uint64_t at(std::uint64_t ticks) const { return start_ + ticks; }

  spool::Writer& team_spool(const std::string& process = "p") {
    spool::Writer& writer = spool(process, {"f", "g"});
    const auto define = [&](std::uint32_t id, const char* name, RegionRole role) {
      Region region;
      region.name = region.canonical_name = name;
      region.paradigm = role == RegionRole::kFunction ? Paradigm::kCompiler : Paradigm::kOpenMp;
      region.role = role;
      writer.define_region(RegionId{id}, region);
    };
    define(kParallel, "!$omp parallel @a.c:3", RegionRole::kParallel);
    define(kWork, "work", RegionRole::kFunction);
    define(kBarrier, "!$omp implicit barrier @a.c:3", RegionRole::kImplicitBarrier);
    define(kTask, "!$omp task @a.c:9", RegionRole::kTask);
    start_ = os::now();
    return writer;
  }

  static void team(spool::Pen& pen, std::uint64_t time, ExtendedKind kind,
                   std::vector<std::uint64_t> words) {
    pen.raw(time, make_extended(kind, static_cast<unsigned>(words.size())), std::move(words), true);
  }
  // The part of a member that works until `done` and waits until `end`; `enters`: it enters the
  // parallel region itself, as all but the forking thread do.
  void member(spool::Pen& pen, std::uint64_t number, std::uint64_t index, std::uint64_t begin,
              std::uint64_t done, std::uint64_t end, bool enters) const {
    team(pen, at(begin), ExtendedKind::kTeamBegin, {number, index});
    if (enters) pen.enter(at(begin), kParallel);
    pen.enter(at(begin), kWork);
    pen.leave(at(done), kWork);
    pen.enter(at(done), kBarrier);
    pen.leave(at(end), kBarrier);
    if (enters) pen.leave(at(end), kParallel);
    team(pen, at(end), ExtendedKind::kTeamEnd, {number});
  }
  // The same on the thread that forks, which is member 0, below the regions that are open.
  void forking(spool::Pen& pen, std::uint64_t number, std::uint64_t threads, std::uint64_t begin,
               std::uint64_t done, std::uint64_t end) const {
    pen.enter(at(begin), kParallel);
    team(pen, at(begin), ExtendedKind::kTeamFork, {number, threads});
    member(pen, number, 0, begin, done, end, false);
    team(pen, at(end), ExtendedKind::kTeamJoin, {number});
    pen.leave(at(end), kParallel);
  }

  std::uint64_t start_ = 0;
};

}  // namespace timeloom::weave
