// Joins the definitions of the processes of a run into one set.
//
// Plain values, used by one thread while they are filled and by any number of threads afterwards.
// Throws only std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "spool/reader.hpp"

namespace timeloom::weave {

// Maps the ids of a process to ids of the run; UINT32_MAX: not defined there.
class IdMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Ids are dense, or nearly so. An id far beyond `count`, the number of definitions, comes from a
  // process that has had many more before, or from damage that a checksum missed. A table of that
  // length would not pay.
  void expect(std::size_t count) noexcept { limit_ = (std::size_t{1} << 20) + 64 * count; }
  void set(std::uint32_t from, std::uint32_t to);
  // The id of the run for ids without a definition.
  void set_fallback(std::uint32_t to) noexcept { fallback_ = to; }
  // True if this id of the run stands for ids without a definition.
  bool is_fallback(std::uint64_t in_run) const noexcept {
    return in_run == fallback_ && fallback_ != kNone;
  }
  std::uint32_t operator[](std::uint32_t id) const noexcept {
    const std::uint32_t to = id < to_.size() ? to_[id] : far(id);
    return to != kNone ? to : fallback_;
  }

 private:
  std::uint32_t far(std::uint32_t id) const noexcept {
    const auto found = far_.find(id);
    return found == far_.end() ? kNone : found->second;
  }

  std::size_t limit_ = std::size_t{1} << 26;
  std::vector<std::uint32_t> to_;
  std::map<std::uint32_t, std::uint32_t> far_;  // ids beyond the limit
  std::uint32_t fallback_ = kNone;
};

// The threads and tasks of a process that are known by a number, each with its end if that is
// known. Numbers are unique in the process; with its rank they are unique in the run.
struct CreatedThreads {
  std::map<std::uint64_t, std::optional<Timestamp>> ends;
  std::uint64_t rank = 0;
  std::uint64_t in_run(std::uint64_t number) const noexcept { return (number << 32) | rank; }
};

struct ProcessIds {
  CreatedThreads threads;
  IdMap regions;
  std::set<std::uint32_t> forked;  // in the run: see is_forked()
  // The region, in the run, in which time may be missing; else IdMap::kNone.
  std::uint32_t unmeasured = IdMap::kNone;
  IdMap strings;
  IdMap parameters;
  std::uint32_t task_parameter = IdMap::kNone;  // the parameter that names tasks, in the run
  std::array<std::uint32_t, 2> wakeup_parameters{IdMap::kNone, IdMap::kNone};  // the parameters of
                                                                               // wakeups
  IdMap metrics;
  IdMap communicators;
  IdMap io_handles;
};

// Equal definitions of different processes become one. Ids of the run follow the order in which
// definitions are first met.
class Unifier {
 public:
  explicit Unifier(Definitions& run) : run_(run) {}
  // Gives these regions their numbers in advance; they are the first of the run.
  void number_regions_as(const std::vector<Region>& earlier);
  // `complete`: every id that occurs in an event has its definition. Otherwise regions without a
  // definition share one region whose name reports it.
  // `regions`: of the process, with the names that they have in the run.
  ProcessIds add(const spool::ProcessDefinitions& process,
                 const std::map<std::uint32_t, Region>& regions, bool complete);

 private:
  template <typename Definition>
  std::uint32_t unify(std::map<std::string, std::uint32_t>& known, const std::string& key,
                      std::vector<Definition>& table, const Definition& definition);
  void add_io_handles(const spool::ProcessDefinitions& process, ProcessIds& ids);

  Definitions& run_;
  void add_communicators(const spool::ProcessDefinitions& process, IdMap& ids);

  std::map<std::string, std::uint32_t> regions_, strings_, parameters_, metrics_;
  std::map<std::uint64_t, std::uint32_t> communicators_;  // by identity
};

}  // namespace timeloom::weave
