// Teams of GNU's OpenMP runtime (libgomp): the threads of a team run one outlined function, and
// each of them records events around it.
//
// The runtime is given the function run_member() in place of the program's, with the team as its
// data. Each member records the start of its part, its end, and then the wait at the team's last
// barrier, whose end only the thread that made the team sees: it notes the time, and the others
// record it later (record/late_end.hpp). A team lives as long as one of its members needs it.
// Nothing throws.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "preload/openmp/constructs.hpp"
#include "preload/openmp/team_metrics.hpp"
#include "record/thread_profile.hpp"

namespace timeloom::openmp {

struct Fork {
  Function* function;
  void* data;
  unsigned threads;                        // requested; 0: as many as the runtime chooses
  Construct inner = Construct::kParallel;  // the loop or the sections that are all of its work
  bool reduces = false;                    // the runtime reads the first word of the data
};

// The state of a thread before it became a member.
struct Member {
  Runtime* runtime = nullptr;
  const void* function = nullptr;
  std::uint64_t task = 0;
  std::size_t depth = 0;
  bool recorded = false;
};

struct TeamData {  // the runtime passes its address on
  std::uintptr_t first_word = 0;
  Team* team = nullptr;
};

struct Team : std::enable_shared_from_this<Team> {
  TeamData own_data;
  Runtime* runtime = nullptr;
  Fork fork{};
  const void* code = nullptr;  // of the function
  EventWord parallel = 0, inner = 0, barrier = 0;
  std::uint64_t number = 0;
  std::uint32_t measurement = 0;
  record::CallPath path;  // at which the team is forked, in a profile
  TeamMetrics metrics;
  std::uint64_t forked_ns = 0;             // see clock_ns()
  std::atomic<std::uint32_t> members = 0;  // that have begun
  std::atomic<std::uint64_t> end = 0;      // of the last barrier; 0: not yet
  // For GOMP_parallel_start: the team is held until GOMP_parallel_end; its first thread.
  std::shared_ptr<Team> held;
  Member first;
};

// The runtime of the outlined function, which `caller` starts.
Runtime& runtime_of(const Fork& fork, const void* caller) noexcept;

// The start of the region on the thread that makes the team. nullptr: nothing is recorded.
std::shared_ptr<Team> begin_team(Runtime& runtime, const Fork& fork) noexcept;
// Its end: all members have passed the last barrier.
void end_team(Team& team) noexcept;
void run_member(void* data);

// The start and end of a team whose first thread calls the function itself; `team` may be nullptr.
void begin_first(Runtime& runtime, std::shared_ptr<Team> team) noexcept;
void end_parallel(const void* caller) noexcept;

// Makes the team by `call(runtime, function, data)`, which returns at the end of it.
template <typename Call>
auto run_team(const Fork& fork, const void* caller, Call call) {
  Runtime& runtime = runtime_of(fork, caller);
  const std::shared_ptr<Team> team = begin_team(runtime, fork);
  if (team == nullptr) return call(runtime, fork.function, fork.data);
  struct AtEnd {
    Team& team;
    ~AtEnd() { end_team(team); }
  } const end{*team};
  return call(runtime, &run_member, static_cast<void*>(&team->own_data));
}

// The same where `call` only starts the other members.
template <typename Call>
void start_team(const Fork& fork, const void* caller, Call call) {
  Runtime& runtime = runtime_of(fork, caller);
  std::shared_ptr<Team> team = begin_team(runtime, fork);
  if (team == nullptr) {
    call(runtime, fork.function, fork.data);
  } else {
    call(runtime, &run_member, static_cast<void*>(&team->own_data));
  }
  begin_first(runtime, std::move(team));
}

}  // namespace timeloom::openmp
