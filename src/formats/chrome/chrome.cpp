#include "formats/chrome/chrome.hpp"

#include <array>
#include <string>

#include "core/metric_unit.hpp"
#include "core/wakeups.hpp"
#include "exchange/call_sink.hpp"
#include "exchange/engines/task_arrows_of.hpp"
#include "exchange/format_text.hpp"
#include "exchange/in_order.hpp"
#include "exchange/names.hpp"
#include "exchange/tracks.hpp"
#include "exchange/transfers.hpp"
#include "profile/gpu/gpu_launch.hpp"

namespace timeloom::chrome {

using exchange::append_json;
using exchange::append_microseconds;
using exchange::append_number;
using exchange::Destination;
using exchange::Options;

namespace {

constexpr std::size_t kPiece = 1 << 16;

// State shared by all locations.
struct Shared {
  Shared(const Definitions& all, exchange::MessageNumbers numbered,
         exchange::NumberedArrows between_tasks, Destination& destination)
      : definitions(all),
        out(destination, all.locations.size()),
        messages(std::move(numbered)),
        arrows(std::move(between_tasks)),
        tracks(all),
        clock(all.clock),
        launches(all) {
    for (const Region& region : all.regions) {
      const RegionId id{static_cast<std::uint32_t>(&region - all.regions.data())};
      std::string text =
          R"("cat":")" + std::string(name_of(exchange::category_of(region))) + R"(","name":)";
      append_json(text, exchange::region_name(all, id));
      regions.push_back(std::move(text));
    }
  }

  const Definitions& definitions;
  exchange::InOrder out;
  exchange::MessageNumbers messages;
  exchange::NumberedArrows arrows;
  exchange::Tracks tracks;
  exchange::RunClock clock;
  GpuLaunches launches;
  std::vector<std::string> regions;  // as "cat":...,"name":...
};

// The events of one location, as lines that start with a comma.
class ChromeLocation : public exchange::CallSink {
 public:
  ChromeLocation(Shared& shared, const Location& location)
      : CallSink(shared.definitions),
        shared_(shared),
        index_(shared.tracks.index_of(location.id)),
        group_(location.group),
        transfers_(shared.definitions, shared.messages, location.id),
        arrows_(shared.arrows, location.id) {
    const exchange::Track& track = shared.tracks.of(location.id);
    place_ = R"(","pid":)";
    append_number(place_, shared.tracks.processes[track.process].id);
    place_ += R"(,"tid":)";
    append_number(place_, track.thread);
    place_ += R"(,"ts":)";
    if (shared.tracks.tracks.size() > 1) suffix_ = " (" + track.name + ")";
  }

 protected:
  void enter(const Event& event, Arguments arguments) override {
    if (shared_.launches.any()) entered_.push_back(ticks(event.time));
    begin_line("B", event.time);
    if (event.ref < shared_.regions.size()) text_ += "," + shared_.regions[event.ref];
    add_arguments(arguments);
    end_line();
    if (!arrows_.any()) return;
    if (const auto* const task = arrows_.entered()) add_arrows("f", task->taken, event);
  }

  void leave(const Event& event, Arguments late) override {
    if (!entered_.empty()) entered_.pop_back();
    if (const auto* const task = arrows_.left()) add_arrows("s", task->made, event);
    begin_line("E", event.time);
    // Perfetto needs no name here; the Firefox Profiler refuses a file without it.
    if (event.ref < shared_.regions.size()) text_ += "," + shared_.regions[event.ref];
    add_arguments(late);
    end_line();
  }

  void value(const Event& event) override {
    const Metric& metric = definitions().metrics[event.ref];
    begin_line("C", event.time);
    text_ += R"(,"name":)";
    // Chrome's counters belong to processes: without the thread in it, a name would stand for
    // several counters.
    append_json(text_, exchange::metric_name(metric) + (metric.of_process() ? "" : suffix_));
    text_ += R"(,"args":{)";
    const std::string unit = value_unit(metric);
    append_json(text_, unit.empty() ? "value" : unit);
    text_ += ':';
    exchange::append_json_number(text_, exchange::metric_value(event, metric.type));
    text_ += '}';
    end_line();
    if (entered_.empty()) return;
    const auto end = shared_.launches.end_of(event, ticks(event.time), entered_.back(), group_);
    if (end) launch(*end, event.time);
  }

