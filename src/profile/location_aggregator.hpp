// Aggregates the events of one location into a tree of its call paths.
//
// Used by one thread. An event costs a comparison with the child that was entered last, or
// else one look-up in a hash table. Throws Error if enter and leave do not balance, if time
// runs backwards, or if a definition is missing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/child_table.hpp"
#include "core/event.hpp"
#include "core/mpi/mpi_event.hpp"
#include "core/teams/teams.hpp"
#include "core/waiting_metric.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::profile {

// The region of node 0 and of nodes beyond the limit; no event refers to it.
inline constexpr std::uint64_t kNoRegion = std::uint64_t{1} << 32;

// A call path of one location. Node 0 is the parent of the roots.
struct AggregatedNode {
  Statistics statistics;
  std::uint64_t region = kNoRegion;
  std::uint32_t parent = 0;
  std::uint32_t last_child = 0;  // the child entered last; 0: none yet
};

// The result; parents before children, children in order of their first visit.
struct AggregatedLocation {
  // The visits of `node` have this parameter and the parameters of `base`.
  struct Parameter {
    std::uint32_t node = 0;
    std::uint32_t base = 0;
    ParameterId parameter;
    std::uint64_t value = 0;  // as in an event
  };
  struct MetricValues {
    std::uint32_t node = 0;  // 0: no region was open
    MetricId metric;
    MetricStatistics statistics;
  };
  struct Sample {            // see SampleCell
    std::uint32_t node = 0;  // 0: no region was open
    MetricId metric;
    std::uint64_t value = 0;
  };
  // A part of a visit that was cut in two at the time where the events of a thread end and its
  // profile continues.
  struct Part {
    std::uint32_t node = 0;
    std::uint64_t duration = 0;
  };

  // The number of visits of a node and their time without waiting, after 16, 32, 64, ... visits and
  // at the end: see growth.hpp.
  struct Milestone {
    std::uint32_t node = 0;
    std::uint64_t visits = 0;
    std::uint64_t working = 0;
  };
  static constexpr bool is_milestone(std::uint64_t visits) noexcept {
    return (visits & (visits - 1)) == 0 && visits >= 16;
  }

  std::vector<AggregatedNode> nodes;
  std::vector<Parameter> parameters;  // in order of nodes
  std::vector<MetricValues> metrics;
  std::vector<Sample> samples;  // a node and a metric once
  std::vector<Milestone> milestones;
  std::vector<Part> parts;    // not in min and max of their nodes
  std::uint32_t deepest = 0;  // the level that was reached beyond the depth limit; else 0
  std::uint64_t events = 0;
  Timestamp first{};
  Timestamp last{};
};

// The number of call paths that all locations of a run may still add. Any thread may take
// one.
class NodeBudget {
 public:
  explicit NodeBudget(std::uint32_t nodes) noexcept : left_(nodes) {}
  bool take() noexcept { return left_.fetch_sub(1, std::memory_order_relaxed) > 0; }

 private:
  std::atomic<std::int64_t> left_;  // far below 0 if more were asked for
};

struct AggregationLimits {
  std::uint32_t own_nodes = 0;           // call paths beyond these are taken from the budget
  std::uint32_t own_functions = 0;       // the same for functions beyond the limit
  std::uint32_t max_depth = UINT32_MAX;  // levels that are kept apart
  std::uint64_t cut = UINT64_MAX;        // time from which on a profile continues
  bool of_metrics = false;               // values of counters are kept outside of regions, too
};

class LocationAggregator {
 public:
  // `definitions` and the budgets (for call paths, and for functions beyond their limit) must live
  // as long as the aggregator.
  LocationAggregator(std::string location_name, const Definitions& definitions,
                     const AggregationLimits& limits, NodeBudget& budget, NodeBudget& functions);

  void consume(std::span<const Event> events);
  // The result, when all events have been consumed.
  AggregatedLocation finish();

 private:
  struct Frame {
    std::uint64_t entered;
    std::uint32_t node;
  };
  // A visit beyond the limit of call paths.
  struct Beyond {
    std::uint32_t function;    // the node of its exclusive time; 0: the one without a region
    std::uint64_t inside = 0;  // time of the visits inside it
  };

