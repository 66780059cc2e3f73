// The ring half of spool::Writer: segments, which threads acquire and retire.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "os/process.hpp"
#include "spool/writer.hpp"

namespace timeloom::spool {
namespace {

// No errno value: the ring may grow as soon as what lies raw in the log is packed.
constexpr int kAwaitsPacking = -1;

// The first disk space, in bytes, of a segment that does not get all of it at once.
std::uint32_t first_space() noexcept {
  static const auto kPage = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  return std::max(kPage, kMinSegmentSize);
}

}  // namespace

void SegmentList::push_front(Segment* segment) noexcept {
  ++size_;
  segment->next_ = first_;
  first_ = segment;
  if (last_ == nullptr) last_ = segment;
}

void SegmentList::push_back(Segment* segment) noexcept {
  ++size_;
  segment->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = segment;
  last_ = segment;
}

Segment* SegmentList::pop_front() noexcept {
  Segment* segment = first_;
  if (segment == nullptr) return nullptr;
  --size_;
  first_ = segment->next_;
  if (first_ == nullptr) last_ = nullptr;
  return segment;
}

// `whole`: the segments get all their space at once. Returns an errno value.
int Writer::add_block(std::uint64_t bytes, bool whole) noexcept {
  const std::uint64_t present = segments_.size() * std::uint64_t{options_.segment_size};
  bytes = std::max<std::uint64_t>(bytes / options_.segment_size, 1) * options_.segment_size;
  // The first block is as large as requested, whatever the limit is.
  if (present != 0 && present + bytes > options_.ring_limit) return ENOBUFS;
  const std::uint64_t offset = kRingHeaderSize + present;
  int error = whole ? ring_.allocate(offset, bytes) : ring_.extend(offset + bytes);
  os::Mapping block;
  if (error == 0) {
    block = whole ? os::Mapping::map(ring_, offset, bytes, &error)
                  : os::Mapping::map_later(ring_, offset, bytes, &error);
  }
  if (error != 0) return error;
  try {
    add_segments(std::move(block), offset, whole);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

void Writer::add_segments(os::Mapping block, std::uint64_t offset, bool whole) {
  std::byte* const data = block.data();
  const std::size_t size = block.size();
  blocks_.push_back(std::move(block));
  for (std::size_t i = 0; i < size; i += options_.segment_size) {
    if (whole) new (data + i) SegmentHeader{};
    const std::uint32_t space = whole ? options_.segment_size : 0;
    (whole ? free_ : partial_).push_back(&segments_.emplace_back(data + i, offset + i, space));
  }
  ring_header().segment_count.store(static_cast<std::uint32_t>(segments_.size()),
                                    std::memory_order_release);
}

// A small ring doubles, any other grows by its usual first size. Returns an errno value, or
// kAwaitsPacking.
int Writer::grow() noexcept {
  constexpr std::uint64_t kGrowth = 4 << 20;
  if (awaits_packing() && ring_reserve() < growth_in_limit()) return kAwaitsPacking;
  if (options_.size_limit.bytes != 0) {
    const int error = add_block(growth_in_limit(), false);
    return error == ENOBUFS && awaits_packing() ? kAwaitsPacking : error;
  }
  return add_block(is_small() ? segments_.size() * options_.segment_size : kGrowth, false);
}

bool Writer::is_small() const noexcept {
  constexpr std::size_t kFewSegments = 4;
  return segments_.size() < kFewSegments && options_.size_limit.bytes == 0;
}

// The new space of the segment is zero. Returns an errno value.
int Writer::give_space(Segment& segment) noexcept {
  const std::uint32_t wanted = std::max(4 * segment.space_, first_space());
  const std::uint32_t space = std::min(wanted, options_.segment_size);
  const std::uint32_t added = space - segment.space_;
  int error = ring_.allocate(segment.offset_ + segment.space_, added);
  if (error == 0) error = os::Mapping::touch(segment.address_ + segment.space_, added);
  if (error != 0) return error;
  if (segment.space_ == 0) new (segment.address_) SegmentHeader{};
  segment.space_ = space;
  return 0;
}

bool Writer::extend(Segment* segment) noexcept {
  if (segment->space_ == options_.segment_size || error() != 0) return false;
  const std::uint64_t before = os::thread_cpu_ns();
  const std::lock_guard lock(mutex_);
  const int error = give_space(*segment);
  if (error != 0) fail(error);
  cpu_ns_.fetch_add(os::thread_cpu_ns() - before, std::memory_order_relaxed);
  return error == 0;
}

void Writer::set_free(Segment* segment) noexcept {
  used_up_.store(false, std::memory_order_relaxed);
  // The segment used last is still in the caches.
  (segment->space_ == options_.segment_size ? free_ : partial_).push_front(segment);
}

// A free segment that is not whole, perhaps of a ring grown for it; nullptr: there is none.
Segment* Writer::find_partial(int* error) noexcept {
  *error = partial_.empty() && !stuck() ? grow() : 0;
  Segment* const segment = partial_.pop_front();
  if (segment == nullptr || segment->space_ != 0) return segment;
  if (this->error() == 0) *error = give_space(*segment);
  if (segment->space_ != 0) return segment;
  partial_.push_front(segment);
  return nullptr;
}

// A segment that no thread uses: a free one; else a new one if the ring is small; else a full
// one, drained here instead of by the drain; else a new one of a larger ring. `idle`: for a
// thread that may never record much.
Segment* Writer::find_segment(bool idle) noexcept {
  std::unique_lock lock(mutex_);
  // There is no drain after a fork. If it cannot start, full segments are drained here.
  if (!full_.empty() && !stopping_ && !drain_thread_.running()) (void)start_drain();
  int error = 0;
  if (Segment* segment = idle ? find_partial(&error) : nullptr) return segment;
  if (Segment* segment = free_.pop_front()) return segment;
  if (Segment* segment = is_small() ? find_partial(&error) : nullptr) return segment;
  if (has_full() && !stuck()) {
    lock.unlock();
    if (Segment* emptied = drain_one()) return emptied;
    lock.lock();
    // The drain was faster, or nothing can be drained any more.
    if (Segment* segment = free_.pop_front()) return segment;
  }
  Segment* const segment = find_partial(&error);
  if (segment == nullptr && error == kAwaitsPacking) {
    lock.unlock();
    if (!awaits_packing()) return find_segment(idle);  // there is space since a moment ago
    if (keeps_newest()) {
      gives_up_waiting_.store(true, std::memory_order_relaxed);
      awaits_packing_.store(false, std::memory_order_relaxed);
      return find_segment(idle);
    }
    stop_at_limit();
    used_up_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  // At its limit the ring waits for the drain.
  if (segment == nullptr && error != 0 && error != ENOBUFS) fail(error);
  if (segment == nullptr && stuck()) used_up_.store(true, std::memory_order_relaxed);
  return segment;
}

Segment* Writer::acquire(std::uint32_t location, std::uint64_t sequence,
                         std::uint64_t base) noexcept {
  // Every event that is lost from now on leads here.
  if (used_up_.load(std::memory_order_relaxed)) return nullptr;
  // The first location belongs to the thread that starts the measurement, which has events.
  const bool idle = sequence == 0 && location != 0 && options_.segment_size > first_space();
  const std::uint64_t before = os::thread_cpu_ns();
  Segment* segment = find_segment(idle);
  cpu_ns_.fetch_add(os::thread_cpu_ns() - before, std::memory_order_relaxed);
  if (segment == nullptr) return nullptr;
  SegmentHeader& header = segment->header();
  header.location = location;
  header.size = 0;
  header.sequence = sequence;
  header.base = base;
  header.check = segment_check(location, sequence, base, key_);
  header.seal = 0;
  header.events = with_tag(0, tag_of(key_));
  header.magic = kSegmentMagic;
  // From this store on a reader takes the segment for this location's; all stores above come first.
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

}  // namespace timeloom::spool
