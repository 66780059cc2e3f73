// The table of events.

#include <array>

#include "convert/arguments.hpp"
#include "convert/names.hpp"
#include "convert/table.hpp"
#include "convert/tracks.hpp"
#include "core/wakes.hpp"

namespace timeloom::convert {

namespace {

const std::vector<Column>& columns_of_events() {
  static const std::vector<Column> kColumns = {
      {"process", ColumnType::kText},    {"thread", ColumnType::kText},
      {"time_ns", ColumnType::kInteger}, {"event", ColumnType::kText},
      {"name", ColumnType::kText},       {"depth", ColumnType::kInteger},
      {"number", ColumnType::kReal},     {"text", ColumnType::kText},
  };
  return kColumns;
}

std::string_view word_of(WakeEnd end) { return end == WakeEnd::kWakes ? "wakes" : "woken"; }

// The word for an event; empty: it has no row.
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

class EventRows : public LocationSink {
 public:
  EventRows(const Definitions& definitions, const Tracks& tracks, const Location& location,
            std::unique_ptr<RowWriter> row)
      : definitions_(definitions),
        clock_(definitions.clock),
        track_(tracks.of(location.id)),
        process_(tracks.processes[track_.process].name),
        row_(std::move(row)) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) write(event);
  }
  void finish() override { row_->finish(); }

 private:
  void write(const Event& event) {
    const WakeEnd wake = wake_end_of(event, definitions_);
    const std::string_view word = wake == WakeEnd::kNone ? word_of(event.kind) : word_of(wake);
    if (word.empty() || !is_defined(event)) return;
    if (event.kind == EventKind::kLeave) --depth_;
    row_->text(process_);
    row_->text(track_.name);
    row_->integer(static_cast<std::int64_t>(clock_(event.time)));
    row_->text(word);
    if (wake == WakeEnd::kNone) {
      write_value(event);
    } else {
      cells({}, static_cast<double>(event.value));
    }
    row_->end_row();
    if (event.kind == EventKind::kEnter) ++depth_;
  }

  bool is_defined(const Event& event) const {
    if (is_parameter(event.kind)) return is_sound(event, definitions_);
    if (event.kind == EventKind::kMetric) return event.ref < definitions_.metrics.size();
    return true;
  }

  // Name, depth of the call, number, text.
  void write_value(const Event& event) {
    if (event.kind == EventKind::kEnter || event.kind == EventKind::kLeave) {
      return cells(region_name(definitions_, event.region()));
    }
    if (event.kind == EventKind::kMetric) {
      const Metric& metric = definitions_.metrics[event.ref];
      return cells(metric_name(metric), metric_value(event, metric.type));
    }
    if (is_parameter(event.kind)) return write_parameter(event);
    const bool of_thread =
        event.kind != EventKind::kRecordingOff && event.kind != EventKind::kRecordingOn;
    if (of_thread) return cells({}, static_cast<double>(event.value));
    cells({});
  }

  void write_parameter(const Event& event) {
    const std::string_view name = parameter_name(definitions_.parameters[event.ref]);
    switch (event.kind) {
      case EventKind::kParameterInt: return cells(name, static_cast<double>(event.as_int()));
      case EventKind::kParameterUint: return cells(name, static_cast<double>(event.value));
      case EventKind::kParameterFloat: return cells(name, event.as_double());
      default: break;
    }
    row_->text(name);
    row_->integer(depth_);
    row_->none();
    row_->text(definitions_.strings[event.value]);
  }

  void cells(std::string_view name) {
    row_->text(name);
    row_->integer(depth_);
    row_->none();
    row_->none();
  }

  void cells(std::string_view name, double number) {
    row_->text(name);
    row_->integer(depth_);
    row_->real(number);
    row_->none();
  }

  const Definitions& definitions_;
  RunClock clock_;
  const Track& track_;
  const std::string& process_;
  std::unique_ptr<RowWriter> row_;
  std::int64_t depth_ = 0;
};

class EventTable : public RunSink {
 public:
  EventTable(const Definitions& definitions, TableFormat& format)
      : definitions_(definitions), tracks_(definitions), format_(format) {}
  void begin(const Definitions&) override { format_.begin(columns_of_events()); }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<EventRows>(definitions_, tracks_, location, format_.rows());
  }
  void finish() override { format_.end(); }

 private:
  const Definitions& definitions_;
  Tracks tracks_;
  TableFormat& format_;
};

}  // namespace

void write_table_of_events(RunSource& run, const Options& options, TableFormat& format) {
  EventTable table(run.definitions(), format);
  const std::array<RunSink*, 1> sinks = {&table};
  run.feed(sinks, options.threads);
}

}  // namespace timeloom::convert