  void other(const Event& event) override {
    switch (event.kind) {
      case EventKind::kRecordingOff: return instant(event.time, "recording off");
      case EventKind::kRecordingOn: return instant(event.time, "recording on");
      case EventKind::kThreadCreate: return flow(event, "s", "create", 2 * event.value);
      case EventKind::kThreadBegin: return flow(event, "f", "create", 2 * event.value);
      case EventKind::kThreadEnd: return flow(event, "s", "end", 2 * event.value + 1);
      case EventKind::kThreadWait: return flow(event, "f", "end", 2 * event.value + 1);
      case EventKind::kParameterUint: return wakeup(event);
      default:
        if (const auto one = transfers_.read(event)) transfer(*one, event.time);
    }
  }

  void end() override {
    pass();
    shared_.out.finish(index_);
  }

 private:
  void begin_line(const char* phase, Timestamp time) {
    text_ += R"(,
{"ph":")";
    text_ += phase;
    text_ += place_;
    append_microseconds(text_, shared_.clock(time));
  }

  void end_line() {
    text_ += '}';
    if (text_.size() >= kPiece) pass();
  }

  void pass() {
    shared_.out.write(index_, text_);
    text_.clear();
  }

  void add_arguments(Arguments arguments) {
    const char* separator = R"(,"args":{)";
    for (const Event& one : arguments) {
      text_ += separator;
      append_json(text_, exchange::parameter_name(definitions().parameters[one.ref]));
      text_ += ':';
      exchange::append_json_value(text_, one, definitions());
      separator = ",";
    }
    if (!arguments.empty()) text_ += '}';
  }

  void begin_mark(Timestamp time, std::string_view category, std::string_view name) {
    begin_line("i", time);
    text_ += R"(,"s":"t","cat":")";
    text_ += category;
    text_ += R"(","name":")";
    text_ += name;
    text_ += '"';
  }

  void instant(Timestamp time, const char* name) {
    begin_mark(time, "measurement", name);
    end_line();
  }

  void transfer(const exchange::Transfer& one, Timestamp time) {
    begin_mark(time, name_of(one.category), one.name);
    const char* separator = R"(,"args":{)";
    for (const exchange::TransferFact& fact : one.facts) {
      text_ += separator;
      append_json(text_, fact.name);
      text_ += ':';
      if (fact.text.empty()) {
        append_number(text_, fact.number);
      } else {
        append_json(text_, fact.text);
      }
      separator = ",";
    }
    if (!one.facts.empty()) text_ += '}';
    end_line();
    if (one.message == 0) return;
    // The arrow goes from the sending to the receiving call, not to the call after that.
    begin_line(one.arrives ? "f" : "s", time);
    text_ += R"(,"bp":"e","cat":"mpi","name":"message","id":")";
    append_number(text_, one.message);
    text_ += '"';
    end_line();
  }

  // An arrow from one thread or task to another.
  void flow(const Event& event, const char* phase, const char* name, std::uint64_t number) {
    begin_line(phase, event.time);
    end_flow("threads", name, number);
  }

  // An arrow from the call that wakes a task to the call in which the task was suspended.
  void wakeup(const Event& event) {
    const bool wakes = wakeup_end_of(event, definitions()) == WakeupEnd::kWakes;
    begin_line(wakes ? "s" : "f", event.time);
    text_ += R"(,"bp":"e")";
    end_flow("wakes", "wake", event.value);
  }

  // An arrow from a call to the work on a GPU that it started, or on to its next work.
  void launch(const GpuLaunchEnd& end, Timestamp time) {
    begin_line(end.is_work ? "t" : "s", time);
    end_flow("launches", "launch", end.number);
  }

  // Ends of arrows from the task that made a value to the task that takes it.
  void add_arrows(const char* phase, const std::vector<std::uint64_t>& arrows, const Event& event) {
    for (const std::uint64_t number : arrows) {
      begin_line(phase, event.time);
      text_ += R"(,"bp":"e")";
      end_flow("tasks", "value", number);
    }
  }

