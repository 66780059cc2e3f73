// The moment at which the teams of OpenMP of a host have the most threads.
//
// Plain values and a pure function, for any thread. Throws nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace timeloom::tools {

// The teams that one thread forks, one after the other.
struct TeamsOfThread {
  std::string host;
  std::uint32_t process = 0;
  std::uint64_t threads = 1;  // of the largest one
  Timestamp first{}, last{};  // the time in which the teams may have worked
};

struct TeamsAtOnce {
  std::uint64_t threads = 0;    // in all
  std::uint64_t teams = 0;      // threads that fork them
  std::uint64_t processes = 0;  // of these threads
  std::uint64_t largest = 0;    // threads of the largest team
  bool are_alike() const noexcept {
    return threads == teams * largest && processes > 0 && teams % processes == 0;
  }
};

// Of the moments with as many threads the first. Teams that begin where others end do not work at
// the same time.
TeamsAtOnce most_threads_at_once(const std::vector<TeamsOfThread>& all);

}  // namespace timeloom::tools
