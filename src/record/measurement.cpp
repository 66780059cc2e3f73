#include "record/measurement.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "record/definition_table.hpp"

namespace timeloom::record {

// Written with State::mutex held.
constinit std::atomic<bool> detail::g_active = false;
constinit std::atomic<bool> detail::g_recording = false;

namespace {

using detail::g_active;
using detail::g_recording;

struct Attached {
  ThreadRecorder* recorder;
  std::uintptr_t thread;  // pthread id
};

struct State {
  std::mutex mutex;  // guards what follows; never taken on the event path
  DefinitionTable definitions;
  std::unique_ptr<spool::Writer> writer;
  std::vector<Attached> attached;  // the recorders that take part, one a thread
  std::uint32_t next_location = 0;
  std::uint32_t tracks = 0;           // of these
  std::set<std::uint32_t> created;    // threads that run and of which note_creation() spoke
  std::uint64_t finished_events = 0;  // of threads that have ended
  std::uint64_t finished_folded = 0;  // of these, in profiles
  std::uint64_t finished_bytes = 0;   // of their profiles
  std::uint64_t unmatched_leaves = 0;
  ThreadNamer namer = nullptr;
  LocationGroup process;
  std::string parent;
  bool profile = false;  // calls are folded
  std::uint32_t profile_depth = 0;
  std::size_t max_depth = 0;
  MetricPlan metrics;
  MetricId metrics_of_thread;  // the first of each kind; undefined: none
  MetricId metrics_of_process;
  std::uint64_t without_metrics = 0;  // threads that could not be sampled
  std::vector<OpenRegion> inherited;  // what was open on the forking thread
  bool inherited_recording = true;
};

// Never destroyed: threads may outlive the static objects of the program.
State& state() {
  static State* const instance = new State;
  return *instance;
}

// The recorder of every thread that has none of its own. It has no room, so
// nobody ever writes to it.
constinit ThreadRecorder g_no_recorder;

// True while the thread must not attach: it is being named, or it is ending.
constinit thread_local bool t_keep_off = false;

// Where the end of the process is noted; nullptr while nothing is measured.
constinit std::atomic<std::atomic<std::uint64_t>*> g_ending = nullptr;
// Which process that is: between vfork and exec a child has the same memory.
constinit std::atomic<std::uint64_t> g_measured_process = 0;

// Owns the recorder of a thread and detaches it when the thread ends.
struct ThreadEnd {
  std::unique_ptr<ThreadRecorder> own;