  void end_flow(const char* category, const char* name, std::uint64_t number) {
    text_ += R"(,"cat":")";
    text_ += category;
    text_ += R"(","name":")";
    text_ += name;
    text_ += R"(","id":")";
    append_number(text_, number);
    text_ += '"';
    end_line();
  }

  Shared& shared_;
  std::size_t index_;
  LocationGroupId group_;
  std::vector<std::uint64_t> entered_;  // times of the open calls, where the run has launches
  exchange::TransferReader transfers_;
  exchange::ArrowReader arrows_;
  std::string place_;
  std::string suffix_;
  std::string text_;
};

class ChromeRun : public RunSink {
 public:
  ChromeRun(const Definitions& definitions, exchange::MessageNumbers messages,
            exchange::NumberedArrows arrows, Destination& out)
      : shared_(definitions, std::move(messages), std::move(arrows), out) {}
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<ChromeLocation>(shared_, location);
  }
  void finish() override { shared_.out.end(); }
  const Shared& shared() const noexcept { return shared_; }

 private:
  Shared shared_;
};

void add_metadata(std::string& text, const char* kind, std::uint64_t process, std::uint64_t thread,
                  const char* key, std::string_view value, bool number = false) {
  text += std::string(text.ends_with('[') ? "\n" : ",\n") + R"({"ph":"M","pid":)";
  append_number(text, process);
  text += R"(,"tid":)";
  append_number(text, thread);
  text += R"(,"name":")" + std::string(kind) + R"(","args":{")" + key + R"(":)";
  if (number) {
    text += value;
  } else {
    append_json(text, value);
  }
  text += "}}";
}

std::string head(const Shared& shared) {
  std::string text = R"({"displayTimeUnit":"ns","traceEvents":[)";
  const exchange::Tracks& tracks = shared.tracks;
  for (const exchange::Process& process : tracks.processes) {
    add_metadata(text, "process_name", process.id, 0, "name", process.name);
    add_metadata(text, "process_labels", process.id, 0, "labels", process.command);
  }
  for (std::size_t i = 0; i < tracks.tracks.size(); ++i) {
    const exchange::Track& track = tracks.tracks[i];
    const std::uint64_t process = tracks.processes[track.process].id;
    add_metadata(text, "thread_name", process, track.thread, "name", track.name);
    add_metadata(text, "thread_sort_index", process, track.thread, "sort_index", std::to_string(i),
                 true);
  }
  return text;
}

std::string markers(const Shared& shared) {
  std::string text;
  for (const Marker& marker : shared.definitions.markers) {
    const exchange::Track& track = shared.tracks.of(marker.location);
    text += ",\n" + std::string(R"({"ph":"i","s":"t","cat":"marker","pid":)");
    append_number(text, shared.tracks.processes[track.process].id);
    text += R"(,"tid":)";
    append_number(text, track.thread);
    text += R"(,"ts":)";
    append_microseconds(text, shared.clock(marker.time));
    text += R"(,"name":)";
    append_json(text, marker.text);
    text += '}';
  }
  return text;
}

// Properties of the run.
std::string tail(const Shared& shared, const Options& options) {
  std::string text = "\n]";
  text += R"(,"otherData":{"run":)";
  append_json(text, options.title);
  text += R"(,"creator":)";
  append_json(text, options.creator);
  if (shared.definitions.clock.realtime) {
    text += R"(,"begin_ns_since_1970":")";
    append_number(text, *shared.definitions.clock.realtime);
    text += '"';
  }
  for (const auto& [key, value] : shared.definitions.properties) {
    text += ',';
    append_json(text, key);
    text += ':';
    append_json(text, value);
  }
  return text + "}}\n";
}

void write_events(RunSource& run, const Options& options, Destination& out) {
  ChromeRun sink(run.definitions(), exchange::number_messages(run, options.threads),
                 exchange::number_arrows(run, options), out);
  out.write(head(sink.shared()));
  const std::array<RunSink*, 1> sinks = {&sink};
  run.replay(sinks, options.threads);
  out.write(markers(sink.shared()));
  out.write(tail(sink.shared(), options));
}

}  // namespace

const exchange::Format kFormat = {
    .name = "chrome",
    .suffix = "chrome.json",
    .opened_by = "https://ui.perfetto.dev, chrome://tracing, https://profiler.firefox.com",
    .of_events = write_events,
};

}  // namespace timeloom::chrome
