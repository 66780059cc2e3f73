// The order of the processes of a run, which gives them their ranks.
//
// It follows who started whom, names, and the order in which a parent started its children, and
// never the times at which these began: so the processes of two runs of a program have the same
// ranks, and tools can compare them one by one. A pure function, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace timeloom::weave {

// From the way to the spool of a process, and what it says of that of its parent: the name, or for
// a spawned process, whose parent has another directory, the way to it from the own directory.
std::string way_to_parent(const std::string& spool, const std::string& parent);

struct ProcessBirth {
  std::string spool;   // the name of its directory, unique in the run
  std::string parent;  // that of the process that started it; of none of the run: it is a root
  std::string name;
  std::uint64_t process_id = 0;
  bool timed = true;  // its begin is known
  Timestamp begin{};
  std::optional<std::uint32_t> rank{};  // in the job of a launcher, or of a spawn
  std::uint32_t spawn = 0;              // the number of that; 0: none
};

// The places of the processes in the order of their ranks: roots in the order of the ranks that a
// launcher has given them, then those without in the order of their begin, each process followed by
// its children with all that these have started. Children are in order of their names, in which
// numbers count as such, then of their births; those that are spawned follow by spawn and rank.
std::vector<std::size_t> order_of(const std::vector<ProcessBirth>& processes);

}  // namespace timeloom::weave
