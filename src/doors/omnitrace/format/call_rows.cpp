#include "doors/omnitrace/format/call_rows.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/child_table.hpp"
#include "core/error.hpp"
#include "core/metric_unit.hpp"
#include "exchange/names.hpp"

namespace timeloom::omnitrace {

namespace {

// The place of a sampled metric in the values that a thread has at a time, and what 1 of it is in
// nanoseconds or bytes.
struct Sampled {
  std::size_t place = 0;
  double factor = 1;
};

std::optional<MetricId> find_sampled(const Definitions& definitions, std::string_view name) {
  for (std::uint32_t i = 0; i < definitions.metrics.size(); ++i) {
    const timeloom::Metric& metric = definitions.metrics[i];
    if (metric.sampled() && !metric.of_process() && metric.name == name) return MetricId{i};
  }
  return std::nullopt;
}

double factor_of(const timeloom::Metric& metric) {
  return metric.unit == "s" ? unit_factor(metric) * 1e9 : unit_factor(metric);
}

// State shared by all threads of a run while they are aggregated; nobody changes it then but
// `rows`.
struct Plan {
  Plan(const Definitions& all, const CallOptions& chosen) : definitions(all), options(chosen) {
    std::unordered_map<std::string, std::uint32_t> known;
    for (std::uint32_t i = 0; i < all.regions.size(); ++i) {
      const std::string name = exchange::region_name(all, RegionId{i});
      const auto [found, fresh] = known.emplace(name, labels.size());
      if (fresh) labels.push_back(name);
      label_of.push_back(all.regions[i].role == RegionRole::kArtificial ? kNone : found->second);
    }
    sampled_place.assign(all.metrics.size(), kNone);
    for (const Metric* metric : chosen.metrics) {
      values += values_of(*metric);
      std::vector<Sampled> parts;
      for (const std::string_view name : metric->sampled) parts.push_back(sample(name));
      sampled_of.push_back(std::move(parts));
    }
  }

  Sampled sample(std::string_view name) {
    const std::optional<MetricId> id = find_sampled(definitions, name);
    std::uint32_t& place = sampled_place.at(id->value());
    if (place == kNone) place = samples++;
    return {place, factor_of(definitions.metrics[id->value()])};
  }

  void take_row() {
    if (rows.fetch_add(1, std::memory_order_relaxed) < options.max_rows) return;
    throw Error("more than " + std::to_string(options.max_rows) +
                " rows; narrow the run with --from and --until" +
                (options.timeline ? ", or leave out the timeline" : "") + " [TL714]");
  }

  const Definitions& definitions;
  const CallOptions& options;
  std::vector<std::string> labels;
  std::vector<std::uint32_t> label_of;       // by region; kNone: no row
  std::vector<std::uint32_t> sampled_place;  // by metric of the run; kNone: not wanted
  std::uint32_t samples = 0;
  std::size_t values = 0;
  std::vector<std::vector<Sampled>> sampled_of;  // as the metrics
  std::atomic<std::uint64_t> rows = 0;
};

struct Begin {  // of a thread that is not the first of its process
  LocationId location;
  std::uint64_t time;
};

class ThreadAggregator : public LocationSink {
 public:
  ThreadAggregator(Plan& plan, const Location& location, std::vector<Begin> begins,
                   ThreadCalls& result)
      : plan_(plan),
        clock_(plan.definitions.clock),
        calls_(result),
        begins_(std::move(begins)),
        now_(plan.samples) {
    calls_.location = location.id;
    calls_.group = location.group;
    calls_.nodes.emplace_back();
    calls_.values.resize(plan.values);
  }

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      while (next_ < begins_.size() && begins_[next_].time < ticks(event.time)) note_begin();
      switch (event.kind) {
        case EventKind::kEnter: enter(event); break;
        case EventKind::kLeave: leave(event); break;
        case EventKind::kMetric:
          if (event.ref < plan_.sampled_place.size()) sample(event);
          break;
        default: break;
      }
    }
  }

  void finish() override {
    while (next_ < begins_.size()) note_begin();
  }

 private:
  struct Open {
    std::uint32_t node;  // kNone: no row
    std::uint64_t entered;
    std::size_t samples;  // where the samples of its enter are, in entered_
  };

