#include "spool/reader.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/event_word.hpp"
#include "spool/format.hpp"

namespace timeloom::spool {
namespace {

// A header as it lies in a file, read without trusting it.
struct RawHeader {
  std::uint32_t magic;
  std::uint32_t state;
  std::uint32_t location;
  std::uint32_t size;
  std::uint64_t sequence;
  std::uint64_t base;
  std::uint64_t check;
  std::uint64_t reserved[3];

  bool sound() const {
    return magic == kSegmentMagic && check == segment_check(location, sequence, base) &&
           size <= kMaxSegmentSize && size % sizeof(std::uint64_t) == 0;
  }
};
static_assert(sizeof(RawHeader) == sizeof(SegmentHeader));

template <typename T>
bool read_object(const os::File& file, std::uint64_t offset, T& object) {
  int error = 0;
  return file.read_at(offset, std::as_writable_bytes(std::span(&object, 1)), &error) ==
         sizeof object;
}

os::File open_part(const std::string& directory, const char* name) {
  int error = 0;
  os::File file = os::File::open_read(directory + "/" + name, &error);
  if (error != 0 && error != ENOENT) {
    throw Error("cannot read " + directory + "/" + name + ": " + std::strerror(error));
  }
  return file;
}

std::vector<std::byte> read_all(const os::File& file, std::uint64_t offset) {
  int error = 0;
  const std::uint64_t size = file.size(&error);
  std::vector<std::byte> bytes(size > offset ? size - offset : 0);
  bytes.resize(file.read_at(offset, bytes, &error));
  return bytes;
}

}  // namespace

std::unique_ptr<Reader> Reader::open(const std::string& directory) {
  const os::File defs = open_part(directory, kDefsName);
  DefsHeader header{};
  if (!defs.is_open() || !read_object(defs, 0, header) || header.magic != kDefsMagic) {
    throw Error(directory + " holds no spool of a Timeloom measurement");
  }
  if (header.version != kVersion) {
    throw Error(directory + " was written by another version of Timeloom (spool format " +
                std::to_string(header.version) + ", this one reads " + std::to_string(kVersion) +
                "); weave it with that version");
  }
  std::unique_ptr<Reader> reader(new Reader);
  reader->directory_ = directory;
  reader->definitions_.clock_source = static_cast<os::ClockSource>(header.clock_source);
  parse_definitions(read_all(defs, sizeof header), reader->definitions_, reader->damage_);
  reader->log_ = open_part(directory, kLogName);
  reader->ring_ = open_part(directory, kRingName);
  if (reader->log_.is_open()) reader->index_log();
  if (reader->ring_.is_open()) reader->index_ring();
  reader->check_sequences();
  return reader;
}

bool Reader::being_written(const std::string& directory) {
  const os::File defs = open_part(directory, kDefsName);
  return defs.is_open() && defs.in_use();
}

void Reader::index_log() {
  int error = 0;
  const std::uint64_t end = log_.size(&error);
  std::uint64_t offset = 0;
  while (offset < end) {
    RawHeader header{};
    const bool whole = end - offset >= sizeof header && read_object(log_, offset, header);
    if (!whole || !header.sound()) {
      // The last append was cut short; its segment is still in the ring. What
      // would follow damage in the middle cannot be found.
      damage_.segments += definitions_.ended || (whole && !header.sound()) ? 1 : 0;
      return;
    }
    const std::uint64_t available = end - offset - sizeof header;
    if (header.size > available) {
      damage_.segments += definitions_.ended ? 1 : 0;
      return;
    }
    segments_[header.location].push_back({header.sequence, header.base, offset + sizeof header,
                                          header.size, SegmentRef::Where::kLog});
    offset += sizeof header + header.size;
  }
}

void Reader::index_ring() {
  struct {
    std::uint64_t magic;
    std::uint32_t version, segment_size, segment_count, reserved;
    std::uint64_t lost_events;
  } header{};
  static_assert(sizeof header == sizeof(RingHeader));
  if (!read_object(ring_, 0, header)) return;  // killed before the ring was there
  const bool sound = header.magic == kRingMagic && header.version == kVersion &&
                     header.segment_size >= kMinSegmentSize &&
                     header.segment_size <= kMaxSegmentSize;
  if (!sound) {
    damage_.segments += header.magic != 0 ? 1 : 0;
    return;
  }
  definitions_.lost_events = std::max(definitions_.lost_events, header.lost_events);
  int error = 0;
  const std::uint64_t end = ring_.size(&error);
  for (std::uint64_t i = 0; i < header.segment_count; ++i) {
    const std::uint64_t offset = kRingHeaderSize + i * header.segment_size;
    RawHeader segment{};
    if (offset >= end || !read_object(ring_, offset, segment)) break;
    const auto state = static_cast<SegmentState>(segment.state);
    if (state != SegmentState::kActive && state != SegmentState::kFull) continue;
    const std::uint32_t room = header.segment_size - static_cast<std::uint32_t>(sizeof segment);
    if (!segment.sound() || segment.size > room) {
      ++damage_.segments;
      continue;
    }
    const std::uint32_t size = state == SegmentState::kFull ? segment.size : room;
    segments_[segment.location].push_back({segment.sequence, segment.base,
                                           offset + sizeof segment, size,
                                           SegmentRef::Where::kRing});
  }
}

// Sorts, drops ring copies of what is in the log already, and counts gaps.
void Reader::check_sequences() {
  for (auto& [location, segments] : segments_) {
    std::stable_sort(segments.begin(), segments.end(),
                     [](const SegmentRef& a, const SegmentRef& b) { return a.sequence < b.sequence; });
    const auto last = std::unique(segments.begin(), segments.end(),
                                  [](const SegmentRef& a, const SegmentRef& b) {
                                    return a.sequence == b.sequence;
                                  });
    segments.erase(last, segments.end());
    std::uint64_t expected = 0;
    for (const SegmentRef& segment : segments) {
      damage_.missing_segments += segment.sequence - expected;
      expected = segment.sequence + 1;
    }
  }
}

std::vector<std::uint32_t> Reader::locations() const {
  std::vector<std::uint32_t> result;
  for (const auto& [index, thread] : definitions_.threads) result.push_back(index);
  for (const auto& [index, segments] : segments_) {
    if (!definitions_.threads.contains(index)) result.push_back(index);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::uint64_t Reader::bytes(std::uint32_t location) const {
  const auto found = segments_.find(location);
  std::uint64_t sum = 0;
  if (found == segments_.end()) return sum;
  for (const SegmentRef& segment : found->second) sum += segment.size;
  return sum;
}

LocationReader Reader::read(std::uint32_t location) const {
  static const std::vector<SegmentRef> kNone;
  const auto found = segments_.find(location);
  return LocationReader(*this, found == segments_.end() ? kNone : found->second);
}

bool LocationReader::load(const SegmentRef& segment) {
  const os::File& file =
      segment.where == SegmentRef::Where::kLog ? reader_->log_ : reader_->ring_;
  words_.resize(segment.size / sizeof(std::uint64_t));
  int error = 0;
  const std::size_t read = file.read_at(segment.offset, std::as_writable_bytes(std::span(words_)),
                                        &error);
  const bool whole = read == segment.size;
  words_.resize(read / sizeof(std::uint64_t));
  return whole;
}

bool LocationReader::next(std::vector<Event>& batch) {
  batch.clear();
  while (batch.empty() && next_segment_ < segments_->size()) {
    const SegmentRef& segment = (*segments_)[next_segment_++];
    const bool whole = load(segment);
    const bool sound = decode_segment(words_, segment.base, last_ticks_, batch);
    if (!whole || !sound) ++damaged_;
  }
  return !batch.empty();
}

namespace {

// The event kind of an extended record with a reference and a value, if it is one.
std::optional<EventKind> valued_kind(ExtendedKind kind) {
  switch (kind) {
    case ExtendedKind::kParameterInt: return EventKind::kParameterInt;
    case ExtendedKind::kParameterUint: return EventKind::kParameterUint;
    case ExtendedKind::kParameterFloat: return EventKind::kParameterFloat;
    case ExtendedKind::kParameterString: return EventKind::kParameterString;
    case ExtendedKind::kMetric: return EventKind::kMetric;
    default: return std::nullopt;
  }
}

bool decode_extended(EventWord head, std::span<const std::uint64_t> words, std::uint64_t& base,
                     Event& event, bool& is_event) {
  const ExtendedKind kind = extended_kind_of(head);
  is_event = true;
  if (kind == ExtendedKind::kTimeBase) {
    is_event = false;
    if (words.size() != 1 || words[0] < base) return false;
    base = words[0];
    return true;
  }
  if (kind == ExtendedKind::kRecordingOff || kind == ExtendedKind::kRecordingOn) {
    event.kind = kind == ExtendedKind::kRecordingOff ? EventKind::kRecordingOff
                                                     : EventKind::kRecordingOn;
    return words.empty();
  }
  if (const auto valued = valued_kind(kind)) {
    if (words.size() != 2 || words[0] >= UINT32_MAX) return false;
    event.kind = *valued;
    event.ref = static_cast<std::uint32_t>(words[0]);
    event.value = words[1];
    return true;
  }
  is_event = false;  // of a later version: passed over
  return static_cast<std::uint8_t>(kind) != 0;
}

}  // namespace

bool decode_segment(std::span<const std::uint64_t> words, std::uint64_t base,
                    std::uint64_t& last_ticks, std::vector<Event>& events) {
  // A thread that moves to another core may find its counter a little behind.
  // Such steps are levelled; larger ones mean damage.
  constexpr std::uint64_t kBackstep = 1 << 20;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const EventWord word = words[i];
    Event event;
    bool is_event = true;
    switch (kind_of(word)) {
      case WordKind::kEnd:
        return word == 0;
      case WordKind::kEnter:
        event.kind = EventKind::kEnter;
        event.ref = payload_of(word);
        break;
      case WordKind::kLeave:
        event.kind = EventKind::kLeave;
        event.ref = payload_of(word);
        break;
      case WordKind::kExtended: {
        const unsigned count = extended_words_of(word);
        if (count > words.size() - i - 1) return false;
        if (!decode_extended(word, words.subspan(i + 1, count), base, event, is_event)) return false;
        i += count;
        break;
      }
    }
    if (!is_event) continue;
    const std::uint64_t ticks = base + delta_of(word);
    if (ticks + kBackstep < last_ticks) return false;
    last_ticks = std::max(ticks, last_ticks);
    event.time = Timestamp{last_ticks};
    events.push_back(event);
  }
  return true;
}

}  // namespace timeloom::spool
