// How threads and their tracks take part in the measurement: they attach when they
// first record, get a location and a name, and leave when they end.
#include <pthread.h>

#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "os/thread.hpp"
#include "record/measurement_state.hpp"

namespace timeloom::record {
namespace {

using detail::g_active;
using detail::g_recording;

// The recorder of every thread that has none of its own. It has no room, so
// nobody ever writes to it.
constinit ThreadRecorder g_no_recorder;

// True while the thread must not attach: it is being named, or it is ending.
constinit thread_local bool t_keep_off = false;

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
      ++s.begins_and_ends;
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
  s.of_process = 1;
  s.writer->define_location(location, 0, "Per process metrics");
  s.writer->define_track(location, recorder.location());
  s.writer->define_metric_location(location);
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
  ++s.begins_and_ends;
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
