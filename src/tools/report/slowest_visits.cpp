#include "tools/report/slowest_visits.hpp"

#include <algorithm>

#include "core/regions/called_region.hpp"
#include "core/wakeups.hpp"
#include "exchange/names.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/report_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

// Keeps up to twice as many visits as are wanted.
class SlowestVisits::OneLocation final : public LocationSink {
 public:
  OneLocation(SlowestVisits& all, LocationId location) : all_(all), location_(location) {
    for (const RegionId region : all.regions_) wanted_.insert(region.value());
  }

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      switch (event.kind) {
        case EventKind::kEnter: open_.push_back({event.region(), ticks(event.time), 0, {}}); break;
        case EventKind::kLeave: leave(ticks(event.time)); break;
        case EventKind::kParameterInt:
        case EventKind::kParameterUint:
        case EventKind::kParameterFloat:
        case EventKind::kParameterString:
          if (!open_.empty()) open_.back().parameters.push_back(event);
          break;
        default: break;
      }
    }
  }

  void finish() override {
    all_.shorten(visits_);
    const std::scoped_lock lock(all_.mutex_);
    all_.visits_.insert(all_.visits_.end(), visits_.begin(), visits_.end());
  }

 private:
  struct Open {
    RegionId region;
    std::uint64_t begin;
    std::uint64_t inside;
    std::vector<Event> parameters;
  };

  void leave(std::uint64_t time) {
    if (open_.empty()) return;
    Open last = std::move(open_.back());
    open_.pop_back();
    const std::uint64_t total = time - std::min(time, last.begin);
    if (!open_.empty()) open_.back().inside += total;
    if (!wanted_.empty() && !wanted_.contains(last.region.value())) return;
    const Region& region = all_.definitions_->regions[last.region.value()];
    if (!is_called(region)) return;
    const std::uint64_t exclusive = total - std::min(total, last.inside);
    visits_.push_back({last.region, location_, last.begin, total, exclusive,
                       std::move(last.parameters), !all_.is_possible(last.begin, time)});
    if (visits_.size() >= 2 * all_.most_ + 64) all_.shorten(visits_);
  }

  SlowestVisits& all_;
  LocationId location_;
  std::set<std::uint32_t> wanted_;  // empty: all
  std::vector<Open> open_;
  std::vector<Visit> visits_;
};

std::unique_ptr<LocationSink> SlowestVisits::open_location(const Location& location) {
  class Nothing final : public LocationSink {
    void consume(std::span<const Event>) override {}
    void finish() override {}
  };
  if (!locations_.contains(location.id)) return std::make_unique<Nothing>();
  return std::make_unique<OneLocation>(*this, location.id);
}

// Of a run whose length is known, no visit lies outside.
bool SlowestVisits::is_possible(std::uint64_t begin, std::uint64_t end) const {
  const ClockProperties& clock = definitions_->clock;
  if (end < begin) return false;
  return clock.length == 0 ||
         (begin >= clock.begin && end - begin <= clock.length && end - clock.begin <= clock.length);
}

bool SlowestVisits::slower(const Visit& a, const Visit& b) const {
  const std::uint64_t of_a = regions_.empty() ? a.exclusive : a.total;
  const std::uint64_t of_b = regions_.empty() ? b.exclusive : b.total;
  if (of_a != of_b) return of_a > of_b;
  return a.begin != b.begin ? a.begin < b.begin : a.location < b.location;
}

void SlowestVisits::shorten(std::vector<Visit>& visits) const {
  std::ranges::sort(visits, [this](const Visit& a, const Visit& b) { return slower(a, b); });
  if (visits.size() > most_)
    visits.erase(visits.begin() + static_cast<std::ptrdiff_t>(most_), visits.end());
}

void SlowestVisits::finish() { shorten(visits_); }

std::string SlowestVisits::parameters_of(const Visit& visit) const {
  std::string text;
  for (const Event& event : visit.parameters) {
    if (event.ref >= definitions_->parameters.size()) continue;
    if (wakeup_end_of(event, *definitions_) != WakeupEnd::kNone) continue;
    std::string value;
    switch (event.kind) {
      case EventKind::kParameterInt: value = std::to_string(event.as_int()); break;
      case EventKind::kParameterUint: value = std::to_string(event.value); break;
      case EventKind::kParameterFloat: value = formatted("{}", event.as_double()); break;
      default:
        if (event.value < definitions_->strings.size()) value = definitions_->strings[event.value];
    }
    text += (text.empty() ? "" : ", ") + definitions_->parameters[event.ref].name + "=" + value;
  }
  return text;
}

std::string SlowestVisits::name_of_location(LocationId id) const {
  const auto found = std::ranges::lower_bound(definitions_->locations, id, {}, &Location::id);
  return found == definitions_->locations.end() ? std::string() : location_name(*found);
}

void SlowestVisits::write(const Terminal& terminal, Output& output) const {
  const CodeOwner owner(*definitions_);
  write_losses(facts_of(*definitions_).losses, terminal, output);
  output.write(terminal.paint("   own  total      at  ", Ink::kDim) +
               terminal.paint("slowest visits", Ink::kAccent) +
               terminal.paint(regions_.empty() ? "  by their own time" : "  by their total time",
                              Ink::kDim) +
               "\n");
  for (const Visit& visit : visits_) {
    const std::uint64_t since = visit.begin - std::min(visit.begin, definitions_->clock.begin);
    AnswerLine line;
    line.numbers = formatted(
        "{} {} {}", pad_left(duration(seconds(visit.exclusive, *definitions_), terminal), 6),
        pad_left(duration(seconds(visit.total, *definitions_), terminal), 6),
        pad_left(duration(seconds(since, *definitions_), terminal), 7));
    const std::string values = parameters_of(visit);
    line.name = printable(exchange::region_name(*definitions_, visit.region));
    if (!values.empty()) line.note = printable(" {" + values + "}");
    if (visit.impossible) line.note += " (impossible: not within the run)";
    line.project = owner.is_project(visit.region);
    if (definitions_->locations.size() > 1)
      line.place = printable(name_of_location(visit.location));
    output.write(drawn(line, terminal));
  }
}

void SlowestVisits::write_json(Output& output) const {
  using nlohmann::ordered_json;
  ordered_json all = {{"format", "timeloom-report-slowest"}, {"version", 1}};
  all["losses"] = facts_of(*definitions_).losses;
  all["visits"] = ordered_json::array();
  for (const Visit& visit : visits_) {
    const std::uint64_t since = visit.begin - std::min(visit.begin, definitions_->clock.begin);
    all["visits"].push_back({{"name", exchange::region_name(*definitions_, visit.region)},
                             {"parameters", parameters_of(visit)},
                             {"thread", name_of_location(visit.location)},
                             {"location", visit.location.value()},
                             {"begin_s", seconds(since, *definitions_)},
                             {"total_s", seconds(visit.total, *definitions_)},
                             {"own_s", seconds(visit.exclusive, *definitions_)},
                             {"impossible", visit.impossible}});
  }
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