  ~ThreadEnd() {
    t_keep_off = true;
    t_recorder = &g_no_recorder;
    if (own == nullptr) return;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    std::erase_if(s.attached, [this](const Attached& a) { return a.recorder == own.get(); });
    if (!own->attached()) return;
    own->close_all();
    s.finished_events += own->events();
    s.finished_folded += own->folded_events();
    s.finished_bytes += own->profile_bytes();
    if (s.created.erase(own->location()) != 0) {
      // Not now: who waited for it may have gone on already.
      s.writer->define_last(own->location(), own->last_ticks());
    }
    own->detach();
  }
};
thread_local ThreadEnd t_thread_end;

std::string default_name(std::uint32_t location) {
  return location == 0 ? "Master thread" : "Thread " + std::to_string(location);
}

// Profile mode. Where there is no file for it, the thread's events are kept instead.
void fold(const State& s, ThreadRecorder& recorder) {
  int error = 0;
  recorder.fold_into(
      ThreadProfile::create(*s.writer, recorder.location(), s.profile_depth, os::now(), &error));
}

// Gives the recorder of the calling thread what samples its metrics, and the first
// the location of those of the process.
void sample_metrics(State& s, ThreadRecorder& recorder) {
  const bool first = recorder.location() == 0 && s.metrics_of_process.defined();
  const std::uint32_t location = first ? s.next_location : 0;
  try {
    recorder.sample_with(std::make_unique<Sampler>(
        s.metrics, s.metrics_of_thread, first ? s.metrics_of_process : MetricId{}, location));
  } catch (const Error&) {
    s.writer->define_property("timeloom::threads_without_metrics",
                              std::to_string(++s.without_metrics));
    return;
  }
  if (!first) return;
  ++s.next_location;
  ++s.tracks;
  s.writer->define_location(location, 0, "Per process metrics");
  s.writer->define_track(location, recorder.location());
  s.writer->define_metric_location(location);
}

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

// Puts the calling thread's recorder on the list, with a location of its own.
ThreadRecorder* join_measurement(State& s) {
  const std::lock_guard lock(s.mutex);
  if (!g_active) return nullptr;
  if (t_thread_end.own == nullptr) t_thread_end.own = std::make_unique<ThreadRecorder>();
  ThreadRecorder* recorder = t_thread_end.own.get();
  if (recorder->attached()) return recorder;
  s.attached.push_back({recorder, static_cast<std::uintptr_t>(pthread_self())});
  recorder->attach(s.writer.get(), s.next_location++);
  if (s.max_depth != 0) recorder->record_up_to(s.max_depth);
  recorder->limit_depth(s.profile_depth);
  if (s.profile) fold(s, *recorder);
  if (s.metrics.any()) sample_metrics(s, *recorder);
  if (!g_recording) recorder->extended(ExtendedKind::kRecordingOff, {});
  return recorder;
}

// In the only thread of a forked child. Another thread of the parent may have
// held a mutex at the fork, so everything is left as it is and forgotten.
void forget_after_fork() {
  State& s = state();
  g_ending = nullptr;
  const auto open = t_recorder->own_regions();
  s.inherited.assign(open.begin(), open.end());
  s.inherited_recording = g_recording;
  for (const Attached& a : s.attached) a.recorder->abandon();
  new (&s.mutex) std::mutex;
  new (&s.created) std::set<std::uint32_t>;  // a thread that ended may have been changing it
  s.attached.clear();
  g_active = false;
  g_recording = false;
  if (s.writer != nullptr) s.writer->abandon();
  (void)s.writer.release();  // its files and its thread belong to the parent
}

std::uint64_t profile_bytes(const State& s) {
  std::uint64_t bytes = s.finished_bytes;
  for (const Attached& a : s.attached) bytes += a.recorder->profile_bytes();
  return bytes;
}

Totals totals_locked(const State& s) {
  Totals result;
  result.events = s.finished_events;
  result.folded_events = s.finished_folded;
  for (const Attached& a : s.attached) {
    result.events += a.recorder->events();
    result.folded_events += a.recorder->folded_events();
  }
  result.threads = s.next_location - s.tracks;
  result.tracks = s.tracks;
  result.bytes = s.writer->bytes() + profile_bytes(s);
  result.lost_events = s.writer->lost();
  result.dropped_events = s.writer->dropped();
  result.at_limit = s.writer->at_limit();
  result.unmatched_leaves = s.unmatched_leaves;
  result.error = s.writer->error();
  return result;
}

std::string name_of_this_thread(ThreadNamer namer, std::uint32_t location) {
  const KeepOff guard;  // naming may run the program's code
  std::string name;
  try {
    if (namer != nullptr) name = namer(location);
  } catch (const std::bad_alloc&) {
    name.clear();  // the default is shorter
  }
  return name.empty() ? default_name(location) : name;
}

}  // namespace

constinit thread_local ThreadRecorder* t_recorder = &g_no_recorder;

ThreadRecorder* attach_this_thread() noexcept {
  return recording() ? attach_unrecorded() : nullptr;
}

ThreadRecorder* attach_unrecorded() noexcept {
  if (!active() || t_keep_off) return nullptr;
  State& s = state();
  try {
    ThreadRecorder* recorder = join_measurement(s);
    if (recorder == nullptr) return nullptr;
    const std::string name = name_of_this_thread(s.namer, recorder->location());
    const std::lock_guard lock(s.mutex);
    // While the program's code ran, the measurement may have ended.
    if (!recorder->attached()) return nullptr;
    s.writer->define_location(recorder->location(), os::thread_id(), name);
    t_recorder = recorder;
    return recorder;
  } catch (const std::bad_alloc&) {
    return nullptr;  // this thread goes on unrecorded
  }
}

void start(const StartOptions& options) {
  State& s = state();
  static const bool kForkHandled = [] {
    os::at_fork_in_child(forget_after_fork);
    return true;
  }();
  (void)kForkHandled;
  {
    const std::lock_guard lock(s.mutex);
    if (g_active) throw Error("a measurement is already running in this process; stop it first");
    s.writer = spool::Writer::create(options.spool_directory, options.writer);
    g_ending = &s.writer->ending();
    g_measured_process = os::process_id();
    s.writer->hold_definitions();
    s.writer->define_clock_sync(os::sync_clocks());
    s.process = options.process;
    s.parent = options.parent;
    s.profile = options.profile;
    s.max_depth = options.max_depth;
    s.profile_depth = options.profile_depth;
    s.writer->define_process(s.process, s.parent);
    for (const auto& [key, value] : options.properties) s.writer->define_property(key, value);
    s.definitions.write_all(*s.writer);
    define_metrics(s, options.metrics);
    s.writer->release_definitions();
    s.next_location = 0;
    s.tracks = 0;
    s.created.clear();
    s.finished_events = 0;
    s.finished_folded = 0;
    s.finished_bytes = 0;
    s.unmatched_leaves = 0;
    g_active = true;
    g_recording.store(true, std::memory_order_release);
  }
  attach_this_thread();
}

void start_in_child(const StartOptions& options) {
  const std::vector<OpenRegion> inherited = std::exchange(state().inherited, {});
  start(options);
  t_recorder->enter_again(inherited);
  if (!state().inherited_recording) set_recording(false);
}

void rename_process(const std::string& name) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active) return;
  s.process.name = name;
  s.writer->define_process(s.process, s.parent);
}