  std::uint32_t innermost() const noexcept {
    for (auto open = stack_.rbegin(); open != stack_.rend(); ++open) {
      if (open->node != kNone) return open->node;
    }
    return 0;
  }

  void note_begin() { calls_.stood[begins_[next_++].location] = innermost(); }

  void sample(const Event& event) {
    const std::uint32_t place = plan_.sampled_place[event.ref];
    if (place != kNone) now_[place] = event.value;
  }

  void enter(const Event& event) {
    const std::uint32_t label =
        event.ref < plan_.label_of.size() ? plan_.label_of[event.ref] : kNone;
    const std::uint32_t node = label == kNone ? kNone : node_of(label, event);
    stack_.push_back({node, ticks(event.time), entered_.size()});
    entered_.insert(entered_.end(), now_.begin(), now_.end());
  }

  void leave(const Event& event) {
    if (stack_.empty()) return;
    const Open open = stack_.back();
    stack_.pop_back();
    if (open.node != kNone) {
      ++calls_.nodes[open.node].count;
      add_values(open, clock_.nanoseconds(ticks(event.time) - open.entered));
    }
    entered_.resize(open.samples);
  }

  std::uint32_t node_of(std::uint32_t label, const Event& event) {
    const std::uint32_t parent = plan_.options.flat ? 0 : innermost();
    if (!plan_.options.timeline) {
      const std::uint32_t found = children_.find(parent, label);
      if (found != ChildTable::kNone) return found;
    }
    plan_.take_row();
    const auto node = static_cast<std::uint32_t>(calls_.nodes.size());
    calls_.nodes.push_back({parent, label, ticks(event.time), 0});
    calls_.values.resize(calls_.values.size() + plan_.values);
    if (!plan_.options.timeline) children_.insert(parent, label, node);
    return node;
  }

  void add_values(const Open& open, std::uint64_t wall_ns) {
    Visits* value = calls_.values.data() + open.node * plan_.values;
    const std::uint64_t* before = entered_.data() + open.samples;
    const auto wall = static_cast<double>(wall_ns);
    for (std::size_t i = 0; i < plan_.options.metrics.size(); ++i) {
      const std::vector<Sampled>& sampled = plan_.sampled_of[i];
      double increase = 0;
      for (const Sampled& one : sampled) {
        increase += one.factor * static_cast<double>(now_[one.place] - before[one.place]);
      }
      switch (plan_.options.metrics[i]->measure) {
        case Measure::kNothing: break;
        case Measure::kWallTime: value++->add(wall); break;
        case Measure::kIncrease: value++->add(increase); break;
        case Measure::kShare:  // the clock of the kernel goes in steps, a short call has more
          increase = std::min(increase, wall);
          value++->add(wall > 0 ? 100 * increase / wall : 0);
          value++->add(increase);
          value++->add(wall);
          break;
        case Measure::kBothEnds:
          value++->add(sampled[0].factor * static_cast<double>(before[sampled[0].place]));
          value++->add(sampled[0].factor * static_cast<double>(now_[sampled[0].place]));
          break;
      }
    }
  }

  Plan& plan_;
  exchange::RunClock clock_;
  ThreadCalls& calls_;
  std::vector<Begin> begins_;  // in order of time
  std::size_t next_ = 0;
  std::vector<std::uint64_t> now_;      // the sampled values
  std::vector<std::uint64_t> entered_;  // samples of the enters of stack_
  std::vector<Open> stack_;
  ChildTable children_;
};

class NoCalls : public LocationSink {
  void consume(std::span<const Event>) override {}
  void finish() override {}
};

// The first enter of each location.
class FirstEnters : public RunSink {
 public:
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<One>(*this, location.id);
  }
  void finish() override {}
  const std::map<LocationId, std::uint64_t>& times() const noexcept { return times_; }

 private:
  class One : public LocationSink {
   public:
    One(FirstEnters& all, LocationId location) : all_(all), location_(location) {}
    void consume(std::span<const Event> events) override {
      if (found_) return;
      const auto enter = std::ranges::find(events, EventKind::kEnter, &Event::kind);
      if (enter != events.end()) found_ = ticks(enter->time);
    }
    void finish() override {
      const std::lock_guard lock(all_.mutex_);
      if (found_) all_.times_[location_] = *found_;
    }

   private:
    FirstEnters& all_;
    LocationId location_;
    std::optional<std::uint64_t> found_;
  };

  std::mutex mutex_;
  std::map<LocationId, std::uint64_t> times_;
};

