#include "record/measurement.hpp"

#include <atomic>
#include <bit>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/waiting_metric.hpp"
#include "os/process.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "record/auxiliary_file.hpp"
#include "record/defined_regions.hpp"
#include "record/measurement_state.hpp"
#include "record/native/compiled_code.hpp"
#include "record/native/native_call.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::record {

// Written with State::mutex held.
constinit std::atomic<bool> detail::g_active = false;
constinit std::atomic<bool> detail::g_recording = false;
constinit std::atomic<std::uint32_t> detail::g_number = 0;
constinit DefinedRegions detail::g_defined_regions;
constinit std::atomic<const ThreadHooks*> detail::g_thread_hooks = nullptr;

// Never destroyed: threads may outlive the static objects of the program.
State& state() {
  static State* const kInstance = new State;
  return *kInstance;
}

namespace {

using detail::g_active;
using detail::g_defined_regions;
using detail::g_number;
using detail::g_recording;

// Where the end of the process is noted; nullptr while nothing is measured.
constinit std::atomic<std::atomic<std::uint64_t>*> g_ending = nullptr;
constinit std::atomic<void (*)(Ending)> g_hears_ending = nullptr;
// The id of the process that is measured: between vfork and exec a child has the same memory.
constinit std::atomic<std::uint64_t> g_measured_process = 0;
constinit std::atomic<void (*)(bool on) noexcept> g_on_switch = nullptr;
constinit std::atomic<void (*)() noexcept> g_on_new_space = nullptr;
constinit std::atomic<void (*)() noexcept> g_before_stop = nullptr;
constinit std::atomic<void (*)() noexcept> g_before_exec = nullptr;

void define_metrics(State& s, const MetricPlan& metrics) {
  s.metrics = metrics;
  s.without_metrics = 0;
  s.metrics_of_thread = s.metrics_of_process = {};
  if (!metrics.thread.empty()) {
    s.metrics_of_thread = s.definitions.metrics(metrics_of(metrics.thread, false), s.writer.get());
  }
  if (!metrics.process.empty()) {
    s.metrics_of_process = s.definitions.metrics(metrics_of(metrics.process, true), s.writer.get());
  }
}

void lock_for_fork() { state().mutex.lock(); }
void unlock_after_fork() { state().mutex.unlock(); }

// In the only thread of a forked child. Another thread of the parent may have held a
// mutex of the writer at the fork, so that is left as it is and forgotten.
void forget_after_fork() {
  State& s = state();
  const ThreadRecorder& own_recorder = *t_recorder;
  const KeepOff of_allocation;  // its records would lie in the memory that the parent uses
  g_ending = nullptr;
  s.filters = {};
  const auto own = own_recorder.own_regions();
  s.inherited.assign(own.begin(), own.end());
  if (own_recorder.track() != nullptr) {  // the child has one sequence of calls
    const auto of_track = own_recorder.open_regions();
    s.inherited.insert(s.inherited.end(), of_track.begin(), of_track.end());
  }
  s.inherited_recording = g_recording;
  for (const Attached& a : s.attached) a.recorder->abandon();
  new (&s.mutex) os::OwnedMutex;
  detail::g_visitors = 0;
  detail::g_missed_events = 0;
  s.created.clear();
  s.attached.clear();
  forget_brought(s);
  g_active = false;
  g_recording = false;
  if (s.writer != nullptr) s.writer->abandon();
  (void)s.writer.release();  // its files and its thread belong to the parent
}

// Before other libraries, where wrappers have loaded this one: what others do before a fork, such
// as to wait for the ends of their threads, comes first, while nobody holds the mutex. And
// before the constructor that begins a session, whose handler in a child starts a measurement: the
// order of files in the library is not fixed.
[[gnu::constructor(150)]] void handle_forks() {
  os::at_fork(lock_for_fork, unlock_after_fork, forget_after_fork);
}

std::uint64_t profile_bytes(const State& s) {
  std::uint64_t bytes = s.finished_bytes;
  for (const Attached& a : s.attached) bytes += a.recorder->profile_bytes();
  return bytes;
}

// REQUIRES: the mutex.
void look_at_native_threads(State& s, std::uint64_t other_ns) noexcept try {
  const KeepOff of_wrappers;
  std::vector<std::uint64_t> recorded;
  for (const Attached& a : s.attached) recorded.push_back(a.id);
  s.native.look(other_ns, recorded);
} catch (const std::bad_alloc&) {
  return;
}

// The CPU times now. Looks at threads that record nothing, unless the process has forbidden itself
// system calls. REQUIRES: the mutex.
CpuTimes take_cpu_times(State& s) noexcept {
  const CpuTimes times = s.cpu.times(s.attached, s.writer->drain_cpu_ns());
  if (s.native.wants_look(times.other) && !s.filters.added()) {
    look_at_native_threads(s, times.other);
  }
  return times;
}

// Called by the drain. A thread that holds the mutex may wait for the drain to end.
void note_cpu_times() noexcept {
  State& s = state();
  std::unique_lock lock(s.mutex, std::try_to_lock);
  if (lock && g_active) {
    s.writer->note(take_cpu_times(s));
    s.native.tell(*s.writer, false);
    if (!s.filters.added()) s.resident.look(*s.writer, false);
  }
  if (lock) lock.unlock();
  const ThreadHooks* const hooks = detail::g_thread_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr) hooks->looks();
}

