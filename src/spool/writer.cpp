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

void SegmentList::push_front(Segment* segment) noexcept {
  segment->next_ = first_;
  first_ = segment;
  if (last_ == nullptr) last_ = segment;
}

void SegmentList::push_back(Segment* segment) noexcept {
  segment->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = segment;
  last_ = segment;
}

Segment* SegmentList::pop_front() noexcept {
  Segment* segment = first_;
  if (segment == nullptr) return nullptr;
  first_ = segment->next_;
  if (first_ == nullptr) last_ = nullptr;
  return segment;
}

Writer::Writer(std::string directory, const WriterOptions& options)
    : directory_(std::move(directory)), options_(options) {}

std::unique_ptr<Writer> Writer::create(const std::string& directory, const WriterOptions& options) {
  const auto page = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  if (options.segment_size < kMinSegmentSize || options.segment_size > kMaxSegmentSize ||
      options.segment_size % page != 0) {
    throw Error("a spool cannot have segments of " + std::to_string(options.segment_size) +
                " bytes; take a multiple of " + std::to_string(page) + " up to " +
                std::to_string(kMaxSegmentSize));
  }
  if (::mkdir(directory.c_str(), 0777) != 0) cannot("create", directory, errno);
  std::unique_ptr<Writer> writer(new Writer(directory, options));
  try {
    writer->open_files();
    writer->write_heads();
    const int error = options.drain_at_once ? writer->start_drain() : 0;
    if (error != 0) cannot("start a thread for", directory, error);
  } catch (...) {
    writer->remove_files();
    throw;
  }
  return writer;
}

void Writer::open_files() {
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
}

void Writer::write_heads() {
  DefsHeader header{kDefsMagic, kVersion, static_cast<std::uint16_t>(os::clock_source()), 0};
  header.check = checksum(bytes_of(header).data(), offsetof(DefsHeader, check));
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
  ring->check = checksum(ring_header_.data(), offsetof(RingHeader, segment_count));
  const std::lock_guard lock(mutex_);
  if (!grow(options_.ring_size)) cannot("allocate the ring of", directory_, error_.load());
}

// After a failed start: nothing was recorded, and nobody is to take it for a run.
void Writer::remove_files() noexcept {
  closed_ = true;
  for (const char* name : {kDefsName, kLogName, kRingName}) {
    ::unlink((directory_ + "/" + name).c_str());
  }
  ::rmdir(directory_.c_str());
}

Writer::~Writer() { close(); }

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
  // The first block is taken as it was asked for, whatever the limit.
  if (present != 0 && present + bytes > options_.ring_limit) return false;
  const std::uint64_t offset = kRingHeaderSize + present;
  int error = ring_.allocate(offset, bytes);
  os::Mapping block;
  if (error == 0) block = os::Mapping::map(ring_, offset, bytes, &error);
  if (error != 0) {
    fail(error);
    return false;
  }
  try {
    add_segments(std::move(block), bytes);
  } catch (const std::bad_alloc&) {
    fail(ENOMEM);
    return false;
  }
  return true;
}

void Writer::add_segments(os::Mapping block, std::uint64_t bytes) {
  std::byte* const data = block.data();
  blocks_.push_back(std::move(block));
  for (std::uint64_t i = 0; i < bytes; i += options_.segment_size) {
    new (data + i) SegmentHeader{};
    free_.push_back(&segments_.emplace_back(data + i));
  }
  ring_header().segment_count.store(static_cast<std::uint32_t>(segments_.size()),
                                    std::memory_order_release);
}

// A segment that nobody uses: a free one, else a full one that is drained here
// and now instead of waiting for the drain, else one of a larger ring.
Segment* Writer::find_segment() noexcept {
  std::unique_lock lock(mutex_);
  // The one used last is the one still in the caches.
  if (Segment* segment = free_.pop_front()) return segment;
  if (error() != 0) return nullptr;
  if (Segment* full = full_.pop_front()) {
    lock.unlock();
    if (drain(full)) return full;
    lock.lock();
    full_.push_front(full);
    return nullptr;
  }
  constexpr std::uint64_t kGrowth = 4 << 20;
  return grow(kGrowth) ? free_.pop_front() : nullptr;
}

