// A run as a source of fewer events.

#include <algorithm>
#include <array>
#include <mutex>

#include "core/error.hpp"
#include "core/teams/team_scan.hpp"
#include "core/wakeups.hpp"
#include "exchange/arguments.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "exchange/selection.hpp"
#include "exchange/tracks.hpp"

namespace timeloom::exchange {

namespace {

using Kind = WindowPoint::Kind;

struct Span {  // ticks; both ends are in it
  std::uint64_t from = 0;
  std::uint64_t until = UINT64_MAX;
};

struct Choice {
  Span span;
  std::set<LocationId> locations;
  std::vector<bool> regions;
};

// Passes on the selected events of a location.
class SelectedLocation : public LocationSink {
 public:
  SelectedLocation(const Choice& choice, const Definitions& definitions,
                   std::vector<std::unique_ptr<LocationSink>> sinks)
      : choice_(choice), definitions_(definitions), sinks_(std::move(sinks)) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      take(event);
      if (event.kind != EventKind::kWaiting) last_ = ticks(event.time);
    }
    pass();
  }

  void finish() override {
    begin();  // visits open at the start of the window may last beyond the last event
    close();
    pass();
    for (const auto& sink : sinks_) sink->finish();
  }

 private:
  struct Open {  // a visit that is open when the window starts
    Event enter;
    std::vector<Event> parameters;
  };
  struct OpenTeam {
    std::size_t outside;  // number of visits around it
    Event begin;
  };

  void take(const Event& event) {
    const std::uint64_t time = ticks(event.time);
    // Calls that end as the window starts, or start as it ends, are outside.
    const bool leaves = event.kind == EventKind::kLeave, enters = event.kind == EventKind::kEnter;
    if (time > choice_.span.from || (time == choice_.span.from && !leaves)) begin();
    const bool after = time > choice_.span.until || (time == choice_.span.until && enters);
    if (after && !reaches_into_window(event)) close();
    if (event.kind == EventKind::kEnter) return enter(event);
    if (event.kind == EventKind::kLeave) return leave(event);
    if (event.kind == EventKind::kSampleFrame && !is_chosen(event.ref)) return;
    const bool of_call =
        is_parameter(event.kind) && wakeup_end_of(event, definitions_) == WakeupEnd::kNone;
    if (of_call) return parameter(event);
    if (!begun_) team(event);
    if (begun_ && !closed_) selected_.push_back(within(event));
  }

  // Whether it is the waiting of a gap that has begun before the end of the window.
  bool reaches_into_window(const Event& event) const {
    return event.kind == EventKind::kWaiting && last_ < choice_.span.until;
  }

  // Waiting since an event before the window, or until one after it, may have been at any time of
  // this gap: the part of it that the window has of the gap.
  Event within(Event event) const {
    const std::uint64_t time = ticks(event.time);
    const std::uint64_t from = std::max(choice_.span.from, last_);
    const std::uint64_t until = std::min(choice_.span.until, time);
    if (event.kind != EventKind::kWaiting || (from == last_ && until == time)) return event;
    const long double part =
        static_cast<long double>(until - from) / static_cast<long double>(time - last_);
    event.time = Timestamp{until};
    event.value = static_cast<std::uint64_t>(part * static_cast<long double>(event.value));
    return event;
  }

  bool is_chosen(std::uint32_t region) const {
    return region < choice_.regions.size() && choice_.regions[region];
  }

  void enter(const Event& event) {
    const bool chosen = is_chosen(event.ref);
    stack_.push_back(chosen);
    if (!chosen || closed_) return;
    open_.push_back({event, {}});
    if (begun_) selected_.push_back(event);
  }

  void leave(const Event& event) {
    if (stack_.empty()) return;
    const bool chosen = stack_.back();
    stack_.pop_back();
    if (!chosen || closed_) return;
    open_.pop_back();
    if (begun_) selected_.push_back(event);
  }

  void parameter(const Event& event) {
    if (stack_.empty() || !stack_.back() || closed_) return;
    if (begun_) {
      selected_.push_back(event);
    } else {
      open_.back().parameters.push_back(event);
    }
  }

