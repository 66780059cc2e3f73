// The order of the processes of a run, which gives them their ranks.
//
// The order depends on which process started which, on names, and on the order in which a parent
// started its children. It does not depend on the times at which they started: the processes of two
// runs of a program get the same ranks, so tools can compare them one by one. A pure function, for
// any thread. Throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace timeloom::weave {

// The path of the parent's spool, from the path `spool` of the child and its record `parent`. The
// record is a name or, for a spawned process, whose parent has another directory, a path relative
// to its own directory.
std::string way_to_parent(const std::string& spool, const std::string& parent);

struct ProcessBirth {
  std::string spool;   // the name of its directory, unique in the run
  std::string parent;  // the spool of the parent; not in the run: a root
  std::string name;
  std::uint64_t process_id = 0;
  bool timed = true;  // its start is known
  Timestamp begin{};
  std::optional<std::uint32_t> rank{};  // in the job of a launcher, or of a spawn
  std::uint32_t spawn = 0;              // the number of the spawn; 0: not spawned
};

// The indices of the processes in the order of their ranks. Roots with a launcher's rank come
// first, by rank; then the other roots, by start time. Each process is followed by its children and
// all their descendants. Children are sorted by name, in which numbers count as numbers, then by
// birth. Spawned children come last, by spawn and rank.
std::vector<std::size_t> order_of(const std::vector<ProcessBirth>& processes);

}  // namespace timeloom::weave
