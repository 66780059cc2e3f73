#include "spool/packed_segment.hpp"

#include <algorithm>
#include <utility>

namespace timeloom::spool {
namespace {

using packing::ByteReader;
using packing::Bytes;
using packing::ByteSpan;

enum StreamId : std::uint8_t {
  kCodes = 0,
  kRegions = 1,
  kFarRegions = 2,
  kShort = 3,
  kLow = 4,
  kRest = 5,
  kKinds = 6,
  kCounts = 7,
  kFirstOfKinds = 8,  // two for each sub-kind
};
constexpr std::size_t kMostKinds = 96;
static_assert(kFirstOfKinds + 2 * kMostKinds <= 256);

constexpr std::uint8_t first_words_of(std::size_t kind) {
  return static_cast<std::uint8_t>(kFirstOfKinds + 2 * kind);
}
constexpr std::uint8_t other_words_of(std::size_t kind) {
  return static_cast<std::uint8_t>(first_words_of(kind) + 1);
}

constexpr std::uint8_t kLeaveLast = 0, kExtendedRecord = 1, kLeaveOther = 2, kFirstEnter = 3,
                       kFarEnter = 255;
constexpr std::uint32_t kNearRegions = (kFarEnter - kFirstEnter) << 8;
constexpr std::uint64_t kLongTime = 248;  // one code for each number of further bytes
constexpr std::size_t kTimeBytes = 4;     // these, besides the lowest

constexpr std::uint8_t sub_kind_of(EventWord head) {
  return static_cast<std::uint8_t>(payload_of(head));
}

}  // namespace

void OpenByRecords::clear() noexcept {
  for (auto& stack : stacks_) stack.clear();
  stack_ = stacks_.data();
}

bool OpenByRecords::leave(std::uint32_t region) noexcept {
  if (leave_last() == region) return true;
  stack_->clear();
  return false;
}

std::uint32_t OpenByRecords::leave_last() noexcept {
  if (stack_->empty()) return UINT32_MAX;
  const std::uint32_t last = stack_->back();
  stack_->pop_back();
  return last;
}

// Room for the worst of records, so that nothing is checked for each of them.
void SegmentPacker::begin(std::size_t words) {
  for (Column* column : {&codes_, &regions_, &short_, &low_, &rest_, &kinds_, &counts_}) {
    column->reserve(words * (column == &rest_ ? kTimeBytes : 1));
    column->used = 0;
  }
  far_.clear();
  for (auto& one : others_) {
    if (!one) continue;
    one->first.clear();
    one->others.clear();
  }
  open_.clear();
  expected_.clear();
}

inline void SegmentPacker::put_time(std::uint64_t since) noexcept {
  if (since < kLongTime) [[likely]]
    return short_.put(static_cast<std::uint8_t>(since));
  since -= kLongTime;
  low_.put(static_cast<std::uint8_t>(since));
  const std::size_t before = rest_.used;
  for (since >>= 8; since != 0; since >>= 8) rest_.put(static_cast<std::uint8_t>(since));
  short_.put(static_cast<std::uint8_t>(kLongTime + (rest_.used - before)));
}

inline void SegmentPacker::put_call(EventWord word) {
  const std::uint32_t region = payload_of(word);
  if (kind_of(word) == WordKind::kLeave) {
    const bool last = open_.leave(region);
    codes_.put(last ? kLeaveLast : kLeaveOther);
    if (!last) packing::put_varint(far_, region);
    return;
  }
  open_.enter(region);
  if (region >= kNearRegions) {
    codes_.put(kFarEnter);
    return packing::put_varint(far_, region);
  }
  codes_.put(static_cast<std::uint8_t>(kFirstEnter + (region >> 8)));
  regions_.put(static_cast<std::uint8_t>(region));
}

bool SegmentPacker::put_extended(EventWord head, std::span<const EventWord> words) {
  const std::uint8_t kind = sub_kind_of(head);
  if (kind >= kMostKinds || payload_of(head) >> 16 != 0) return false;
  codes_.put(kExtendedRecord);
  kinds_.put(kind);
  counts_.put(static_cast<std::uint8_t>(words.size()));
  auto& of = others_[kind];
  if (!of) of = std::make_unique<OfKind>();
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t& expected = expected_.word(kind, i, words[0]);
    packing::put_varint(i == 0 ? of->first : of->others,
                        packing::zigzag(words[i] - std::exchange(expected, words[i])));
  }
  if (extended_kind_of(head) == ExtendedKind::kTrack && !words.empty()) open_.track(words[0]);
  return true;
}

bool SegmentPacker::take_apart(std::span<const EventWord> words) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const EventWord word = words[i];
    if (kind_of(word) == WordKind::kEnd) return false;
    const std::uint64_t delta = delta_of(word);
    put_time((delta - std::exchange(last, delta)) & kMaxDelta);
    if (kind_of(word) != WordKind::kExtended) {
      put_call(word);
      continue;
    }
    const std::size_t count = extended_words_of(word);
    if (count > words.size() - i - 1) return false;
    if (!put_extended(word, words.subspan(i + 1, count))) return false;
    i += count;
  }
  return true;
}

