#include "profile/callpaths_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "profile/callpaths_names.hpp"

namespace timeloom::profile {

namespace {

constexpr std::size_t kFlushSize = 1 << 20;

// Writes the parts of the file one after the other, so that a tree of a million
// call paths is never in memory twice.
class TreeWriter {
 public:
  using Flush = std::function<void(std::string& text)>;
  explicit TreeWriter(Flush flush) : flush_(std::move(flush)) {}

  void write(const CallTree& tree) {
    const Definitions& all = tree.definitions;
    text_ += "{\n\"format\": ";
    string(kCallpathsFormat);
    text_ += ",\n\"version\": " + std::to_string(kCallpathsVersion);
    text_ += ",\n\"creator\": ";
    string(all.creator);
    text_ += ",\n\"machine\": ";
    string(all.machine_name);
    clock(all.clock);
    properties(all);
    list("groups", all.groups, [this](const LocationGroup& group) { this->group(group); });
    list("regions", all.regions, [this](const Region& region) { this->region(region); });
    list("metrics", all.metrics, [this](const Metric& metric) { this->metric(metric); });
    list("parameter_sets", tree.parameter_sets,
         [this](const ParameterSet& set) { this->parameter_set(set); });
    nodes(tree);
    std::size_t index = 0;
    list("locations", all.locations,
         [&](const Location& location) { this->location(location, tree.locations[index++]); });
    text_ += "\n}\n";
    flush_(text_);
  }

 private:
  // Names of files need not be UTF-8, JSON must be: other bytes are replaced.
  void string(std::string_view value) {
    text_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  void number(std::uint64_t value) { text_ += std::to_string(value); }
  void key(std::string_view name) {
    text_ += ", \"";
    text_ += name;
    text_ += "\": ";
  }

  template <typename Range, typename Each>
  void list(std::string_view name, const Range& range, Each each) {
    text_ += ",\n\"";
    text_ += name;
    text_ += "\": [";
    const char* separator = "\n";
    for (const auto& one : range) {
      text_ += separator;
      separator = ",\n";
      each(one);
      if (text_.size() > kFlushSize) flush_(text_);
    }
    text_ += "\n]";
  }

  // A column of numbers, in one line.
  template <typename Range, typename Each>
  void column(std::string_view name, const Range& range, Each each) {
    key(name);
    text_ += '[';
    const char* separator = "";
    for (const auto& one : range) {
      text_ += separator;
      separator = ",";
      each(one);
      if (text_.size() > kFlushSize) flush_(text_);
    }
    text_ += ']';
  }

  void clock(const ClockProperties& clock) {
    text_ += ",\n\"clock\": {\"ticks_per_second\": ";
    number(clock.ticks_per_second);
    key("begin");
    number(clock.begin);
    key("length");
    number(clock.length);
    key("realtime");
    if (clock.realtime)
      number(*clock.realtime);
    else
      text_ += "null";
    text_ += '}';
  }

  void properties(const Definitions& all) {
    text_ += ",\n\"properties\": {";
    const char* separator = "\n";
    for (const auto& [name, value] : all.properties) {
      text_ += separator;
      separator = ",\n";
      string(name);
      text_ += ": ";
      string(value);
    }
    text_ += "\n}";
  }

  void group(const LocationGroup& group) {
    text_ += "{\"name\": ";
    string(group.name);
    key("hostname");
    string(group.hostname);
    key("process_id");
    number(group.process_id);
    key("executable");
    string(group.executable);
    column("arguments", group.arguments, [this](const std::string& one) { string(one); });
    key("creator");
    id_or_null(group.creator);
    key("ending");
    string(group.ending);
    text_ += '}';
  }

  void region(const Region& region) {
    text_ += "{\"name\": ";
    string(region.name);
    key("canonical_name");
    string(region.canonical_name);
    key("file");
    string(region.file);
    key("group");
    string(region.group);
    key("first_line");
    number(region.first_line);
    key("last_line");
    number(region.last_line);
    key("paradigm");
    string(kParadigmNames[static_cast<std::size_t>(region.paradigm)]);
    key("role");
    string(kRegionRoleNames[static_cast<std::size_t>(region.role)]);
    text_ += '}';
  }

  void metric(const Metric& metric) {
    text_ += "{\"name\": ";
    string(metric.name);
    key("unit");
    string(metric.unit);
    key("description");
    string(metric.description);
    key("type");
    string(kMetricTypeNames[static_cast<std::size_t>(metric.type)]);
    if (metric.sampled()) {
      key("mode");
      string(kMetricModeNames[static_cast<std::size_t>(metric.mode)]);
      key("set");
      string(metric.set);
    }
    text_ += '}';
  }

  void parameter_set(const ParameterSet& set) {
    text_ += '[';
    const char* separator = "";
    for (const ParameterValue& one : set) {
      text_ += separator;
      separator = ", ";
      text_ += "{\"name\": ";
      string(one.name);
      key("value");
      string(one.text);
      key("numeric");
      text_ += one.numeric ? "true}" : "false}";
    }
    text_ += ']';
  }

  // JSON has no infinity: what is no number becomes a text.
  void real(double value) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
    if (std::isfinite(value)) {
      text_ += digits;
    } else {
      string(digits);
    }
  }