  const Event* pass_calls(const Event* event, const Event* end) noexcept;
  void enter(std::uint32_t region, std::uint64_t time);
  void leave(std::uint32_t region, std::uint64_t time);
  void leave_in_part(std::uint64_t time);
  void leave_beyond(std::uint64_t time);
  void other(const Event& event, std::span<const Event> before);
  // Teams: location_teams.cpp.
  void team(const Event& event);
  void begin_team(std::uint64_t number, std::uint64_t time);
  void leave_team(std::uint64_t time);
  bool in_team_frame() const noexcept { return !teams_.empty() && teams_.back().frame == depth_; }
  std::uint32_t twin_of(std::uint32_t path);
  std::uint32_t add_twin(std::uint32_t parent, const Teams::Path& path);
  void add_up_twins();
  // The level of a region that is entered now; 0: the outermost.
  std::uint32_t level() const noexcept { return depth_ + team_levels_; }
  bool just_begun(std::span<const Event> before) const;
  void parameter(const Event& event, std::span<const Event> before);
  void metric(const Event& event);
  void add_value(MetricId metric, double value);
  void transferred(std::uint64_t bytes, const char* name);
  void sample(const Event& event, const Metric& metric);
  void waited(std::uint64_t time, std::uint32_t cause);
  void add_wait(std::uint32_t node, std::uint64_t time, std::uint32_t cause);
  void move_waits(std::uint32_t from, std::uint32_t to);
  std::uint64_t nanoseconds_in_ticks(std::uint64_t time) const noexcept;
  void add_milestone(std::uint32_t node);
  void add_last_milestones();
  void add_sample(std::uint32_t node, MetricId id, std::uint64_t value, const Metric& metric);
  std::uint32_t with_parameter(ParameterId parameter, std::uint64_t value);
  std::uint32_t with_value(std::uint32_t node, ParameterId parameter, std::uint64_t value);
  const AggregatedLocation::Parameter* parameter_of(std::uint32_t node) const;
  std::uint32_t child_of(std::uint32_t node, std::uint32_t region);
  std::uint32_t function_beyond(std::uint32_t node, std::uint32_t region);
  bool take_node() noexcept;
  bool take_function() noexcept;
  // The node to which values are added.
  std::uint32_t counting_node() const noexcept {
    const bool known = !beyond_.empty() && beyond_.back().function != 0;
    return known ? beyond_.back().function : innermost().node;
  }
  std::uint32_t add_child(std::uint32_t node, std::uint64_t region);
  Frame& innermost() noexcept { return stack_[depth_]; }
  const Frame& innermost() const noexcept { return stack_[depth_]; }
  bool beyond_limit(std::uint32_t node) const noexcept {
    return node != 0 && aggregated_.nodes[node].region == kNoRegion;
  }
  void check_leave(std::uint32_t region, std::uint64_t time) const;
  [[noreturn]] void fail(const std::string& what) const;

  AggregatedLocation aggregated_;
  std::vector<Frame> stack_;  // its first frame is node 0 and stays
  std::uint32_t depth_ = 0;   // of the innermost frame
  ChildTable children_;
  std::string location_name_;
  const Definitions* definitions_;
  AggregationLimits limits_;  // the remaining numbers
  NodeBudget* budget_;
  NodeBudget* functions_;
  std::vector<Beyond> beyond_;  // outermost first; all their frames have the same node
  // From a node, a parameter and its value to the node of visits that have it.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> variants_;
  ChildTable metrics_;  // from a node and a metric to a place in aggregated_.metrics
  ChildTable samples_;  // ... and in aggregated_.samples
  std::vector<std::optional<std::uint64_t>> sampled_;  // by metric: the last value
  std::uint64_t together_ = 0;  // values that came with others of their set, as one event
  Operands operands_;           // of the next MPI event
  std::vector<std::uint64_t> waited_inside_;           // by node: ticks, with the calls inside
  std::array<std::uint64_t, kWaitingCauses> waits_{};  // of a visit, in nanoseconds by cause
  std::pair<std::uint32_t, std::uint64_t> waits_in_;   // the visit: its depth, and when it began
  bool begun_ = false;                // no region was left since the innermost visit started
  std::uint64_t moved_ = UINT64_MAX;  // number of the event that moved a visit last
  // A team that another thread forked. Its frame has the node of the call path of the fork, and
  // was entered at kNever: no leave fits it.
  struct OfTeam {
    std::uint64_t number;
    std::uint32_t frame;
    std::uint32_t levels_before;
    std::uint64_t begun;
  };
  static constexpr std::uint64_t kNever = UINT64_MAX;
  std::vector<OfTeam> teams_;      // outermost first
  std::uint64_t last_fork_ = 0;    // number of the team that this location forked last
  std::uint32_t team_levels_ = 0;  // levels of the run above the stack; wraps if they are fewer
  // The nodes of call paths of forks, by path; 0: none so far. They are apart from the nodes that
  // the location visits itself: their time is the time of their children.
  std::vector<std::uint32_t> twins_;
};

}  // namespace timeloom::profile
