#include "python/session/session_result.hpp"

#include <algorithm>

#include "python/observe/tasks/engine_lanes.hpp"
#include "python/observe/tasks/lanes.hpp"

namespace timeloom::python {

void add_totals(SessionResult& result, const record::Totals& totals) {
  result.events = totals.events;
  result.aggregated_events = totals.aggregated_events;
  result.threads = totals.threads;
  const std::uint64_t lanes = std::min(lanes_made() + engine_lanes_made(), totals.tracks);
  result.tasks = tasks_on_lanes() + totals.tracks - lanes;
  result.bytes = totals.bytes;
  result.lost_events = totals.lost_events;
  result.dropped_events = totals.dropped_events;
  result.at_limit = totals.at_limit;
  result.unmatched_leaves = totals.unmatched_leaves;
  result.error = totals.error;
}

}  // namespace timeloom::python
