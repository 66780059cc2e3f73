#include "spool/waits/wait_watch.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "os/process.hpp"

namespace timeloom::spool {
namespace {

constexpr std::uint64_t kShortestLookPause = 4'000;  // microseconds
constexpr std::uint64_t kQuietLookPause = 8'000;     // while no thread runs, at first
constexpr std::uint64_t kIdleLookPause = 32'000;     // after a while
constexpr std::uint64_t kLongestLookPause = 50'000;
constexpr std::uint64_t kCostShare = 200;  // a look takes at most this part of the time
// The first look of a process, with cold files, costs ten times a later one.
constexpr std::uint64_t kMeanOfLooks = 8;
constexpr std::size_t kMostThreads = 64;       // whose clocks a look reads
constexpr unsigned kMostReads = 8;             // threads of which a look reads more
constexpr std::uint64_t kLeastDelay = 50'000;  // nanoseconds
constexpr std::size_t kMostPending = 4096;     // spans

bool read_ns(clockid_t clock, std::uint64_t& nanoseconds) noexcept {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return false;
  nanoseconds = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                static_cast<std::uint64_t>(time.tv_nsec);
  return true;
}

}  // namespace

void WaitWatch::begin(const KnownDirectory& spool, const WaitOptions& options) noexcept try {
  const std::lock_guard lock(mutex_);
  if (!options.on) return;
  {
    const std::lock_guard gaps_lock(gaps_mutex_);
    gaps_.reserve(kMostPending);
  }
  taken_gaps_.reserve(kMostPending);
  writer_ = WaitWriter::create(spool, options.pack);  // without it, waiting is told by names alone
  if (writer_) filters_.watch();
  on_ = writer_.has_value();
  if (writer_ && options.gil_from != options.gil_to) {
    writer_->put_gil(options.gil_from, options.gil_to);
  }
} catch (const std::bad_alloc&) {
  return;
}

void WaitWatch::add(std::uint32_t location, clockid_t clock) noexcept try {
  const std::lock_guard lock(mutex_);
  if (writer_) watched_.push_back({location, clock, os::thread_of_clock(clock)});
} catch (const std::bad_alloc&) {
  return;
}

void WaitWatch::remove(std::uint32_t location) noexcept try {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(watched_, location, &Watched::location);
  if (found == watched_.end()) return;
  // Reads nothing where the thread has ended. Threads that no look has met are too short for it.
  if (writer_ && found->delay_at != 0 && !filters_.added()) read_delay(*found, os::now());
  end_span(*found);
  watched_.erase(found);
} catch (const std::bad_alloc&) {
  return;
}

void WaitWatch::add_gap(std::uint32_t location, std::uint64_t from, std::uint64_t to,
                        const WaitGap& gap) noexcept try {
  if (!on_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(gaps_mutex_);
  if (gaps_.size() >= kMostPending) return;  // the cause of this one is told by the name
  gaps_.push_back({from, to, location, WaitSpan::what_of(WaitSpanKind::kGap, 1), gap.word()});
} catch (const std::bad_alloc&) {
  return;
}

void WaitWatch::take_gaps() {
  taken_gaps_.clear();
  {
    const std::lock_guard lock(gaps_mutex_);
    taken_gaps_.swap(gaps_);
  }
  for (const WaitSpan& gap : taken_gaps_) writer_->add(gap);
}

void WaitWatch::end_span(Watched& one) {
  if (one.span.looks() > 0) writer_->add(one.span);
  one.span = {};
}

// The part of the time without a processor that passed since the reading before. Very short times
// are left for the next reading.
void WaitWatch::read_delay(Watched& one, std::uint64_t ticks) {
  std::uint64_t delay = 0;
  if (!os::run_delay(one.thread, delay)) return;
  const std::uint64_t more = delay - std::min(delay, one.delay);
  const std::uint64_t before = std::exchange(one.delay_at, ticks);
  if (before != 0 && more < kLeastDelay) return;
  one.delay = delay;
  if (before == 0) return;
  writer_->add({before, ticks, one.location, WaitSpan::what_of(WaitSpanKind::kProcessor, 1), more});
}

void WaitWatch::hide() {
  if (std::exchange(hidden_, true)) return;
  for (Watched& one : watched_) end_span(one);
  writer_->put_hidden();
}

bool WaitWatch::read_wait(Watched& one, const Look& look) {
  if (hidden_) return true;
  const os::ThreadWait wait = os::thread_wait(one.thread);
  if (wait.kind == os::WaitKind::kNone) return false;
  if (wait.kind == os::WaitKind::kHidden) return hide(), true;
  if (one.span.looks() == 0 || wait != one.wait) end_span(one);
  if (wait.kind == os::WaitKind::kRunning) return end_span(one), true;
  const std::uint32_t looks = one.span.looks() + 1;
  const std::uint64_t first = looks == 1 ? look.ticks : one.span.first;
  one.wait = wait;
  one.span = {first, look.ticks, one.location,
              WaitSpan::what_of(static_cast<WaitSpanKind>(wait.kind), looks), wait.word};
  return true;
}

bool WaitWatch::look_at(Watched& one, Look& look) {
  std::uint64_t cpu = 0;
  if (!read_ns(one.clock, cpu) || cpu < one.cpu) return false;
  const std::uint64_t ran = cpu - one.cpu, passed = look.wall - std::min(look.wall, one.wall);
  const bool first = one.wall == 0;
  quiet_ = quiet_ && ran == 0;
  if (!first && ran == 0 && one.span.looks() > 0) {
    one.span.last = look.ticks;
    one.span.what =
        WaitSpan::what_of(static_cast<WaitSpanKind>(one.wait.kind), one.span.looks() + 1);
    one.wall = look.wall;
    return true;
  }
  if (!first && ran >= passed - passed / 32) {
    end_span(one);
    one.cpu = cpu;
    one.wall = look.wall;
    return true;
  }
  if (look.reads == 0) return true;  // its turn comes in a later look
  --look.reads;
  one.cpu = cpu;
  one.wall = look.wall;
  read_delay(one, look.ticks);
  return read_wait(one, look);
}

std::chrono::microseconds WaitWatch::look() noexcept try {
  const std::uint64_t before = os::thread_cpu_ns();
  const std::lock_guard lock(mutex_);
  if (filters_.added()) return hide(), std::chrono::microseconds(kLongestLookPause);
  Look look{0, 0, kMostReads};
  quiet_ = true;
  const std::size_t threads = std::min(watched_.size(), kMostThreads);
  for (std::size_t i = 0; i < threads && !watched_.empty(); ++i) {
    next_ = next_ + 1 < watched_.size() ? next_ + 1 : 0;
    look.ticks = os::now();
    if (!read_ns(CLOCK_MONOTONIC, look.wall) || look_at(watched_[next_], look)) continue;
    end_span(watched_[next_]);
    watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(next_));
  }
  if (writer_->pending() > kMostPending) writer_->flush();
  const std::uint64_t cost = os::thread_cpu_ns() - before;
  cost_ = (cost_ * (kMeanOfLooks - 1) + cost) / kMeanOfLooks;
  const std::uint64_t quiet = std::clamp(pause_ * 3 / 2, kQuietLookPause, kIdleLookPause);
  pause_ =
      std::clamp(cost_ / 1000 * kCostShare, quiet_ ? quiet : kShortestLookPause, kLongestLookPause);
  return std::chrono::microseconds(pause_);
} catch (const std::bad_alloc&) {
  return std::chrono::microseconds(kLongestLookPause);
}

void WaitWatch::flush() noexcept try {
  const std::lock_guard lock(mutex_);
  if (!writer_) return;
  WaitLoad load{os::now(), 0, 0};
  if (!filters_.added() && os::machine_load(load.runnable, load.processors))
    writer_->put_load(load);
  for (Watched& one : watched_) end_span(one);
  take_gaps();
  writer_->flush();
} catch (const std::bad_alloc&) {
  return;
}

void WaitWatch::abandon() noexcept {
  filters_ = {};
  on_ = false;
  if (writer_) writer_->close();
}

}  // namespace timeloom::spool