  // Teams that other threads have forked, which are open when the window starts.
  void team(const Event& event) {
    if (event.kind == EventKind::kTeamFork) {
      last_fork_ = event.value;
    } else if (event.kind == EventKind::kTeamBegin && event.value != last_fork_) {
      teams_.push_back({open_.size(), event});
    } else if (event.kind == EventKind::kTeamEnd && !teams_.empty() &&
               teams_.back().begin.value == event.value) {
      teams_.pop_back();
    }
  }

  void begin() {
    if (begun_) return;
    begun_ = true;
    auto team = teams_.begin();
    for (const Open& one : open_) {
      const auto outside = static_cast<std::size_t>(&one - open_.data());
      for (; team != teams_.end() && team->outside <= outside; ++team) add_team(*team);
      add_at(choice_.span.from, one.enter);
      for (const Event& parameter : one.parameters) add_at(choice_.span.from, parameter);
    }
    for (; team != teams_.end(); ++team) add_team(*team);
  }

  void add_team(const OpenTeam& team) { add_at(choice_.span.from, team.begin); }

  // At the end of the window all open visits are left.
  void close() {
    if (closed_) return;
    closed_ = true;
    for (; !open_.empty(); open_.pop_back()) {
      Event event = open_.back().enter;
      event.kind = EventKind::kLeave;
      add_at(choice_.span.until, event);
    }
  }

  void add_at(std::uint64_t time, Event event) {
    event.time = Timestamp{time};
    selected_.push_back(event);
  }

  void pass() {
    if (selected_.empty()) return;
    for (const auto& sink : sinks_) sink->consume(selected_);
    selected_.clear();
  }

  const Choice& choice_;
  const Definitions& definitions_;
  std::vector<std::unique_ptr<LocationSink>> sinks_;
  std::uint64_t last_ = 0;  // the time of the event before
  bool begun_ = false;
  bool closed_ = false;
  std::vector<bool> stack_;  // for all open visits: whether they are selected
  std::vector<Open> open_;   // the selected ones
  std::vector<OpenTeam> teams_;
  std::uint64_t last_fork_ = 0;  // number of the team that the location forked last
  std::vector<Event> selected_;
};

class NoLocation : public LocationSink {
  void consume(std::span<const Event>) override {}
  void finish() override {}
};

class SelectedRun : public RunSink {
 public:
  SelectedRun(const Choice& choice, const Definitions& definitions, std::span<RunSink* const> sinks)
      : choice_(choice), definitions_(definitions), sinks_(sinks) {}

  void begin(const Definitions&) override {
    for (RunSink* sink : sinks_) sink->begin(definitions_);
  }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    if (!choice_.locations.contains(location.id)) return std::make_unique<NoLocation>();
    std::vector<std::unique_ptr<LocationSink>> open;
    for (RunSink* sink : sinks_) open.push_back(sink->open_location(location));
    return std::make_unique<SelectedLocation>(choice_, definitions_, std::move(open));
  }
  void finish() override {
    for (RunSink* sink : sinks_) sink->finish();
  }

 private:
  const Choice& choice_;
  const Definitions& definitions_;
  std::span<RunSink* const> sinks_;
};

// The clock of a run that is the part of another one.
ClockProperties clock_of(const ClockProperties& all, const Span& span) {
  ClockProperties part = all;
  const std::uint64_t end = std::min(all.begin + all.length, span.until);
  part.begin = std::min(std::max(all.begin, span.from), end);
  part.length = end - part.begin;
  const auto ns = static_cast<std::uint64_t>(static_cast<double>(part.begin - all.begin) * 1e9 /
                                             static_cast<double>(all.ticks_per_second));
  if (part.realtime) *part.realtime += ns;
  return part;
}

