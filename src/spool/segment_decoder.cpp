#include "spool/segment_decoder.hpp"

#include <algorithm>
#include <optional>

#include "core/mpi_event.hpp"

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

// The absolute ticks that those of later records are counted from.
bool set_base(std::span<const std::uint64_t> words, std::uint64_t& base) {
  if (words.size() != 1 || words[0] < base || words[0] >= kLatest) return false;
  base = words[0];
  return true;
}

// One word: a communicator, or a request.
std::optional<EventKind> mpi_word_kind(ExtendedKind kind) {
  switch (kind) {
    case ExtendedKind::kMpiIsendComplete: return EventKind::kMpiIsendComplete;
    case ExtendedKind::kMpiIrecvRequest: return EventKind::kMpiIrecvRequest;
    case ExtendedKind::kMpiRequestTest: return EventKind::kMpiRequestTest;
    case ExtendedKind::kMpiRequestCancelled: return EventKind::kMpiRequestCancelled;
    case ExtendedKind::kMpiCollectiveRequest: return EventKind::kMpiCollectiveRequest;
    case ExtendedKind::kCommCreate: return EventKind::kCommCreate;
    case ExtendedKind::kCommDestroy: return EventKind::kCommDestroy;
    default: return std::nullopt;
  }
}

// A record that is one event; false: it is none that is known.
bool decode_one(EventWord head, std::span<const std::uint64_t> words, Event& event) {
  const ExtendedKind kind = extended_kind_of(head);
  if (payload_of(head) >> 16 != 0) return false;
  if (kind == ExtendedKind::kCreate || kind == ExtendedKind::kWait) {
    event.kind = kind == ExtendedKind::kCreate ? EventKind::kThreadCreate : EventKind::kThreadWait;
    event.value = words.empty() ? 0 : words[0];
    return words.size() == 1;
  }
  if (kind == ExtendedKind::kWaiting) {
    event.kind = EventKind::kWaiting;
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
  if (kind == ExtendedKind::kMpiCollectiveBegin) {
    event.kind = EventKind::kMpiCollectiveBegin;
    return words.empty();
  }
  if (const auto mpi = mpi_word_kind(kind)) {
    if (words.size() != 1) return false;
    event.kind = *mpi;
    const bool of_communicator = *mpi == EventKind::kCommCreate || *mpi == EventKind::kCommDestroy;
    if (of_communicator) event.ref = first_of(words[0]);
    event.value = of_communicator ? 0 : words[0];
    return true;
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

// Field by field: the processor waits for what it copies whole and was just written in parts.
void put(std::vector<Event>& events, std::uint64_t time, EventKind kind, std::uint32_t ref,
         std::uint64_t value) {
  Event& event = events.emplace_back();
  event.time = Timestamp{time};
  event.kind = kind;
  event.ref = ref;
  event.value = value;
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

// The event kind of a message or collective operation, and whether it has a request.
struct MpiRecord {
  EventKind kind;
  bool collective;
  bool has_request;
};
std::optional<MpiRecord> mpi_record(ExtendedKind kind) {
  switch (kind) {
    case ExtendedKind::kMpiSend: return MpiRecord{EventKind::kMpiSend, false, false};
    case ExtendedKind::kMpiRecv: return MpiRecord{EventKind::kMpiRecv, false, false};
    case ExtendedKind::kMpiIsend: return MpiRecord{EventKind::kMpiIsend, false, true};
    case ExtendedKind::kMpiIrecv: return MpiRecord{EventKind::kMpiIrecv, false, true};
    case ExtendedKind::kMpiCollectiveEnd:
      return MpiRecord{EventKind::kMpiCollectiveEnd, true, false};
    case ExtendedKind::kMpiCollectiveComplete:
      return MpiRecord{EventKind::kMpiCollectiveComplete, true, true};
    default: return std::nullopt;
  }
}

// The operands, then the event.
bool add_mpi(const MpiRecord& record, std::span<const std::uint64_t> words, std::uint64_t ticks,
             std::vector<Event>& events) {
  const std::size_t fixed = record.collective ? 4 : 3;
  if (words.size() != fixed + (record.has_request ? 1 : 0)) return false;
  const Timestamp time{ticks};
  events.push_back(operand(time, OperandPlace::kPeerAndTag,
                           pair_of(second_of(words[0]), first_of(words[1]))));
  if (record.collective) events.push_back(operand(time, OperandPlace::kReceived, words[3]));
  if (record.has_request) events.push_back(operand(time, OperandPlace::kRequest, words.back()));
  events.push_back({time, record.kind, first_of(words[0]), words[2]});
  return true;
}

bool is_track(EventWord word) {
  return kind_of(word) == WordKind::kExtended && extended_kind_of(word) == ExtendedKind::kTrack;
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

SegmentDecoder::SegmentDecoder(std::span<const EventWord> words, std::uint64_t base,
                               std::uint32_t thread, Appeared* appeared)
    : words_(base < kLatest ? words : words.first(0)), base_(base), appeared_(appeared) {
  if (appeared == nullptr || words_.empty() || is_track(words_[0])) return;
  enter_open_ = appeared->insert(thread).second;
}

bool SegmentDecoder::decode(std::size_t most, std::uint64_t& last_ticks,
                            std::vector<Event>& events) {
  const std::size_t full = events.size() + most;
  bool sound = true;
  while (sound && at_ < words_.size() && events.size() < full) {
    decode_calls(full - events.size(), last_ticks, events);
    if (at_ == words_.size() || events.size() >= full) break;
    sound = kind_of(words_[at_]) == WordKind::kExtended &&
            decode_extended(words_[at_], last_ticks, events);
  }
  return sound && at_ < words_.size();
}

// Enters and leaves, nearly all there is, up to anything else.
void SegmentDecoder::decode_calls(std::size_t most, std::uint64_t& last_ticks,
                                  std::vector<Event>& events) {
  // Copies, since the compiler must take what is stored for a part of what they were.
  const EventWord* word = words_.data() + at_;
  const EventWord* const end = word + std::min(most, words_.size() - at_);
  std::uint64_t time = last_ticks;
  for (; word != end; ++word) {
    const WordKind kind = kind_of(*word);
    if (kind != WordKind::kEnter && kind != WordKind::kLeave) break;
    if (!advance(base_ + delta_of(*word), time)) break;
    const bool enter = kind == WordKind::kEnter;
    put(events, time, enter ? EventKind::kEnter : EventKind::kLeave, payload_of(*word), 0);
  }
  at_ = static_cast<std::size_t>(word - words_.data());
  last_ticks = time;
}

// A head and the words that follow; false: it is not sound.
bool SegmentDecoder::decode_extended(EventWord head, std::uint64_t& last_ticks,
                                     std::vector<Event>& events) {
  const std::size_t size = 1 + extended_words_of(head);
  if (size > words_.size() - at_) return false;
  const auto words = words_.subspan(at_ + 1, size - 1);
  const ExtendedKind kind = extended_kind_of(head);
  if (kind == ExtendedKind::kOpenRegions) {
    if (enter_open_) add_open(words, base_, last_ticks, events);
  } else if (kind == ExtendedKind::kSamples) {
    if (!advance(base_ + delta_of(head), last_ticks)) return false;
    if (!add_samples(words, last_ticks, events)) return false;
  } else if (const auto mpi = mpi_record(kind)) {
    if (!advance(base_ + delta_of(head), last_ticks)) return false;
    if (!add_mpi(*mpi, words, last_ticks, events)) return false;
  } else if (kind == ExtendedKind::kTimeBase) {
    if (payload_of(head) >> 16 != 0 || !set_base(words, base_)) return false;
  } else {
    Event event;
    if (!decode_one(head, words, event)) return false;
    if (!advance(base_ + delta_of(head), last_ticks)) return false;
    put(events, last_ticks, event.kind, event.ref, event.value);
    if (event.kind == EventKind::kTrack && appeared_ != nullptr) {
      enter_open_ = appeared_->insert(event.ref).second;
    }
  }
  at_ += size;
  return true;
}

}  // namespace timeloom::spool