Totals totals_locked(const State& s) {
  Totals result;
  result.events = s.finished_events + (s.profile ? 0 : s.begins_and_ends);
  result.aggregated_events = s.finished_aggregated;
  result.samples = s.finished_samples;
  for (const Attached& a : s.attached) {
    result.events += a.recorder->events();
    result.aggregated_events += a.recorder->aggregated_events();
    result.samples += a.recorder->samples();
  }
  result.threads = s.next_location - s.tracks - s.of_process;
  result.tracks = s.tracks;
  result.bytes = s.writer->stored_bytes() + profile_bytes(s);
  result.lost_events = s.writer->lost();
  result.dropped_events = s.writer->dropped();
  result.at_limit = s.writer->at_limit();
  result.unmatched_leaves = s.unmatched_leaves;
  result.error = s.writer->error();
  return result;
}

}  // namespace

std::uint64_t measured_process() noexcept { return g_measured_process; }

void start(const StartOptions& options) {
  State& s = state();
  forget_code();
  {
    const std::lock_guard lock(s.mutex);
    if (g_active)
      throw Error("a measurement is already running in this process; stop it first [TL051]");
    os::choose_clock(options.system_clock);
    s.writer = spool::Writer::create(options.spool_directory, options.writer, options.above);
    s.writer->on_comparison(note_cpu_times);
    g_ending = &s.writer->ending();
    g_measured_process = os::process_id();
    s.filters.watch();
    offer_barriers();
    detail::g_missed_events = 0;
    s.writer->hold_definitions();
    s.writer->define_clock_sync(os::sync_clocks());
    s.process = options.process;
    s.parent = options.parent;
    s.profile = options.profile;
    s.max_depth = options.max_depth;
    s.profile_depth = options.profile_depth;
    s.writer->define_process(s.process, s.parent);
    for (const auto& [key, value] : options.properties) s.writer->define_property(key, value);
    s.definitions.begin();
    define_metrics(s, options.metrics);
    s.waiting = {};
    if (options.waiting) s.waiting = s.definitions.metrics({waiting_metric()}, s.writer.get());
    s.writer->release_definitions();
    s.next_location = 0;
    s.next_io_handle = 0;
    s.tracks = 0;
    s.of_process = 0;
    s.created.clear();
    s.finished_events = 0;
    s.begins_and_ends = 0;
    s.finished_aggregated = 0;
    s.finished_samples = 0;
    s.finished_bytes = 0;
    s.unmatched_leaves = 0;
    s.cpu.begin();
    s.native.begin();
    s.resident.begin();
    detail::g_number.fetch_add(1);
    g_active = true;
    g_recording.store(true, std::memory_order_release);
  }
  attach_this_thread();
}

void start_in_child(const StartOptions& options) {
  State& s = state();
  std::vector<OpenRegion> inherited = std::exchange(s.inherited, {});
  for (OpenRegion& open : inherited) {
    if ((open.token & kUnrecorded) != 0 || open.token == kEndedUnseen) continue;
    const std::lock_guard lock(s.mutex);
    open.enter = enter_word(s.definitions.forked(RegionId{payload_of(open.enter)}));
  }
  start(options);
  t_recorder->enter_again(inherited);
  if (!s.inherited_recording) set_recording(false);
  if (wrapping()) set_wrapping(true);
}

