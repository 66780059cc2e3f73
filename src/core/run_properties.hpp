// Names of properties of a run that several folders read and write. Constants, and a function of
// plain values that throws std::bad_alloc.
#pragma once

#include <map>
#include <string>

namespace timeloom {

// In a spool, followed by a process id: the wait status of that child, which has ended.
inline constexpr char kReaped[] = "timeloom::reaped_";

// The number of levels of call paths that the profile keeps apart.
inline constexpr char kProfileDepth[] = "timeloom::profile_depth";
// The deepest level of calls, if it is more.
inline constexpr char kReachedDepth[] = "timeloom::reached_depth";
// The number of events that are only in the profile, since the run had reached its size limit.
inline constexpr char kAggregatedEvents[] = "timeloom::folded_events";

// The window (the part of the program to be recorded), and how often it was entered, in all
// processes.
inline constexpr char kWindow[] = "timeloom::window";
inline constexpr char kWindows[] = "timeloom::windows";

// The number of visits of functions without a name, since their definition is lost.
inline constexpr char kUnnamedVisits[] = "timeloom::unnamed_visits";

// Facts about samples of CPU time: their number, the period in nanoseconds, the sampled threads,
// the threads among them with a timer in place of an event of the kernel, the threads with an event
// for user space alone and a timer beside it, samples without space, the CPU time in nanoseconds of
// threads whose signals did not come, samples without the outermost functions of their stack.
inline constexpr char kSampleCount[] = "timeloom::samples";
inline constexpr char kSamplePeriod[] = "timeloom::sample_period";
inline constexpr char kSampleThreads[] = "timeloom::sample_threads";
inline constexpr char kSampleTimers[] = "timeloom::sample_timers";
inline constexpr char kSampleUserEvents[] = "timeloom::sample_user_events";
inline constexpr char kUnsampledTime[] = "timeloom::unsampled_ns";
inline constexpr char kCutStacks[] = "timeloom::cut_stacks";
// The reasons why nothing was sampled in a process, and why a thread could not be sampled.
inline constexpr char kNoSamples[] = "timeloom::no_samples";
// Why no samples were taken from some time on, where the program was not told.
inline constexpr char kSamplesEnded[] = "timeloom::samples_ended";
inline constexpr char kSampleFailure[] = "timeloom::sample_failure";
inline constexpr char kSamplesLost[] = "timeloom::samples_lost";
// The libraries whose functions the samples could not find, with commas between.
inline constexpr char kUnfoundLibraries[] = "timeloom::samples_unfound_in";
// A file with names of generated code, and why it was not read.
inline constexpr char kRefusedNames[] = "timeloom::refused_names";

// The number of regions of compiled code whose functions have no name, since no symbols were found,
// and the objects in which they lie, with their build ids.
inline constexpr char kUnnamedCode[] = "timeloom::unnamed_code";
inline constexpr char kUnnamedObjects[] = "timeloom::unnamed_objects";

// The number of tasks and greenlets. If some of them share lanes, or coroutines of an engine have
// some: the number of all locations of tasks and lanes. Otherwise each task has its own location.
inline constexpr char kTasks[] = "timeloom::tasks";
inline constexpr char kTaskLanes[] = "timeloom::task_lanes";
// Whether some locations are tasks or lanes. `properties`: of a run.
inline bool has_task_locations(const std::map<std::string, std::string>& properties) {
  const auto counts = [&](const char* key) {
    const auto found = properties.find(key);
    return found != properties.end() && found->second != "0";
  };
  return counts(kTasks) || counts(kTaskLanes);
}

// The directory in which the program was started; the directories of Python's own library and of
// installed packages, with colons between.
inline constexpr char kProgramDirectory[] = "timeloom::directory";
inline constexpr char kLibraryDirectories[] = "timeloom::library_directories";
// The package that the program is the command of ("black"), if it is one.
inline constexpr char kProgramPackage[] = "timeloom::package";
// The number of Python processes that were started by measured ones and not measured.
inline constexpr char kUnmeasuredProcesses[] = "timeloom::unmeasured_processes";
// The longest error, in nanoseconds, of a comparison with the clock of another host.
inline constexpr char kClockError[] = "timeloom::clock_error_ns";
// The number of workers that the setting `workers` left out.
inline constexpr char kWorkersLeftOut[] = "timeloom::workers_left_out";
// In a spool, "1" as long as the setting `workers` may still leave the process out: its name, as
// far as it is known, does not match the pattern.
inline constexpr char kMayBeLeftOut[] = "timeloom::may_be_left_out";
// The number of sub-interpreters in measured processes that were not measured.
inline constexpr char kSubInterpreters[] = "timeloom::sub_interpreters";
// The number of monitoring events that libraries fired for objects that are not code objects.
inline constexpr char kEventsLeftOut[] = "timeloom::events_left_out";
// The functions whose calls are missing, as this Python does not call its frame hook for them.
inline constexpr char kMissingCalls[] = "timeloom::missing_calls";
// "true" if MPI was recorded and both ends of every message are there, as Score-P writes it.
inline constexpr char kMessagesComplete[] = "OTF2::MPI_COMMUNICATION_COMPLETE";
// 1 if C functions were recorded as well.
inline constexpr char kCFunctions[] = "timeloom::c_functions";

// The name of the run directory's layout (run/run_layout.hpp).
inline constexpr char kLayout[] = "timeloom::layout";
inline constexpr char kScorepLayoutName[] = "scorep";
// Present if other tools are to see locations and processes under numbered names ("Master thread",
// "Process 1") instead of their own. Not written to results.
inline constexpr char kLocationNames[] = "timeloom::location_names";
// The form of the trace, if it is not an OTF2 archive: kPackedTrace. Not written to results.
inline constexpr char kTraceFormat[] = "timeloom::trace_format";
inline constexpr char kPackedTrace[] = "packed";
// The names of the machine and of the profile's file (without extension), if the user has
// chosen them. Not written to results.
inline constexpr char kMachineName[] = "timeloom::machine_name";
inline constexpr char kProfileBaseName[] = "timeloom::profile_base_name";

}  // namespace timeloom
