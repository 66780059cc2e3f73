// The locks of a run, put together from the files of its processes.
//
// Plain values; used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/locks/lock_facts.hpp"
#include "spool/locks/lock_reader.hpp"

namespace timeloom::weave {

// The threads of a process that can never go on, circle by circle: indices into data.threads.
struct StuckChain {
  StuckBy by = StuckBy::kCircle;
  std::vector<std::uint32_t> threads;  // each waits for the lock that the next one has
};
std::vector<StuckChain> stuck_chains(const spool::LockData& data);

class LockRows {
 public:
  struct Process {
    std::uint64_t number;                                  // its group in the run
    std::uint64_t last;                                    // ticks, of its records
    std::function<std::uint64_t(std::uint64_t)> duration;  // of ticks, in ns
    std::function<std::uint64_t(std::uint32_t)> location;  // of an index; UINT64_MAX: none
  };
  void add(const spool::LockData& data, const Process& process);
  // The result; called once. Locks that were never taken, nor waited for, nor refused are left out.
  LockFacts take();

 private:
  using Key = std::tuple<LockLine, std::string, LockRowKind, bool>;
  struct Row {
    LockRow row;
    std::map<LockLine, LockHolder> holders;
    std::map<std::tuple<std::uint64_t, std::uint64_t, LockLine>, LockWaiter> waiters;
  };
  void add_wait(Row& row, const spool::LockData& data, const Process& process, std::uint32_t thread,
                const LockWaiter& wait);
  void add_open_waits(const spool::LockData& data, const Process& process,
                      const std::vector<Row*>& rows);
  void add_stuck(const spool::LockData& data, const Process& process);
  void add_given_up(const spool::LockData& data, const Process& process);
  StuckThread given_up(const spool::LockData& data, std::size_t at, const Process& process,
                       std::uint64_t closed) const;

  std::map<Key, Row> rows_;
  std::vector<StuckThread> stuck_;
  std::uint64_t circles_ = 0;
  std::uint64_t lost_ = 0;
  bool recorded_ = false;
};

}  // namespace timeloom::weave