Segment* Writer::acquire(std::uint32_t location, std::uint64_t sequence,
                         std::uint64_t base) noexcept {
  Segment* segment = find_segment();
  if (segment == nullptr) return nullptr;
  SegmentHeader& header = segment->header();
  header.location = location;
  header.size = 0;
  header.sequence = sequence;
  header.base = base;
  header.check = segment_check(location, sequence, base);
  header.magic = kSegmentMagic;
  // From here on a reader takes the segment for ours; all of the above comes first.
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
    // After a fork. Should it fail, whoever needs a segment drains one.
    if (!drain_thread_.running() && !stopping_) (void)start_drain();
  }
  work_.notify_one();
}

// With log_mutex_ held. An append that fails halfway leaves nothing behind, so
// that the log always ends with a whole segment unless we are killed.
int Writer::append_to_log(SegmentHeader& header, const std::uint64_t* words) noexcept {
  if (error() != 0) return error();
  header.records = records_check({words, header.size / sizeof(std::uint64_t)});
  header.seal = segment_seal(header.check, header.size, header.records);
  const std::size_t size = sizeof header + header.size;
  const int error = log_.write_at(log_end_, {reinterpret_cast<const std::byte*>(&header), size});
  if (error != 0) {
    log_.truncate(log_end_);
    fail(error);
    return error;
  }
  log_end_ += size;
  return 0;
}

// Moves one full segment to the log and empties it. The order matters: at every
// instruction its records are in the log, or in the ring, or in both.
bool Writer::drain(Segment* segment) noexcept {
  SegmentHeader& header = segment->header();
  {
    const std::lock_guard lock(log_mutex_);
    if (append_to_log(header, segment->words()) != 0) return false;
  }
  header.state.store(SegmentState::kDrained, std::memory_order_release);
  std::memset(segment->words(), 0, header.size);
  header.state.store(SegmentState::kFree, std::memory_order_release);
  return true;
}

int Writer::start_drain() noexcept {
  return drain_thread_.start("timeloom-drain", [this] { drain_loop(); });
}

void Writer::stop_drain() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  drain_thread_.join();
  const std::lock_guard lock(mutex_);
  stopping_ = false;
}

// What was retired while there was no drain.
void Writer::drain_rest() noexcept {
  const std::lock_guard lock(mutex_);
  while (Segment* segment = full_.pop_front()) {
    if (drain(segment)) continue;
    full_.push_front(segment);
    return;
  }
}

void Writer::pause_drain() noexcept {
  if (!closed_) stop_drain();
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
    Segment* segment = error() == 0 ? full_.pop_front() : nullptr;
    if (segment == nullptr) {
      if (stopping_) return;  // what could not be drained stays in the ring
      continue;
    }
    lock.unlock();
    const bool drained = drain(segment);
    lock.lock();
    if (drained) {
      free_.push_front(segment);
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

// Somebody may have removed our files; no weave does as long as they are in use.
// Where they lie does not matter: they may have been moved, or our root changed.
bool Writer::removed() const noexcept { return defs_.removed(); }

void Writer::close(Ending ending) noexcept {
  if (closed_) return;
  closed_ = true;
  stop_drain();
  drain_rest();
  if (removed()) fail(ENOENT);
  const std::uint64_t end[] = {lost(), log_end_, to_word(ending)};
  append(DefinitionKind::kEnd, bytes_of(end));
  if (error() == 0) ::unlink((directory_ + "/" + kRingName).c_str());
  defs_.close();  // no longer in use
}

void Writer::abandon() noexcept {
  closed_ = true;
  drain_thread_.abandon();
  for (os::File* file : {&defs_, &log_, &ring_}) file->close();  // or we would keep it in use
}

}  // namespace timeloom::spool
