// How long a run of MPI takes on an ideal network, on which a message arrives the moment it is sent
// and no call takes time of its own. docs/mpi.md has the rules.
//
// Used by one thread. Memory grows with the calls of MPI. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace timeloom::profile {

class IdealNetwork {
 public:
  // Times are ticks; work is the time in regions outside MPI since the call before.
  struct Call {
    std::uint64_t entered = 0, left = 0, work = 0;
  };
  struct Process {
    std::uint64_t first = 0;  // of its events
    std::vector<Call> calls;  // in order, none inside another
    std::uint64_t work_after = 0;
  };
  struct Place {
    std::uint32_t process, call;
  };

  // False: there is one of that number already, and nothing was added.
  bool add_process(std::uint32_t number, Process process);
  // Where calls wait for others: none of `waiting` ends before all of `awaited` have begun.
  void add_meeting(const std::vector<Place>& awaited, const std::vector<Place>& waiting);

  // From the first begin to the last end. Nothing: a call that is waited for is missing, or begins
  // after the one that waits has ended.
  std::optional<std::uint64_t> runtime() const;

 private:
  class Replay;
  using Links = std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

  std::map<std::uint32_t, Process> processes_;
  std::vector<std::uint32_t> meetings_;  // how many are awaited
  Links awaited_, waiting_;              // by process: call, meeting
};

}  // namespace timeloom::profile
