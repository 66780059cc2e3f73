// The bytes that a process holds over time, as events of a metric on a location of its own.
//
// A pure function, for any thread. Throws std::bad_alloc.
#pragma once

#include <vector>

#include "core/event.hpp"
#include "core/ids.hpp"
#include "spool/memory_reader.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

// The name of the metric, as in Score-P, and of its location.
inline constexpr char kProcessMemory[] = "Process memory usage";
// The name of the location where each allocation and each free has a value, as in Score-P.
inline constexpr char kPerProcess[] = "Per process metrics";

// The largest and the last value of each of up to 32,768 groups of records, or each record where
// the data have each block; the peak is among them.
// Times lie from `begin` to `end`.
std::vector<Event> memory_curve(const spool::MemoryData& data, const ProcessClock& clock,
                                Timestamp begin, Timestamp end, MetricId metric);

}  // namespace timeloom::weave
