#include "record/definition_table.hpp"

#include "core/event_word.hpp"

namespace timeloom::record {
namespace {

constexpr char kSeparator = '\0';

std::string key_of(const Region& region) {
  std::string key;
  key.reserve(region.name.size() + region.file.size() + 16);
  key.append(region.name).push_back(kSeparator);
  key.append(region.file).push_back(kSeparator);
  key.append(std::to_string(region.first_line)).push_back(kSeparator);
  key.append(std::to_string(static_cast<int>(region.paradigm)));
  return key;
}

}  // namespace

RegionId DefinitionTable::region(const Region& region, spool::Writer* writer) {
  const auto next = static_cast<std::uint32_t>(regions_.size());
  const auto [entry, is_new] = region_ids_.try_emplace(key_of(region), next);
  if (!is_new) return RegionId{entry->second};
  if (next >= kMaxPayload) {
    // No room for its id in a record: all such regions share the last one.
    entry->second = kMaxPayload;
    if (next > kMaxPayload) return RegionId{kMaxPayload};
    regions_.emplace_back().name = "regions beyond the first " + std::to_string(kMaxPayload);
  } else {
    regions_.push_back(region);
  }
  if (writer != nullptr) writer->define_region(RegionId{next}, regions_.back());
  return RegionId{next};
}

ParameterId DefinitionTable::parameter(std::string_view name, ParameterType type,
                                       spool::Writer* writer) {
  const auto next = static_cast<std::uint32_t>(parameters_.size());
  std::string key(name);
  key.push_back(kSeparator);
  key.push_back(static_cast<char>('0' + static_cast<int>(type)));
  const auto [entry, is_new] = parameter_ids_.try_emplace(std::move(key), next);
  if (is_new) {
    parameters_.push_back({std::string(name), type});
    if (writer != nullptr) writer->define_parameter(ParameterId{next}, parameters_.back());
  }
  return ParameterId{entry->second};
}

MetricId DefinitionTable::metric(std::string_view name, std::string_view unit, MetricValueType type,
                                 spool::Writer* writer) {
  const auto next = static_cast<std::uint32_t>(metrics_.size());
  std::string key(name);
  key.push_back(kSeparator);
  key.append(unit).push_back(static_cast<char>('0' + static_cast<int>(type)));
  const auto [entry, is_new] = metric_ids_.try_emplace(std::move(key), next);
  if (is_new) {
    Metric& metric = metrics_.emplace_back();
    metric.name = name;
    metric.unit = unit;
    metric.type = type;
    if (writer != nullptr) writer->define_metric(MetricId{next}, metrics_.back());
  }
  return MetricId{entry->second};
}

MetricId DefinitionTable::metrics(const std::vector<Metric>& together, spool::Writer* writer) {
  auto next = static_cast<std::uint32_t>(metrics_.size());
  const auto [entry, is_new] = metric_sets_.try_emplace(together.front().set, next);
  if (!is_new) return MetricId{entry->second};
  for (const Metric& metric : together) {
    metrics_.push_back(metric);
    if (writer != nullptr) writer->define_metric(MetricId{next}, metric);
    ++next;
  }
  return MetricId{entry->second};
}

StringId DefinitionTable::string(std::string_view text, spool::Writer* writer) {
  const auto next = static_cast<std::uint32_t>(strings_.size());
  const auto [entry, is_new] = string_ids_.try_emplace(std::string(text), next);
  if (is_new) {
    strings_.emplace_back(text);
    if (writer != nullptr) writer->define_string(StringId{next}, strings_.back());
  }
  return StringId{entry->second};
}

void DefinitionTable::write_all(spool::Writer& writer) const {
  std::uint32_t id = 0;
  for (const Region& region : regions_) writer.define_region(RegionId{id++}, region);
  id = 0;
  for (const Parameter& parameter : parameters_) {
    writer.define_parameter(ParameterId{id++}, parameter);
  }
  id = 0;
  for (const Metric& metric : metrics_) writer.define_metric(MetricId{id++}, metric);
  id = 0;
  for (const std::string& text : strings_) writer.define_string(StringId{id++}, text);
}

}  // namespace timeloom::record
