// Reads the file `locks` of a spool, even if the process was killed or still runs.
//
// A function without state, for any thread; the result is a plain value whose indices are valid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spool/locks/lock_format.hpp"
#include "spool/spool_directory.hpp"

namespace timeloom::spool {

struct LockData {
  struct Place {
    std::string file;
    std::string function;
    std::uint32_t line = 0;
  };
  struct Site {
    Place place;
    std::string maker;
    LockKind kind = LockKind::kLock;
    bool unmade = false;
    std::uint64_t made = 0, refused = 0, foreign = 0;
  };
  struct Hold {
    std::uint32_t site = 0;
    Place place;
    std::uint64_t takes = 0, held = 0, longest = 0, blocked = 0;  // the last three in ticks
  };
  struct Wait {
    std::uint32_t site = 0;
    std::uint32_t thread = 0;
    Place place;
    std::uint64_t waits = 0, waited = 0, longest = 0;  // the last two in ticks
  };
  struct Thread {
    std::uint32_t location = kNoLocation;
    bool ended = false;
    std::uint32_t wanted = 0;  // 1 + the index of the lock that it waits for; 0: none
    Place place;
    std::uint64_t since = 0;
  };
  struct Wanted {
    std::uint32_t site = 0;
    std::uint32_t owner = 0;  // 1 + the index of a thread; 0: not known
    Place place;
    std::uint64_t since = 0;
  };

  // A thread of a circle that has ended; see LockCircle.
  struct Circle {
    std::uint32_t circle = 0;
    std::uint32_t thread = 0;
    Place place;
    std::uint32_t site = 0;
    Place taken_at;
    std::uint64_t closed = 0;  // ticks
  };

  bool exists = false;
  bool damaged = false;  // wholly or in part; the intact rows are there
  std::vector<Site> sites;
  std::vector<Hold> holds;
  std::vector<Wait> waits;
  std::vector<Thread> threads;
  std::vector<Wanted> wanted;
  std::vector<Circle> circles;
  std::uint64_t last = 0, end = 0;  // ticks
  std::uint64_t lost = 0;
};

LockData read_locks(const SpoolDirectory& directory);

}  // namespace timeloom::spool
