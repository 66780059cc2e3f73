#include <algorithm>
#include <utility>

#include "core/event_word.hpp"
#include "spool/format.hpp"
#include "spool/reader.hpp"
#include "spool/size_limit.hpp"

namespace timeloom::spool {
namespace {

// Later than any counter gets, and far enough from the end that no sum wraps.
constexpr std::uint64_t kLatest = std::uint64_t{1} << 63;

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
  if (payload_of(head) >> 16 != 0) return false;
  is_event = true;
  if (kind == ExtendedKind::kTimeBase) {
    is_event = false;
    if (words.size() != 1 || words[0] < base || words[0] >= kLatest) return false;
    base = words[0];
    return true;
  }
  if (kind == ExtendedKind::kCreate || kind == ExtendedKind::kWait) {
    event.kind = kind == ExtendedKind::kCreate ? EventKind::kThreadCreate : EventKind::kThreadWait;
    event.value = words.empty() ? 0 : words[0];
    return words.size() == 1;
  }
  if (kind == ExtendedKind::kTrack) {
    event.kind = EventKind::kTrack;
    event.ref = words.empty() ? 0 : static_cast<std::uint32_t>(words[0]);
    return words.size() == 1 && words[0] < UINT32_MAX;
  }
  if (kind == ExtendedKind::kTrackEnd) {
    event.kind = EventKind::kTrackEnd;
    return words.empty();
  }
  if (kind == ExtendedKind::kRewindBegin || kind == ExtendedKind::kRewindEnd) {
    const bool begin = kind == ExtendedKind::kRewindBegin;
    if (words.size() != (begin ? 1 : 2) || words[0] >= UINT32_MAX) return false;
    event.kind = begin ? EventKind::kRewindBegin : EventKind::kRewindEnd;
    event.ref = static_cast<std::uint32_t>(words[0]);
    event.value = begin ? 0 : words[1];
    return true;
  }
  if (kind == ExtendedKind::kRecordingOff || kind == ExtendedKind::kRecordingOn) {
    event.kind =
        kind == ExtendedKind::kRecordingOff ? EventKind::kRecordingOff : EventKind::kRecordingOn;
    return words.empty();
  }
  if (const auto valued = valued_kind(kind)) {
    if (words.size() != 2 || words[0] >= UINT32_MAX) return false;
    event.kind = *valued;
    event.ref = static_cast<std::uint32_t>(words[0]);
    event.value = words[1];
    return true;
  }
  return false;  // a later version would have another number
}

// Two ids a word; there may be one too many for the last.
void add_open(std::span<const std::uint64_t> words, std::uint64_t base, std::uint64_t& last_ticks,
              std::vector<Event>& events) {
  last_ticks = std::max(last_ticks, base);
  for (const std::uint64_t word : words) {
    for (const std::uint64_t id : {word & UINT32_MAX, word >> 32}) {
      if (id == UINT32_MAX) continue;
      events.push_back(
          {Timestamp{last_ticks}, EventKind::kEnter, static_cast<std::uint32_t>(id), 0});
    }
  }
}

// One event for each value.
bool add_samples(std::span<const std::uint64_t> words, std::uint64_t time,
                 std::vector<Event>& events) {
  if (words.size() < 2 || words[0] >= UINT32_MAX - words.size()) return false;
  auto id = static_cast<std::uint32_t>(words[0]);
  for (const std::uint64_t value : words.subspan(1)) {
    events.push_back({Timestamp{time}, EventKind::kMetric, id++, value});
  }
  return true;
}

// Levels small steps back; false: a larger one, which means damage. A thread that
// moves to another core may find its counter a little behind.
bool advance(std::uint64_t ticks, std::uint64_t& last_ticks) {
  constexpr std::uint64_t kBackstep = 1 << 20;
  if (ticks + kBackstep < last_ticks) return false;
  last_ticks = std::max(ticks, last_ticks);
  return true;
}

}  // namespace

