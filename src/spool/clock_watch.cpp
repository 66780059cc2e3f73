#include "spool/clock_watch.hpp"

#include <algorithm>
#include <new>

#include "os/clock.hpp"
#include "spool/reader.hpp"

namespace timeloom::spool {
namespace {

// False: the clock cannot be read.
bool read(clockid_t clock, std::uint64_t& nanoseconds) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return false;
  nanoseconds = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                static_cast<std::uint64_t>(time.tv_nsec);
  return true;
}

}  // namespace

ThreadClocks* ClockWatch::add(std::uint32_t location, clockid_t clock) noexcept try {
  waits_.add(location, clock);
  const std::lock_guard lock(mutex_);
  watched_.reserve(watched_.size() + 1);
  free_.reserve(used_ + 1);  // so that remove() needs no memory
  ThreadClocks* place = nullptr;
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
  } else if (used_ < kMostThreadClocks) {
    place = reinterpret_cast<ThreadClocks*>(ring_ + kFirstThreadClocks) + used_++;
  }
  if (place == nullptr) return nullptr;
  new (place) ThreadClocks{};
  place->thread.store(location + 1, std::memory_order_release);
  watched_.push_back({place, clock});
  return place;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void ClockWatch::remove(ThreadClocks* place) noexcept {
  if (place == nullptr) return;
  waits_.remove(place->thread.load(std::memory_order_relaxed) - 1);
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const Watched& one) { return one.place == place; });
  place->thread.store(0, std::memory_order_release);
  free_.push_back(place);
}

void ClockWatch::look() noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [](const Watched& one) {
    std::uint64_t cpu = 0, wall = 0;
    ClockReading& seen = one.place->seen;
    if (!read(one.clock, cpu) || cpu < seen.cpu.load(std::memory_order_relaxed)) return true;
    if (read(CLOCK_MONOTONIC, wall)) put_reading(seen, os::now(), wall, cpu);
    return false;
  });
}

// Rings of earlier versions are zero there.
void Reader::read_clocks() {
  struct Clocks {
    std::uint32_t thread, reserved;
    LastClocks clocks;
    std::uint64_t unused;
  };
  static_assert(sizeof(Clocks) == sizeof(ThreadClocks));
  std::vector<Clocks> places(kMostThreadClocks);
  int error = 0;
  ring_.read_at(kFirstThreadClocks, std::as_writable_bytes(std::span(places)), &error);
  for (const Clocks& place : places) {
    if (place.thread != 0) clocks_[place.thread - 1] = place.clocks;
  }
}

LastClocks Reader::last_clocks(std::uint32_t location) const {
  const auto found = clocks_.find(location);
  return found == clocks_.end() ? LastClocks{} : found->second;
}

}  // namespace timeloom::spool
