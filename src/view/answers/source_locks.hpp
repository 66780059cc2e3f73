// The waiting for locks on the source lines of a function (--locks).
//
// Pure functions, for any thread; throw std::bad_alloc alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/definitions.hpp"
#include "core/locks/lock_facts.hpp"

namespace timeloom::view {

// Of a line, over all locks and threads; times in nanoseconds.
struct LineLocks {
  std::uint32_t line = 0;
  std::uint64_t waits = 0;
  std::uint64_t waited = 0;
  std::uint64_t held = 0;     // locks that the line took, until their release
  std::uint64_t blocked = 0;  // that other threads have waited meanwhile, all of them together
  bool at_least = false;      // the run does not keep all threads and lines of one of the locks
};

// In order of lines; empty: no lock was taken on lines of the region's file.
std::vector<LineLocks> locks_on_lines(const LockFacts& facts, const Region& region);

}  // namespace timeloom::view
