// The library that NVIDIA's driver loads from CUDA_INJECTION64_PATH. It calls InitializeInjection()
// at the first call of cuInit. From then on CUPTI delivers buffers with records of the GPU activity
// of the process.
//
// A guest: it does not become CUPTI's subscriber, of which a process has only one. When the program
// itself registers for records (torch.profiler), Timeloom takes its records out first and leaves
// CUPTI to the program.
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "core/text/plain_text.hpp"
#include "gpu/cuda/counters.hpp"
#include "gpu/cuda/cuda_library.hpp"
#include "gpu/cuda/ranges.hpp"
#include "gpu/cuda/record_choice.hpp"
#include "gpu/cuda/records.hpp"
#include "os/references.hpp"
#include "os/thread.hpp"
#include "record/auxiliary_file.hpp"
#include "record/measurement.hpp"

namespace timeloom::cuda {
namespace {

constexpr std::size_t kBufferSize = 1 << 20;
constexpr std::uint32_t kFlushMilliseconds = 250;
constexpr char kWordsVariable[] = "TIMELOOM_GPU_RECORDS";  // set by --gpu-records

struct Session {
  RecordChoice choice;  // constant after the start
  Functions functions;
  Clock clock;
  HostThreads threads;
  Records records{functions, clock, threads};
  std::mutex mutex;  // guards the following members, and `records`
  Counters counters{mutex, records};
  std::vector<std::uint8_t*> free_buffers;
  std::uint64_t objects = 0;  // loaded when references were redirected
};

// Lives as long as the process, since CUPTI calls from its own threads.
Session* g_session = nullptr;
std::atomic<bool> g_ours = false;    // CUPTI calls us
std::atomic<bool> g_forked = false;  // this process is the child of the one with the session

void print_line(const std::string& text) { std::fprintf(stderr, "timeloom: %s\n", text.c_str()); }

std::uint64_t timestamp() {
  if (!g_ours.load(std::memory_order_relaxed)) {  // the current user of CUPTI expects its own clock
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
  const std::uint64_t now = g_session->clock.now();
  g_session->threads.note(now);
  return now;
}

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  Session& s = *g_session;
  *most_records = 0;  // any number
  *size = kBufferSize;
  {
    const std::lock_guard lock(s.mutex);
    if (!s.free_buffers.empty()) {
      *buffer = s.free_buffers.back();
      s.free_buffers.pop_back();
      return;
    }
  }
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferSize));
  if (*buffer == nullptr) *size = 0;
}

Result register_timestamp(Timestamp* clock);
Result register_callbacks(RequestBuffer* request, CompleteBuffer* complete);

// The first functions of CUPTI by which the program changes the records that Timeloom gets.
void redirect_if_due(Session& s) {
  const std::uint64_t objects = os::loaded_objects();
  if (objects == s.objects) return;
  s.objects = objects;
  os::redirect_references("libcupti.so", "cuptiActivityRegisterTimestampCallback",
                          reinterpret_cast<const void*>(&register_timestamp));
  os::redirect_references("libcupti.so", "cuptiActivityRegisterCallbacks",
                          reinterpret_cast<const void*>(&register_callbacks));
}

void complete_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                     std::size_t valid) {
  Session& s = *g_session;
  std::size_t dropped = 0;
  (void)s.functions.dropped_records(context, stream, &dropped);
  const os::NotCancelled not_cancelled;
  const std::lock_guard lock(s.mutex);
  try {
    s.records.take(buffer, valid, dropped);
    for (const Records::Device& device : s.records.new_devices()) {
      if (s.choice.counters) s.counters.watch(device);
    }
    s.free_buffers.push_back(buffer);
  } catch (const std::exception&) {  // no memory
    std::free(buffer);
  }
  redirect_if_due(s);
}

bool is_kernel(ActivityKind kind) {
  return kind == ActivityKind::kKernel || kind == ActivityKind::kConcurrentKernel;
}

bool enable(const Session& session, std::string& reason) {
  const Functions& functions = session.functions;
  const auto failed = [&](const char* what, Result result) {
    if (result == kSuccess) return false;
    reason = "CUPTI refuses " + std::string(what) + " (" + std::to_string(result) + ")";
    return true;
  };
  if (failed("our clock", functions.register_timestamp(timestamp))) return false;
  if (failed("our buffers", functions.register_callbacks(request_buffer, complete_buffer)))
    return false;
  for (const ActivityKind kind : session.choice.kinds) {
    const Result result = functions.enable(kind);
    if (is_kernel(kind) && failed("to record kernels", result)) return false;
  }
  (void)functions.flush_period(kFlushMilliseconds);
  return true;
}

void disable(const Session& session) {
  for (const ActivityKind kind : session.choice.kinds) (void)session.functions.disable(kind);
}

