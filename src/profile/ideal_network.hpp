// The runtime of an MPI program on an ideal network, where a message arrives at the moment it is
// sent and no call takes time of its own. docs/mpi.md has the rules.
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
  struct ProcessCall {
    std::uint32_t process, call;
  };

  // False: there is a process of that number already, and nothing was added.
  bool add_process(std::uint32_t number, Process process);
  // Adds a dependency: no call in `waiting` ends before all calls in `awaited` have started.
  void add_dependency(const std::vector<ProcessCall>& awaited,
                      const std::vector<ProcessCall>& waiting);

  // From the first start to the last end. None: an awaited call is missing, or starts after the
  // call that waits for it has ended.
  std::optional<std::uint64_t> runtime() const;

 private:
  class Replay;
  using Links = std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

  std::map<std::uint32_t, Process> processes_;
  std::vector<std::uint32_t> dependencies_;  // number of awaited calls of each
  Links awaited_, waiting_;                  // by process: call, dependency
};

}  // namespace timeloom::profile