void note_ending(Ending ending) noexcept {
  std::atomic<std::uint64_t>* const place = g_ending.load(std::memory_order_relaxed);
  if (place == nullptr || os::process_id() != g_measured_process) return;
  place->store(to_word(ending), std::memory_order_relaxed);
}

void watch_signals() noexcept {
  os::watch_fatal_signals([](int signal) {
    note_ending({EndingKind::kSignal, static_cast<std::uint32_t>(signal)});
  });
}

void unwatch_signals() noexcept { os::unwatch_fatal_signals(); }

Totals stop(Ending ending) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active) return {};
  g_recording = false;
  g_active = false;
  for (const Attached& a : s.attached) a.recorder->close_all();
  Totals result = totals_locked(s);
  const std::uint64_t folded = profile_bytes(s);
  for (const Attached& a : s.attached) a.recorder->detach();
  s.attached.clear();
  s.writer->define_clock_sync(os::sync_clocks());
  result.bytes = s.writer->bytes() + folded;
  result.lost_events = s.writer->lost();
  s.writer->close(ending);
  result.dropped_events = s.writer->dropped();  // the drain was still at work
  result.at_limit = s.writer->at_limit();
  g_ending = nullptr;
  result.error = s.writer->error();
  s.writer.reset();
  return result;
}

Totals totals() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return g_active ? totals_locked(s) : Totals{};
}

void add_property(const std::string& spool, const std::string& key,
                  const std::string& value) noexcept {
  spool::add_property(spool, key, value);
}

bool set_recording(bool on) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active || g_recording == on) return false;
  for (const Attached& a : s.attached) {
    a.recorder->extended(on ? ExtendedKind::kRecordingOn : ExtendedKind::kRecordingOff, {});
  }
  g_recording = on;
  return true;
}

std::uint64_t monotonic_ns() noexcept { return os::sync_clocks().monotonic_ns; }

void pause_helpers() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.writer != nullptr) s.writer->pause_drain();
}

RegionId define_region(const Region& region) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.definitions.region(region, s.writer.get());
}

EventWord enter_word(RegionId id) noexcept { return make_word(WordKind::kEnter, id.value()); }

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
  ThreadRecorder* recorder = t_recorder->attached() ? t_recorder : attach_this_thread();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (recorder == nullptr || !g_recording) return;
  s.writer->define_marker(recorder->location(), now, text);
}

void count_unmatched_leave() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.unmatched_leaves;
}

void set_thread_namer(ThreadNamer namer) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.namer = namer;
}

void rename_threads(const std::map<std::uintptr_t, std::string>& names) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const Attached& a : s.attached) {
    const auto name = names.find(a.thread);
    if (name != names.end()) s.writer->define_location(a.recorder->location(), 0, name->second);
  }
}

void note_creation(std::uint32_t location, std::uint64_t number) noexcept {
  const std::uint64_t now = os::now();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active) return;
  try {
    s.created.insert(location);
  } catch (const std::bad_alloc&) {
    return;  // its end will not be known
  }
  s.writer->define_begin(location, now, number);
}

std::unique_ptr<Track> make_track(const std::string& name, std::uint64_t number) noexcept {
  const std::uint64_t now = os::now();
  ThreadRecorder* recorder = t_recorder->attached() ? t_recorder : attach_this_thread();
  if (recorder == nullptr) return nullptr;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active || !recorder->attached()) return nullptr;
  std::unique_ptr<Track> track(new (std::nothrow) Track(s.next_location));
  if (track == nullptr) return nullptr;
  ++s.next_location;
  ++s.tracks;
  s.writer->define_location(track->location(), os::thread_id(), name);
  s.writer->define_track(track->location(), recorder->location());
  s.writer->define_begin(track->location(), now, number);
  return track;
}

void for_each_recorder(void (*visit)(ThreadRecorder&, std::uintptr_t thread, void* context),
                       void* context) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const Attached& a : s.attached) visit(*a.recorder, a.thread, context);
}

KeepOff::KeepOff() noexcept
    : recorder_(std::exchange(t_recorder, &g_no_recorder)),
      kept_off_(std::exchange(t_keep_off, true)) {}

KeepOff::~KeepOff() {
  t_recorder = recorder_;
  t_keep_off = kept_off_;
}

ThreadRecorder* exchange_recorder(ThreadRecorder* recorder) noexcept {
  return std::exchange(t_recorder, recorder);
}

}  // namespace timeloom::record
