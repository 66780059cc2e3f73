// The measurement in this process: at most one at a time, any number in turn.
//
// Ids of regions, parameters and metrics live as long as the process, so that one can be
// kept with a code object. The spool of a measurement holds those definitions that were used
// in it: a region has to be defined in every measurement that enters it, see define().
// Functions may be called from any thread, and throw nothing, unless the comment at them tells
// otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "core/event_word.hpp"
#include "record/defined_regions.hpp"
#include "record/thread_recorder.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

struct StartOptions {
  std::string spool_directory;  // does not exist, its parent does
  os::DirectoryId above;        // what the parent is, if that is known
  spool::WriterOptions writer;
  LocationGroup process;
  std::string parent;  // name of the spool of the process that started this one; or empty
  std::map<std::string, std::string> properties;
  bool system_clock = false;        // read CLOCK_MONOTONIC in place of a counter of the processor
  bool waiting = false;             // how long threads wait is measured
  MetricPlan metrics;               // sampled at every enter and leave
  std::size_t max_depth = 0;        // of recorded calls; 0: any
  bool profile = false;             // aggregate calls into a profile of each thread, keep no events
  std::uint32_t profile_depth = 0;  // levels of call paths that it keeps apart; 0: any number
};

struct Totals {
  std::uint64_t events = 0;
  std::uint64_t aggregated_events = 0;  // of these: only call paths have been kept of them
  std::uint64_t samples = 0;  // of these: records of metrics that were sampled at an event
  std::uint64_t threads = 0;
  std::uint64_t tracks = 0;  // of threads: see Track
  std::uint64_t bytes = 0;   // of records as they are stored
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;    // older ones, for the size limit
  bool at_limit = false;               // recording has ended at the size limit
  std::uint64_t unmatched_leaves = 0;  // ends of user regions that were not open
  std::uint64_t cpu_ns = 0;            // that the recorder took beside events; see Writer::cpu_ns()
  int error = 0;                       // errno value of the first failed write
};

// Begins a measurement and attaches the calling thread as location 0. Throws
// Error; then nothing is being measured.
void start(const StartOptions& options);
// The same in the child of a fork of a measured process: the regions that were open on the
// forking thread are open in the child from now on. Throws as start() does.
void start_in_child(const StartOptions& options);
// Gives the process another name in the run.
void rename_process(const std::string& name) noexcept;
// Notes in the spool how the process is about to end; kNone takes the note back. May be
// called from a signal handler.
void note_ending(Ending ending) noexcept;
// The same in the process that is measured, not in a child of vfork(): makes no system call.
void note_own_ending(Ending ending) noexcept;
// Notes in the spool how much CPU time the process has used, for an end that leaves no other time
// to do so: another program is about to take its place. Any thread, not in a handler of a signal.
void note_cpu_times_now() noexcept;
// note_ending() calls `listener` in the process that is measured, with every kind but kNone, on the
// thread that ends it, perhaps in a signal handler.
void tell_endings_to(void (*listener)(Ending)) noexcept;
// Asked once, at the end: whether the process has forbidden itself system calls since the
// measurement began (seccomp). If so, any further call may kill it, so the measurement is not
// ended: the records stay as if the process had been killed, with a note.
bool is_restricted() noexcept;
// The main thread has ended by pthread_exit(). The process ends with its last thread, so Timeloom's
// own threads must end before that.
void note_end_of_main_thread() noexcept;
// From now on signals that end the process are noted in this way; see os/signals.hpp.
void watch_signals() noexcept;
void watch_signal_again(int signal) noexcept;
void unwatch_signals() noexcept;

// Ends the measurement: leaves the open regions of all threads, hands back all segments,
// drains, closes. REQUIRES: no other thread records meanwhile, e.g. because the caller holds
// the GIL. Does nothing without a measurement.
Totals stop(Ending ending = {}) noexcept;

// The totals so far.
Totals totals() noexcept;

// Adds a property to the spool of the running measurement, where it stays whatever becomes of
// the process.
void note_property(const std::string& key, const std::string& value) noexcept;

// Adds a property to the spool of the measurement that was stopped last, by the thread that has
// stopped it. A failure is ignored.
void add_property(const std::string& key, const std::string& value) noexcept;

namespace detail {
extern constinit std::atomic<bool> g_active;
extern constinit std::atomic<bool> g_recording;
}  // namespace detail

inline bool active() noexcept { return detail::g_active.load(std::memory_order_relaxed); }
// The number of measurements that this process has begun; a forked child counts on from its
// parent's number.
inline std::uint32_t measurement_number() noexcept {
  return detail::g_number.load(std::memory_order_acquire);
}

// Recording can be switched off and on within a measurement: between the two
// the caller records nothing. Puts RecordingOff/On on every attached thread;
// the same rule as for stop() holds for other threads. True if it changed.
bool set_recording(bool on) noexcept;
inline bool recording() noexcept { return detail::g_recording.load(std::memory_order_acquire); }

// Switches recording for native code: calls the function given to on_switch_of_recording(),
// on the calling thread, or set_recording() where there is none.
void switch_recording(bool on) noexcept;
// Sets the function by which a session switches recording; nullptr: none.
void on_switch_of_recording(void (*function)(bool on) noexcept) noexcept;