std::size_t decode_segment(std::span<const std::uint64_t> words, std::uint64_t base,
                           std::uint64_t& last_ticks, std::vector<Event>& events, bool enter_open) {
  if (base >= kLatest) return 0;
  std::size_t i = 0;
  while (i < words.size()) {
    const EventWord word = words[i];
    std::size_t size = 1;
    Event event;
    bool is_event = true;
    switch (kind_of(word)) {
      case WordKind::kEnd: return i;
      case WordKind::kEnter:
      case WordKind::kLeave:
        event.kind = kind_of(word) == WordKind::kEnter ? EventKind::kEnter : EventKind::kLeave;
        event.ref = payload_of(word);
        break;
      case WordKind::kExtended:
        size += extended_words_of(word);
        if (size > words.size() - i) return i;
        if (extended_kind_of(word) == ExtendedKind::kSamples) {
          if (!advance(base + delta_of(word), last_ticks)) return i;
          if (!add_samples(words.subspan(i + 1, size - 1), last_ticks, events)) return i;
          is_event = false;
          break;
        }
        if (extended_kind_of(word) == ExtendedKind::kOpenRegions) {
          if (enter_open) add_open(words.subspan(i + 1, size - 1), base, last_ticks, events);
          is_event = false;
          break;
        }
        if (!decode_extended(word, words.subspan(i + 1, size - 1), base, event, is_event)) return i;
        break;
    }
    if (is_event) {
      if (!advance(base + delta_of(word), last_ticks)) return i;
      events.emplace_back(Timestamp{last_ticks}, event.kind, event.ref, event.value);
    }
    i += size;
  }
  return i;
}

LocationReader::LocationReader(const Reader& reader, const std::vector<SegmentRef>& segments)
    : reader_(&reader), segments_(&segments) {
  if (!reader.has_ring_) return;
  int error = 0;  // what cannot be opened cannot be read, and is counted then
  ring_ = os::File::open_read(reader.directory_ + "/" + kRingName, &error);
}

const os::File& LocationReader::file_of(const SegmentRef& segment) {
  if (segment.where == SegmentRef::Where::kRing) return ring_;
  if (open_log_ != segment.file) {
    int error = 0;
    log_ = os::File::open_read(reader_->directory_ + "/" + log_name(segment.file), &error);
    open_log_ = segment.file;
  }
  return log_;
}

LocationReader::Load LocationReader::load(const SegmentRef& segment) {
  if (!segment.words.empty()) {
    words_ = segment.words;
    return Load::kWhole;
  }
  const os::File& file = file_of(segment);
  // A run that goes on may have dropped it since it was found.
  const bool may_go =
      reader_->definitions_.may_miss_begin && segment.where == SegmentRef::Where::kLog;
  if (may_go && !file.is_open()) return Load::kDropped;
  words_.resize(segment.size / sizeof(std::uint64_t));
  int error = 0;
  const std::size_t read =
      file.read_at(segment.offset, std::as_writable_bytes(std::span(words_)), &error);
  words_.resize(read / sizeof(std::uint64_t));
  return read == segment.size ? Load::kWhole : Load::kInPart;
}

// Appends the sound events of the loaded segment; false if there is more to it.
bool LocationReader::decode(const SegmentRef& segment, std::vector<Event>& batch) {
  const bool in_log = segment.where == SegmentRef::Where::kLog;
  if (in_log && records_check(words_) != segment.check) return false;
  const bool enter_open = !std::exchange(begun_, true) && segment.sequence > 0;
  const std::size_t used = decode_segment(words_, segment.base, last_ticks_, batch, enter_open);
  if (in_log) return used == words_.size();
  const bool at_end = used == words_.size() || words_[used] == 0;
  return at_end && (segment.full == 0 || segment.full == used * sizeof(std::uint64_t));
}

bool LocationReader::next(std::vector<Event>& batch) {
  batch.clear();
  while (batch.empty() && next_segment_ < segments_->size()) {
    const SegmentRef& segment = (*segments_)[next_segment_++];
    const Load loaded = load(segment);
    if (loaded == Load::kDropped) continue;
    const bool sound = decode(segment, batch);
    if (loaded != Load::kWhole || !sound) ++damaged_;
  }
  return !batch.empty();
}

}  // namespace timeloom::spool
