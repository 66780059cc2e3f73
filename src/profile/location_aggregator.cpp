#include "profile/location_aggregator.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "core/error.hpp"
#include "core/io.hpp"
#include "core/regions/forked_region.hpp"
#include "core/scaled.hpp"
#include "core/waiting_metric.hpp"
#include "core/wakeups.hpp"

namespace timeloom::profile {

namespace {

constexpr std::uint32_t kRestKey = UINT32_MAX;  // no region has this id, see child_of()

double number_of(const Event& event, MetricValueType type) {
  switch (type) {
    case MetricValueType::kInt64: return static_cast<double>(event.as_int());
    case MetricValueType::kUint64: return static_cast<double>(event.value);
    case MetricValueType::kDouble: break;
  }
  return event.as_double();
}

}  // namespace

LocationAggregator::LocationAggregator(std::string location_name, const Definitions& definitions,
                                       const AggregationLimits& limits, NodeBudget& budget,
                                       NodeBudget& functions)
    : location_name_(std::move(location_name)),
      definitions_(&definitions),
      limits_(limits),
      budget_(&budget),
      functions_(&functions) {
  aggregated_.nodes.emplace_back();
  stack_.push_back({0, 0});
  if (definitions.teams) twins_.resize(definitions.teams->paths.size());
}

void LocationAggregator::consume(std::span<const Event> events) {
  if (events.empty()) return;
  if (aggregated_.events == 0) aggregated_.first = events.front().time;
  const Event* const end = events.data() + events.size();
  for (const Event* event = events.data(); (event = pass_calls(event, end)) != end; ++event) {
    if (event->kind == EventKind::kEnter) {
      enter(event->ref, ticks(event->time));
    } else if (event->kind == EventKind::kLeave) {
      leave(event->ref, ticks(event->time));
    } else {
      other(*event, {events.data(), event});
    }
  }
  begun_ = just_begun(events);
  aggregated_.events += events.size();
  aggregated_.last = events.back().time;
}

// Aggregates enters of the child that was entered last, and leaves of the innermost region: most of
// all events. Returns the first other event.
const Event* LocationAggregator::pass_calls(const Event* event, const Event* end) noexcept {
  // Local copies: the compiler must assume that each store changes the members.
  AggregatedNode* const nodes = aggregated_.nodes.data();
  Frame* top = &stack_[depth_];
  const Frame* const last = &stack_.back();
  for (; event != end; ++event) {
    const std::uint64_t time = ticks(event->time);
    if (event->kind == EventKind::kEnter) {
      const std::uint32_t child = nodes[top->node].last_child;
      if (nodes[child].region != event->ref || top == last) break;
      *++top = {time, child};
    } else {
      if (event->kind != EventKind::kLeave) break;
      AggregatedNode& node = nodes[top->node];
      // Beyond the limit a node is its own child and has no region.
      if (node.region != event->ref || time < top->entered || time >= limits_.cut) break;
      if (AggregatedLocation::is_milestone(node.statistics.visits + 1)) break;
      node.statistics.add_visit(time - top->entered);
      --top;
    }
  }
  depth_ = static_cast<std::uint32_t>(top - stack_.data());
  return event;
}

void LocationAggregator::enter(std::uint32_t region, std::uint64_t time) {
  const std::uint32_t node = innermost().node;
  std::uint32_t child = aggregated_.nodes[node].last_child;
  if (aggregated_.nodes[child].region != region) {
    child = child_of(node, region);
    aggregated_.nodes[node].last_child = child;
  }
  if (++depth_ == stack_.size()) stack_.resize(2 * stack_.size());
  innermost() = {time, child};
  if (beyond_limit(child)) beyond_.push_back({function_beyond(child, region)});
}

void LocationAggregator::leave(std::uint32_t region, std::uint64_t time) {
  if (in_team_frame()) leave_team(time);
  const Frame frame = innermost();
  if (aggregated_.nodes[frame.node].region != region || time < frame.entered)
    check_leave(region, time);
  if (!beyond_.empty()) return leave_beyond(time);
  if (time >= limits_.cut) return leave_in_part(time);
  --depth_;
  Statistics& statistics = aggregated_.nodes[frame.node].statistics;
  statistics.add_visit(time - frame.entered);
  if (AggregatedLocation::is_milestone(statistics.visits)) add_milestone(frame.node);
}

void LocationAggregator::add_milestone(std::uint32_t node) {
  const Statistics& statistics = aggregated_.nodes[node].statistics;
  const std::uint64_t waited = node < waited_inside_.size() ? waited_inside_[node] : 0;
  aggregated_.milestones.push_back(
      {node, statistics.visits, statistics.inclusive - std::min(waited, statistics.inclusive)});
}

void LocationAggregator::add_last_milestones() {
  std::vector<bool> has_one(aggregated_.nodes.size());
  for (const auto& one : aggregated_.milestones) has_one[one.node] = true;
  for (std::uint32_t node = 0; node < has_one.size(); ++node) {
    const std::uint64_t visits = aggregated_.nodes[node].statistics.visits;
    if (has_one[node] && !AggregatedLocation::is_milestone(visits)) add_milestone(node);
  }
}

// A visit of a function that has a node counts there with its exclusive time. The node without a
// region gets the time of the outermost visit, and the visits of functions without a node.
void LocationAggregator::leave_beyond(std::uint64_t time) {
  const Beyond visit = beyond_.back();
  beyond_.pop_back();
  const std::uint64_t duration = time - innermost().entered;
  const bool outermost = beyond_.empty();
  if (!outermost) beyond_.back().inside += duration;
  if (visit.function != 0) {
    aggregated_.nodes[visit.function].statistics.add_visit(duration - visit.inside);
    if (outermost) aggregated_.nodes[innermost().node].statistics.inclusive += duration;
  } else if (!outermost) {
    ++aggregated_.nodes[innermost().node].statistics.visits;
  } else if (time >= limits_.cut) {
    return leave_in_part(time);
  } else {
    aggregated_.nodes[innermost().node].statistics.add_visit(duration);
  }
  --depth_;
}

// Ends the first part of a visit that continues in the profile.
void LocationAggregator::leave_in_part(std::uint64_t time) {
  const Frame frame = innermost();
  --depth_;
  Statistics& statistics = aggregated_.nodes[frame.node].statistics;
  ++statistics.visits;
  statistics.inclusive += time - frame.entered;
  aggregated_.parts.push_back({frame.node, time - frame.entered});
}

std::uint32_t LocationAggregator::child_of(std::uint32_t node, std::uint32_t region) {
  if (region >= definitions_->regions.size())
    fail("enters region " + std::to_string(region) + ", which is undefined");
  if (beyond_limit(node)) return node;
  const std::uint32_t child = children_.find(node, region);
  if (child != ChildTable::kNone) return child;
  if (level() < limits_.max_depth && take_node()) return add_child(node, region);
  const std::uint32_t rest = children_.find(node, kRestKey);
  return rest != ChildTable::kNone ? rest : add_child(node, kNoRegion);
}

// The node of a function below `node`, which has no region. 0: the visit is too deep to be told
// apart, or there is no space.
std::uint32_t LocationAggregator::function_beyond(std::uint32_t node, std::uint32_t region) {
  // The visit is on the stack already.
  if (level() > limits_.max_depth) {
    aggregated_.deepest = std::max(aggregated_.deepest, level());
    return 0;
  }
  const std::uint32_t function = children_.find(node, region);
  if (function != ChildTable::kNone) return function;
  return take_function() ? add_child(node, region) : 0;
}

bool LocationAggregator::take_function() noexcept {
  if (limits_.own_functions == 0) return functions_->take();
  --limits_.own_functions;
  return true;
}

bool LocationAggregator::take_node() noexcept {
  if (limits_.own_nodes == 0) return budget_->take();
  --limits_.own_nodes;
  return true;
}

std::uint32_t LocationAggregator::add_child(std::uint32_t node, std::uint64_t region) {
  const auto child = static_cast<std::uint32_t>(aggregated_.nodes.size());
  aggregated_.nodes.push_back({{}, region, node, 0});
  children_.insert(node, region == kNoRegion ? kRestKey : static_cast<std::uint32_t>(region),
                   child);
  return child;
}

void LocationAggregator::other(const Event& event, std::span<const Event> before) {
  switch (event.kind) {
    case EventKind::kParameterInt:
    case EventKind::kParameterUint:
    case EventKind::kParameterFloat:
    case EventKind::kParameterString: return parameter(event, before);
    case EventKind::kMetric: return metric(event);
    case EventKind::kIoReadDone: return transferred(event.value, kIoBytesRead);
    case EventKind::kIoWriteDone: return transferred(event.value, kIoBytesWritten);
    case EventKind::kMpiSend:
    case EventKind::kMpiIsend: return transferred(event.value, kBytesSent);
    case EventKind::kMpiRecv:
    case EventKind::kMpiIrecv: return transferred(event.value, kBytesReceived);
    case EventKind::kMpiCollectiveEnd:
    case EventKind::kMpiCollectiveComplete:
      transferred(event.value, kBytesSent);
      return transferred(operands_.received(), kBytesReceived);
    case EventKind::kIoOffset: ++together_; return;
    case EventKind::kWaiting: ++together_; return waited(event.value, event.ref);
    case EventKind::kOperand:
      ++together_;
      (void)operands_.take(event);
      return;
    case EventKind::kTeamFork:
    case EventKind::kTeamBegin:
    case EventKind::kTeamEnd: return team(event);
    default: return;
  }
}

// Whether no region was left since the innermost visit was entered or moved.
bool LocationAggregator::just_begun(std::span<const Event> before) const {
  for (std::size_t i = before.size(); i-- > 0;) {
    if (before[i].kind == EventKind::kLeave) return false;
    if (before[i].kind == EventKind::kEnter || aggregated_.events + i == moved_) return true;
  }
  return begun_;
}

// Moves the visit as if it had started with the parameter, unless it has visited other regions
// before: then its time until now stays in the call path without the parameter.
void LocationAggregator::parameter(const Event& event, std::span<const Event> before) {
  if (event.ref >= definitions_->parameters.size())
    fail("has a value of parameter " + std::to_string(event.ref) + ", which is undefined");
  if (event.kind == EventKind::kParameterString && event.value >= definitions_->strings.size())
    fail("has a text that is undefined as value of a parameter");
  const Parameter& given = definitions_->parameters[event.ref];
  if (!given.splits_call_paths() || tells_of_task(given)) return;
  if (wakeup_end_of(given) != WakeupEnd::kNone) return;
  Frame& frame = innermost();
  if (depth_ == 0 || in_team_frame() || beyond_limit(frame.node)) return;
  const std::uint32_t to = with_parameter(event.parameter(), event.value);
  if (to == frame.node) return;
  if (!just_begun(before)) {
    const std::uint64_t now = std::max(ticks(event.time), frame.entered);
    aggregated_.nodes[frame.node].statistics.inclusive += now - frame.entered;
    frame.entered = now;
  } else if (waits_in_ == std::pair(depth_, frame.entered)) {
    move_waits(frame.node, to);
  }
  frame.node = to;
  moved_ = aggregated_.events + before.size();
}

const AggregatedLocation::Parameter* LocationAggregator::parameter_of(std::uint32_t node) const {
  const auto found = std::ranges::lower_bound(aggregated_.parameters, node, {},
                                              &AggregatedLocation::Parameter::node);
  return found != aggregated_.parameters.end() && found->node == node ? &*found : nullptr;
}

// The node of visits that have this value in addition; it replaces an earlier value of the
// parameter. If there is no space for a new node: the node of the visit as it is.
std::uint32_t LocationAggregator::with_parameter(ParameterId parameter, std::uint64_t value) {
  const std::uint32_t current = innermost().node;
  std::vector<std::pair<ParameterId, std::uint64_t>> later;
  const AggregatedLocation::Parameter* one = parameter_of(current);
  for (; one != nullptr && one->parameter != parameter; one = parameter_of(one->base)) {
    later.emplace_back(one->parameter, one->value);
  }
  if (one == nullptr) later.clear();
  if (one != nullptr && one->value == value) return current;
  std::uint32_t node = with_value(one == nullptr ? current : one->base, parameter, value);
  for (; node != 0 && !later.empty(); later.pop_back()) {
    node = with_value(node, later.back().first, later.back().second);
  }
  return node == 0 ? current : node;
}

std::uint32_t LocationAggregator::with_value(std::uint32_t node, ParameterId parameter,
                                             std::uint64_t value) {
  const auto [found, fresh] = variants_.try_emplace({node, parameter.value(), value}, 0);
  if (found->second != 0 || !take_node()) return found->second;
  const auto to = static_cast<std::uint32_t>(aggregated_.nodes.size());
  aggregated_.nodes.push_back(
      {{}, aggregated_.nodes[node].region, aggregated_.nodes[node].parent, 0});
  aggregated_.parameters.push_back({to, node, parameter, value});
  return found->second = to;
}

void LocationAggregator::metric(const Event& event) {
  if (event.ref >= definitions_->metrics.size())
    fail("has a value of metric " + std::to_string(event.ref) + ", which is undefined");
  const Metric& definition = definitions_->metrics[event.ref];
  if (definition.sampled()) {
    const auto& metrics = definitions_->metrics;
    if (event.ref > 0 && metrics[event.ref - 1].set == definition.set) ++together_;
    return sample(event, definition);
  }
  add_value(event.metric(), number_of(event, definition.type));
}

void LocationAggregator::add_value(MetricId metric, double value) {
  const std::uint32_t node = counting_node();
  if (node == 0 && !limits_.of_metrics) return;  // no region is open
  std::uint32_t place = metrics_.find(node, metric.value());
  if (place == ChildTable::kNone) {
    place = static_cast<std::uint32_t>(aggregated_.metrics.size());
    aggregated_.metrics.push_back({node, metric, {}});
    metrics_.insert(node, metric.value(), place);
  }
  aggregated_.metrics[place].statistics.add_value(value);
}

// The bytes of a call are a value of the metric of that name, if the run has it.
void LocationAggregator::transferred(std::uint64_t bytes, const char* name) {
  if (bytes == 0 || bytes == kNoBytes) return;
  const auto& metrics = definitions_->metrics;
  const auto metric = std::ranges::find(metrics, name, &Metric::name);
  if (metric == metrics.end() || metric->sampled()) return;
  add_value(MetricId{static_cast<std::uint32_t>(metric - metrics.begin())},
            static_cast<double>(bytes));
}

// The value comes before its enter or leave: the increase since the last value belongs to the call
// path that has been innermost meanwhile. Values that are not integers are left out.
void LocationAggregator::sample(const Event& event, const Metric& metric) {
  if (metric.type != MetricValueType::kUint64) return;
  if (sampled_.size() <= event.ref) sampled_.resize(event.ref + 1);
  const std::uint64_t before = sampled_[event.ref].value_or(event.value);
  sampled_[event.ref] = event.value;
  const std::uint64_t value =
      metric.counts() ? event.value - std::min(before, event.value) : event.value;
  add_sample(counting_node(), event.metric(), value, metric);
}

void LocationAggregator::waited(std::uint64_t time, std::uint32_t cause) {
  if (cause >= kWaitingCauses) cause = 0;
  const std::pair visit(depth_, innermost().entered);
  if (std::exchange(waits_in_, visit) != visit) waits_ = {};
  waits_[cause] += time;
  add_wait(counting_node(), time, cause);
  waited_inside_.resize(aggregated_.nodes.size());
  for (std::uint32_t level = 1; level <= depth_; ++level) {
    waited_inside_[stack_[level].node] += nanoseconds_in_ticks(time);
  }
}

void LocationAggregator::add_wait(std::uint32_t node, std::uint64_t time, std::uint32_t cause) {
  const auto& metrics = definitions_->metrics;
  const auto add = [&](auto metric) {
    if (metric == metrics.end()) return;
    const MetricId id{static_cast<std::uint32_t>(metric - metrics.begin())};
    add_sample(node, id, time, *metric);
  };
  const auto waiting = std::ranges::find_if(metrics, &Metric::is_waiting);
  if (waiting == metrics.end()) return;
  add(waiting);
  if (cause == 0) return;
  add(std::ranges::find_if(metrics, [&](const Metric& one) {
    return one.is_waiting_cause() && one.name.ends_with(kCauseWords[cause]);
  }));
}

// The waits of the visit that has begun last, which moves to another call path.
void LocationAggregator::move_waits(std::uint32_t from, std::uint32_t to) {
  waited_inside_.resize(aggregated_.nodes.size());
  for (std::uint32_t cause = 0; cause < kWaitingCauses; ++cause) {
    if (waits_[cause] == 0) continue;
    add_wait(from, 0 - waits_[cause], cause);  // sums are of 64 bits, and wrap
    add_wait(to, waits_[cause], cause);
    const std::uint64_t ticks = std::min(nanoseconds_in_ticks(waits_[cause]), waited_inside_[from]);
    waited_inside_[from] -= ticks;
    waited_inside_[to] += ticks;
  }
}

std::uint64_t LocationAggregator::nanoseconds_in_ticks(std::uint64_t time) const noexcept {
  return scaled(time, definitions_->clock.ticks_per_second, kNanoseconds);
}

void LocationAggregator::add_sample(std::uint32_t node, MetricId id, std::uint64_t value,
                                    const Metric& metric) {
  if (value == 0) return;
  const std::uint32_t place = samples_.find(node, id.value());
  if (place == ChildTable::kNone) {
    samples_.insert(node, id.value(), static_cast<std::uint32_t>(aggregated_.samples.size()));
    aggregated_.samples.push_back({node, id, value});
  } else {
    std::uint64_t& sum = aggregated_.samples[place].value;
    sum = metric.join(sum, value);
  }
}

void LocationAggregator::check_leave(std::uint32_t region, std::uint64_t time) const {
  const Frame frame = innermost();
  if (depth_ == 0) fail("leaves region " + std::to_string(region) + " without an enter");
  if (time < frame.entered)
    fail("leaves region " + std::to_string(region) + " before it enters it");
  if (!beyond_limit(frame.node)) {
    fail("leaves region " + std::to_string(region) + " while it is in region " +
         std::to_string(aggregated_.nodes[frame.node].region));
  }
}

void LocationAggregator::fail(const std::string& what) const {
  throw Error("damaged trace: location '" + location_name_ + "' " + what + " [TL322]");
}

AggregatedLocation LocationAggregator::finish() {
  if (in_team_frame()) leave_team(ticks(aggregated_.last));
  if (depth_ > 0)
    fail("ends inside region " + std::to_string(aggregated_.nodes[innermost().node].region));
  aggregated_.events -= together_;
  add_last_milestones();
  add_up_twins();
  for (AggregatedNode& node : aggregated_.nodes) {
    if (node.region < definitions_->regions.size() &&
        is_forked(definitions_->regions[node.region])) {
      node.statistics = {.inclusive = node.statistics.inclusive};
    }
  }
  return std::move(aggregated_);
}

}  // namespace timeloom::profile
