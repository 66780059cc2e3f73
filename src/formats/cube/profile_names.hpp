// Names in CUBE profiles that have a meaning for tools. Plain constants, and functions for any
// thread; nothing throws.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/definitions.hpp"
#include "core/io.hpp"
#include "core/mpi/mpi_event.hpp"
#include "core/mpi/one_sided_metrics.hpp"
#include "core/regions/collection_region.hpp"
#include "core/samples/sampled_time.hpp"
#include "formats/cube/cube_model.hpp"

namespace timeloom::cube {

inline constexpr char kVisits[] = "visits";
inline constexpr char kTime[] = "time";
inline constexpr char kMinTime[] = "min_time";
inline constexpr char kMaxTime[] = "max_time";

inline constexpr char kArtificialRole[] = "artificial";
inline constexpr char kMeasurementParadigm[] = "measurement";
inline constexpr char kCollapsedName[] = "COLLAPSE";
inline constexpr char kThreadsName[] = "THREADS";
inline constexpr char kProcessMetricsName[] = "PER PROCESS METRICS";
inline constexpr char kOffName[] = "MEASUREMENT OFF";
inline constexpr char kFlushName[] = "TRACE BUFFER FLUSH";

inline constexpr char kArguments[] = "Score-P::ProgramArguments::numberOfArguments";
inline constexpr char kParameterCount[] = "Score-P::DefinitionCounters::Parameter";

// A context of an accelerator is a location group of this type, below a node of this class, and has
// the name of its process in the attribute. The names are Score-P's.
inline constexpr char kAccelerator[] = "accelerator";
inline constexpr char kDeviceClass[] = "CUDA Device";
inline constexpr char kCreatingGroup[] = "Creating location group";

// Attributes of Timeloom, for facts about a run that CUBE has no place for.
inline constexpr char kTicksPerSecond[] = "timeloom::ticks_per_second";
inline constexpr char kBegin[] = "timeloom::begin";
inline constexpr char kLength[] = "timeloom::length";
inline constexpr char kRealtime[] = "timeloom::realtime";
inline constexpr char kTraceId[] = "timeloom::trace_id";
inline constexpr char kProperty[] = "timeloom::property::";
inline constexpr char kName[] = "timeloom::name";  // of a process or a thread
inline constexpr char kProcessId[] = "timeloom::process_id";
inline constexpr char kExecutable[] = "timeloom::executable";
inline constexpr char kArgument[] = "timeloom::argument::";
inline constexpr char kCreator[] = "timeloom::creator";
inline constexpr char kEnding[] = "timeloom::ending";
inline constexpr char kLocation[] = "timeloom::location";
inline constexpr char kFeeder[] = "timeloom::feeder";  // of a queue: the id of a location
inline constexpr char kThreadId[] = "timeloom::thread_id";
inline constexpr char kEvents[] = "timeloom::events";
inline constexpr char kFirst[] = "timeloom::first";
inline constexpr char kLast[] = "timeloom::last";
inline constexpr char kSet[] = "timeloom::set";  // of a metric
inline constexpr char kOfProgram[] =
    "timeloom::of_program";  // of a region, see profile_regions.hpp

inline constexpr std::array<std::pair<Paradigm, std::string_view>, 11> kParadigms = {{
    {Paradigm::kUnknown, "unknown"},
    {Paradigm::kUser, "user"},
    {Paradigm::kCompiler, "compiler"},
    {Paradigm::kMeasurement, kMeasurementParadigm},
    {Paradigm::kIo, "io"},
    {Paradigm::kMpi, "mpi"},
    {Paradigm::kPthread, "pthread"},
    {Paradigm::kOpenMp, "openmp"},
    {Paradigm::kKokkos, "kokkos"},
    {Paradigm::kCuda, "cuda"},
    {Paradigm::kMemory, "memory"},
}};

inline constexpr std::array<std::pair<RegionRole, std::string_view>, 38> kRoles = {{
    {RegionRole::kUnknown, "unknown"},
    {RegionRole::kFunction, "function"},
    {RegionRole::kCode, "code"},
    {RegionRole::kLoop, "loop"},
    {RegionRole::kWrapper, "wrapper"},
    {RegionRole::kArtificial, kArtificialRole},
    {RegionRole::kFileIo, "file io"},
    {RegionRole::kFileIoMetadata, "file io metadata"},
    {RegionRole::kThreadCreate, "thread create"},
    {RegionRole::kThreadWait, "thread wait"},
    {RegionRole::kPointToPoint, "point2point"},
    {RegionRole::kBarrier, "barrier"},
    {RegionRole::kOneToAll, "one2all"},
    {RegionRole::kAllToOne, "all2one"},
    {RegionRole::kAllToAll, "all2all"},
    {RegionRole::kCollective, "other collective"},
    {RegionRole::kRma, "rma"},
    {RegionRole::kParallel, "parallel"},
    {RegionRole::kSections, "sections"},
    {RegionRole::kSection, "section"},
    {RegionRole::kWorkshare, "workshare"},
    {RegionRole::kSingle, "single"},
    {RegionRole::kSingleBlock, "single sblock"},
    {RegionRole::kMaster, "master"},
    {RegionRole::kCritical, "critical"},
    {RegionRole::kCriticalBlock, "critical sblock"},
    {RegionRole::kAtomic, "atomic"},
    {RegionRole::kImplicitBarrier, "implicit barrier"},
    {RegionRole::kFlush, "flush"},
    {RegionRole::kOrdered, "ordered"},
    {RegionRole::kOrderedBlock, "ordered sblock"},
    {RegionRole::kTask, "task"},
    {RegionRole::kTaskCreate, "task create"},
    {RegionRole::kTaskWait, "task wait"},
    {RegionRole::kDataTransfer, "data transfer"},
    {RegionRole::kAllocate, "allocate"},
    {RegionRole::kDeallocate, "deallocate"},
    {RegionRole::kReallocate, "reallocate"},
}};

inline constexpr std::array<std::pair<LocationType, std::string_view>, 3> kLocationTypes = {{
    {LocationType::kCpuThread, "thread"},
    {LocationType::kAcceleratorStream, "accelerator stream"},
    {LocationType::kMetric, "metric"},
}};

// Score-P leaves out the group of a region that equals its pseudo file: it writes "mpi", not
// "mpi:MPI". scorep-score finds the type of the region by this word.
inline bool is_grouped_by_file(Paradigm paradigm) {
  return paradigm == Paradigm::kMpi || paradigm == Paradigm::kPthread;
}

// The group that the regions of a paradigm have where the profile names none, as Score-P's names
// none; empty: there is none.
inline std::string_view usual_group(Paradigm paradigm, std::string_view file) {
  if (is_grouped_by_file(paradigm)) return file;
  return paradigm == Paradigm::kOpenMp ? "OMP" : "";
}

// True if a counter with that name counts transferred bytes, or objects of collected garbage: their
// sum is meaningful by itself.
inline bool is_summed_name(std::string_view name) {
  return name == kObjectsCollected || name == kIoBytesRead || name == kIoBytesWritten ||
         name == kBytesSent || name == kBytesReceived || name == kBytesPut || name == kBytesGot;
}

// The unit of the CPU time of samples, which the tree has in nanoseconds. Profiles of older
// versions have it as a tuple of nanoseconds.
inline constexpr char kSeconds[] = "sec";
inline bool is_seconds_of_samples(const Metric& metric) {
  return metric.name == kSampledTimeMetric && metric.unit == kSeconds &&
         metric.type.type == DataType::kDouble;
}

// True if every profile has a metric with that name.
inline bool is_core_name(std::string_view name) {
  return name == kVisits || name == kTime || name == kMinTime || name == kMaxTime;
}

// The name of the value in a table; "unknown" if it is missing there.
template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [one, name] : table) {
    if (one == value) return name;
  }
  return "unknown";
}

// The value with that name, or `other`.
template <typename Table, typename Value>
Value value_in(const Table& table, std::string_view name, Value other) {
  for (const auto& [one, known] : table) {
    if (known == name) return one;
  }
  return other;
}

}  // namespace timeloom::cube