  template <typename AnyId>
  void id_or_null(AnyId id) {
    if (id.defined())
      number(id.value());
    else
      text_ += "null";
  }

  void nodes(const CallTree& tree) {
    text_ += ",\n\"nodes\": {\"count\": ";
    number(tree.nodes.size());
    column("parent", tree.nodes, [this](const Node& node) { id_or_null(node.parent); });
    column("region", tree.nodes, [this](const Node& node) { id_or_null(node.region); });
    if (!tree.parameter_sets.empty()) {
      column("parameters", tree.nodes, [this](const Node& node) { id_or_null(node.parameters); });
    }
    text_ += '}';
  }

  void location(const Location& location, const LocationProfile& profile) {
    text_ += "{\"id\": ";
    number(location.id.value());
    key("name");
    string(location.name);
    key("group");
    id_or_null(location.group);
    key("type");
    string(kLocationTypeNames[static_cast<std::size_t>(location.type)]);
    key("thread_id");
    number(location.thread_id);
    key("events");
    number(location.event_count);
    key("first");
    number(ticks(profile.first));
    key("last");
    number(ticks(profile.last));
    const auto& cells = profile.cells;
    column("node", cells, [this](const Cell& cell) { number(cell.node.value()); });
    column("visits", cells, [this](const Cell& cell) { number(cell.statistics.visits); });
    column("inclusive", cells, [this](const Cell& cell) { number(cell.statistics.inclusive); });
    column("min", cells, [this](const Cell& cell) { number(cell.statistics.min); });
    column("max", cells, [this](const Cell& cell) { number(cell.statistics.max); });
    metric_values(profile.metrics);
    samples(profile.samples);
    text_ += '}';
  }

  void samples(const std::vector<SampleCell>& cells) {
    if (cells.empty()) return;
    key("samples");
    text_ += "{\"count\": ";
    number(cells.size());
    column("metric", cells, [this](const SampleCell& cell) { number(cell.metric.value()); });
    column("node", cells, [this](const SampleCell& cell) { id_or_null(cell.node); });
    column("value", cells, [this](const SampleCell& cell) { number(cell.value); });
    text_ += '}';
  }

  // An object of columns.
  void metric_values(const std::vector<MetricCell>& cells) {
    if (cells.empty()) return;
    key("metrics");
    text_ += "{\"count\": ";
    number(cells.size());
    column("metric", cells, [this](const MetricCell& cell) { number(cell.metric.value()); });
    column("node", cells, [this](const MetricCell& cell) { number(cell.node.value()); });
    column("values", cells, [this](const MetricCell& cell) { number(cell.statistics.count); });
    column("sum", cells, [this](const MetricCell& cell) { real(cell.statistics.sum); });
    column("min", cells, [this](const MetricCell& cell) { real(cell.statistics.min); });
    column("max", cells, [this](const MetricCell& cell) { real(cell.statistics.max); });
    column("squares", cells, [this](const MetricCell& cell) { real(cell.statistics.squares); });
    text_ += '}';
  }

  std::string text_;
  Flush flush_;
};

[[noreturn]] void fail_to_write(const std::filesystem::path& file) {
  throw Error("cannot write " + file.string() + ": " + std::strerror(errno));
}

}  // namespace

void save(const CallTree& tree, const std::filesystem::path& file) {
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "wb"));
  if (!stream) fail_to_write(file);
  TreeWriter writer([&](std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stream.get()) != text.size()) fail_to_write(file);
    text.clear();
  });
  writer.write(tree);
  if (std::fclose(stream.release()) != 0) fail_to_write(file);
}

std::string to_json(const CallTree& tree) {
  std::string all;
  TreeWriter writer([&](std::string& text) {
    all += text;
    text.clear();
  });
  writer.write(tree);
  return all;
}

}  // namespace timeloom::profile
