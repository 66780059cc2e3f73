// The rows of the reports of a process, from the calls of its threads: in pre-order, siblings in
// the order of their first call, and the call paths of a thread below the row that was open in the
// first thread when the thread began. For several processes together, call paths that are equal in
// threads of the same number become one row.
//
// Plain values, one thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "doors/omnitrace/format/call_rows.hpp"

namespace timeloom::omnitrace {

struct Row {
  std::uint32_t parent = kNone;  // row; kNone: a root
  std::uint32_t label = 0;
  std::uint32_t depth = 0;
  std::uint32_t thread = 0;  // in order of appearance
  std::uint64_t count = 0;
};

struct Rows {
  std::vector<Row> rows;
  std::vector<Visits> values;                       // the values of row 0, then of row 1, ...
  std::vector<std::vector<std::uint32_t>> threads;  // of each row, if rows of threads were merged
  std::uint32_t thread_count = 0;
};

enum class Merge : std::uint8_t {
  kNothing,
  kThreads,  // call paths that are equal in any threads become one row
};

Rows rows_of(const Calls& calls, const std::vector<LocationGroupId>& processes, Merge merge,
             bool flat, bool timeline);

}  // namespace timeloom::omnitrace
