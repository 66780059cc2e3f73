#include "formats/firefox/firefox_thread.hpp"

#include "core/metric_unit.hpp"
#include "core/samples/sampled_time.hpp"
#include "exchange/format_text.hpp"

namespace timeloom::firefox {

using exchange::append_json;
using exchange::append_number;
using exchange::category_of;
using exchange::metric_name;
using exchange::metric_value;
using exchange::parameter_name;
using exchange::region_name;
using exchange::value_text;

namespace {

constexpr std::uint32_t kNoStack = UINT32_MAX - 1;  // above the roots

// The index in meta.categories, where "Other" must be the first.
std::uint64_t number_of(exchange::Category category) {
  switch (category) {
    case exchange::Category::kFunction: return 1;
    case exchange::Category::kUser: return 2;
    case exchange::Category::kMeasurement: return 3;
    case exchange::Category::kMpi: return 4;
    case exchange::Category::kIo: return 5;
    case exchange::Category::kOther: break;
  }
  return 0;
}

// A column of a table with the same value in every row.
std::string repeated(const char* name, std::string_view value, std::size_t times) {
  std::string text = std::string(",\"") + name + "\":[";
  for (std::size_t i = 0; i < times; ++i) {
    if (i > 0) text += ',';
    text += value;
  }
  return text + "]";
}

std::string end_of_table(std::uint64_t rows) { return ",\"length\":" + std::to_string(rows) + "}"; }

}  // namespace

ThreadSink::ThreadSink(const Definitions& definitions, const exchange::Tracks& tracks,
                       const Location& location, exchange::Destination& out, std::string prefix,
                       bool samples)
    : CallSink(definitions),
      tracks_(tracks),
      location_(location),
      out_(out),
      prefix_(std::move(prefix)),
      samples_(samples),
      clock_(definitions.clock) {}

// A sample is a stretch of time with the same stack. The first sample without calls marks their
// end.
void ThreadSink::sample_until(std::uint64_t time) {
  if (!samples_ && !open_.empty() && time > since_) {
    sample_stack_.add_number(open_.back().stack);
    sample_time_.add_time(since_);
    sample_weight_.add_time(time - since_);
  }
  since_ = time;
}

void ThreadSink::enter(const Event& event, Arguments arguments) {
  const std::uint64_t time = clock_(event.time);
  sample_until(time);
  open_.push_back({stack_of(open_stack(), event.ref), time, texts_of(arguments)});
}

void ThreadSink::leave(const Event& event, Arguments late) {
  const std::uint64_t time = clock_(event.time);
  sample_until(time);
  if (open_.empty()) return;
  const Open call = std::move(open_.back());
  open_.pop_back();
  if (open_.empty() && !samples_) {
    sample_stack_.add_null();
    sample_time_.add_time(time);
    sample_weight_.add_number(0);
  }
  if (event.ref >= definitions().regions.size()) return;
  const exchange::Category category = category_of(definitions().regions[event.ref]);
  std::string details = call.parameters;
  if (!late.empty()) details += (details.empty() ? "" : ", ") + texts_of(late);
  if (details.empty() && category != exchange::Category::kUser) return;
  add_marker(region_name(definitions(), event.region()), call.entered, time, category, details);
}

void ThreadSink::value(const Event& event) {
  const Metric& metric = definitions().metrics[event.ref];
  if (samples_ && is_sampled_time(metric)) return;  // the weight of a sample
  std::string text;
  append_number(text, metric_value(event, metric.type));
  if (const std::string unit = value_unit(metric); !unit.empty()) text += " " + unit;
  const std::uint64_t time = clock_(event.time);
  add_marker(metric_name(metric), time, time, exchange::Category::kMeasurement, text);
}

void ThreadSink::other(const Event& event) {
  if (event.kind == EventKind::kSampleFrame) return frames_.push_back(event.ref);
  if (event.kind == EventKind::kSample) return add_sample(event);
  const bool off = event.kind == EventKind::kRecordingOff;
  if (!off && event.kind != EventKind::kRecordingOn) return;
  const std::uint64_t time = clock_(event.time);
  add_marker(off ? "recording off" : "recording on", time, time, exchange::Category::kMeasurement,
             {});
}

void ThreadSink::add_sample(const Event& event) {
  std::uint32_t stack = open_stack();
  for (const std::uint32_t frame : frames_) stack = stack_of(stack, frame);
  frames_.clear();
  if (stack == kNoStack) return;  // nothing of it is selected
  sample_stack_.add_number(stack);
  sample_time_.add_time(clock_(event.time));
  sample_weight_.add_time(event.value);
}

std::uint32_t ThreadSink::open_stack() const noexcept {
  return open_.empty() ? kNoStack : open_.back().stack;
}

std::uint32_t ThreadSink::stack_of(std::uint32_t above, std::uint32_t region) {
  const std::uint32_t found = stacks_.find(above, region);
  if (found != ChildTable::kNone) return found;
  const auto stack = static_cast<std::uint32_t>(stack_frame_.size());
  stacks_.insert(above, region, stack);
  stack_frame_.add_number(function_of(region));
  if (above == kNoStack) {
    stack_prefix_.add_null();
  } else {
    stack_prefix_.add_number(above);
  }
  const bool known = region < definitions().regions.size();
  stack_category_.add_number(known ? number_of(category_of(definitions().regions[region])) : 0);
  return stack;
}

std::uint32_t ThreadSink::function_of(std::uint32_t region) {
  const auto next = static_cast<std::uint32_t>(regions_.size());
  const auto [found, fresh] = functions_.try_emplace(region, next);
  if (fresh) regions_.push_back(region);
  return found->second;
}

std::uint32_t ThreadSink::string_of(const std::string& text) {
  const auto [found, fresh] =
      strings_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
  if (fresh) {
    std::string json;
    append_json(json, text);
    texts_.add(json);
  }
  return found->second;
}

std::string ThreadSink::texts_of(Arguments arguments) const {
  std::string text;
  for (const Event& one : arguments) {
    if (!text.empty()) text += ", ";
    text += parameter_name(definitions().parameters[one.ref]);
    text += "=" + value_text(one, definitions());
  }
  return text;
}

void ThreadSink::add_marker(const std::string& name, std::uint64_t begin, std::uint64_t end,
                            exchange::Category category, const std::string& details) {
  std::string data = R"({"type":"Text","name":)";
  append_json(data, details);
  marker_data_.add(data + "}");
  marker_name_.add_number(string_of(name));
  marker_begin_.add_time(begin);
  if (begin == end) {
    marker_end_.add_null();
  } else {
    marker_end_.add_time(end);
  }
  marker_phase_.add_number(begin == end ? 0 : 1);  // instant, interval
  marker_category_.add_number(number_of(category));
}

void ThreadSink::add_markers_of_run() {
  for (const Marker& marker : definitions().markers) {
    if (marker.location != location_.id) continue;
    const std::uint64_t time = clock_(marker.time);
    add_marker(marker.text, time, time, exchange::Category::kUser, {});
  }
}

void ThreadSink::end() {
  add_markers_of_run();
  write_head();
  write_tables();
}

void ThreadSink::write_head() {
  const exchange::Track& track = tracks_.of(location_.id);
  const exchange::Process& process = tracks_.processes[track.process];
  std::string text = prefix_ + R"({"processType":"default","processStartupTime":0,)"
                               R"("processShutdownTime":null,"registerTime":0,)"
                               R"("unregisterTime":null,"pausedRanges":[],"name":)";
  append_json(text, track.name);
  const bool first = tracks_.index_of(location_.id) == 0 ||
                     tracks_.tracks[tracks_.index_of(location_.id) - 1].process != track.process;
  text += first ? R"(,"isMainThread":true)" : R"(,"isMainThread":false)";
  text += R"(,"processName":)";
  append_json(text, process.name);
  text += R"(,"pid":")" + std::to_string(process.id) + R"(","tid":)";
  append_number(text, track.thread);
  out_.write(text);
}

void ThreadSink::write_columns(const Columns& columns) {
  const char* separator = "";
  for (const auto& [name, column] : columns) {
    out_.write(separator);
    column->write(name, out_);
    separator = ",";
  }
}

void ThreadSink::write_tables() {
  out_.write(R"(,"samples":{"weightType":"tracing-ms",)");
  write_columns({{"stack", &sample_stack_}, {"time", &sample_time_}, {"weight", &sample_weight_}});
  out_.write(end_of_table(sample_stack_.size()) + R"(,"markers":{)");
  write_columns({{"data", &marker_data_},
                 {"name", &marker_name_},
                 {"startTime", &marker_begin_},
                 {"endTime", &marker_end_},
                 {"phase", &marker_phase_},
                 {"category", &marker_category_}});
  out_.write(end_of_table(marker_data_.size()) + R"(,"stackTable":{)");
  const std::uint64_t stacks = stack_frame_.size();
  write_columns(
      {{"frame", &stack_frame_}, {"prefix", &stack_prefix_}, {"category", &stack_category_}});
  out_.write(repeated("subcategory", "0", stacks) + end_of_table(stacks));
  write_functions();
  out_.write(
      R"(,"resourceTable":{"lib":[],"name":[],"host":[],"type":[],"length":0},)"
      R"("nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},)");
  texts_.write("stringArray", out_);
  out_.write("}");
}

