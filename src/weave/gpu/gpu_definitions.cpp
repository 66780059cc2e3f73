#include "weave/gpu/gpu_names.hpp"
#include "weave/gpu/gpu_timeline.hpp"

namespace timeloom::weave {

std::uint32_t GpuDefinitions::region(const std::string& name, const char* group, RegionRole role,
                                     const std::string& canonical) {
  const auto next = static_cast<std::uint32_t>(run_.regions.size());
  const auto [known, is_new] = regions_.try_emplace(group + ('\0' + canonical), next);
  if (!is_new) return known->second;
  Region& region = run_.regions.emplace_back();
  region.name = name;
  region.canonical_name = canonical;
  region.group = group;
  region.paradigm = Paradigm::kCuda;
  region.role = role;
  return next;
}

std::uint32_t GpuDefinitions::string(const std::string& text) {
  const auto next = static_cast<std::uint32_t>(run_.strings.size());
  const auto [known, is_new] = strings_.try_emplace(text, next);
  if (is_new) run_.strings.push_back(text);
  return known->second;
}

std::uint32_t GpuDefinitions::metric(const char* name, const char* unit) {
  auto& metrics = run_.metrics;
  const auto [known, is_new] = known_.try_emplace(name, 0);
  if (!is_new) return known->second;
  Metric metric;
  metric.name = name;
  metric.unit = unit;
  metric.type = MetricValueType::kUint64;
  metric.source = MetricSource::kOther;
  known->second = static_cast<std::uint32_t>(metrics.size());
  metrics.push_back(std::move(metric));
  return known->second;
}

std::uint32_t GpuDefinitions::parameter(const char* name) {
  const auto next = static_cast<std::uint32_t>(run_.parameters.size());
  const auto [known, is_new] = known_.try_emplace(name, next);
  if (is_new) run_.parameters.push_back({name, ParameterType::kString});
  return known->second;
}

}  // namespace timeloom::weave
