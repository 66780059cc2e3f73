#include "sample/tick_handler.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

#include "core/samples/estimated_time.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "record/measurement.hpp"

namespace timeloom::sample {

constinit TickState g_ticks;
constinit thread_local SampledThread* t_sampled = nullptr;

namespace {

constexpr int kMostLevels = 64;  // of regions that are not recorded, around a sample
// The same while there is little space in the file. A stack that is cut is better than none.
constexpr std::size_t kMostInShortSpace = 100;
static_assert(spool::stack_slots(kMostFunctions) < spool::kSamplesInChunk * 5 / 6);

// In the handler of a signal.
std::uint32_t line_in(std::uint32_t region) noexcept {
  FindLine const find = g_ticks.find_line.load(std::memory_order_relaxed);
  return find == nullptr || region == spool::kNoSampledRegion ? 0 : find(region);
}

// The functions of the calling thread, the outermost first. In the handler of a signal.
std::span<std::uint32_t> walk_stack(SampledThread& thread, spool::SampleWriter& writer, Walk walk,
                                    std::uint32_t innermost) {
  const std::size_t most = writer.is_short() ? kMostInShortSpace : kMostFunctions;
  const auto room = std::span(thread.stacks->now).first(most + 1);
  const std::size_t found = walk(room, innermost);
  if (found > most) writer.count_cut();
  const auto stack = room.first(std::min(found, most));
  std::ranges::reverse(stack);
  return stack;
}

// As above.
bool put_stack(SampledThread& thread, std::uint32_t location, spool::SampleWriter& writer,
               spool::Sample sample, Walk walk) {
  Stacks& stacks = *thread.stacks;
  const std::span now = walk_stack(thread, writer, walk, sample.region);
  const std::span before = std::span(stacks.before).first(stacks.depth);
  const auto differs = std::ranges::mismatch(now, before).in1;
  const auto shared = static_cast<std::size_t>(differs - now.begin());
  if (!now.empty()) sample.region = now.back() & ~kUnrecordedFrame;
  sample.line = line_in(sample.region);
  const spool::SampledStack stack{now, shared};
  if (!writer.put(thread.place, location, sample, &stack)) return false;
  std::copy(differs, now.end(), stacks.before.begin() + static_cast<std::ptrdiff_t>(shared));
  stacks.depth = now.size();
  return true;
}

// Whether a timer beside an event has nothing to add: the event has taken the thread's last sample
// about a period ago, and no period has ended in the kernel since. In the handler of a signal.
bool is_covered(const SampledThread& thread, std::uint64_t cpu) {
  const std::uint64_t period = g_ticks.period_ns.load(std::memory_order_relaxed);
  return thread.ticker.source() == os::CpuTicker::Source::kUserEvent &&
         cpu < thread.cpu_ns.load(std::memory_order_relaxed) + period + period / 2;
}

// In the handler of a signal.
void put_sample(SampledThread& thread, const record::ThreadRecorder& recorder,
                spool::SampleWriter& writer, std::uintptr_t address, bool by_timer) {
  const std::uint64_t cpu = os::thread_cpu_ns();
  if (by_timer && is_covered(thread, cpu)) return;
  if (g_ticks.paused.load(std::memory_order_relaxed) || !record::recording()) {
    thread.cpu_ns = cpu;
    return;
  }
  spool::Sample sample{os::now(), address, cpu - std::min(cpu, thread.cpu_ns.load()),
                       recorder.innermost_region(kMostLevels)};
  sample.place = recorder.visited_place();
  Walk const walk = g_ticks.walk.load(std::memory_order_relaxed);
  const bool with_stack = walk != nullptr && thread.stacks != nullptr;
  if (!with_stack) sample.line = line_in(sample.region);
  // The weight of a sample that is lost is added to the next one.
  const bool kept = with_stack ? put_stack(thread, recorder.location(), writer, sample, walk)
                               : writer.put(thread.place, recorder.location(), sample);
  if (kept) thread.cpu_ns = cpu;
}

}  // namespace

SampledThread* ticked_thread() noexcept {
  if (t_sampled != nullptr) return t_sampled;
  const auto self = static_cast<std::uintptr_t>(::pthread_self());
  SampledThread* one = g_ticks.listed.load();
  while (one != nullptr && one->self.load() != self) one = one->next;
  return one;
}

void on_tick(std::uintptr_t address, bool by_timer) noexcept {
  g_ticks.in_handler.fetch_add(1);
  spool::SampleWriter* const writer = g_ticks.writer.load();
  SampledThread* const thread = writer == nullptr ? nullptr : ticked_thread();
  // Another thread may take it away, and waits for the handler then.
  const record::ThreadRecorder* const recorder =
      thread == nullptr ? nullptr : thread->recorder.load();
  if (recorder != nullptr) put_sample(*thread, *recorder, *writer, address, by_timer);
  g_ticks.in_handler.fetch_sub(1);
}

void wait_for_handlers() noexcept {
  while (g_ticks.in_handler.load() != 0) ::sched_yield();
}

}  // namespace timeloom::sample
