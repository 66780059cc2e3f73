#include "formats/packed/block_unpacker.hpp"

#include <algorithm>

#include "formats/packed/event_check.hpp"
#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {
namespace {

// The streams of one event at most, and a deep stack of open regions.
constexpr std::uint64_t kMostBytes = std::uint64_t{kBlockEvents} * 64 + (1 << 24);

}  // namespace

bool BlockUnpacker::read_open() {
  open_.clear();
  ByteReader reader(streams_.stream(kOpen));
  while (!reader.at_end()) {
    const std::uint64_t region = reader.varint();
    if (reader.failed() || region >= definitions_.regions) return false;
    open_.push_back(static_cast<std::uint32_t>(region));
  }
  stack_ = open_;
  return true;
}

bool BlockUnpacker::read_regions(std::uint32_t events) {
  regions_.clear();
  ByteReader reader(streams_.stream(kRegions));
  std::uint64_t region = 0;
  while (!reader.at_end()) {
    region += unzigzag(reader.varint());
    if (reader.failed() || region >= definitions_.regions || regions_.size() == events) {
      return false;
    }
    regions_.push_back(static_cast<std::uint32_t>(region));
  }
  return true;
}

bool BlockUnpacker::read_times(const BlockFacts& facts) {
  const ByteSpan times = streams_.stream(kShort);
  if (times.size() != facts.events) return false;
  ByteReader low(streams_.stream(kLow)), rest(streams_.stream(kRest));
  std::uint64_t time = facts.first;
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::uint64_t since = times[i];
    if (since >= kLongTime) [[unlikely]] {
      const unsigned bytes = static_cast<unsigned>(since - kLongTime);
      std::uint64_t longer = low.byte();
      for (unsigned shift = 8; shift <= 8 * bytes; shift += 8) {
        longer |= static_cast<std::uint64_t>(rest.byte()) << shift;
      }
      since = longer + kLongTime;
      if (since < kLongTime) return false;
    }
    if (since > UINT64_MAX - time) return false;
    time += since;
    events_[i].time = Timestamp{time};
  }
  return !low.failed() && !rest.failed() && low.at_end() && rest.at_end();
}

bool BlockUnpacker::read_other(Event& event) {
  const std::size_t kind = kinds_.byte();
  if (kind >= kKindCount) return false;
  OfKind& of = others_[kind];
  const std::uint64_t ref = of.expected.ref + unzigzag(of.refs.varint());
  if (kinds_.failed() || ref > UINT32_MAX) return false;
  event.kind = static_cast<EventKind>(kind);
  event.ref = of.expected.ref = static_cast<std::uint32_t>(ref);
  std::uint64_t& value = of.expected.value(event.ref);
  event.value = value += unzigzag(of.values.varint());
  return !of.refs.failed() && !of.values.failed() && is_sound(event, definitions_);
}

bool BlockUnpacker::read_events(std::uint32_t events) {
  const ByteSpan symbols = streams_.stream(kSymbols);
  if (symbols.size() != events) return false;
  ByteReader far(streams_.stream(kFar));
  for (std::uint32_t i = 0; i < events; ++i) {
    Event& event = events_[i];
    const std::uint8_t symbol = symbols[i];
    event.value = 0;
    if (symbol == kLeaveSymbol) {
      if (stack_.empty()) return false;
      event.kind = EventKind::kLeave;
      event.ref = stack_.back();
      stack_.pop_back();
    } else if (symbol == kOtherSymbol) {
      if (!read_other(event)) return false;
    } else {
      const std::uint64_t place =
          symbol != kFarSymbol ? symbol - kFirstRegionSymbol : far.varint() + kNearRegions;
      if (place >= regions_.size() || far.failed()) return false;
      event.kind = EventKind::kEnter;
      event.ref = regions_[static_cast<std::size_t>(place)];
      stack_.push_back(event.ref);
    }
  }
  return far.at_end() && kinds_.at_end();
}

bool BlockUnpacker::unpack(const BlockFacts& facts, ByteSpan body) {
  if (facts.events == 0 || facts.events > kBlockEvents) return false;
  if (!streams_.read(thread_decompressor(), body, kMostBytes)) return false;
  kinds_ = ByteReader(streams_.stream(kKinds));
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    others_[kind] = {ByteReader(streams_.stream(refs_of(kind))),
                     ByteReader(streams_.stream(values_of(kind))), Expected()};
  }
  events_.resize(facts.events);
  if (!read_open() || !read_regions(facts.events) || !read_times(facts) ||
      !read_events(facts.events)) {
    return false;
  }
  return std::ranges::all_of(
      others_, [](const OfKind& one) { return one.refs.at_end() && one.values.at_end(); });
}

}  // namespace timeloom::packed
