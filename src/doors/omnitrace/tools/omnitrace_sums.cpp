#include "doors/omnitrace/tools/omnitrace_sums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/measuring_cost.hpp"
#include "exchange/names.hpp"
#include "tools/text/formatted.hpp"

namespace timeloom::tools {

namespace {

// The time of a thread, in nanoseconds since the start of the run.
struct Span {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  std::uint64_t waiting = 0;
  bool empty() const { return first > last; }
  double seconds() const { return static_cast<double>(last - first) * 1e-9; }
};

class Spans : public RunSink {
 public:
  explicit Spans(const Definitions& definitions)
      : definitions_(definitions), all_(definitions.locations.size()) {}
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    const auto place =
        std::ranges::lower_bound(definitions_.locations, location.id, {}, &Location::id);
    const auto index = static_cast<std::size_t>(place - definitions_.locations.begin());
    return std::make_unique<One>(all_[index], definitions_.clock);
  }
  void finish() override {}
  const std::vector<Span>& all() const { return all_; }

 private:
  class One : public LocationSink {
   public:
    One(Span& span, const ClockProperties& clock) : span_(span), clock_(clock) {}
    void consume(std::span<const Event> events) override {
      for (const Event& event : events) {
        if (event.kind == EventKind::kWaiting) span_.waiting += event.value;
      }
      if (events.empty()) return;
      span_.first = std::min(span_.first, clock_(events.front().time));
      span_.last = std::max(span_.last, clock_(events.back().time));
    }
    void finish() override {}

   private:
    Span& span_;
    exchange::RunClock clock_;
  };

  const Definitions& definitions_;
  std::vector<Span> all_;
};

class Line {
 public:
  explicit Line(const omnitrace::ReportStyle& style) : style_(style) {}

  Line& time(double seconds, const char* what) {
    const int digits = style_.of_times.precision;
    return add(seconds * 1e9 / style_.time.value, digits, style_.time.name, what);
  }
  Line& memory(double bytes, const char* what) {
    if (bytes <= 0) return *this;  // not known
    const int digits = style_.of_memory.precision;
    return add(bytes / style_.memory.value, digits, style_.memory.name, what);
  }
  Line& share(double part, double whole, const char* what) {
    return add(whole > 0 ? 100 * part / whole : 0, 1, "%", what);
  }
  const std::string& text() const { return text_; }

 private:
  Line& add(double number, int digits, const std::string& unit, const char* what) {
    text_ += formatted("{}{:.{}f} {} {}", text_.empty() ? "" : ", ", number, digits, unit, what);
    return *this;
  }

  std::string text_;
  const omnitrace::ReportStyle& style_;
};

std::string labelled(const std::string& name, const Line& line) {
  return name + " : " + line.text() + " [laps: 1]";
}

bool begins_before(const Span& a, const Span& b) { return a.first < b.first; }

bool has_waiting(const Definitions& definitions) {
  return std::ranges::any_of(definitions.metrics, &Metric::is_waiting);
}

// Of the process as a whole; of other tools, from its first event to its last.
std::string line_of(const std::string& name, const ProcessCost& process, const Span& span,
                    const omnitrace::ReportStyle& style) {
  Line line(style);
  line.time(process.wall > 0 ? process.wall : span.seconds(), "wall_clock");
  line.memory(process.peak, "peak_rss").memory(process.resident, "page_rss");
  // What the interpreter took to start is not in the wall time.
  if (process.running > 0) {
    line.time(process.running, "cpu_clock").share(process.running, process.wall, "cpu_util");
  }
  return labelled(name, line);
}

// Of the threads of a process, in order of appearance, the first thread first.
std::vector<std::string> lines_of_threads(const std::string& process, std::vector<Span> spans,
                                          bool waiting, const omnitrace::ReportStyle& style) {
  if (spans.size() > 2) std::stable_sort(spans.begin() + 1, spans.end(), begins_before);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    Line line(style);
    line.time(spans[i].seconds(), "wall_clock");
    if (waiting) {
      const double waited = static_cast<double>(spans[i].waiting) * 1e-9;
      const double cpu = std::max(0.0, spans[i].seconds() - waited);
      line.time(cpu, "thread_cpu_clock").share(cpu, spans[i].seconds(), "thread_cpu_util");
    }
    lines.push_back(labelled(process + "/thread/" + std::to_string(i), line));
  }
  return lines;
}

ProcessCost cost_of(const Definitions& definitions, std::size_t group) {
  const auto found = definitions.properties.find(process_cost_property(group));
  return found == definitions.properties.end() ? ProcessCost{} : process_cost_of(found->second);
}

}  // namespace

std::vector<std::string> sums_of_processes(RunSource& run, const omnitrace::ReportStyle& style,
                                           unsigned threads) {
  const Definitions& definitions = run.definitions();
  Spans spans(definitions);
  const std::array<RunSink*, 1> sinks = {&spans};
  run.replay(sinks, threads);
  std::vector<std::vector<Span>> by_group(definitions.groups.size());
  for (std::size_t i = 0; i < spans.all().size(); ++i) {
    const Location& location = definitions.locations[i];
    const bool thread = location.type == LocationType::kCpuThread && !spans.all()[i].empty();
    if (thread) by_group.at(location.group.value()).push_back(spans.all()[i]);
  }
  std::vector<std::string> lines;
  for (std::size_t group = 0; group < by_group.size(); ++group) {
    if (by_group[group].empty()) continue;
    Span whole;
    for (const Span& one : by_group[group]) {
      whole.first = std::min(whole.first, one.first);
      whole.last = std::max(whole.last, one.last);
    }
    const std::string name =
        "omnitrace/process/" + std::to_string(definitions.groups[group].process_id);
    lines.push_back(line_of(name, cost_of(definitions, group), whole, style));
    for (std::string& line :
         lines_of_threads(name, by_group[group], has_waiting(definitions), style)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string sum_of_finalizing(double wall_seconds, double cpu_seconds,
                              const omnitrace::ReportStyle& style) {
  Line line(style);
  line.time(wall_seconds, "wall_clock").time(cpu_seconds, "cpu_clock");
  return line.share(cpu_seconds, wall_seconds, "cpu_util").text();
}

}  // namespace timeloom::tools