void rename_process(const std::string& name) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active) return;
  s.process.name = name;
  s.writer->define_process(s.process, s.parent);
}

namespace {

// Whether an ending that is noted is the cause of the one that follows: what MPI does after
// MPI_Abort(), the _exit() of C by which os._exit() ends, whatever ends a process that is left as
// it is.
bool is_cause_of(EndingKind noted, EndingKind next) noexcept {
  return noted == EndingKind::kMpiAbort || noted == EndingKind::kRestricted ||
         (noted == EndingKind::kExit && next == EndingKind::kCExit);
}

}  // namespace

void note_own_ending(Ending ending) noexcept {
  std::atomic<std::uint64_t>* const place = g_ending.load(std::memory_order_relaxed);
  if (place == nullptr) return;
  const EndingKind noted = to_ending(place->load(std::memory_order_relaxed)).kind;
  if (!is_cause_of(noted, ending.kind)) {
    place->store(to_word(ending), std::memory_order_relaxed);
  }
}

void note_ending(Ending ending) noexcept {
  if (g_ending == nullptr || os::process_id() != g_measured_process) return;
  note_own_ending(ending);
  void (*const before)() noexcept = g_before_exec;
  if (ending.kind == EndingKind::kExec && before != nullptr && g_active) before();
  const auto listener = g_hears_ending.load(std::memory_order_relaxed);
  if (listener != nullptr && ending.kind != EndingKind::kNone) listener(ending);
}

void note_cpu_times_now() noexcept {
  if (os::process_id() != g_measured_process) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (g_active && !s.filters.added()) s.writer->note(take_cpu_times(s));
}

void tell_endings_to(void (*listener)(Ending)) noexcept { g_hears_ending = listener; }

bool is_restricted() noexcept {
  State& s = state();
  const auto added = [&s] {
    const std::lock_guard lock(s.mutex);  // the drain may ask meanwhile
    return s.filters.added();
  };
  const bool restricted = g_active && added();
  if (restricted) note_own_ending({EndingKind::kRestricted, 0});
  return restricted;
}

void note_end_of_main_thread() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.writer != nullptr) s.writer->expect_last_thread();
}

void watch_signals() noexcept {
  os::watch_fatal_signals([](int signal) {
    note_ending({EndingKind::kSignal, static_cast<std::uint32_t>(signal)});
  });
}

void watch_signal_again(int signal) noexcept { os::watch_fatal_signal_again(signal); }

void unwatch_signals() noexcept { os::unwatch_fatal_signals(); }

void before_stop(void (*function)() noexcept) noexcept { g_before_stop = function; }

void before_exec(void (*function)() noexcept) noexcept { g_before_exec = function; }

Totals stop(Ending ending) noexcept {
  State& s = state();
  if (void (*const before)() noexcept = g_before_stop; before != nullptr && g_active) before();
  const Halted halted;
  if (!g_active) return {};
  g_recording = false;
  g_active = false;
  s.writer->define_property(kCpuTimes, to_text(take_cpu_times(s)));
  s.native.tell(*s.writer, true);
  if (!s.filters.added()) s.resident.look(*s.writer, true);
  for (const Attached& a : s.attached) a.recorder->close_all();
  Totals result = totals_locked(s);
  const std::uint64_t aggregated = profile_bytes(s);
  for (const Attached& a : s.attached) a.recorder->detach();
  s.attached.clear();
  forget_brought(s);
  s.writer->define_clock_sync(os::sync_clocks());
  count_missed_events(s);
  result.lost_events = s.writer->lost();
  s.writer->close(ending);
  result.bytes = s.writer->stored_bytes() + aggregated;  // the drain was still at work
  result.dropped_events = s.writer->dropped();
  result.at_limit = s.writer->at_limit();
  g_ending = nullptr;
  result.error = s.writer->error();
  result.cpu_ns = s.writer->cpu_ns();
  s.stopped = s.writer->take_definitions();
  s.writer.reset();
  s.filters = {};
  return result;
}