RecordChoice chosen_records() {
  const char* const words = std::getenv(kWordsVariable);
  RecordChoice choice = choose_records(words == nullptr ? "" : words);
  std::string unknown;
  for (const std::string& word : choice.unknown) unknown += (unknown.empty() ? "" : ", ") + word;
  if (!unknown.empty()) {
    print_line("no records of the GPU are called " + printable(unknown) + "; there are " +
               kRecordWords + " [TL153]");
  }
  return choice;
}

// Called when the program itself starts to use CUPTI. The records are taken out while Timeloom's
// clock is still registered, because CUPTI uses the current clock to compute GPU times.
void step_aside() {
  if (!g_ours) return;
  Session& s = *g_session;
  // First flush: records not delivered before a kind is disabled are lost. Second flush: records
  // that came meanwhile, since no buffer of Timeloom may be delivered to another tool.
  (void)s.functions.flush_all(kFlushForced);
  disable(s);
  (void)s.functions.flush_all(kFlushForced);
  (void)s.functions.flush_period(0);
  if (!g_ours.exchange(false)) return;
  const std::lock_guard lock(s.mutex);
  try {
    s.records.leave();
  } catch (const std::exception&) {  // no memory
  }
  print_line(
      "the GPU is recorded no longer: the program has begun to trace it itself "
      "(torch.profiler or another user of CUPTI) [TL028]");
}

// Replaces CUPTI's function when another object of this process calls it.
Result register_timestamp(Timestamp* clock) {
  step_aside();
  return g_session->functions.register_timestamp(clock);
}
Result register_callbacks(RequestBuffer* request, CompleteBuffer* complete) {
  step_aside();
  return g_session->functions.register_callbacks(request, complete);
}

void end_measurement() noexcept {
  Session& s = *g_session;
  s.counters.close();
  if (g_ours) (void)s.functions.flush_all(kFlushForced);
  s.counters.stop();
  const std::lock_guard lock(s.mutex);
  s.records.end();
}

// Another program takes the place of this one, and all that CUPTI still holds would go with it.
void flush_before_exec() noexcept {
  if (g_ours) (void)g_session->functions.flush_all(kFlushForced);
}

// A record that another thread writes is whole before the process forks, and the child can begin
// CUDA of its own.
void lock_for_fork() {
  g_session->mutex.lock();
  g_session->counters.before_fork();
}
void unlock_after_fork() {
  g_session->counters.after_fork();
  g_session->mutex.unlock();
}

// CUDA does not work in the child of a process that uses it, and CUPTI's threads do not exist
// there.
void forget_in_child() {
  unlock_after_fork();
  g_session->counters.forget_in_child();
  g_ours = false;
  g_forked = true;
  record::before_stop(nullptr);
}

// The session of this process, made by the first use of CUDA or NVTX; nullptr: nothing is measured.
Session* make_session() {
  static std::mutex making;
  const std::lock_guard lock(making);
  if (g_session != nullptr || !record::active()) return g_session;
  auto* const session = new Session;
  session->clock.start();
  g_session = session;
  os::at_fork(lock_for_fork, unlock_after_fork, forget_in_child);
  record::before_stop(end_measurement);
  return session;
}

void start() {
  static bool started = false;
  Session* const session = started ? nullptr : make_session();
  if (session == nullptr) return;
  started = true;
  session->choice = chosen_records();
  std::string reason;
  bool works = load_cupti(session->functions, reason);
  if (works) {
    g_ours = true;
    works = enable(*session, reason);
  }
  if (!works) {
    g_ours = false;
    print_line("the GPU is not recorded: " + reason + " [TL025]");
    return;
  }
  record::before_exec(flush_before_exec);
  record::before_stop(end_measurement);  // again, for a child that was forked before
  const std::lock_guard lock(session->mutex);
  redirect_if_due(*session);
}

}  // namespace

bool begin_ranges() noexcept {
  try {
    return make_session() != nullptr;
  } catch (const std::exception&) {  // no memory
    return false;
  }
}

void add_range(const Range& range) noexcept {
  if (g_forked) return;
  const os::NotCancelled not_cancelled;
  const std::lock_guard lock(g_session->mutex);
  try {
    g_session->records.add_range(range);
  } catch (const std::exception&) {  // no memory
  }
}

}  // namespace timeloom::cuda

// Called by the driver. Returns 1, success, in any case, so that the program goes on.
// NOLINTNEXTLINE(readability-identifier-naming): the driver has chosen the name
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  try {
    timeloom::cuda::start();
  } catch (const std::exception& error) {
    timeloom::cuda::print_line("the GPU is not recorded: " + std::string(error.what()) +
                               " [TL025]");
  }
  return 1;
}