bool SegmentPacker::pack(std::span<const EventWord> words, Bytes& to) {
  begin(words.size());
  if (!take_apart(words)) return false;
  const std::size_t before = to.size();
  const auto add = [this](std::uint8_t id, ByteSpan bytes) {
    streams_.add(compressor_, id, bytes);
  };
  add(kCodes, codes_.span());
  add(kRegions, regions_.span());
  add(kFarRegions, far_);
  add(kShort, short_.span());
  add(kLow, low_.span());
  add(kRest, rest_.span());
  add(kKinds, kinds_.span());
  add(kCounts, counts_.span());
  for (std::size_t kind = 0; kind < kMostKinds; ++kind) {
    if (!others_[kind]) continue;
    add(first_words_of(kind), others_[kind]->first);
    add(other_words_of(kind), others_[kind]->others);
  }
  streams_.finish(to);
  return to.size() - before < words.size_bytes();
}

// Sizes that contradict each other are found before there is memory for the words.
bool SegmentUnpacker::begin(ByteSpan body, std::size_t size) {
  const std::uint64_t most = size * std::uint64_t{24};
  if (!streams_.read(decompressor_, body, most)) return false;
  const auto reader = [this](std::uint8_t id) { return ByteReader(streams_.stream(id)); };
  codes_ = streams_.stream(kCodes);
  regions_ = reader(kRegions);
  far_ = reader(kFarRegions);
  short_ = reader(kShort);
  low_ = reader(kLow);
  rest_ = reader(kRest);
  kinds_ = reader(kKinds);
  counts_ = reader(kCounts);
  for (std::size_t kind = 0; kind < kMostKinds; ++kind) {
    others_[kind] = {reader(first_words_of(kind)), reader(other_words_of(kind))};
  }
  open_.clear();
  expected_.clear();
  std::uint64_t words = codes_.size();
  for (const std::uint8_t count : streams_.stream(kCounts)) words += count;
  return words == size && streams_.stream(kShort).size() == codes_.size();
}

inline std::uint64_t SegmentUnpacker::time_since() noexcept {
  const std::uint64_t since = short_.byte();
  if (since < kLongTime) [[likely]]
    return since;
  std::uint64_t longer = low_.byte();
  for (unsigned shift = 8; shift <= 8 * (since - kLongTime); shift += 8) {
    longer |= static_cast<std::uint64_t>(rest_.byte()) << shift;
  }
  return longer + kLongTime;
}

// False: the region is not known, or the id is larger than any.
inline bool SegmentUnpacker::region_of(std::uint8_t code, std::uint32_t& region, bool& enter) {
  enter = code >= kFirstEnter;
  if (code == kLeaveLast) {
    region = open_.leave_last();
    return region != UINT32_MAX;
  }
  if (code == kLeaveOther || code == kFarEnter) {
    const std::uint64_t id = far_.varint();
    if (id > kMaxPayload) return false;
    region = static_cast<std::uint32_t>(id);
  } else {
    region = (std::uint32_t{code} - kFirstEnter) << 8 | regions_.byte();
  }
  if (enter) {
    open_.enter(region);
    return true;
  }
  return !open_.leave(region);  // one that is left as the last has another code
}

// `words`: the head, whose kind and number are set here, and the words after it.
bool SegmentUnpacker::read_words(std::span<EventWord> words) {
  const std::uint8_t kind = kinds_.byte();
  if (kind >= kMostKinds) return false;
  const auto count = words.size() - 1;
  words[0] = make_extended(static_cast<ExtendedKind>(kind), static_cast<unsigned>(count));
  OfKind& of = others_[kind];
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t& expected = expected_.word(kind, i, words[1]);
    const std::uint64_t difference = (i == 0 ? of.first : of.others).varint();
    expected += packing::unzigzag(difference);
    words[1 + i] = expected;
  }
  if (static_cast<ExtendedKind>(kind) == ExtendedKind::kTrack && count > 0) open_.track(words[1]);
  return !of.first.failed() && !of.others.failed();
}

bool SegmentUnpacker::put_together(std::vector<EventWord>& words) {
  std::uint64_t delta = 0;
  std::size_t at_word = 0;
  for (const std::uint8_t code : codes_) {
    delta = (delta + time_since()) & kMaxDelta;
    if (code != kExtendedRecord) {
      std::uint32_t region = 0;
      bool enter = false;
      if (!region_of(code, region, enter)) return false;
      words[at_word++] = at(make_word(enter ? WordKind::kEnter : WordKind::kLeave, region), delta);
      continue;
    }
    const std::size_t size = std::size_t{1} + counts_.byte();
    if (size > words.size() - at_word) return false;
    if (!read_words(std::span(words).subspan(at_word, size))) return false;
    words[at_word] = at(words[at_word], delta);
    at_word += size;
    if (at_word > words.size()) return false;
  }
  return at_word == words.size();
}

bool SegmentUnpacker::all_read() const noexcept {
  for (const ByteReader* reader : {&regions_, &far_, &short_, &low_, &rest_, &kinds_, &counts_}) {
    if (reader->failed() || !reader->at_end()) return false;
  }
  return std::ranges::all_of(
      others_, [](const OfKind& one) { return one.first.at_end() && one.others.at_end(); });
}

bool SegmentUnpacker::unpack(ByteSpan body, std::size_t size, std::vector<EventWord>& words) {
  words.clear();
  if (!begin(body, size)) return false;
  words.resize(size);
  if (put_together(words) && all_read()) return true;
  words.clear();
  return false;
}

}  // namespace timeloom::spool
