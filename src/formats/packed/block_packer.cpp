#include "formats/packed/block_packer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "formats/packed/event_check.hpp"
#include "formats/packed/packed_file.hpp"
#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Error(std::string("the events cannot be packed: ") + why +
              "; record with --trace-format otf2 [TL160]");
}

}  // namespace

std::uint64_t size_of_block(const PackedBlock& block) noexcept {
  return sizeof(SectionHead) + (block.body.size() + 7) / 8 * 8;
}

BlockPacker::BlockPacker(const Definitions& definitions)
    : definitions_(counts_of(definitions)),
      places_(definitions.regions.size()),
      columns_(std::make_unique_for_overwrite<Columns>()) {}

inline void BlockPacker::put_time(std::uint64_t time) {
  if (time < last_) refuse("one is before the event that precedes it");
  std::uint64_t since = time - std::exchange(last_, time);
  if (since < kLongTime) [[likely]] {
    columns_->times[events_] = static_cast<std::uint8_t>(since);
    return;
  }
  since -= kLongTime;
  columns_->low[low_++] = static_cast<std::uint8_t>(since);
  const std::size_t before = rest_;
  for (since >>= 8; since != 0; since >>= 8) {
    columns_->rest[rest_++] = static_cast<std::uint8_t>(since);
  }
  columns_->times[events_] = static_cast<std::uint8_t>(kLongTime + (rest_ - before));
}

inline std::uint8_t BlockPacker::enter(std::uint32_t region) {
  if (region >= places_.size()) refuse("a region is not defined");
  open_.push_back(region);
  std::uint64_t& place = places_[region];
  if (place >> 32 != block_) {
    place = std::uint64_t{block_} << 32 | regions_++;
    put_varint(new_regions_, zigzag(std::uint64_t{region} - std::exchange(last_region_, region)));
  }
  const auto index = static_cast<std::uint32_t>(place);
  if (index < kNearRegions) return static_cast<std::uint8_t>(kFirstRegionSymbol + index);
  put_varint(far_, index - kNearRegions);
  return kFarSymbol;
}

inline std::uint8_t BlockPacker::leave(std::uint32_t region) {
  if (open_.empty() || open_.back() != region) refuse("a leave has no enter");
  open_.pop_back();
  return kLeaveSymbol;
}

void BlockPacker::other(const Event& event) {
  const auto kind = static_cast<std::size_t>(event.kind);
  if (!is_sound(event, definitions_)) refuse("one refers to something that is not defined");
  std::unique_ptr<OfKind>& of = others_[kind];
  if (!of) of = std::make_unique<OfKind>();
  columns_->kinds[kinds_++] = static_cast<std::uint8_t>(kind);
  Expected& expected = of->expected;
  put_varint(of->refs, zigzag(std::uint64_t{event.ref} - std::exchange(expected.ref, event.ref)));
  std::uint64_t& value = expected.value(event.ref);
  put_varint(of->values, zigzag(event.value - std::exchange(value, event.value)));
}

std::size_t BlockPacker::add(std::span<const Event> events) {
  if (events.empty()) return 0;
  if (events_ == 0) {
    first_ = ticks(events.front().time);
    if (first_ < last_) refuse("one is before the event that precedes it");
    last_ = first_;
    for (const std::uint32_t region : open_) put_varint(opened_, region);
  }
  const std::size_t count = std::min<std::size_t>(events.size(), kBlockEvents - events_);
  for (const Event& event : events.first(count)) {
    put_time(ticks(event.time));
    std::uint8_t symbol = kOtherSymbol;
    if (event.kind == EventKind::kEnter) {
      symbol = enter(event.ref);
    } else if (event.kind == EventKind::kLeave) {
      symbol = leave(event.ref);
    } else {
      other(event);
    }
    columns_->symbols[events_++] = symbol;
  }
  return count;
}

PackedBlock BlockPacker::take() {
  streams_.add(thread_compressor(), kOpen, opened_);
  streams_.add(thread_compressor(), kRegions, new_regions_);
  streams_.add(thread_compressor(), kSymbols, ByteSpan(columns_->symbols).first(events_));
  streams_.add(thread_compressor(), kFar, far_);
  streams_.add(thread_compressor(), kShort, ByteSpan(columns_->times).first(events_));
  streams_.add(thread_compressor(), kLow, ByteSpan(columns_->low).first(low_));
  streams_.add(thread_compressor(), kRest, ByteSpan(columns_->rest).first(rest_));
  streams_.add(thread_compressor(), kKinds, ByteSpan(columns_->kinds).first(kinds_));
  for (std::size_t kind = 0; kind < others_.size(); ++kind) {
    if (!others_[kind]) continue;
    streams_.add(thread_compressor(), refs_of(kind), others_[kind]->refs);
    streams_.add(thread_compressor(), values_of(kind), others_[kind]->values);
    others_[kind]->refs.clear();
    others_[kind]->values.clear();
    others_[kind]->expected = {};
  }
  PackedBlock block;
  block.events = std::exchange(events_, 0);
  block.first = first_;
  block.body = streams_.take();
  ++block_;
  low_ = rest_ = kinds_ = regions_ = last_region_ = 0;
  opened_.clear();
  new_regions_.clear();
  far_.clear();
  return block;
}

}  // namespace timeloom::packed
