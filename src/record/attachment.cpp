// How threads and their tracks take part in the measurement: they attach when they
// first record, get a location and a name, and leave when they end.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "record/auxiliary_file.hpp"
#include "record/created_threads.hpp"
#include "record/measurement_state.hpp"
#include "record/native/native_call.hpp"

namespace timeloom::record {
namespace {

using detail::g_active;
using detail::g_recording;

// The recorders of threads that have none of their own, and of those that must not attach
// (they are being named, or they are ending). They have no room, so nobody ever writes to them.
constinit ThreadRecorder g_no_recorder;
constinit ThreadRecorder g_kept_off;

constinit std::atomic<std::size_t> g_brought = 0;  // threads in State::brought

// What our own threads call is not the program's, however it is called: a wrapper sees the caller
// alone, which may be a library.
[[gnu::constructor(200)]] void keep_helpers_off() {
  os::on_begin_of_helpers([]() noexcept { t_recorder = &g_kept_off; });
}

// What the run knows of the end of a thread, if it knows who has created it. REQUIRES: the mutex,
// and that the thread has left its regions.
void note_end(State& s, const ThreadRecorder& recorder) noexcept {
  if (s.created.erase(recorder.location()) == 0) return;
  // Not now: who waited for it may have gone on already.
  s.writer->define_last(recorder.location(), recorder.last_ticks());
  ++s.begins_and_ends;
}

// Detaches the recorder of a thread that ends.
void end_of_thread(void* recorder) {
  const std::unique_ptr<ThreadRecorder> own(static_cast<ThreadRecorder*>(recorder));
  const ThreadHooks* const hooks = detail::g_thread_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr) hooks->ends();
  t_recorder = &g_kept_off;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::erase_if(s.attached, [&](const Attached& a) {
    const bool ends = a.recorder == own.get();
    if (ends) s.cpu.add_ended(a.cpu), s.native.ends(a.id);
    return ends;
  });
  if (!own->attached()) return;
  own->close_all();
  s.finished_events += own->events();
  s.finished_aggregated += own->aggregated_events();
  s.finished_samples += own->samples();
  s.finished_bytes += own->profile_bytes();
  note_end(s, *own);
  own->detach();
}

// A key of the thread library keeps the recorder that a thread owns: a thread-local object with
// a destructor would take more of the little room that a library loaded late has for thread-local
// variables. Throws std::bad_alloc.
pthread_key_t recorder_key() {
  static const std::optional<pthread_key_t> kKey = [] {
    pthread_key_t key{};
    return pthread_key_create(&key, end_of_thread) == 0 ? std::optional(key) : std::nullopt;
  }();
  return kKey ? *kKey : throw std::bad_alloc();
}

// Gives the calling thread a recorder in place of the one that it had. Throws std::bad_alloc, and
// leaves the recorder to the caller then.
ThreadRecorder* own(std::unique_ptr<ThreadRecorder>&& recorder) {
  const pthread_key_t key = recorder_key();
  auto* const before = static_cast<ThreadRecorder*>(pthread_getspecific(key));
  if (pthread_setspecific(key, recorder.get()) != 0) throw std::bad_alloc();
  delete before;
  return recorder.release();
}

// The recorder that the calling thread owns, made when it is first asked for. Throws
// std::bad_alloc.
ThreadRecorder* own_recorder() {
  if (void* present = pthread_getspecific(recorder_key()))
    return static_cast<ThreadRecorder*>(present);
  return own(std::make_unique<ThreadRecorder>());
}

bool is_shared(const ThreadRecorder* recorder) noexcept {
  return recorder == &g_no_recorder || recorder == &g_kept_off;
}

std::string default_name(std::uint32_t location) {
  return location == 0 ? "Master thread" : "Thread " + std::to_string(location);
}

// Profile mode. Where there is no file for it, the thread's events are kept instead.
void aggregate(const State& s, ThreadRecorder& recorder) {
  int error = 0;
  recorder.aggregate_into(
      ThreadProfile::create(*s.writer, recorder.location(), s.profile_depth, os::now(), &error));
}

// Gives the recorder of the calling thread the sampler of its metrics, and the first one the
// location for the metrics of the process.
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
  s.of_process = 1;
  s.writer->define_location(location, 0, "Per process metrics");
  s.writer->define_track(location, recorder.location());
  s.writer->define_metric_location(location);
}

