// The table of the SCOREP_* variables.
#include <algorithm>
#include <array>

#include "doors/scorep/settings/scorep_settings.hpp"

namespace timeloom {
namespace {

using enum ScorepType;
using Words = std::string_view;

constexpr std::array<Words, 3> kTimers = {"tsc", "gettimeofday", "clock_gettime"};
constexpr std::array<Words, 9> kFormats = {"cube4",        "default",     "none",
                                           "tau_snapshot", "cube_tuple",  "thread_sum",
                                           "thread_tuple", "key_threads", "cluster_threads"};
constexpr std::array<Words, 6> kClustering = {"subtree", "none",       "subtree_visits",
                                              "mpi",     "mpi_visits", "mpi_visits_all"};
constexpr std::array<Words, 16> kMpiGroups = {
    "cg",   "coll", "env",   "err",  "ext",  "io",        "misc",     "p2p",
    "perf", "rma",  "spawn", "topo", "type", "xnonblock", "xreqtest", "all"};

constexpr Words kNoLimit = "raw records go to disk and have no such limit";
constexpr Words kNoUnwinding = "nothing is sampled or unwound";
constexpr Words kNoClusters = "iterations are not clustered";
constexpr Words kNoSion = "traces are not written through SIONlib";
constexpr Words kNoPlugins = "plug-ins of Score-P are not loaded";
constexpr Words kNoTopology = "no topology is written";
constexpr Words kNoMpiLimit = "tables of MPI grow as they fill";
constexpr Words kAllOfMpi = "functions of MPI of all groups are recorded";
constexpr Words kNoMemory = "allocations of MPI are not recorded";
constexpr Words kNoDevices = "devices of this kind are not recorded";
constexpr bool kNotInCfg = false;

constexpr std::array kTable = {
    ScorepVariable{"SCOREP_ENABLE_PROFILING", kBool, "true", "write a call-path profile"},
    ScorepVariable{"SCOREP_ENABLE_TRACING", kBool, "false", "write an OTF2 trace"},
    ScorepVariable{"SCOREP_VERBOSE", kBool, "false", "say what the measurement does"},
    ScorepVariable{"SCOREP_TOTAL_MEMORY", kSize, "16000k",
                   "memory of the measurement in each process", kNoLimit},
    ScorepVariable{"SCOREP_PAGE_SIZE", kSize, "8k", "page of that memory", kNoLimit},
    ScorepVariable{"SCOREP_EXPERIMENT_DIRECTORY", kPath, "",
                   "directory of the results; empty: scorep-DATE_TIME_TICKS"},
    ScorepVariable{"SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY", kBool, "true",
                   "give an existing directory another name instead of ending with an error"},
    ScorepVariable{"SCOREP_MACHINE_NAME", kString, "Linux", "name of the machine in the results"},
    ScorepVariable{"SCOREP_EXECUTABLE", kPath, "",
                   "path of the program in the results; empty: the path of Python"},
    ScorepVariable{"SCOREP_ENABLE_SYSTEM_TREE_SEQUENCE_DEFINITIONS", kBool, "false",
                   "write the system tree in a compact form", "the system tree is written in full"},
    ScorepVariable{"SCOREP_FORCE_CFG_FILES", kBool, "true",
                   "make the directory also when neither profile nor trace is written"},
    ScorepVariable{"SCOREP_TIMER",
                   kOption,
                   "tsc",
                   "clock of the measurement; all but tsc are CLOCK_MONOTONIC",
                   {},
                   kTimers},
    ScorepVariable{"SCOREP_PROFILING_TASK_EXCHANGE_NUM", kSize, "1K",
                   "task data kept before they are handed back", "there are no such tasks"},
    ScorepVariable{"SCOREP_PROFILING_MAX_CALLPATH_DEPTH", kNumber, "100",
                   "call paths deeper than that become one node, COLLAPSE"},
    ScorepVariable{"SCOREP_PROFILING_BASE_NAME", kString, "profile",
                   "name of the profile, without .cubex"},
    ScorepVariable{"SCOREP_PROFILING_FORMAT",
                   kOption,
                   "default",
                   "format of the profile; none writes no profile, every other one CUBE4",
                   {},
                   kFormats},
    ScorepVariable{"SCOREP_PROFILING_ENABLE_CLUSTERING", kBool, "true", "cluster iterations",
                   kNoClusters},
    ScorepVariable{"SCOREP_PROFILING_CLUSTER_COUNT", kSize, "64", "number of clusters",
                   kNoClusters},
    ScorepVariable{"SCOREP_PROFILING_CLUSTERING_MODE", kOption, "subtree", "what makes a cluster",
                   kNoClusters, kClustering},
    ScorepVariable{"SCOREP_PROFILING_CLUSTERED_REGION", kString, "", "region that is clustered",
                   kNoClusters},
    ScorepVariable{"SCOREP_PROFILING_ENABLE_CORE_FILES", kBool, "false",
                   "abort with a core file when a profile is inconsistent",
                   "the program is never aborted"},
    ScorepVariable{"SCOREP_TRACING_USE_SION", kBool, "false", "write traces through SIONlib",
                   kNoSion},
    ScorepVariable{"SCOREP_TRACING_MAX_PROCS_PER_SION_FILE", kSize, "1K",
                   "processes for each SION file", kNoSion},
    ScorepVariable{"SCOREP_FILTERING_FILE", kPath, "", "filter file"},
    ScorepVariable{"SCOREP_SUBSTRATE_PLUGINS", kString, "", "further consumers of events",
                   kNoPlugins},
    ScorepVariable{"SCOREP_SUBSTRATE_PLUGINS_SEP", kString, ",", "separator of that list",
                   kNoPlugins},
    ScorepVariable{"SCOREP_METRIC_PAPI", kString, "", "PAPI events counted with every event"},
    ScorepVariable{"SCOREP_METRIC_PAPI_PER_PROCESS", kString, "",
                   "PAPI events recorded once for a process"},
    ScorepVariable{"SCOREP_METRIC_PAPI_SEP", kString, ",", "separator of these lists"},
    ScorepVariable{"SCOREP_METRIC_RUSAGE", kString, "",
                   "counters of getrusage(2) with every event, or all"},
    ScorepVariable{"SCOREP_METRIC_RUSAGE_PER_PROCESS", kString, "",
                   "the same recorded once for a process"},
    ScorepVariable{"SCOREP_METRIC_RUSAGE_SEP", kString, ",", "separator of these lists"},
    ScorepVariable{"SCOREP_METRIC_PLUGINS", kString, "", "metric plug-ins", kNoPlugins},
    ScorepVariable{"SCOREP_METRIC_PLUGINS_SEP", kString, ",", "separator of that list", kNoPlugins},
    ScorepVariable{"SCOREP_METRIC_PERF", kString, "", "events of perf", "use PAPI's names of them"},
    ScorepVariable{"SCOREP_METRIC_PERF_PER_PROCESS", kString, "", "events of perf for a process",
                   "use PAPI's names of them"},
    ScorepVariable{"SCOREP_METRIC_PERF_SEP", kString, ",", "separator of these lists",
                   "use PAPI's names of them"},
    ScorepVariable{"SCOREP_TOPOLOGY_PLATFORM", kBool, "true", "topology of the platform",
                   kNoTopology},
    ScorepVariable{"SCOREP_TOPOLOGY_PROCESS", kBool, "true", "processes by threads", kNoTopology},
    ScorepVariable{"SCOREP_TOPOLOGY_USER", kBool, "true", "topologies of the program", kNoTopology},
    ScorepVariable{"SCOREP_SELECTIVE_CONFIG_FILE", kPath, "",
                   "record chosen executions of user regions only",
                   "use the windows of timeloom run (--from, --until, --after)"},
    ScorepVariable{"SCOREP_ENABLE_UNWINDING",
                   kBool,
                   "false",
                   "record calling contexts",
                   kNoUnwinding,
                   {},
                   kNotInCfg},
    ScorepVariable{"SCOREP_SAMPLING_EVENTS",
                   kString,
                   "perf_cycles@10000000",
                   "what is sampled",
                   kNoUnwinding,
                   {},
                   kNotInCfg},
    ScorepVariable{
        "SCOREP_SAMPLING_SEP", kString, ",", "separator of that list", kNoUnwinding, {}, kNotInCfg},
    ScorepVariable{"SCOREP_TRACING_CONVERT_CALLING_CONTEXT_EVENTS",
                   kBool,
                   "false",
                   "write plain events instead of calling contexts",
                   "only timeloom convert --to otf2 --samples writes them, and obeys it",
                   {},
                   kNotInCfg},
    ScorepVariable{"SCOREP_MEMORY_RECORDING",
                   kBool,
                   "false",
                   "record each allocation and each free as an event",
                   {},
                   {},
                   kNotInCfg},
    ScorepVariable{"SCOREP_IO_POSIX", kBool, "false", "record POSIX I/O", {}, {}, kNotInCfg},
    ScorepVariable{"SCOREP_LIBWRAP_ENABLE",
                   kString,
                   "",
                   "library wrappers to load",
                   kNoPlugins,
                   {},
                   kNotInCfg},
    ScorepVariable{"SCOREP_MPI_MAX_COMMUNICATORS",
                   kNumber,
                   "50",
                   "size of a table",
                   kNoMpiLimit,
                   {},
                   kNotInCfg},
    ScorepVariable{
        "SCOREP_MPI_MAX_WINDOWS", kNumber, "50", "size of a table", kNoMpiLimit, {}, kNotInCfg},
    ScorepVariable{
        "SCOREP_MPI_MAX_EPOCHS", kNumber, "50", "size of a table", kNoMpiLimit, {}, kNotInCfg},
    ScorepVariable{
        "SCOREP_MPI_MAX_GROUPS", kNumber, "50", "size of a table", kNoMpiLimit, {}, kNotInCfg},
    ScorepVariable{"SCOREP_MPI_ENABLE_GROUPS", kSet, "cg,coll,env,io,p2p,rma,topo,xnonblock",
                   "kinds of MPI functions to record", kAllOfMpi, kMpiGroups, kNotInCfg},
    ScorepVariable{"SCOREP_MPI_MEMORY_RECORDING",
                   kBool,
                   "false",
                   "record allocations by MPI",
                   kNoMemory,
                   {},
                   kNotInCfg},
    ScorepVariable{
        "SCOREP_TOPOLOGY_MPI", kBool, "true", "topologies of MPI", kNoTopology, {}, kNotInCfg},
    ScorepVariable{"SCOREP_CUDA_ENABLE",
                   kString,
                   "",
                   "records of CUDA, by words such as kernel; yes: all",
                   {},
                   {},
                   kNotInCfg},
    ScorepVariable{"SCOREP_CUDA_BUFFER", kSize, "1M", "buffer of CUDA", kNoLimit, {}, kNotInCfg},
    ScorepVariable{
        "SCOREP_CUDA_BUFFER_CHUNK", kSize, "8k", "chunk of that buffer", kNoLimit, {}, kNotInCfg},
    ScorepVariable{
        "SCOREP_OPENCL_ENABLE", kString, "", "what of OpenCL to record", kNoDevices, {}, kNotInCfg},
    ScorepVariable{"SCOREP_OPENACC_ENABLE",
                   kString,
                   "",
                   "what of OpenACC to record",
                   kNoDevices,
                   {},
                   kNotInCfg},
    ScorepVariable{
        "SCOREP_HIP_ENABLE", kString, "", "what of HIP to record", kNoDevices, {}, kNotInCfg},
    ScorepVariable{"SCOREP_KOKKOS_ENABLE",
                   kString,
                   "",
                   "record kernels, copies and allocations of Kokkos, with any word but no",
                   {},
                   {},
                   kNotInCfg},
};

}  // namespace

std::span<const ScorepVariable> all_scorep_variables() noexcept { return kTable; }

const ScorepVariable* find_scorep_variable(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTable, name, &ScorepVariable::name);
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view scorep_type_name(ScorepType type) noexcept {
  switch (type) {
    case kBool: return "Boolean";
    case kNumber: return "Number";
    case kSize: return "Number with size suffixes";
    case kString: return "String";
    case kPath: return "Path";
    case kOption: return "Option";
    case kSet: return "Set";
  }
  return "";
}

}  // namespace timeloom
