// The packing half of spool::Writer: the drain packs a copy of a full segment, which stays in the
// ring until the packed records are in the log, and before all others that are full. A thread of
// the program that needs a segment takes it meanwhile (take_full()) and moves it as it is. So
// segments come into the log in their order, and at every instruction their records are in the log,
// or in the ring, or in both. In a run with a size limit, segments that came into the log as they
// are get packed there when the drain has time (log_packing.hpp), at the latest when the limit is
// reached: meanwhile the ring grows once and its segments are used up; then recording ends, or the
// oldest events go.
#include "spool/writer.hpp"

namespace timeloom::spool {

// With log_mutex_ held. The oldest full segment, copied; nullptr: it is to stay as it is, since the
// drain is about to fall behind, or packing is not wanted.
Segment* Writer::take_to_pack() noexcept {
  if (!early_packing_.is_wanted(log_, written_)) return nullptr;
  Segment* segment = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || 2 * full_.size() > segments_.size()) return nullptr;
    segment = packing_ = full_.pop_front();
  }
  if (segment == nullptr) return nullptr;
  if (early_packing_.copy(segment->header(), segment->words())) return segment;
  const std::lock_guard lock(mutex_);
  full_.push_front(std::exchange(packing_, nullptr));
  return nullptr;
}

// With log_mutex_ held. False: a thread has taken the segment meanwhile.
bool Writer::end_packing(const Segment* segment) noexcept {
  const std::lock_guard lock(mutex_);
  if (packing_ != segment) return false;
  packing_ = nullptr;
  return true;
}

// With log_mutex_ held. `packed`: the packed records of the segment; empty: it stays as it is.
bool Writer::append_packed(Segment* segment, std::span<const std::byte> packed) noexcept {
  SegmentHeader& header = segment->header();
  if (packed.empty()) return append_to_log(header, segment->words());
  if (error() != 0 || !make_room_in_log(packed.size()) || !append_to_log(packed)) return false;
  packed_records_.fetch_add(header.size, std::memory_order_relaxed);
  packed_bytes_.fetch_add(packed.size(), std::memory_order_relaxed);
  return true;
}

// As drain_one(), with a packed segment where that is wanted. Of the drain.
Segment* Writer::drain_packed() noexcept {
  Segment* segment = nullptr;
  {
    const std::lock_guard lock(log_mutex_);
    segment = take_to_pack();
  }
  if (segment == nullptr) return drain_one();
  const std::span<const std::byte> packed = early_packing_.pack(keeps_newest());
  {
    const std::lock_guard lock(log_mutex_);
    if (!end_packing(segment)) return nullptr;
    if (!append_packed(segment, packed)) return put_back(segment), nullptr;
  }
  return empty(segment);
}

// Of the drain, when no segment is full, or there is no space for those that are.
void Writer::pack_log() noexcept {
  const LogPacking::Gain gain = log_packing_.step(early_packing_, keeps_newest());
  if (!gain.has_space()) return;
  packed_records_.fetch_add(gain.records, std::memory_order_relaxed);
  packed_bytes_.fetch_add(gain.stored, std::memory_order_relaxed);
  awaits_packing_.store(false, std::memory_order_relaxed);
}

}  // namespace timeloom::spool
