// The short form of the call tree: calls of the project and calls in which time is spent, and
// nothing in between.
//
// Plain values made from a CallTree. They throw only std::bad_alloc.
//
// The levels of a recursion are one call path, and so are all imports below one caller. A limited
// number of the other call paths become rows: calls of the project, the first call of a library,
// and calls that divide much time. Rows of one function below the same row are one, whatever
// hidden calls lie between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/code_owner.hpp"
#include "tools/report/work_times.hpp"

namespace timeloom::tools {

struct ShortRow {
  RegionId region;       // undefined: call paths beyond the limit of a thread
  double total = 0;      // working time in seconds, with the callees
  double exclusive = 0;  // without the time in other rows
  std::int64_t visits = 0;
  std::uint32_t depth = 0;
  bool only_child = false;
  bool last_child = false;
  std::uint64_t hidden = 0;    // functions called inside that are not shown
  std::string hidden_package;  // of most of them
  std::uint64_t hidden_of_package = 0;
};

// In pre-order, siblings by their time.
std::vector<ShortRow> short_tree(const profile::CallTree& tree, const WorkTimes& times,
                                 const CodeOwner& owner, std::size_t most_rows);

}  // namespace timeloom::tools
