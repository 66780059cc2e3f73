#include "sample/sampler.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/known_directory.hpp"
#include "os/call_filters.hpp"
#include "os/cpu_ticker.hpp"
#include "os/owned_mutex.hpp"
#include "os/process.hpp"
#include "os/running_threads.hpp"
#include "os/thread.hpp"
#include "record/auxiliary_file.hpp"
#include "record/measurement.hpp"
#include "record/native/object_mappings.hpp"
#include "sample/tick_handler.hpp"
#include "spool/samples/sample_writer.hpp"

namespace timeloom::sample {
namespace {

struct Sampler {
  std::mutex objects;    // held while mapped objects are defined; no other is taken inside
  os::OwnedMutex mutex;  // guards what follows; taken after the mutex of the measurement
  std::vector<SampledThread*> threads;
  std::unique_ptr<spool::SampleWriter> writer;
  SampleOptions options;
  os::CallFilters filters;
  int failure = 0;  // errno of a thread that could not be sampled, until it is told
  bool has_told = false;
};

// Never destroyed: threads may outlive the static objects of the program.
Sampler& sampler() {
  static auto* const kInstance = new Sampler;
  return *kInstance;
}

spool::SampleClock clock_of(os::CpuTicker::Source source) noexcept {
  switch (source) {
    case os::CpuTicker::Source::kTimer: return spool::SampleClock::kTimer;
    case os::CpuTicker::Source::kUserEvent: return spool::SampleClock::kUserEvent;
    default: return spool::SampleClock::kEvent;
  }
}

// REQUIRES: the mutex.
void note_failure(Sampler& s, int error) noexcept {
  s.failure = error;
  s.writer->note_failure(error);
}

// REQUIRES: the mutex; the thread is one of this measurement. `cpu`: of the thread, now.
void count_unsampled(Sampler& s, SampledThread& thread, std::uint64_t cpu) noexcept {
  constexpr std::uint64_t kPeriods = 50, kLeast = 50'000'000;
  const std::uint64_t before = thread.cpu_ns.load(std::memory_order_relaxed);
  if (cpu <= before || cpu - before <= std::max(kPeriods * s.options.period_ns, kLeast)) return;
  s.writer->add_unsampled(cpu - before);
  thread.cpu_ns = cpu;
}

// The same for all threads, unless nothing was to be sampled. REQUIRES: the mutex.
void count_all_unsampled(Sampler& s) noexcept {
  if (g_ticks.paused.load() || g_ticks.writer.load() == nullptr) return;
  for (SampledThread* const thread : s.threads) {
    if (thread->recorder.load() == nullptr) continue;
    if (const auto cpu = os::cpu_ns_of_thread(thread->id)) count_unsampled(s, *thread, *cpu);
  }
}

// Where the program has closed the descriptor of an event. REQUIRES: the mutex.
void replace_lost_events(Sampler& s) noexcept {
  for (SampledThread* const thread : s.threads) {
    if (!thread->ticker.has_lost_event()) continue;
    const auto cpu = os::cpu_ns_of_thread(thread->id);
    if (cpu && !g_ticks.paused.load()) count_unsampled(s, *thread, *cpu);
    const int error = thread->ticker.replace_lost_event(s.options.signal, s.options.period_ns);
    if (error == 0) s.writer->count_timer();
    if (error != 0) note_failure(s, error);
  }
}

// A thread whose id of the kernel this is, and which has used so much CPU time. REQUIRES: the
// mutex. Throws std::bad_alloc.
void start_thread(Sampler& s, SampledThread& thread, const record::ThreadRecorder& recorder,
                  std::uint64_t id, std::uint64_t cpu) {
  thread.ticker.stop();
  thread.recorder = nullptr;
  if (thread.listed) wait_for_handlers();  // a tick of the thread may have come late
  thread.place = {};
  if (s.options.walk != nullptr && thread.stacks == nullptr) {
    thread.stacks = std::make_unique<Stacks>();
  }
  if (thread.stacks != nullptr) thread.stacks->depth = 0;
  thread.id = id;
  thread.cpu_ns = cpu;
  thread.recorder = &recorder;
  const int error = thread.ticker.start(s.options.signal, s.options.period_ns, id);
  if (error == 0) s.writer->count_thread(clock_of(thread.ticker.source()));
  if (error != 0 && os::cpu_ns_of_thread(id)) note_failure(s, error);  // it has not ended
}

// REQUIRES: the mutex. Throws std::bad_alloc.
SampledThread& add_thread(Sampler& s, std::uintptr_t self, std::uint64_t id) {
  auto made = std::make_unique<SampledThread>();
  s.threads.push_back(made.get());
  made->self = self;
  made->id = id;
  return *made.release();
}

// The calling thread; nullptr: it is not known. REQUIRES: the mutex.
SampledThread* this_thread() noexcept {
  SampledThread* const found = ticked_thread();
  // One with another id has ended unseen, and its pthread id is used again.
  const bool is_other = found != nullptr && found != t_sampled && found->id != os::thread_id();
  return is_other ? nullptr : found;
}

// The calling thread, which knows it from here on. REQUIRES: the mutex. Throws std::bad_alloc.
SampledThread& own_thread(Sampler& s) {
  SampledThread* thread = this_thread();
  if (thread == nullptr) {
    thread = &add_thread(s, static_cast<std::uintptr_t>(::pthread_self()), os::thread_id());
  }
  thread->known_to_itself = true;
  return *(t_sampled = thread);
}

bool is_sampled(const SampledThread& thread, const record::ThreadRecorder& recorder) noexcept {
  return thread.recorder.load() == &recorder &&
         thread.ticker.source() != os::CpuTicker::Source::kNone;
}

void on_begin_of_thread(record::ThreadRecorder& recorder) noexcept try {
  if (g_ticks.writer.load() == nullptr) return;
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  if (s.writer == nullptr || g_ticks.writer.load() == nullptr) return;
  SampledThread& thread = own_thread(s);
  if (is_sampled(thread, recorder)) return;  // since it was brought in
  start_thread(s, thread, recorder, os::thread_id(), os::thread_cpu_ns());
} catch (const std::bad_alloc&) {
  // The thread goes on without samples.
}

// For another thread, which may know its own since an earlier measurement. REQUIRES: the mutex.
// Throws std::bad_alloc.
SampledThread& listed_thread(Sampler& s, std::uintptr_t self, std::uint64_t id) {
  for (SampledThread* const one : s.threads) {
    if (one->self.load() == self && one->id == id) return *one;
  }
  SampledThread& made = add_thread(s, self, id);
  made.listed = true;
  made.next = g_ticks.listed.load();
  g_ticks.listed = &made;
  return made;
}

// With the mutex of the measurement.
void sample_brought(record::ThreadRecorder& recorder, std::uintptr_t self,
                    std::uint64_t id) noexcept try {
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  const auto cpu = os::cpu_ns_of_thread(id);
  if (s.writer == nullptr || g_ticks.writer.load() == nullptr || !cpu) return;
  SampledThread& thread = listed_thread(s, self, id);
  if (!is_sampled(thread, recorder)) start_thread(s, thread, recorder, id, *cpu);
} catch (const std::bad_alloc&) {
  // It is sampled once it records something.
}

void on_end_of_thread() noexcept {
  if (t_sampled == nullptr) return;
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  t_sampled->ticker.stop();
  if (t_sampled->recorder.load() != nullptr && g_ticks.writer.load() != nullptr &&
      !g_ticks.paused.load()) {
    count_unsampled(s, *t_sampled, os::thread_cpu_ns());
  }
  SampledThread* const ended = std::exchange(t_sampled, nullptr);
  ended->recorder = nullptr;
  ended->self = 0;
  ended->known_to_itself = false;
  if (ended->listed) return;  // handlers of other threads may look at it
  std::erase(s.threads, ended);
  delete ended;
}

// Of the threads that others have brought in, the ones that know of it stay for a next time.
// REQUIRES: the mutex; no handler runs, or finds the writer.
void forget_listed(Sampler& s) noexcept {
  g_ticks.listed = nullptr;
  std::erase_if(s.threads, [](SampledThread* thread) {
    const bool stays = !std::exchange(thread->listed, false) || thread->known_to_itself;
    thread->next = nullptr;
    if (!stays) delete thread;
    return !stays;
  });
}

// REQUIRES: the mutex.
void stop_all(Sampler& s) noexcept {
  g_ticks.writer = nullptr;
  for (SampledThread* const thread : s.threads) thread->ticker.stop();
}

// REQUIRES: the mutex.
void tell_failure(Sampler& s) noexcept {
  const int error = std::exchange(s.failure, 0);
  if (error == 0 || std::exchange(s.has_told, true) || s.options.on_failure == nullptr) return;
  s.options.on_failure(std::strerror(error));
}

// `wait`: until another thread is done with it.
void define_objects(Sampler& s, bool wait) noexcept {
  std::unique_lock lock(s.objects, std::defer_lock);
  if (wait) lock.lock();
  if (wait || lock.try_lock()) record::define_mapped_objects(wait);
}

void tell_end(Sampler& s, const char* reason) noexcept {
  if (s.options.on_end != nullptr) s.options.on_end(reason);
}

// REQUIRES: the mutex.
void end_if_signal_is_taken(Sampler& s) noexcept {
  if (os::has_tick_handler(s.options.signal)) return;
  stop_all(s);
  tell_end(s, "the program uses its signal itself");
}

// A filter may end the process at a call that a sample, or the end of its ticks, makes: the ticks
// go on, and their handler does nothing. REQUIRES: the mutex.
bool end_if_restricted(Sampler& s) noexcept {
  if (!s.filters.added()) return false;
  g_ticks.writer = nullptr;
  for (SampledThread* const thread : s.threads) thread->ticker.abandon();
  tell_end(s, "the program has forbidden itself calls of the system (seccomp)");
  return true;
}

void look() noexcept {
  if (g_ticks.writer.load() == nullptr) return;
  Sampler& s = sampler();
  {
    const std::unique_lock lock(s.mutex, std::try_to_lock);
    if (!lock || s.writer == nullptr || g_ticks.writer.load() == nullptr) return;
    if (end_if_restricted(s)) return;
    s.writer->grow();
    end_if_signal_is_taken(s);
    if (g_ticks.writer.load() != nullptr) replace_lost_events(s);
    tell_failure(s);
  }
  define_objects(s, false);  // opens files, which a filter may forbid
}

void lock_sampler_for_fork() { sampler().mutex.lock(); }
void unlock_sampler_after_fork() { sampler().mutex.unlock(); }

// In the only thread of a forked child: the mapped file belongs to the parent. A child that is
// sampled takes the signal again.
void forget_sampler_after_fork() {
  Sampler& s = sampler();
  if (g_ticks.writer.exchange(nullptr) != nullptr) os::give_back_tick_signal(s.options.signal);
  s.filters = {};
  g_ticks.in_handler = 0;
  for (SampledThread* const thread : s.threads) thread->ticker.forget();
  forget_listed(s);
  std::erase_if(s.threads, [](const SampledThread* thread) { return thread != t_sampled; });
  s.writer.reset();
  new (&s.mutex) os::OwnedMutex;
  new (&s.objects) std::mutex;
}

// Before the handlers of the measurement are registered: the locks of the later ones are taken
// first.
[[gnu::constructor(149)]] void handle_forks_of_sampler() {
  os::at_fork(lock_sampler_for_fork, unlock_sampler_after_fork, forget_sampler_after_fork);
}

}  // namespace

std::string reason_against(int signal) {
  if (os::is_free_for_ticks(signal)) return {};
  return "the program uses their signal itself; --sample-signal names another one";
}

std::string start_sampling(const SampleOptions& options) {
  if (options.period_ns == 0) return {};
  stop_sampling();
  static constexpr record::ThreadHooks kHooks{on_begin_of_thread, on_end_of_thread, look};
  if (std::string reason = reason_against(options.signal); !reason.empty()) return reason;
  if (!os::take_tick_signal(options.signal, on_tick)) return reason_of(errno);
  int error = 0;
  auto writer = spool::SampleWriter::create(record::running_spool(), options.period_ns, &error);
  if (writer == nullptr) {
    os::give_back_tick_signal(options.signal);
    return "cannot make its file: " + reason_of(error);
  }
  Sampler& s = sampler();
  {
    const std::lock_guard lock(s.mutex);
    s.writer = std::move(writer);
    s.options = options;
    s.failure = 0;
    s.has_told = false;
    s.filters.watch();
    g_ticks.period_ns = options.period_ns;
    g_ticks.walk = options.walk;
    g_ticks.find_line = options.line;
    g_ticks.writer = s.writer.get();
  }
  record::set_thread_hooks(kHooks);
  define_objects(s, true);
  if (record::t_recorder->attached()) on_begin_of_thread(*record::t_recorder);
  return {};
}

void sample_brought_threads() noexcept { record::for_each_brought(sample_brought); }

void stop_sampling() noexcept {
  Sampler& s = sampler();
  bool restricted = false;
  {
    const std::lock_guard lock(s.mutex);
    if (s.writer == nullptr) return;
    if (g_ticks.writer.load() != nullptr && !end_if_restricted(s)) {
      tell_failure(s);
      count_all_unsampled(s);
      stop_all(s);
      os::give_back_tick_signal(s.options.signal);
    }
    wait_for_handlers();
    for (SampledThread* const thread : s.threads) {
      thread->recorder = nullptr;
      thread->place = {};
    }
    forget_listed(s);
    s.writer.reset();
    restricted = s.filters.added();
    s.filters = {};
  }
  if (!restricted) define_objects(s, true);
}

void pause_sampling(bool paused) noexcept {
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  if (paused) count_all_unsampled(s);
  if (g_ticks.paused.load() && !paused) {
    for (SampledThread* const thread : s.threads) {
      if (const auto cpu = os::cpu_ns_of_thread(thread->id)) thread->cpu_ns = *cpu;
    }
  }
  g_ticks.paused = paused;
}

void note_signal_change(int signal) noexcept {
  if (g_ticks.writer.load() == nullptr) return;
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  if (g_ticks.writer.load() != nullptr && signal == s.options.signal) end_if_signal_is_taken(s);
}

void stop_ticks_of_thread() noexcept {
  if (g_ticks.writer.load() == nullptr) return;
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  SampledThread* const thread = this_thread();
  if (thread == nullptr || g_ticks.writer.load() == nullptr || end_if_restricted(s)) return;
  thread->ticker.stop();
  os::take_pending_tick(s.options.signal);
}

void start_ticks_of_thread() noexcept {
  if (g_ticks.writer.load() == nullptr) return;
  Sampler& s = sampler();
  const std::lock_guard lock(s.mutex);
  SampledThread* const thread = this_thread();
  if (thread == nullptr || g_ticks.writer.load() == nullptr || end_if_restricted(s)) return;
  if (thread->ticker.source() != os::CpuTicker::Source::kNone) return;
  const int error = thread->ticker.start(s.options.signal, s.options.period_ns, os::thread_id());
  if (error != 0) note_failure(s, error);
}

}  // namespace timeloom::sample