// Each function has one frame.
void ThreadSink::write_functions() {
  Column names, files, lines, categories, functions;
  for (const std::uint32_t region : regions_) {
    static const Region kUnknown;
    const bool known = region < definitions().regions.size();
    const Region& one = known ? definitions().regions[region] : kUnknown;
    names.add_number(string_of(known ? region_name(definitions(), RegionId{region}) : "?"));
    one.file.empty() ? files.add_null() : files.add_number(string_of(one.file));
    one.first_line == 0 ? lines.add_null() : lines.add_number(one.first_line);
    categories.add_number(number_of(category_of(one)));
    functions.add_number(functions.size());
  }
  const std::size_t count = regions_.size();
  out_.write(R"(,"frameTable":{)");
  write_columns({{"func", &functions}, {"category", &categories}, {"line", &lines}});
  std::string text = repeated("address", "-1", count);
  for (const char* name : {"inlineDepth", "subcategory", "innerWindowID"}) {
    text += repeated(name, "0", count);
  }
  for (const char* name : {"nativeSymbol", "implementation", "column"}) {
    text += repeated(name, "null", count);
  }
  out_.write(text + end_of_table(count) + R"(,"funcTable":{)");
  write_columns({{"name", &names}, {"fileName", &files}, {"lineNumber", &lines}});
  out_.write(repeated("isJS", "false", count) + repeated("relevantForJS", "false", count) +
             repeated("resource", "-1", count) + repeated("columnNumber", "null", count) +
             end_of_table(count));
}

}  // namespace timeloom::firefox
