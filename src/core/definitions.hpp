// The definitions of a run: the tables to which the ids in its events refer.
//
// A plain value, filled by a reader of spools or of an OTF2 archive, and read by sinks and
// reports. Not synchronised. REQUIRES: no thread changes it while another reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace timeloom {

// The source of a region's events (OTF2 paradigm of the region).
enum class Paradigm : std::uint8_t {
  kUnknown,
  kUser,
  kCompiler,
  kMeasurement,
  kOther,
  kIo,  // calls of the system's input and output
  kMpi,
  kPthread,
  kOpenMp,
  kKokkos,
  kCuda,
  kMemory,   // functions that allocate and free memory
  kSampling  // seen by samples only; in no recorded run
};

// The kind of code that a region is (OTF2 region role).
enum class RegionRole : std::uint8_t {
  kUnknown,
  kFunction,
  kCode,
  kLoop,
  kWrapper,
  kArtificial,
  kOther,
  kFileIo,          // transfers data
  kFileIoMetadata,  // opens, closes, seeks …
  kThreadCreate,
  kThreadWait,
  kPointToPoint,
  kBarrier,
  kOneToAll,
  kAllToOne,
  kAllToAll,
  kCollective,  // any other
  kRma,
  // Constructs of OpenMP and the like.
  kParallel,
  kSections,
  kSection,
  kWorkshare,
  kSingle,
  kSingleBlock,  // the body of a single construct, on the thread that runs it
  kMaster,
  kCritical,       // from the wait for the lock to its release
  kCriticalBlock,  // the body alone
  kAtomic,
  kImplicitBarrier,
  kFlush,
  kOrdered,
  kOrderedBlock,
  kTask,
  kTaskCreate,
  kTaskWait,
  kDataTransfer,
  kAllocate,
  kDeallocate,
  kReallocate
};

struct Region {
  std::string name;              // display name: module and qualified name
  std::string canonical_name;    // equal to the name if the region has no other
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
  LocationGroupId creator{};           // the process that started it; undefined: not known
  std::string ending{};                // how it ended, in words; empty: normally
  std::string alias{};                 // the name in files for other tools; empty: the name itself
};

// The name of a process in files that name processes by their rank alone.
inline std::string name_of_rank(std::uint32_t rank) {
  return rank == 0 ? "Process" : "Process " + std::to_string(rank);
}

enum class LocationType : std::uint8_t { kCpuThread, kAcceleratorStream, kMetric, kUnknown };

// A context of an accelerator: queues of one process on one device.
struct AcceleratorContext {
  std::string name;         // "CUDA Context 1"
  std::string device;       // the number of the device
  LocationGroupId process;  // that has made it
};

struct Location {  // one thread
  LocationId id;
  std::string name;
  LocationGroupId group;
  LocationType type = LocationType::kCpuThread;
  std::uint64_t thread_id = 0;    // of the operating system; 0: unknown
  std::uint64_t event_count = 0;  // as written to the trace
  std::string alias{};            // as in LocationGroup
  // Of a queue of an accelerator; undefined: not known.
  ContextId context{};
  LocationId feeder{};  // the thread that has started most of its work
};

// For people: never empty.
inline std::string display_name(const Location& location) {
  return location.name.empty() ? "thread " + std::to_string(location.id.value()) : location.name;
}

enum class ParameterType : std::uint8_t { kInt64, kUint64, kFloat, kString };

// The parameter whose values are the names of tasks. It tells visits apart in a trace, but not call
// paths in a profile, since there are as many values as tasks.
inline constexpr char kTaskParameter[] = "timeloom::task";

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::kInt64;
  bool splits_call_paths() const noexcept { return name != kTaskParameter; }
};

inline constexpr char kWaitingMetric[] = "waiting";
inline constexpr char kCausePrefix[] = "waiting_";  // of the names of the parts by cause

enum class MetricValueType : std::uint8_t { kInt64, kUint64, kDouble };

// The source of a metric (OTF2 type of the metric member), and the meaning of a value.
enum class MetricSource : std::uint8_t { kUser, kRusage, kPapi, kOther };
enum class MetricMode : std::uint8_t {
  kAbsolutePoint,    // the value now
  kAbsoluteNext,     // the value from now on
  kAccumulatedStart  // the count since the start
};

