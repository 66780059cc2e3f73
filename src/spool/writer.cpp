#include "spool/writer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>

#include "core/error.hpp"

namespace timeloom::spool {
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& path, int error) {
  throw Error("cannot " + what + " " + path + ": " + std::strerror(error) +
              "; choose another directory with --output");
}

template <typename T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

}  // namespace

Writer::Writer(std::string directory, const WriterOptions& options)
    : directory_(std::move(directory)), options_(options) {}

std::unique_ptr<Writer> Writer::create(const std::string& directory, const WriterOptions& options) {
  std::unique_ptr<Writer> writer(new Writer(directory, options));
  writer->open_files();
  const int error =
      writer->drain_thread_.start("timeloom-drain", [self = writer.get()] { self->drain_loop(); });
  if (error != 0) cannot("start a thread for", directory, error);
  return writer;
}

void Writer::open_files() {
  if (::mkdir(directory_.c_str(), 0777) != 0) cannot("create", directory_, errno);
  const auto create = [this](const char* name) {
    int error = 0;
    os::File file = os::File::create_exclusive(directory_ + "/" + name, &error);
    if (error != 0) cannot("create", directory_ + "/" + name, error);
    return file;
  };
  defs_ = create(kDefsName);
  defs_.mark_in_use();  // where there are no locks, nobody can tell whether we live
  log_ = create(kLogName);
  ring_ = create(kRingName);
  const DefsHeader header{kDefsMagic, kVersion, static_cast<std::uint32_t>(os::clock_source())};
  int error = defs_.write_at(0, bytes_of(header));
  if (error != 0) cannot("write to", directory_ + "/" + kDefsName, error);
  defs_end_ = sizeof header;

  error = ring_.allocate(0, kRingHeaderSize);
  if (error == 0) ring_header_ = os::Mapping::map(ring_, 0, kRingHeaderSize, &error);
  if (error != 0) cannot("map", directory_ + "/" + kRingName, error);
  auto* ring = new (ring_header_.data()) RingHeader{};
  ring->magic = kRingMagic;
  ring->version = kVersion;
  ring->segment_size = options_.segment_size;
  const std::lock_guard lock(mutex_);
  if (!grow(options_.ring_size)) cannot("allocate the ring of", directory_, error_.load());
}

Writer::~Writer() {
  close();
}

RingHeader& Writer::ring_header() const noexcept {
  return *reinterpret_cast<RingHeader*>(ring_header_.data());
}

std::size_t Writer::words_per_segment() const noexcept {
  return (options_.segment_size - sizeof(SegmentHeader)) / sizeof(std::uint64_t);
}

void Writer::fail(int error) noexcept {
  int none = 0;
  error_.compare_exchange_strong(none, error, std::memory_order_relaxed);
}

bool Writer::grow(std::uint64_t bytes) noexcept {
  const std::uint64_t present = segments_.size() * std::uint64_t{options_.segment_size};
  bytes = std::max<std::uint64_t>(bytes / options_.segment_size, 1) * options_.segment_size;
  if (present + bytes > std::max(options_.ring_limit, options_.ring_size)) return false;
  const std::uint64_t offset = kRingHeaderSize + present;
  int error = ring_.allocate(offset, bytes);
  os::Mapping block;
  if (error == 0) block = os::Mapping::map(ring_, offset, bytes, &error);
  if (error != 0) {
    fail(error);
    return false;
  }
  for (std::uint64_t i = 0; i < bytes; i += options_.segment_size) {
    new (block.data() + i) SegmentHeader{};
    segments_.emplace_back(block.data() + i);
    free_.push_back(&segments_.back());
  }
  blocks_.push_back(std::move(block));
  ring_header().segment_count.store(static_cast<std::uint32_t>(segments_.size()),
                                    std::memory_order_release);
  return true;
}

Segment* Writer::take_free() noexcept {
  if (free_.empty()) return nullptr;
  Segment* segment = free_.back();  // the one used last is the one still in the caches
  free_.pop_back();
  return segment;
}