// Puts the recorder of a thread on the list, with a location of its own.
void put_on_list(State& s, ThreadRecorder& recorder, std::uintptr_t thread, std::uint64_t id) {
  const ThreadCpu cpu(static_cast<pthread_t>(thread));
  s.attached.push_back({&recorder, thread, id, cpu});
  s.native.begins_to_record(id, cpu.before());
  recorder.attach(s.writer.get(), s.next_location++);
  if (s.max_depth != 0) recorder.limit_recorded_depth(s.max_depth);
  recorder.limit_profile_levels(s.profile_depth);
  if (s.profile) aggregate(s, recorder);
  if (s.waiting.defined()) recorder.watch_waiting(s.waiting, thread);
}

// Puts the calling thread's recorder on the list.
ThreadRecorder* join_measurement(State& s) {
  const std::lock_guard lock(s.mutex);
  if (!g_active) return nullptr;
  if (s.kept_off.contains(os::thread_id())) {
    t_recorder = &g_kept_off;  // it does not come here again
    return nullptr;
  }
  ThreadRecorder* recorder = own_recorder();
  if (recorder->attached()) return recorder;
  put_on_list(s, *recorder, static_cast<std::uintptr_t>(pthread_self()), os::thread_id());
  if (s.metrics.any()) sample_metrics(s, *recorder);
  if (!g_recording) recorder->extended(ExtendedKind::kRecordingOff, {});
  return recorder;
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

namespace {

// `interpreted`: an interpreter runs the thread, and knows of its end.
void note_begin(std::uint32_t location, std::uint64_t number, bool interpreted) noexcept {
  const std::uint64_t now = os::now();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active) return;
  try {
    s.created.insert_or_assign(location, interpreted);
  } catch (const std::bad_alloc&) {
    return;  // its end will not be known
  }
  s.writer->define_begin(location, now, number);
  ++s.begins_and_ends;
}

// The calling thread records with it from here on.
ThreadRecorder* record_with(ThreadRecorder* recorder) noexcept {
  recorder->use_signal_stack(os::give_signal_stack());
  t_recorder = recorder;
  const ThreadHooks* const hooks = detail::g_thread_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr) hooks->begins(*recorder);
  return recorder;
}

// `given`: the name of the thread; nullptr: it has one of its own.
ThreadRecorder* attach(const std::string* given) noexcept {
  if (!active() || t_recorder == &g_kept_off) return nullptr;
  if (ThreadRecorder* brought = take_brought()) return brought;
  State& s = state();
  try {
    ThreadRecorder* recorder = join_measurement(s);
    if (recorder == nullptr) return nullptr;
    const std::string name =
        given != nullptr ? *given : name_of_this_thread(s.namer, recorder->location());
    const std::lock_guard lock(s.mutex);
    // While the program's code ran, the measurement may have ended.
    if (!recorder->attached()) return nullptr;
    s.writer->define_location(recorder->location(), os::thread_id(), name);
    return record_with(recorder);
  } catch (const std::bad_alloc&) {
    return nullptr;  // this thread goes on unrecorded
  }
}

}  // namespace

ThreadRecorder* attach_unrecorded() noexcept { return attach(nullptr); }

bool thread_takes_part() noexcept { return t_recorder->attached(); }

bool interrupts_recorder() noexcept try {
  // Not t_recorder, which is another while the writer is at work.
  const void* own = pthread_getspecific(recorder_key());
  return own != nullptr && static_cast<const ThreadRecorder*>(own)->in_native_call();
} catch (const std::bad_alloc&) {
  return false;
}

void begin_created_thread(const std::string& name, std::uint64_t number) noexcept {
  const ThreadRecorder* const recorder = attach(&name);
  if (recorder != nullptr) note_begin(recorder->location(), number, false);
}

void attach_as(const std::string& name) noexcept { (void)attach(&name); }

std::uint64_t next_creation_number() noexcept {
  static constinit std::atomic<std::uint64_t> last = 0;
  return ++last;
}

ThreadRecorder* bring_in(const OtherThread& other) noexcept try {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active || s.kept_off.contains(other.id) || s.brought.contains(other.thread))
    return nullptr;
  const bool known =
      std::ranges::any_of(s.attached, [&](const Attached& a) { return a.thread == other.thread; });
  if (known) return nullptr;
  auto made = std::make_unique<ThreadRecorder>();
  ThreadRecorder& recorder = *made;
  s.brought.emplace(other.thread, Brought{std::move(made), other.id});
  g_brought = s.brought.size();
  put_on_list(s, recorder, other.thread, other.id);
  s.writer->define_location(recorder.location(), other.id,
                            other.name.empty() ? default_name(recorder.location()) : other.name);
  return &recorder;
} catch (const std::bad_alloc&) {
  return nullptr;  // it is recorded from its first event on
}

