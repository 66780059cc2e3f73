// The definitions of a run: what the ids in its events stand for.
//
// A plain value: whoever reads a run (from spools, from an OTF2 archive) fills
// one, whoever writes or reports it reads one. Not synchronised: do not change
// it while another thread reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace timeloom {

// How the events of a region came about (OTF2 paradigm of the region).
enum class Paradigm : std::uint8_t { kUnknown, kUser, kCompiler, kMeasurement, kOther };

// What a region is (OTF2 region role).
enum class RegionRole : std::uint8_t {
  kUnknown,
  kFunction,
  kCode,
  kLoop,
  kWrapper,
  kArtificial,
  kOther
};

struct Region {
  std::string name;              // display name: module and qualified name
  std::string canonical_name;    // equal to the name when there is no other
  std::string file;              // source file; empty: unknown
  std::string group;             // group of regions, e.g. the module; empty: none
  std::uint32_t first_line = 0;  // 1-based; 0: unknown
  std::uint32_t last_line = 0;   // 1-based; 0: unknown
  Paradigm paradigm = Paradigm::kUnknown;
  RegionRole role = RegionRole::kUnknown;
};

struct LocationGroup {  // one process
  std::string name;
  std::string hostname;
  std::uint64_t process_id = 0;        // 0: unknown
  std::string executable;              // empty: unknown
  std::vector<std::string> arguments;  // without the executable
  LocationGroupId creator{};           // the process that started it; undefined: none that is known
  std::string ending{};                // how it ended, in words; empty: normally
};

enum class LocationType : std::uint8_t { kCpuThread, kAcceleratorStream, kMetric, kUnknown };

struct Location {  // one thread
  LocationId id;
  std::string name;
  LocationGroupId group;
  LocationType type = LocationType::kCpuThread;
  std::uint64_t thread_id = 0;    // of the operating system; 0: unknown
  std::uint64_t event_count = 0;  // as written to the trace
};

enum class ParameterType : std::uint8_t { kInt64, kUint64, kFloat, kString };

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::kInt64;
};

enum class MetricValueType : std::uint8_t { kInt64, kUint64, kDouble };

// Who counts (OTF2 type of the metric member), and what a value says.
enum class MetricSource : std::uint8_t { kUser, kRusage, kPapi, kOther };
enum class MetricMode : std::uint8_t {
  kAbsolutePoint,    // the value now
  kAbsoluteNext,     // the value from now on
  kAccumulatedStart  // what has been counted since the start
};

struct Metric {  // one counter
  std::string name;
  std::string unit;
  std::string description;
  MetricValueType type = MetricValueType::kDouble;
  MetricSource source = MetricSource::kUser;
  MetricMode mode = MetricMode::kAbsolutePoint;
  bool binary = false;  // a value of 1 is base^exponent units; the base is 2, or else 10
  std::int32_t exponent = 0;
  // Metrics with the same word here are sampled together, in order of their ids, at
  // every enter and leave; of those of a process it begins with "process:". Empty:
  // each comes alone.
  std::string set{};
  bool sampled() const noexcept { return !set.empty(); }
  bool of_process() const noexcept { return set.starts_with("process:"); }
  // Otherwise its largest value says most.
  bool counts() const noexcept { return mode == MetricMode::kAccumulatedStart; }
  // Two parts of what it came to, as one.
  std::uint64_t join(std::uint64_t a, std::uint64_t b) const noexcept {
    return counts() ? a + b : std::max(a, b);
  }
};

// "10^-6 s"
inline std::string unit_text(const Metric& metric) {
  if (metric.exponent == 0) return metric.unit;
  return (metric.binary ? "2^" : "10^") + std::to_string(metric.exponent) + " " + metric.unit;
}

struct Marker {
  Timestamp time{};
  LocationId location;
  std::string text;
};

struct ClockProperties {
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::uint64_t begin = 0;                // ticks: first time stamp of the run
  std::uint64_t length = 0;               // ticks
  std::optional<std::uint64_t> realtime;  // nanoseconds since 1970 at begin
};

struct Definitions {
  ClockProperties clock;
  std::string creator;                // program that wrote the trace; empty: unknown
  std::string machine_name;           // empty: unknown
  std::vector<std::string> strings;   // by StringId
  std::vector<Region> regions;        // by RegionId
  std::vector<LocationGroup> groups;  // by LocationGroupId
  std::vector<Parameter> parameters;  // by ParameterId
  std::vector<Metric> metrics;        // by MetricId
  std::vector<Location> locations;    // in order of their ids
  std::vector<Marker> markers;        // in order of time
  // Facts about the run that have no place of their own, e.g. what was lost
  // or cut off ("timeloom::lost_events" -> "12"). Written to the trace as properties.
  std::map<std::string, std::string> properties;
};

}  // namespace timeloom
