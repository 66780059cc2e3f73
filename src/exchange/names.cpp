#include "exchange/names.hpp"

#include "core/engines/engine_regions.hpp"

namespace timeloom::exchange {

std::string region_name(const Definitions& definitions, RegionId region) {
  if (!region.defined()) return "(more call paths)";
  const std::string& name = definitions.regions[region.value()].name;
  return name.empty() ? "region " + std::to_string(region.value()) : name;
}

Category category_of(const Region& region) {
  switch (region.paradigm) {
    case Paradigm::kUser: return region.group.empty() ? Category::kUser : Category::kFunction;
    case Paradigm::kCompiler: return Category::kFunction;
    case Paradigm::kMeasurement: return Category::kMeasurement;
    case Paradigm::kIo: return Category::kIo;
    case Paradigm::kMpi: return Category::kMpi;
    case Paradigm::kUnknown:
    case Paradigm::kPthread:
    case Paradigm::kOpenMp:
    case Paradigm::kKokkos:
    case Paradigm::kCuda:
    case Paradigm::kSampling:
    case Paradigm::kMemory:
    case Paradigm::kOther: break;
  }
  return Category::kOther;
}

std::string_view name_of(Category category) {
  switch (category) {
    case Category::kFunction: return "function";
    case Category::kUser: return "user";
    case Category::kMeasurement: return "measurement";
    case Category::kMpi: return "mpi";
    case Category::kIo: return "io";
    case Category::kOther: break;
  }
  return "other";
}

std::string_view parameter_name(const Parameter& parameter) {
  if (tells_of_task(parameter)) return task_parameter_text(parameter);
  return parameter.splits_call_paths() ? std::string_view(parameter.name) : "task";
}

std::string metric_name(const Metric& metric) {
  return metric.name + (metric.of_process() ? "_per_process" : "");
}

double metric_value(const Event& event, MetricValueType type) {
  switch (type) {
    case MetricValueType::kInt64: return static_cast<double>(event.as_int());
    case MetricValueType::kUint64: return static_cast<double>(event.value);
    case MetricValueType::kDouble: break;
  }
  return event.as_double();
}

std::string command_of(const LocationGroup& group) {
  if (group.executable.empty()) return group.name;
  std::string line = group.executable;
  for (const std::string& argument : group.arguments) line += " " + argument;
  return line;
}

}  // namespace timeloom::exchange