ThreadRecorder* take_brought() noexcept try {
  if (g_brought.load(std::memory_order_relaxed) == 0 || t_recorder == &g_kept_off) return nullptr;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = s.brought.find(static_cast<std::uintptr_t>(pthread_self()));
  if (!g_active || found == s.brought.end() || found->second.id != os::thread_id()) return nullptr;
  ThreadRecorder* recorder = own(std::move(found->second.recorder));
  s.brought.erase(found);
  g_brought = s.brought.size();
  if (s.metrics.any()) sample_metrics(s, *recorder);
  return record_with(recorder);
} catch (const std::bad_alloc&) {
  return nullptr;  // the next event tries it again
}

void for_each_brought(void (*visit)(ThreadRecorder&, std::uintptr_t thread,
                                    std::uint64_t id) noexcept) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active) return;
  for (const auto& [thread, brought] : s.brought) visit(*brought.recorder, thread, brought.id);
}

void forget_brought(State& s) noexcept {
  s.brought.clear();
  g_brought = 0;
}

void keep_off_threads(std::span<const std::uint64_t> threads) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.kept_off.insert(threads.begin(), threads.end());
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
  note_begin(location, number, true);
}

void end_interpreted_threads_but(const std::set<std::uintptr_t>& running) noexcept {
  const Halted halted;
  State& s = state();
  if (!g_active) return;
  for (const Attached& a : s.attached) {
    const auto created = s.created.find(a.recorder->location());
    if (created == s.created.end() || !created->second || running.contains(a.thread)) continue;
    a.recorder->close_all();
    note_end(s, *a.recorder);
  }
}

std::unique_ptr<Track> make_track(const std::string& name, std::uint64_t number) noexcept {
  const std::uint64_t now = os::now();
  ThreadRecorder* recorder = t_recorder->attached() ? t_recorder : attach_this_thread();
  if (recorder == nullptr) return nullptr;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!g_active || !recorder->attached()) return nullptr;
  std::unique_ptr<Track> track(new (std::nothrow) Track(s.next_location, number != 0));
  if (track == nullptr) return nullptr;
  ++s.next_location;
  ++s.tracks;
  if (number != 0) ++s.begins_and_ends;
  s.writer->define_location(track->location(), os::thread_id(), name);
  s.writer->define_track(track->location(), recorder->location());
  s.writer->define_begin(track->location(), now, number);
  return track;
}

void rename_track(const Track& track, const std::string& name) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (g_active) s.writer->define_location(track.location(), 0, name);
}

void for_each_recorder(void (*visit)(ThreadRecorder&, std::uintptr_t thread, void* context),
                       void* context) {
  const Halted halted;
  for (const Attached& a : state().attached) visit(*a.recorder, a.thread, context);
}

KeepOff::KeepOff() noexcept : recorder_(std::exchange(t_recorder, &g_kept_off)) {}

KeepOff::~KeepOff() { t_recorder = recorder_; }

bool is_kept_off() noexcept { return t_recorder == &g_kept_off; }

NativeCall::NativeCall() noexcept {
  while (active()) {
    ThreadRecorder* recorder = t_recorder;
    if (!is_shared(recorder) && begin(*recorder)) return;
    if (attach_unrecorded() == nullptr) return;
  }
}

NativeCall::NativeCall(AtOnce) noexcept {
  ThreadRecorder& recorder = *t_recorder;
  if (is_shared(&recorder) || !active()) return;
  const bool alone = begin_native_call(recorder);
  if (alone && recorder.attached()) {
    recorder_ = &recorder;
    return;
  }
  recorder.end_native_call();
  if (!alone && recorder.attached()) detail::g_missed_events.fetch_add(1);
}

// False: the recorder does not take part in the measurement (any more).
bool NativeCall::begin(ThreadRecorder& recorder) noexcept {
  while (!begin_native_call(recorder)) {
    recorder.end_native_call();
    const std::lock_guard until_they_run_again(state().mutex);
  }
  if (recorder.attached()) return recorder_ = &recorder, true;
  recorder.end_native_call();
  return false;
}

ThreadRecorder* exchange_recorder(ThreadRecorder* recorder) noexcept {
  return std::exchange(t_recorder, recorder);
}

}  // namespace timeloom::record