class SelectedSource : public RunSource {
 public:
  SelectedSource(RunSource& run, Choice choice, bool as_run)
      : run_(run), choice_(std::move(choice)), definitions_(run.definitions()) {
    definitions_.original = nullptr;  // of all events
    if (as_run) definitions_.clock = clock_of(definitions_.clock, choice_.span);
    mark_tasks(definitions_);
    std::erase_if(definitions_.locations, [&](const Location& location) {
      return !choice_.locations.contains(location.id);
    });
    std::erase_if(definitions_.markers, [&](const Marker& marker) {
      return ticks(marker.time) < choice_.span.from || ticks(marker.time) > choice_.span.until ||
             !choice_.locations.contains(marker.location);
    });
  }

  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned threads) override {
    if (has_teams(definitions_) && std::ranges::any_of(sinks, &RunSink::wants_teams)) {
      find_teams(threads);
    }
    replay(choice_, definitions_, sinks, threads);
  }

 private:
  void replay(const Choice& choice, const Definitions& definitions, std::span<RunSink* const> sinks,
              unsigned threads) {
    SelectedRun selected(choice, definitions, sinks);
    const std::array<RunSink*, 1> one = {&selected};
    run_.replay(one, threads);
  }

  // The call paths of forks have the selected regions, on whatever thread and whenever they were.
  void find_teams(unsigned threads) {
    Choice choice;
    choice.regions = choice_.regions;
    for (const Location& location : run_.definitions().locations) {
      choice.locations.insert(location.id);
    }
    TeamScan scan;
    const std::array<RunSink*, 1> one = {&scan};
    replay(choice, run_.definitions(), one, threads);
    definitions_.teams = scan.take();
  }

  RunSource& run_;
  Choice choice_;
  Definitions definitions_;
};

// Finds the first enter of a region, and the first leave of a region after a given time, over all
// locations.
class PointFinder : public RunSink {
 public:
  PointFinder(EventKind kind, RegionId region, std::uint64_t after)
      : kind_(kind), region_(region), after_(after) {}
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<OfLocation>(*this);
  }
  void finish() override {}
  std::uint64_t found() const noexcept { return found_; }

 private:
  class OfLocation : public LocationSink {
   public:
    explicit OfLocation(PointFinder& all) : all_(all) {}
    void consume(std::span<const Event> events) override {
      for (const Event& event : events) {
        if (event.kind != all_.kind_ || event.region() != all_.region_) continue;
        if (ticks(event.time) >= all_.after_) found_ = std::min(found_, ticks(event.time));
      }
    }
    void finish() override {
      const std::lock_guard lock(all_.mutex_);
      all_.found_ = std::min(all_.found_, found_);
    }

   private:
    PointFinder& all_;
    std::uint64_t found_ = UINT64_MAX;
  };

  EventKind kind_;
  RegionId region_;
  std::uint64_t after_;
  std::mutex mutex_;
  std::uint64_t found_ = UINT64_MAX;
};

// The regions with that name; several may share it.
std::vector<RegionId> regions_named(const Definitions& definitions, const std::string& name) {
  std::vector<RegionId> found;
  for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
    if (definitions.regions[i].name == name) found.push_back(RegionId{i});
  }
  if (found.empty()) {
    throw Error("no region '" + one_line(name) +
                "' in this run; 'timeloom report --flat' lists them [TL308]");
  }
  return found;
}

std::uint64_t time_of_point(RunSource& run, const WindowPoint& point, EventKind kind,
                            std::uint64_t after, unsigned threads) {
  const Definitions& definitions = run.definitions();
  if (point.kind == Kind::kTime) {
    return ticks(RunClock(definitions.clock).at(point.ns));
  }
  std::vector<std::unique_ptr<PointFinder>> finders;
  std::vector<RunSink*> sinks;
  for (const RegionId region : regions_named(definitions, point.region)) {
    finders.push_back(std::make_unique<PointFinder>(kind, region, after));
    sinks.push_back(finders.back().get());
  }
  run.replay(sinks, threads);
  std::uint64_t found = UINT64_MAX;
  for (const auto& finder : finders) found = std::min(found, finder->found());
  if (found == UINT64_MAX) {
    throw Error("'" + one_line(point.region) + "' is not " +
                (kind == EventKind::kEnter ? "entered" : "left") +
                " in that part of the run [TL309]");
  }
  return found;
}

}  // namespace

std::unique_ptr<RunSource> select(RunSource& run, const Selection& selection, unsigned threads) {
  Choice choice;
  const Window& window = selection.window;
  if (window.from.kind != Kind::kNone) {
    choice.span.from = time_of_point(run, window.from, EventKind::kEnter, 0, threads);
  }
  if (window.until.kind != Kind::kNone) {
    choice.span.until =
        time_of_point(run, window.until, EventKind::kLeave, choice.span.from, threads);
  }
  if (choice.span.until < choice.span.from) throw Error("--until is before --from [TL408]");
  choice.locations = chosen_locations(selection, run.definitions());
  choice.regions = chosen_regions(selection, run.definitions());
  return std::make_unique<SelectedSource>(run, std::move(choice), selection.as_run);
}

}  // namespace timeloom::exchange