Segment* Writer::acquire(std::uint32_t location, std::uint64_t sequence,
                         std::uint64_t base) noexcept {
  Segment* segment = nullptr;
  {
    std::unique_lock lock(mutex_);
    segment = take_free();
    if (segment == nullptr && !full_.empty() && error() == 0) {
      // The drain is behind: lend it a hand instead of waiting for it.
      Segment* full = full_.front();
      full_.pop_front();
      lock.unlock();
      const bool drained = drain(full);
      lock.lock();
      if (drained) {
        segment = full;
      } else {
        full_.push_front(full);
      }
    }
    if (segment == nullptr && error() == 0) {
      constexpr std::uint64_t kGrowth = 4 << 20;
      if (grow(kGrowth)) segment = take_free();
    }
    if (segment == nullptr) return nullptr;
  }
  SegmentHeader& header = segment->header();
  header.location = location;
  header.size = 0;
  header.sequence = sequence;
  header.base = base;
  header.check = segment_check(location, sequence, base);
  header.magic = kSegmentMagic;
  header.state.store(SegmentState::kActive, std::memory_order_release);
  return segment;
}

void Writer::retire(Segment* segment, std::size_t words) noexcept {
  SegmentHeader& header = segment->header();
  header.size = static_cast<std::uint32_t>(words * sizeof(std::uint64_t));
  bytes_.fetch_add(header.size, std::memory_order_relaxed);
  header.state.store(SegmentState::kFull, std::memory_order_release);
  {
    const std::lock_guard lock(mutex_);
    full_.push_back(segment);
  }
  work_.notify_one();
}

// Moves one full segment to the log and empties it. The order matters: at every
// instruction its records are in the log, or in the ring, or in both.
bool Writer::drain(Segment* segment) noexcept {
  SegmentHeader& header = segment->header();
  const std::size_t size = sizeof(SegmentHeader) + header.size;
  {
    const std::lock_guard lock(log_mutex_);
    if (error() != 0) return false;
    const int error =
        log_.write_at(log_end_, {reinterpret_cast<const std::byte*>(&header), size});
    if (error != 0) {
      fail(error);
      return false;
    }
    log_end_ += size;
  }
  header.state.store(SegmentState::kDrained, std::memory_order_release);
  std::memset(segment->words(), 0, header.size);
  header.state.store(SegmentState::kFree, std::memory_order_release);
  return true;
}

void Writer::drain_loop() noexcept {
  // Now and then the clocks are compared, so that a run that is killed can be
  // put in time as well as one that ends; soon at first, then once a second.
  constexpr std::chrono::milliseconds kLongestPause{1000};
  std::chrono::milliseconds pause{10};
  std::unique_lock lock(mutex_);
  while (true) {
    const bool woken = work_.wait_for(
        lock, pause, [this] { return stopping_ || (!full_.empty() && error() == 0); });
    if (!woken) {
      lock.unlock();
      define_clock_sync(os::sync_clocks());
      pause = std::min(pause * 10, kLongestPause);
      lock.lock();
      continue;
    }
    if (full_.empty() || error() != 0) return;  // stopping, and nothing left to do
    Segment* segment = full_.front();
    full_.pop_front();
    lock.unlock();
    const bool drained = drain(segment);
    lock.lock();
    if (drained) {
      free_.push_back(segment);
    } else {
      full_.push_front(segment);
    }
  }
}

void Writer::count_lost(std::uint64_t events) noexcept {
  ring_header().lost_events.fetch_add(events, std::memory_order_relaxed);
}

std::uint64_t Writer::lost() const noexcept {
  return ring_header().lost_events.load(std::memory_order_relaxed);
}

void Writer::close() noexcept {
  if (closed_) return;
  closed_ = true;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  drain_thread_.join();
  if (!defs_.is_open()) return;  // create() failed
  if (ring_header_.data() == nullptr) return;
  const std::uint64_t lost_events = lost();
  append(DefinitionKind::kEnd, bytes_of(lost_events));
  if (error() == 0) ::unlink((directory_ + "/" + kRingName).c_str());
}

void Writer::abandon() noexcept {
  closed_ = true;
  drain_thread_.abandon();
}

}  // namespace timeloom::spool
