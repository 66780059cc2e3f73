// Aggregates the events of a run into the rows of Omnitrace's call-tree reports: how often each
// call path of each thread was visited, and for each metric the sum, the least, the most and the
// sum of squares of the values of its visits.
//
// Use: make one, replay a run into it, take(). A location is aggregated by the thread that replays
// it. Memory grows with the call paths; with `timeline`, which has a row for each call, with the
// calls, up to a limit: throws Error beyond it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "doors/omnitrace/format/metric.hpp"

namespace timeloom::omnitrace {

inline constexpr std::uint32_t kNone = UINT32_MAX;

// A value of visits, in nanoseconds, bytes, percent or as a number.
struct Visits {
  std::uint64_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;
  long double squares = 0;

  void add(double value) noexcept;
  void add(const Visits& other) noexcept;
};

// The number of values that a row keeps for the metric, each a Visits; rows have them in the order
// of the metrics.
std::size_t values_of(const Metric& metric) noexcept;

// A call path of one thread, or with `timeline` one call.
struct CallNode {
  std::uint32_t parent = 0;  // node 0 stands above the roots
  std::uint32_t label = 0;
  std::uint64_t first = 0;  // time of its first enter
  std::uint64_t count = 0;  // visits that ended
};

struct ThreadCalls {
  LocationId location;
  LocationGroupId group;
  std::vector<CallNode> nodes;
  std::vector<Visits> values;  // the values of node 0, then of node 1, ...
  // In the first thread of a process: the node that was open when another thread started, by the
  // location of the other.
  std::map<LocationId, std::uint32_t> stood;
};

struct Calls {
  std::vector<std::string> labels;
  std::vector<const Metric*> metrics;
  std::size_t values = 0;            // of a node
  std::vector<ThreadCalls> threads;  // with at least one call, in the order of the locations
  const std::string& label(const CallNode& node) const { return labels[node.label]; }
};

struct CallOptions {
  std::vector<const Metric*> metrics;
  bool flat = false;      // every label is a root
  bool timeline = false;  // each call is a row of its own
  std::uint32_t max_rows = 4'000'000;
};

// The metrics that a run does not have, by their ids.
std::vector<const Metric*> missing_metrics(const std::vector<const Metric*>& metrics,
                                           const Definitions& definitions);

// Reads the run once, or twice where processes have several threads. REQUIRES: none of the metrics
// is missing.
Calls aggregate_calls(RunSource& run, const CallOptions& options, unsigned threads);

}  // namespace timeloom::omnitrace
