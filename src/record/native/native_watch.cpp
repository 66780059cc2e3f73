#include "record/native/native_watch.hpp"

#include <algorithm>
#include <new>

#include "os/running_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::record {
namespace {

// Less is what looking itself and the clocks cost: a thread that takes it is not worth a row.
constexpr std::uint64_t kLeastNs = 1'000'000;
// A thread that has taken as much keeps its name.
constexpr std::uint64_t kSettledNs = 100'000'000;
// Programs may give each thread a name of its own.
constexpr std::size_t kMostNames = 256;
constexpr char kOtherNames[] = "(other names)";

bool holds_id(std::span<const std::uint64_t> ids, std::uint64_t id) noexcept {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

void NativeWatch::begin() noexcept try {
  threads_.clear();
  sums_.clear();
  seen_ns_ = 0;
  ended_ = {};
  for (const std::uint64_t id : os::running_threads()) {
    threads_[id].before = os::cpu_ns_of_thread(id).value_or(0);
  }
} catch (const std::bad_alloc&) {
  return;  // then what they have taken by now counts
}

// The names of pools are given by the thread that makes them or by the threads themselves, after
// they have begun.
void NativeWatch::rename(std::uint64_t id, Thread& thread) {
  std::string name = os::name_of_thread(id);
  thread.ours = name.starts_with("timeloom-");
  if (name.empty() || (sums_.size() >= kMostNames && !sums_.contains(name))) name = kOtherNames;
  if (thread.ours || name == thread.name) return;
  Sum& sum = sums_[name];
  if (!thread.name.empty()) {
    Sum& old = sums_[thread.name];
    --old.threads;
    old.cpu_ns -= thread.added;
  }
  ++sum.threads;
  sum.cpu_ns += thread.added;
  thread.name = std::move(name);
}

void NativeWatch::add(std::uint64_t id, Thread& thread, std::uint64_t cpu_ns) {
  if (cpu_ns < thread.before) thread = {};  // another one, which has its id
  const std::uint64_t taken = cpu_ns - thread.before;
  if (thread.ours || taken < kLeastNs) return;
  if (thread.added < kSettledNs) rename(id, thread);
  if (thread.ours) return;
  thread.before = cpu_ns;
  thread.added += taken;
  sums_[thread.name].cpu_ns += taken;
}

void NativeWatch::begins_to_record(std::uint64_t id, std::uint64_t cpu_ns) noexcept try {
  const auto known = threads_.find(id);
  if (known == threads_.end() && cpu_ns < kLeastNs) return;
  const KeepOff of_wrappers;
  add(id, known == threads_.end() ? threads_[id] : known->second, cpu_ns);
} catch (const std::bad_alloc&) {
  return;
}

bool NativeWatch::wants_look(std::uint64_t other_ns) const noexcept {
  return other_ns >= seen_ns_ + kLeastNs;
}

void NativeWatch::look(std::uint64_t other_ns, std::span<const std::uint64_t> recorded) noexcept
    try {
  seen_ns_ = other_ns;
  const std::vector<std::uint64_t> running = os::running_threads();
  std::erase_if(threads_, [&](const auto& known) { return !holds_id(running, known.first); });
  for (const std::uint64_t id : running) {
    if (holds_id(recorded, id) || holds_id(ended_, id)) continue;
    add(id, threads_[id], os::cpu_ns_of_thread(id).value_or(0));
  }
} catch (const std::bad_alloc&) {
  return;
}

void NativeWatch::tell(spool::Writer& writer, bool all) noexcept {
  for (auto& [name, sum] : sums_) {
    const std::uint64_t grown =
        sum.cpu_ns > sum.told_ns ? sum.cpu_ns - sum.told_ns : sum.told_ns - sum.cpu_ns;
    if (grown == 0 || (!all && grown < sum.told_ns / 16)) continue;
    sum.told_ns = sum.cpu_ns;
    writer.define_native_threads(name, sum);
  }
}

}  // namespace timeloom::record