Totals totals() noexcept {
  const Halted halted;
  return g_active ? totals_locked(state()) : Totals{};
}

void note_property(const std::string& key, const std::string& value) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (g_active) s.writer->define_property(key, value);
}

void add_property(const std::string& key, const std::string& value) noexcept {
  spool::add_property(state().stopped, key, value);
}

bool set_recording(bool on) noexcept {
  State& s = state();
  const Halted halted;
  if (!g_active || g_recording == on) return false;
  for (const Attached& a : s.attached) {
    a.recorder->settle();
    a.recorder->extended(on ? ExtendedKind::kRecordingOn : ExtendedKind::kRecordingOff, {});
  }
  g_recording = on;
  return true;
}

void switch_recording(bool on) noexcept {
  if (auto* const function = g_on_switch.load()) return function(on);
  set_recording(on);
}

void on_switch_of_recording(void (*function)(bool on) noexcept) noexcept { g_on_switch = function; }

void set_thread_hooks(const ThreadHooks& hooks) noexcept { detail::g_thread_hooks = &hooks; }

void on_new_space(void (*function)() noexcept) noexcept { g_on_new_space = function; }
void note_new_space() noexcept {
  if (auto* const function = g_on_new_space.load(std::memory_order_relaxed)) function();
}

std::uint64_t monotonic_ns() noexcept { return os::sync_clocks().monotonic_ns; }
std::uint64_t process_cpu_ns() noexcept { return os::process_cpu_ns(); }
std::uint64_t thread_cpu_ns() noexcept { return os::thread_cpu_ns(); }

void pause_helpers() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.writer != nullptr) s.writer->pause_drain();
}

void resume_helpers() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.writer != nullptr) s.writer->resume_drain();
}

RegionId region_id(const Region& region) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.definitions.region(region);
}

EventWord enter_word(RegionId id) noexcept { return make_word(WordKind::kEnter, id.value()); }

void define(RegionId id) noexcept {
  if (is_defined(id)) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.writer == nullptr || is_defined(id)) return;
  s.definitions.write_region(id, *s.writer);
  g_defined_regions.set(id, measurement_number());
}

RegionId define_region(const Region& region) {
  const RegionId id = region_id(region);
  define(id);
  return id;
}

bool enter_region(Token token, EventWord enter) noexcept {
  ThreadRecorder* recorder = t_recorder->attached() ? t_recorder : attach_this_thread();
  if (recorder == nullptr) return false;
  const bool recorded = recorder->records(token);
  if (recorded) define(RegionId{payload_of(enter)});
  recorder->enter(token, enter);
  return recorded;
}

ParameterId define_parameter(std::string_view name, ParameterType type) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.definitions.parameter(name, type, s.writer.get());
}

MetricId define_metric(std::string_view name, std::string_view unit, MetricValueType type) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.definitions.metric(name, unit, type, s.writer.get());
}

StringId define_string(std::string_view text) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.definitions.string(text, s.writer.get());
}

void define_communicator(std::uint32_t id, const LocalCommunicator& communicator) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (g_active) s.writer->define_communicator(id, communicator);
}

void note_clock_offset(std::int64_t offset_ns) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (g_active) s.writer->define_clock_offset(monotonic_ns(), offset_ns);
}

double metric_value(MetricId id, std::uint64_t bits) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const Metric* metric = s.definitions.find_metric(id);
  if (metric == nullptr) return 0;
  switch (metric->type) {
    case MetricValueType::kInt64: return static_cast<double>(static_cast<std::int64_t>(bits));
    case MetricValueType::kUint64: return static_cast<double>(bits);
    case MetricValueType::kDouble: break;
  }
  return std::bit_cast<double>(bits);
}

void marker(const std::string& text) noexcept {
  const std::uint64_t now = os::now();
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (!t_recorder->attached()) {
    lock.unlock();
    if (attach_this_thread() == nullptr) return;
    lock.lock();
  }
  if (!g_recording || !t_recorder->attached()) return;
  s.writer->define_marker(t_recorder->location(), now, text);
}

void count_unmatched_leave() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.unmatched_leaves;
}

}  // namespace timeloom::record
