// The tables of the OMNITRACE_* variables and of the metrics that one of them names.
#include <algorithm>
#include <array>

#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom {
namespace {

using enum OmnitraceType;
using Words = std::string_view;

constexpr Words kNoSampling = "nothing is sampled: every call is recorded";
constexpr Words kNoBuffer = "records go to disk and have no such limit";
constexpr Words kNoTemporary = "raw records lie in the run itself";
constexpr Words kNoCi = "it belongs to the test-suite of Omnitrace";

constexpr OmnitraceBounds kFromZero = {.least = 0};
// Of numbers in reports: more digits than a double has, and a line that a terminal can show. -1: as
// many as the number needs.
constexpr OmnitraceBounds kDigits = {.least = -1, .most = 30};
constexpr OmnitraceBounds kWidth = {.least = -1, .most = 300};

constexpr std::array kTable = {
    OmnitraceVariable{"OMNITRACE_TRACE", kBool, "ON",
                      "write perfetto-trace.proto; OFF where OMNITRACE_PROFILE is ON"},
    OmnitraceVariable{"OMNITRACE_PROFILE", kBool, "OFF",
                      "write call-tree reports; ON where OMNITRACE_TRACE is OFF"},
    OmnitraceVariable{"OMNITRACE_USE_PERFETTO", kBool, "", "old name of OMNITRACE_TRACE"},
    OmnitraceVariable{"OMNITRACE_USE_TIMEMORY", kBool, "", "old name of OMNITRACE_PROFILE"},
    OmnitraceVariable{"OMNITRACE_OUTPUT_FILE", kString, "", "old name of OMNITRACE_PERFETTO_FILE"},
    OmnitraceVariable{"OMNITRACE_TIMEMORY_COMPONENTS", kString, "wall_clock",
                      "metrics of the reports, with commas or blanks between"},
    OmnitraceVariable{"OMNITRACE_FLAT_PROFILE", kBool, "OFF",
                      "put every label at depth 0, merged over all callers"},
    OmnitraceVariable{"OMNITRACE_TIMELINE_PROFILE", kBool, "OFF", "write a row for each call"},
    OmnitraceVariable{"OMNITRACE_COLLAPSE_THREADS", kBool, "OFF",
                      "merge equal call paths of all threads"},
    OmnitraceVariable{"OMNITRACE_COLLAPSE_PROCESSES", kBool, "OFF",
                      "merge equal call paths of all processes"},
    OmnitraceVariable{"OMNITRACE_MAX_DEPTH",
                      kNumber,
                      "65535",
                      "leave out rows as deep as that or deeper",
                      {},
                      kFromZero},
    OmnitraceVariable{"OMNITRACE_MAX_WIDTH", kNumber, "120", "shorten longer labels in text"},
    OmnitraceVariable{"OMNITRACE_ENABLED", kBool, "ON", "measure at all"},
    OmnitraceVariable{"OMNITRACE_INIT_ENABLED", kBool, "ON",
                      "begin with the measurement on; OFF: until start_trace"},
    OmnitraceVariable{"OMNITRACE_TRACE_DELAY", kReal, "0", "seconds until recording begins"},
    OmnitraceVariable{"OMNITRACE_TRACE_DURATION", kReal, "0",
                      "seconds that are recorded; 0: until the end"},
    OmnitraceVariable{
        "OMNITRACE_TRACE_PERIODS", kString, "",
        "windows of time, delay:duration:repeat:clock, of which the first is recorded"},
    OmnitraceVariable{"OMNITRACE_TRACE_PERIOD_CLOCK_ID", kString, "CLOCK_REALTIME",
                      "clock of these windows", "they are measured with CLOCK_MONOTONIC"},
    OmnitraceVariable{"OMNITRACE_ENABLE_CATEGORIES", kString, "",
                      "of the categories python, user and mpi write only these"},
    OmnitraceVariable{"OMNITRACE_DISABLE_CATEGORIES", kString, "", "do not write these"},
    OmnitraceVariable{"OMNITRACE_USE_SAMPLING", kBool, "OFF", "sample native call stacks",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_FREQ", kReal, "300", "samples a second", kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_DELAY", kReal, "0.5", "seconds until sampling begins",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_DURATION", kReal, "0", "seconds of sampling",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_CPUTIME", kBool, "OFF", "sample by CPU time",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_REALTIME", kBool, "OFF", "sample by real time",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_OVERFLOW", kBool, "OFF", "sample by overflow of counters",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_USE_PROCESS_SAMPLING", kBool, "ON",
                      "sample memory and CPU time of the process", kNoSampling},
    OmnitraceVariable{"OMNITRACE_PROCESS_SAMPLING_FREQ", kReal, "0", "samples a second",
                      kNoSampling},
    OmnitraceVariable{"OMNITRACE_SAMPLING_CPUS", kString, "",
                      "processors whose frequency is sampled", kNoSampling},
    OmnitraceVariable{"OMNITRACE_PAPI_EVENTS", kString, "",
                      "events of PAPI that are sampled at every call"},
    OmnitraceVariable{"OMNITRACE_VERBOSE", kNumber, "0",
                      "say more; below 0 nothing is said of files that were written"},
    OmnitraceVariable{"OMNITRACE_DEBUG", kBool, "OFF", "say what the library does",
                      "see timeloom info"},
    OmnitraceVariable{"OMNITRACE_MONOCHROME", kBool, "OFF", "write without colours",
                      "messages have none"},
    OmnitraceVariable{"OMNITRACE_DL_VERBOSE", kNumber, "0", "say what is loaded",
                      "no library is loaded"},
    OmnitraceVariable{"OMNITRACE_CONFIG_FILE", kString, "",
                      "configuration files, with : or ; between; unset: ~/.omnitrace.cfg and "
                      "~/.omnitrace.json, also as .rocprofsys"},
    OmnitraceVariable{"OMNITRACE_SUPPRESS_CONFIG", kBool, "OFF", "read no configuration file"},
    OmnitraceVariable{"OMNITRACE_STRICT_CONFIG", kBool, "ON",
                      "an unknown key in a configuration file is an error; OFF: it is said"},
    OmnitraceVariable{"OMNITRACE_CI", kBool, "OFF", "run as in tests", kNoCi},
    OmnitraceVariable{"OMNITRACE_CI_TIMEOUT", kNumber, "0", "seconds", kNoCi},
    OmnitraceVariable{"OMNITRACE_USE_TEMPORARY_FILES", kBool, "ON", "buffer in files",
                      kNoTemporary},
    OmnitraceVariable{"OMNITRACE_TMPDIR", kString, "", "directory of these files", kNoTemporary},
    OmnitraceVariable{"OMNITRACE_FILE_OUTPUT", kBool, "ON", "write reports to files"},
    OmnitraceVariable{"OMNITRACE_TEXT_OUTPUT", kBool, "ON", "write reports as text"},
    OmnitraceVariable{"OMNITRACE_JSON_OUTPUT", kBool, "ON", "write the rows of reports as JSON"},
    OmnitraceVariable{"OMNITRACE_TREE_OUTPUT", kBool, "ON", "write their tree as JSON"},
    OmnitraceVariable{"OMNITRACE_COUT_OUTPUT", kBool, "OFF", "print the tables, too"},
    OmnitraceVariable{"OMNITRACE_DIFF_OUTPUT", kBool, "OFF",
                      "compare with JSON reports of another run"},
    OmnitraceVariable{"OMNITRACE_INPUT_PATH", kString, "",
                      "directory of these; unset: the current one"},
    OmnitraceVariable{"OMNITRACE_INPUT_PREFIX", kString, "", "prefix of these"},
    OmnitraceVariable{"OMNITRACE_INPUT_EXTENSIONS", kString, "json,xml", "extensions of these",
                      "reports in JSON are read"},
    OmnitraceVariable{"OMNITRACE_TIMING_UNITS", kString, "sec", "unit of times"},
    OmnitraceVariable{"OMNITRACE_TIMING_PRECISION", kNumber, "6", "digits of times", {}, kDigits},
    OmnitraceVariable{"OMNITRACE_TIMING_WIDTH", kNumber, "-1", "width of times", {}, kWidth},
    OmnitraceVariable{"OMNITRACE_TIMING_SCIENTIFIC", kBool, "OFF", "times as 1.5e-03"},
    OmnitraceVariable{"OMNITRACE_MEMORY_UNITS", kString, "MB", "unit of memory"},
    OmnitraceVariable{
        "OMNITRACE_MEMORY_PRECISION", kNumber, "-1", "digits of memory; -1: 3", {}, kDigits},
    OmnitraceVariable{"OMNITRACE_MEMORY_WIDTH", kNumber, "-1", "width of memory", {}, kWidth},
    OmnitraceVariable{"OMNITRACE_MEMORY_SCIENTIFIC", kBool, "OFF", "memory as 1.5e+03"},
    OmnitraceVariable{"OMNITRACE_WIDTH", kNumber, "-1", "width of all numbers", {}, kWidth},
    OmnitraceVariable{"OMNITRACE_PRECISION",
                      kNumber,
                      "-1",
                      "digits of all that are not whole numbers",
                      {},
                      kDigits},
    OmnitraceVariable{"OMNITRACE_SCIENTIFIC", kBool, "OFF", "all of them as 1.5e+03"},
    OmnitraceVariable{"OMNITRACE_SEPARATOR_FREQ", kNumber, "0",
                      "a rule after so many rows of text"},
    OmnitraceVariable{"OMNITRACE_NODE_COUNT", kNumber, "0", "nodes that ranks are merged to",
                      "ranks are apart, or with OMNITRACE_COLLAPSE_PROCESSES one"},
    OmnitraceVariable{"OMNITRACE_OUTPUT_PATH", kString, "omnitrace-%tag%-output",
                      "directory of the files"},
    OmnitraceVariable{"OMNITRACE_OUTPUT_PREFIX", kString, "", "begin of their names"},
    OmnitraceVariable{"OMNITRACE_TIME_OUTPUT", kBool, "ON",
                      "put them into a folder named by the time of the launch"},
    OmnitraceVariable{"OMNITRACE_TIME_FORMAT", kString, "%F_%H.%M", "format of that time"},
    OmnitraceVariable{"OMNITRACE_USE_PID", kBool, "ON", "add the number of the process to names"},
    OmnitraceVariable{"OMNITRACE_PERFETTO_FILE", kString, "perfetto-trace.proto",
                      "name of the Perfetto trace"},
    OmnitraceVariable{"OMNITRACE_PERFETTO_BACKEND", kString, "inprocess", "who buffers the trace",
                      "the trace is made when the program has ended"},
    OmnitraceVariable{"OMNITRACE_PERFETTO_BUFFER_SIZE_KB", kNumber, "1024000", "its buffer",
                      kNoBuffer},
    OmnitraceVariable{"OMNITRACE_PERFETTO_SHMEM_SIZE_HINT_KB", kNumber, "4096", "shared memory",
                      kNoBuffer},
    OmnitraceVariable{"OMNITRACE_PERFETTO_FILL_POLICY", kString, "discard",
                      "what a full buffer drops", "see the settings max-size and at-max-size"},
    OmnitraceVariable{"OMNITRACE_PERFETTO_ANNOTATIONS", kBool, "ON",
                      "times and metrics at each slice", "they are in the trace without"},
    OmnitraceVariable{"OMNITRACE_PERFETTO_COMBINE_TRACES", kBool, "OFF", "one trace of all ranks",
                      "the trace has all processes of the run"},
    OmnitraceVariable{"OMNITRACE_COMMAND_LINE", kString, "",
                      "arguments of the program; set by the launcher"},
    OmnitraceVariable{"OMNITRACE_PYTHON_SCRIPT_FILE", kString, "",
                      "the script of a command that names none, such as that of a worker"},
};

constexpr Words kCoarse =
    "it counts in steps of 10 ms; take thread_cpu_clock, user_mode_time, kernel_mode_time";
constexpr Words kProcFile = "reading /proc at each call is not done";
constexpr Words kOnlyThread = "CPU time is taken of threads; take thread_cpu_clock";

const std::vector<OmnitraceComponent> kComponents = {
    {"trip_count", {}},
    {"wall_clock", {}},
    {"real_clock", {}},
    {"virtual_clock", {}},
    {"monotonic_clock", {}},
    {"thread_cpu_clock", {"ru_utime", "ru_stime"}},
    {"thread_cpu_util", {"ru_utime", "ru_stime"}},
    {"thread_cpu_utilization", {"ru_utime", "ru_stime"}},
    {"user_mode_time", {"ru_utime"}},
    {"kernel_mode_time", {"ru_stime"}},
    {"peak_rss", {"ru_maxrss"}},
    {"memory_hwm", {"ru_maxrss"}},
    {"memory_high_water_mark", {"ru_maxrss"}},
    {"current_peak_rss", {"ru_maxrss"}},
    {"num_minor_page_faults", {"ru_minflt"}},
    {"num_major_page_faults", {"ru_majflt"}},
    {"voluntary_context_switch", {"ru_nvcsw"}},
    {"priority_context_switch", {"ru_nivcsw"}},
    {"num_io_in", {"ru_inblock"}},
    {"num_io_out", {"ru_oublock"}},
    {"monotonic_raw_clock", {}, "there is one clock; take wall_clock"},
    {"cpu_clock", {}, kCoarse},
    {"user_clock", {}, kCoarse},
    {"system_clock", {}, kCoarse},
    {"sys_clock", {}, kCoarse},
    {"cpu_util", {}, kCoarse},
    {"cpu_utilization", {}, kCoarse},
    {"process_cpu_clock", {}, kOnlyThread},
    {"process_cpu_util", {}, kOnlyThread},
    {"process_cpu_utilization", {}, kOnlyThread},
    {"page_rss", {}, kProcFile},
    {"virtual_memory", {}, kProcFile},
    {"read_char", {}, kProcFile},
    {"rchar", {}, kProcFile},
    {"written_char", {}, kProcFile},
    {"wchar", {}, kProcFile},
    {"read_bytes", {}, kProcFile},
    {"written_bytes", {}, kProcFile},
    {"network_stats", {}, "network devices are not read"},
    {"papi_vector", {}, "counters of OMNITRACE_PAPI_EVENTS are in the trace and timeloom report"},
    {"papi_array", {}, "counters of OMNITRACE_PAPI_EVENTS are in the trace and timeloom report"},
};

}  // namespace

std::span<const OmnitraceVariable> all_omnitrace_variables() noexcept { return kTable; }

const OmnitraceVariable* find_omnitrace_variable(std::string_view name) noexcept {
  static constexpr std::string_view kOld = "OMNITRACE_", kNew = "ROCPROFSYS_";
  std::string_view rest = name;
  if (name.starts_with(kOld)) {
    rest.remove_prefix(kOld.size());
  } else if (name.starts_with(kNew)) {
    rest.remove_prefix(kNew.size());
  } else {
    return nullptr;
  }
  const auto found = std::ranges::find_if(kTable, [rest](const OmnitraceVariable& one) {
    return one.name.substr(kOld.size()) == rest;
  });
  return found == kTable.end() ? nullptr : &*found;
}

const OmnitraceComponent* find_omnitrace_component(std::string_view name) noexcept {
  const auto found = std::ranges::find(kComponents, name, &OmnitraceComponent::name);
  return found == kComponents.end() ? nullptr : &*found;
}

}  // namespace timeloom