// Sets the function that is called where a thread has taken new space for its events, on that
// thread; nullptr: none.
void on_new_space(void (*function)() noexcept) noexcept;
void note_new_space() noexcept;

// CLOCK_MONOTONIC, on which a run's times are put.
std::uint64_t monotonic_ns() noexcept;
// User and system time, in nanoseconds: of all threads of this process, of the calling thread.
std::uint64_t process_cpu_ns() noexcept;
std::uint64_t thread_cpu_ns() noexcept;

// Before a fork: ends our own threads. CPython warns of a fork in a process with several, some
// versions after their handlers ran, so they are started again a little later.
void pause_helpers() noexcept;
// Starts them again, in the parent and in a child that is measured; nothing where they run, or
// where nothing is measured. Without them a process that is killed has lived until its last event.
void resume_helpers() noexcept;

// The id of a region, the same as long as the process lives. May be asked for at any time.
// Throws std::bad_alloc.
RegionId region_id(const Region& region);
EventWord enter_word(RegionId id) noexcept;
// Defines the region in the running measurement, unless it has been: comes before its first
// event. Takes a lock, and writes, the first time only. Without a measurement it does nothing.
// REQUIRES: region_id() has returned `id`.
void define(RegionId id) noexcept;
// region_id() and define() together; throws as region_id() does.
RegionId define_region(const Region& region);
// Enters the region on the calling thread, and defines it if the enter is recorded. True: the
// measurement has it defined.
bool enter_region(Token token, EventWord enter) noexcept;

// Ids of new or known definitions, which the running measurement has from here on. REQUIRED
// before each use, since an id is defined anew in each measurement. Throw std::bad_alloc.
ParameterId define_parameter(std::string_view name, ParameterType type);
MetricId define_metric(std::string_view name, std::string_view unit, MetricValueType type);
StringId define_string(std::string_view text);

// Communicators of MPI: `id` is the caller's, the same as long as the process lives. REQUIRED
// before each use, as of the other definitions; a later one renames.
void define_communicator(std::uint32_t id, const LocalCommunicator& communicator) noexcept;
// The difference between the clocks of this host and of rank 0's host, now.
void note_clock_offset(std::int64_t offset_ns) noexcept;

void marker(const std::string& text) noexcept;
void count_unmatched_leave() noexcept;

// The function that names a thread that records for the first time; called on that thread.
using ThreadNamer = std::string (*)(std::uint32_t location);
void set_thread_namer(ThreadNamer namer) noexcept;
// Names the attached threads anew, by their pthread ids.
void rename_threads(const std::map<std::uintptr_t, std::string>& names) noexcept;

// Threads, by their ids of the kernel (gettid), that take no part in any measurement from now
// on: threads of a host of the program, such as the kernel of a notebook. Later calls add to them.
// Throws std::bad_alloc.
void keep_off_threads(std::span<const std::uint64_t> threads);

// A thread as others know it: its pthread id, its id of the kernel, its name (empty: one is made).
struct OtherThread {
  std::uintptr_t thread;
  std::uint64_t id;
  std::string name;
};
// The recorder of a thread that has recorded nothing in this measurement yet, which takes part from
// here on; once it records something itself, the thread goes on with it. nullptr: nothing is
// recorded of it, or there is no memory. REQUIRES: that thread does not record meanwhile.
ThreadRecorder* bring_in(const OtherThread& other) noexcept;

// Calls `visit` for each thread that was brought in and has recorded nothing itself so far, with
// its pthread id and its id of the kernel. The mutex of the measurement is held: the thread cannot
// take its recorder over meanwhile, and nothing of this header may be called.
void for_each_brought(void (*visit)(ThreadRecorder&, std::uintptr_t thread,
                                    std::uint64_t id) noexcept) noexcept;

// The location began now as the thread or task of this number; called by the namer.
void note_creation(std::uint32_t location, std::uint64_t number) noexcept;
// A track of the calling thread, created under `number` (0: not known); nullptr
// when nothing is recorded here. Its user lets it end with the measurement.
std::unique_ptr<Track> make_track(const std::string& name, std::uint64_t number) noexcept;

// Calls `visit` for every attached recorder with its thread's pthread id. REQUIRES: no other
// thread records meanwhile; `visit` waits for no thread, since none can end meanwhile, and
// does not call back into this header.
void for_each_recorder(void (*visit)(ThreadRecorder&, std::uintptr_t thread, void* context),
                       void* context);

// Suspends recording on the calling thread for as long as it lives. Nests.
class KeepOff {
 public:
  KeepOff() noexcept;
  ~KeepOff();
  KeepOff(const KeepOff&) = delete;
  KeepOff& operator=(const KeepOff&) = delete;

 private:
  ThreadRecorder* recorder_;
};
// Whether it is suspended there.
bool is_kept_off() noexcept;

// Routes the calling thread's events to `recorder` and returns the one before;
// for calibration on a scratch spool.
ThreadRecorder* exchange_recorder(ThreadRecorder* recorder) noexcept;

}  // namespace timeloom::record
