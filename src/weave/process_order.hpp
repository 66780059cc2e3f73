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

struct ProcessBirth {
  std::string spool;   // the name of its directory, unique in the run
  std::string parent;  // that of the process that started it; of none of the run: it is a root
  std::string name;
  std::uint64_t process_id = 0;
  bool timed = true;  // its begin is known
  Timestamp begin{};
  std::optional<std::uint32_t> rank{};  // in the job of a launcher
};

// The places of the processes in the order of their ranks: roots in the order of the ranks that a
// launcher has given them, then those without in the order of their begin, each process followed by
// its children with all that these have started. Children are in order of their names, in which
// numbers count as such, then of their births.
std::vector<std::size_t> order_of(const std::vector<ProcessBirth>& processes);

}  // namespace timeloom::weave
