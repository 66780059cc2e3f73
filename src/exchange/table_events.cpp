// The table of events.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/wakeups.hpp"
#include "exchange/arguments.hpp"
#include "exchange/event_table.hpp"
#include "exchange/names.hpp"
#include "exchange/tracks.hpp"

namespace timeloom::exchange {

namespace {

// The word for an event; empty: the event has no row.
std::string_view word_of(EventKind kind) {
  if (is_parameter(kind)) return "parameter";
  switch (kind) {
    case EventKind::kEnter: return "enter";
    case EventKind::kLeave: return "leave";
    case EventKind::kMetric: return "metric";
    case EventKind::kRecordingOff: return "recording off";
    case EventKind::kRecordingOn: return "recording on";
    case EventKind::kThreadCreate: return "create";
    case EventKind::kThreadBegin: return "begin";
    case EventKind::kThreadEnd: return "end";
    case EventKind::kThreadWait: return "join";
    default: return {};
  }
}

constexpr std::uint32_t kNoRow = UINT32_MAX;

// The texts of the columns, and their indices by definition of the run.
struct EventWords {
  EventWords(const Definitions& definitions, const Tracks& tracks) {
    for (const Process& one : tracks.processes) processes.push_back(process->add(one.name));
    for (const Track& one : tracks.tracks) threads.push_back(thread->add(one.name));
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const std::string_view word = word_of(static_cast<EventKind>(kind));
      kinds[kind] = word.empty() ? kNoRow : event->add(word);
    }
    wakes = event->add("wakes");
    woken = event->add("woken");
    no_name = name->add({});
    for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
      regions.push_back(name->add(region_name(definitions, RegionId{i})));
    }
    unknown_region = name->add(region_name(definitions, RegionId{}));
    for (const Metric& one : definitions.metrics) metrics.push_back(name->add(metric_name(one)));
    bool texts = false;
    for (const Parameter& one : definitions.parameters) {
      parameters.push_back(name->add(parameter_name(one)));
      texts = texts || one.type == ParameterType::kString;
    }
    if (!texts) return;
    for (const std::string& one : definitions.strings) strings.push_back(text->add(one));
  }

  std::vector<Column> columns() const {
    return {{"process", ColumnType::kText, process}, {"thread", ColumnType::kText, thread},
            {"time_ns", ColumnType::kInteger},       {"event", ColumnType::kText, event},
            {"name", ColumnType::kText, name},       {"depth", ColumnType::kInteger},
            {"number", ColumnType::kReal},           {"text", ColumnType::kText, text}};
  }

  std::uint32_t of(RegionId region) const {
    return region.value() < regions.size() ? regions[region.value()] : unknown_region;
  }

  using Shared = std::shared_ptr<Words>;
  Shared process = std::make_shared<Words>(), thread = std::make_shared<Words>(),
         event = std::make_shared<Words>(), name = std::make_shared<Words>(),
         text = std::make_shared<Words>();
  std::vector<std::uint32_t> processes, threads, regions, metrics, parameters, strings;
  std::array<std::uint32_t, 256> kinds{};  // kNoRow: no row
  std::uint32_t wakes = 0, woken = 0, no_name = 0, unknown_region = 0;
};

class EventRows : public LocationSink {
 public:
  EventRows(const Definitions& definitions, const EventWords& words, std::size_t track,
            std::size_t process, std::unique_ptr<RowWriter> row)
      : definitions_(definitions),
        words_(words),
        clock_(definitions.clock),
        thread_(words.threads[track]),
        process_(words.processes[process]),
        row_(std::move(row)) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) write(event);
  }
  void finish() override { row_->finish(); }

 private:
  void write(const Event& event) {
    const WakeupEnd wakeup = wakeup_end_of(event, definitions_);
    const std::uint32_t word = word_of(event.kind, wakeup);
    if (word == kNoRow || !is_defined(event)) return;
    if (event.kind == EventKind::kLeave) --depth_;
    row_->text(process_);
    row_->text(thread_);
    row_->integer(static_cast<std::int64_t>(clock_(event.time)));
    row_->text(word);
    if (wakeup == WakeupEnd::kNone) {
      write_value(event);
    } else {
      cells(words_.no_name, static_cast<double>(event.value));
    }
    row_->end_row();
    if (event.kind == EventKind::kEnter) ++depth_;
  }

  std::uint32_t word_of(EventKind kind, WakeupEnd wakeup) const {
    if (wakeup == WakeupEnd::kNone) return words_.kinds[static_cast<std::size_t>(kind)];
    return wakeup == WakeupEnd::kWakes ? words_.wakes : words_.woken;
  }

  bool is_defined(const Event& event) const {
    if (is_parameter(event.kind)) return is_sound(event, definitions_);
    if (event.kind == EventKind::kMetric) return event.ref < definitions_.metrics.size();
    return true;
  }

  // Name, depth of the call, number, text.
  void write_value(const Event& event) {
    if (event.kind == EventKind::kEnter || event.kind == EventKind::kLeave) {
      return cells(words_.of(event.region()));
    }
    if (event.kind == EventKind::kMetric) {
      const Metric& metric = definitions_.metrics[event.ref];
      return cells(words_.metrics[event.ref], metric_value(event, metric.type));
    }
    if (is_parameter(event.kind)) return write_parameter(event);
    const bool of_thread =
        event.kind != EventKind::kRecordingOff && event.kind != EventKind::kRecordingOn;
    if (of_thread) return cells(words_.no_name, static_cast<double>(event.value));
    cells(words_.no_name);
  }

  void write_parameter(const Event& event) {
    const std::uint32_t name = words_.parameters[event.ref];
    switch (event.kind) {
      case EventKind::kParameterInt: return cells(name, static_cast<double>(event.as_int()));
      case EventKind::kParameterUint: return cells(name, static_cast<double>(event.value));
      case EventKind::kParameterFloat: return cells(name, event.as_double());
      default: break;
    }
    row_->text(name);
    row_->integer(depth_);
    row_->none();
    row_->text(words_.strings[event.value]);
  }

  void cells(std::uint32_t name) {
    row_->text(name);
    row_->integer(depth_);
    row_->none();
    row_->none();
  }

  void cells(std::uint32_t name, double number) {
    row_->text(name);
    row_->integer(depth_);
    row_->real(number);
    row_->none();
  }

  const Definitions& definitions_;
  const EventWords& words_;
  RunClock clock_;
  std::uint32_t thread_;
  std::uint32_t process_;
  std::unique_ptr<RowWriter> row_;
  std::int64_t depth_ = 0;
};

class EventTable : public RunSink {
 public:
  EventTable(const Definitions& definitions, TableFormat& format)
      : definitions_(definitions),
        tracks_(definitions),
        words_(definitions, tracks_),
        format_(format) {}
  void begin(const Definitions&) override {
    format_.begin(words_.columns(), tracks_.tracks.size());
  }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    const std::size_t track = tracks_.index_of(location.id);
    return std::make_unique<EventRows>(definitions_, words_, track, tracks_.tracks[track].process,
                                       format_.rows(track));
  }
  void finish() override { format_.end(); }

 private:
  const Definitions& definitions_;
  Tracks tracks_;
  EventWords words_;
  TableFormat& format_;
};

}  // namespace

void write_table_of_events(RunSource& run, const Options& options, TableFormat& format) {
  EventTable table(run.definitions(), format);
  const std::array<RunSink*, 1> sinks = {&table};
  run.replay(sinks, options.threads);
}

}  // namespace timeloom::exchange
