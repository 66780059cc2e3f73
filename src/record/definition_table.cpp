#include "record/definition_table.hpp"

#include <algorithm>
#include <utility>

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

std::string key_of(const Region& region, const CodeAddress& address) {
  std::string key = address.construct;
  for (const std::uint64_t number :
       {std::uint64_t{address.object}, address.address, static_cast<std::uint64_t>(region.paradigm),
        static_cast<std::uint64_t>(region.role)}) {
    key.append(1, kSeparator).append(std::to_string(number));
  }
  return key.append(1, kSeparator).append(region.group);
}

std::string key_of(const CodeObject& object) {
  return object.path + kSeparator + object.build_id + kSeparator + std::to_string(object.size) +
         kSeparator + std::to_string(object.changed_ns);
}

// The id of the next one. Definitions are appended before their keys: when there is no memory
// for a key, an id has no use, but none is without its definition.
template <typename Definition>
std::uint32_t count_of(const std::vector<Definition>& definitions) noexcept {
  return static_cast<std::uint32_t>(definitions.size());
}

}  // namespace

void DefinitionTable::begin() noexcept {
  ++measurement_;
  string_ids_ = std::unordered_map<std::string, std::uint32_t>();  // with its buckets
}

RegionId DefinitionTable::region(const Region& region) {
  std::string key = key_of(region);
  const auto known = region_ids_.find(key);
  if (known != region_ids_.end()) return RegionId{known->second};
  const std::uint32_t id = add(region);
  region_ids_.emplace(std::move(key), id);
  return RegionId{id};
}

std::uint32_t DefinitionTable::add(const Region& region) {
  // No room for more ids in a record: all such regions share the last one.
  const std::uint32_t id = std::min(count_of(regions_), kMaxPayload);
  if (id < kMaxPayload) {
    regions_.push_back(region);
  } else if (regions_.size() == kMaxPayload) {
    regions_.emplace_back().name = "regions beyond the first " + std::to_string(kMaxPayload);
  }
  return id;
}

RegionId DefinitionTable::region(const Region& region, CodeAddress address) {
  std::string key = key_of(region, address);
  const auto known = code_ids_.find(key);
  if (known != code_ids_.end()) return RegionId{known->second};
  const std::uint32_t id = add(region);
  if (id < kMaxPayload) code_addresses_.emplace(id, std::move(address));
  code_ids_.emplace(std::move(key), id);
  return RegionId{id};
}

std::uint32_t DefinitionTable::object(const CodeObject& object) {
  std::string key = key_of(object);
  const auto known = object_ids_.find(key);
  if (known != object_ids_.end()) return known->second;
  objects_.push_back({object});
  const std::uint32_t id = count_of(objects_) - 1;
  object_ids_.emplace(std::move(key), id);
  return id;
}

void DefinitionTable::write_object(std::uint32_t id, spool::Writer& writer) noexcept {
  if (take(objects_[id], &writer)) writer.define_object(id, objects_[id].definition);
}

RegionId DefinitionTable::forked(RegionId id) {
  const Region region = forked_region(regions_[id.value()]);
  const auto code = code_addresses_.find(id.value());
  if (code == code_addresses_.end()) return this->region(region);
  return this->region(region, CodeAddress(code->second));
}

void DefinitionTable::write_region(RegionId id, spool::Writer& writer) noexcept {
  const auto code = code_addresses_.find(id.value());
  if (code == code_addresses_.end()) return writer.define_region(id, regions_[id.value()]);
  write_object(code->second.object, writer);
  writer.define_region(id, regions_[id.value()]);
  writer.define_address(id, code->second);
}

template <typename Definition>
bool DefinitionTable::take(Kept<Definition>& kept, const spool::Writer* writer) const noexcept {
  if (writer == nullptr || kept.written_in == measurement_) return false;
  kept.written_in = measurement_;
  return true;
}

ParameterId DefinitionTable::parameter(std::string_view name, ParameterType type,
                                       spool::Writer* writer) {
  std::string key(name);
  key.push_back(kSeparator);
  key.push_back(static_cast<char>('0' + static_cast<int>(type)));
  auto known = parameter_ids_.find(key);
  if (known == parameter_ids_.end()) {
    parameters_.push_back({{std::string(name), type}});
    known = parameter_ids_.emplace(std::move(key), count_of(parameters_) - 1).first;
  }
  const ParameterId id{known->second};
  Kept<Parameter>& kept = parameters_[id.value()];
  if (take(kept, writer)) writer->define_parameter(id, kept.definition);
  return id;
}

MetricId DefinitionTable::metric(std::string_view name, std::string_view unit, MetricValueType type,
                                 spool::Writer* writer) {
  std::string key(name);
  key.push_back(kSeparator);
  key.append(unit).push_back(static_cast<char>('0' + static_cast<int>(type)));
  auto known = metric_ids_.find(key);
  if (known == metric_ids_.end()) {
    Metric metric;
    metric.name = name;
    metric.unit = unit;
    metric.type = type;
    metrics_.push_back({std::move(metric)});
    known = metric_ids_.emplace(std::move(key), count_of(metrics_) - 1).first;
  }
  const MetricId id{known->second};
  write_metric(id, writer);
  return id;
}

MetricId DefinitionTable::metrics(const std::vector<Metric>& together, spool::Writer* writer) {
  auto known = metric_sets_.find(together.front().set);
  if (known == metric_sets_.end()) {
    const std::uint32_t next = count_of(metrics_);
    for (const Metric& metric : together) metrics_.push_back({metric});
    known = metric_sets_.emplace(together.front().set, next).first;
  }
  const std::uint32_t first = known->second;
  for (std::uint32_t i = 0; i < together.size(); ++i) write_metric(MetricId{first + i}, writer);
  return MetricId{first};
}

void DefinitionTable::write_metric(MetricId id, spool::Writer* writer) noexcept {
  Kept<Metric>& kept = metrics_[id.value()];
  if (take(kept, writer)) writer->define_metric(id, kept.definition);
}

StringId DefinitionTable::string(std::string_view text, spool::Writer* writer) {
  const auto next = static_cast<std::uint32_t>(string_ids_.size());
  const auto [entry, is_new] = string_ids_.try_emplace(std::string(text), next);
  if (is_new && writer != nullptr) writer->define_string(StringId{next}, entry->first);
  return StringId{entry->second};
}

}  // namespace timeloom::record
