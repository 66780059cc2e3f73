// Names of properties of a run that several folders read and write.
#pragma once

namespace timeloom {

// Of a process, with a process id behind it: the wait status of a child, which has ended.
inline constexpr char kReaped[] = "timeloom::reaped_";

// Levels of call paths that its profile keeps apart.
inline constexpr char kProfileDepth[] = "timeloom::profile_depth";
// The deepest level of calls, where that is more.
inline constexpr char kReachedDepth[] = "timeloom::reached_depth";
// Events that are only in the profile, since the run had reached its size limit.
inline constexpr char kFoldedEvents[] = "timeloom::folded_events";

// The part of the program that was to be recorded, and how often it came, in all processes.
inline constexpr char kWindow[] = "timeloom::window";
inline constexpr char kWindows[] = "timeloom::windows";

// Visits of functions whose definition is lost, so that they have no name.
inline constexpr char kUnnamedVisits[] = "timeloom::unnamed_visits";

// Tasks, and greenlets: each has a location, or (with lanes) all of them share this many.
inline constexpr char kTasks[] = "timeloom::tasks";
inline constexpr char kTaskLanes[] = "timeloom::task_lanes";

// The directory in which the program was started, and those of Python's own library and of
// installed packages, with colons in between.
inline constexpr char kProgramDirectory[] = "timeloom::directory";
inline constexpr char kLibraryDirectories[] = "timeloom::library_directories";
// The package whose command the program is ("black"), where it is one.
inline constexpr char kProgramPackage[] = "timeloom::package";
// Python processes that measured ones have started and that were not measured.
inline constexpr char kUnmeasuredProcesses[] = "timeloom::unmeasured_processes";
// Interpreters besides the main ones of measured processes, which are never measured.
inline constexpr char kSubInterpreters[] = "timeloom::sub_interpreters";
// Events that libraries fired for objects that are not code objects; nothing is known of these.
inline constexpr char kEventsLeftOut[] = "timeloom::events_left_out";
// The functions whose calls are missing, as this Python does not ask its frame hook for them.
inline constexpr char kMissingCalls[] = "timeloom::missing_calls";
// "true" where MPI was recorded and every message is there with both ends, as Score-P has it.
inline constexpr char kMessagesComplete[] = "OTF2::MPI_COMMUNICATION_COMPLETE";
// 1 where functions of C were recorded, too.
inline constexpr char kCFunctions[] = "timeloom::c_functions";

// The layout of the run directory, by its name in run/run_layout.hpp.
inline constexpr char kLayout[] = "timeloom::layout";
inline constexpr char kScorepLayoutName[] = "scorep";
// There where other tools see locations and processes by names of their places ("Master thread",
// "Process 1") in place of their own. Not kept in results.
inline constexpr char kLocationNames[] = "timeloom::location_names";
// The names of the machine and, without its extension, of the profile's file, where the
// user has chosen them. Not kept in results.
inline constexpr char kMachineName[] = "timeloom::machine_name";
inline constexpr char kProfileBaseName[] = "timeloom::profile_base_name";

}  // namespace timeloom