struct Metric {  // one counter
  std::string name;
  std::string unit;
  std::string description;
  MetricValueType type = MetricValueType::kDouble;
  MetricSource source = MetricSource::kUser;
  MetricMode mode = MetricMode::kAbsolutePoint;
  bool binary = false;  // a value of 1 is base^exponent units; the base is 2 if true, else 10
  std::int32_t exponent = 0;
  // Metrics with the same text here are sampled together, in order of their ids, at every enter
  // and leave. Metrics of a process have a text that starts with "process:". Empty: the metric is
  // recorded alone.
  std::string set{};
  bool sampled() const noexcept { return !set.empty(); }
  bool of_process() const noexcept { return set.starts_with("process:"); }
  // Whether it is the metric of the time in which threads did not run.
  bool is_waiting() const noexcept { return sampled() && name == kWaitingMetric; }
  // Whether it is a part of it, by cause; see core/waiting_metric.hpp.
  bool is_waiting_cause() const noexcept {
    return set == "thread:waiting" && name.starts_with(kCausePrefix);
  }
  // Either: an attribute of enters and leaves in a trace.
  bool of_waiting() const noexcept { return is_waiting() || is_waiting_cause(); }
  // True for counters, which are summed; the other metrics are summarised by their maximum.
  bool counts() const noexcept { return mode == MetricMode::kAccumulatedStart; }
  // Joins the values of two parts of a run.
  std::uint64_t join(std::uint64_t a, std::uint64_t b) const noexcept {
    return counts() ? a + b : std::max(a, b);
  }
};

// A communicator of MPI: processes, by their ranks in it.
struct Communicator {
  std::string name;         // empty: none
  CommunicatorId parent{};  // from which it was made; undefined: not known
  bool self = false;        // one process alone; the same definition for all processes
  std::vector<LocationId>
      members{};               // by rank: the first thread of the process; undefined: not known
  std::uint64_t identity = 0;  // the same in all its processes; 0: not known
};

// A communicator as one of its processes knows it.
struct LocalCommunicator {
  std::uint64_t identity = 0;  // the same in all its processes
  std::uint64_t parent = 0;    // identity of the communicator it was made from; 0: none
  bool self = false;           // this process alone
  std::uint32_t size = 0;
  std::uint32_t rank = 0;  // of this process
  std::string name{};
};

inline constexpr std::uint32_t kNoRoot = UINT32_MAX;

// The interface by which a file is used.
enum class IoParadigm : std::uint8_t { kPosix, kIsoC, kMpi, kOther };

struct IoHandle {    // an open file, from its opening to its closing
  std::string name;  // of a pipe or socket; empty for a file
  std::string file;  // absolute path; empty: it is not a file
  IoParadigm paradigm = IoParadigm::kPosix;
  IoHandleId parent{};       // the handle of the lower interface on which it was opened
  bool pre_created = false;  // open before it was first seen
  std::uint8_t access = 0;   // of a handle open before, as in core/io.hpp
  std::uint32_t status = 0;
};

struct Marker {
  Timestamp time{};
  LocationId location;
  std::string text;
};

struct ClockProperties {
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::uint64_t begin = 0;                // ticks: first time stamp of the run
  std::uint64_t length = 0;               // ticks
  std::optional<std::uint64_t> realtime;  // `begin` in nanoseconds since 1970
};

struct Teams;  // core/teams/teams.hpp

// The files of an archive of another tool that describe it, byte for byte.
struct OriginalFiles {
  std::string anchor;
  std::string definitions;
};

struct Definitions {
  ClockProperties clock;
  std::string creator;                         // program that wrote the trace; empty: unknown
  std::string machine_name;                    // empty: unknown
  std::vector<std::string> strings;            // by StringId
  std::vector<Region> regions;                 // by RegionId
  std::vector<LocationGroup> groups;           // by LocationGroupId
  std::vector<Parameter> parameters;           // by ParameterId
  std::vector<Metric> metrics;                 // by MetricId
  std::vector<Communicator> communicators;     // by CommunicatorId
  std::vector<Location> locations;             // in order of their ids
  std::vector<IoHandle> io_handles;            // by IoHandleId
  std::vector<AcceleratorContext> contexts{};  // by ContextId
  std::vector<Marker> markers;                 // in order of time
  // The teams of threads; null: the run has none, or no sink has asked for them
  // (RunSink::wants_teams()).
  std::shared_ptr<const Teams> teams{};
  // Of a packed trace that was an archive of another tool; null: it was not. An archive that is
  // made of it gets these definitions back.
  std::shared_ptr<const OriginalFiles> original{};
  // Further facts about the run, e.g. losses ("timeloom::lost_events" -> "12"). Written to
  // the trace as its properties.
  std::map<std::string, std::string> properties;
};

}  // namespace timeloom