bool is_thread(const Location& location) { return location.type != LocationType::kMetric; }

// The location of the first thread of each process.
std::map<LocationGroupId, LocationId> first_threads(const Definitions& definitions) {
  std::map<LocationGroupId, LocationId> first;
  for (const Location& location : definitions.locations) {
    if (is_thread(location)) first.emplace(location.group, location.id);
  }
  return first;
}

class CallSinkOfRun : public RunSink {
 public:
  CallSinkOfRun(Plan& plan, const std::map<LocationId, std::uint64_t>& times)
      : plan_(plan),
        first_(first_threads(plan.definitions)),
        threads_(plan.definitions.locations.size()) {
    for (const Location& location : plan.definitions.locations) {
      const auto time = times.find(location.id);
      const auto first = first_.find(location.group);
      if (time == times.end() || first == first_.end() || first->second == location.id) continue;
      begins_[first->second].push_back({location.id, time->second});
    }
    for (auto& [location, begins] : begins_) std::ranges::stable_sort(begins, {}, &Begin::time);
  }

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    if (!is_thread(location)) return std::make_unique<NoCalls>();
    const auto place =
        std::ranges::lower_bound(plan_.definitions.locations, location.id, {}, &Location::id);
    const auto index = static_cast<std::size_t>(place - plan_.definitions.locations.begin());
    const auto begins = begins_.find(location.id);
    return std::make_unique<ThreadAggregator>(
        plan_, location, begins == begins_.end() ? std::vector<Begin>() : begins->second,
        threads_[index]);
  }
  void finish() override {}

  std::vector<ThreadCalls> take() {
    std::erase_if(threads_, [](const ThreadCalls& one) { return one.nodes.size() < 2; });
    return std::move(threads_);
  }

 private:
  Plan& plan_;
  std::map<LocationGroupId, LocationId> first_;
  std::map<LocationId, std::vector<Begin>> begins_;
  std::vector<ThreadCalls> threads_;
};

bool has_several_threads(const Definitions& definitions) {
  const auto threads = std::ranges::count_if(definitions.locations, is_thread);
  return static_cast<std::size_t>(threads) > first_threads(definitions).size();
}

}  // namespace

void Visits::add(double value) noexcept {
  add(Visits{1, value, value, value, static_cast<long double>(value) * value});
}

void Visits::add(const Visits& other) noexcept {
  if (other.count == 0) return;
  min = count == 0 ? other.min : std::min(min, other.min);
  max = count == 0 ? other.max : std::max(max, other.max);
  count += other.count;
  sum += other.sum;
  squares += other.squares;
}

std::size_t values_of(const Metric& metric) noexcept {
  switch (metric.measure) {
    case Measure::kNothing: return 0;
    case Measure::kWallTime:
    case Measure::kIncrease: return 1;
    case Measure::kShare: return 3;  // and what it is the share of what
    case Measure::kBothEnds: return 2;
  }
  return 0;
}

std::vector<const Metric*> missing_metrics(const std::vector<const Metric*>& metrics,
                                           const Definitions& definitions) {
  std::vector<const Metric*> missing;
  for (const Metric* metric : metrics) {
    const bool whole = std::ranges::all_of(metric->sampled, [&](std::string_view name) {
      return find_sampled(definitions, name).has_value();
    });
    if (!whole) missing.push_back(metric);
  }
  return missing;
}

Calls aggregate_calls(RunSource& run, const CallOptions& options, unsigned threads) {
  FirstEnters first;
  if (!options.flat && has_several_threads(run.definitions())) {
    const std::array<RunSink*, 1> sinks = {&first};
    run.replay(sinks, threads);
  }
  Plan plan(run.definitions(), options);
  CallSinkOfRun sink(plan, first.times());
  const std::array<RunSink*, 1> sinks = {&sink};
  run.replay(sinks, threads);
  Calls calls;
  calls.threads = sink.take();
  calls.labels = std::move(plan.labels);
  calls.metrics = options.metrics;
  calls.values = plan.values;
  return calls;
}

}  // namespace timeloom::omnitrace
