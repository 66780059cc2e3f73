#include "spool/segment_decoder.hpp"

#include <algorithm>
#include <optional>

#include "core/io.hpp"
#include "core/memory/memory_attributes.hpp"
#include "spool/mpi_records.hpp"

namespace timeloom::spool {
namespace {

// Later than any counter's value, and far enough from the maximum that no sum overflows.
constexpr std::uint64_t kLatest = std::uint64_t{1} << 63;

// The event kind of an extended record that has a reference and a value; none: it has another form.
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

// The event kind of a record of a team or of one of its tasks; none: it is another record.
std::optional<EventKind> team_kind(ExtendedKind kind) {
  switch (kind) {
    case ExtendedKind::kTeamFork: return EventKind::kTeamFork;
    case ExtendedKind::kTeamJoin: return EventKind::kTeamJoin;
    case ExtendedKind::kTeamBegin: return EventKind::kTeamBegin;
    case ExtendedKind::kTeamEnd: return EventKind::kTeamEnd;
    case ExtendedKind::kTaskCreate: return EventKind::kTaskCreate;
    case ExtendedKind::kTaskSwitch: return EventKind::kTaskSwitch;
    case ExtendedKind::kTaskComplete: return EventKind::kTaskComplete;
    default: return std::nullopt;
  }
}

// A number, and behind it the threads of a fork or the index of a member. Both come from the
// runtime of OpenMP or the program, which may give any number of 32 bits.
bool decode_team(EventKind kind, std::span<const std::uint64_t> words, Event& event) {
  const bool pair = kind == EventKind::kTeamFork || kind == EventKind::kTeamBegin;
  if (words.size() != (pair ? 2 : 1) || (pair && words[1] > UINT32_MAX)) return false;
  event.kind = kind;
  event.value = words[0];
  event.ref = pair ? static_cast<std::uint32_t>(words[1]) : 0;
  return true;
}

// The absolute ticks from which later records count their times.
bool set_base(std::span<const std::uint64_t> words, std::uint64_t& base) {
  if (words.size() != 1 || words[0] < base || words[0] >= kLatest) return false;
  base = words[0];
  return true;
}

// Decodes a record that is one event; false: it is not of a known kind.
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
  if (const auto valued = valued_kind(kind)) {
    if (words.size() != 2 || words[0] >= UINT32_MAX) return false;
    event.kind = *valued;
    event.ref = static_cast<std::uint32_t>(words[0]);
    event.value = words[1];
    return true;
  }
  if (kind == ExtendedKind::kAttribute) {
    if (words.size() != 2 || !is_memory_attribute(words[0])) return false;
    event.kind = EventKind::kOperand;
    event.ref = static_cast<std::uint32_t>(words[0]);
    event.value = words[1];
    return true;
  }
  if (const auto team = team_kind(kind)) return decode_team(*team, words, event);
  return false;  // a kind from a later version has another version number
}

// Field by field: the processor stalls on a whole copy of data that was just written in parts.
void put(std::vector<Event>& events, std::uint64_t time, EventKind kind, std::uint32_t ref,
         std::uint64_t value) {
  Event& event = events.emplace_back();
  event.time = Timestamp{time};
  event.kind = kind;
  event.ref = ref;
  event.value = value;
}

// Two ids in a word; the last word may have only one.
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

std::optional<EventKind> io_kind(ExtendedKind kind, std::uint32_t number) {
  constexpr auto kOperations = static_cast<std::uint32_t>(IoOperation::kFlush) + 1;
  const auto of_operation = [&](EventKind first) -> std::optional<EventKind> {
    if (number >= kOperations) return std::nullopt;
    return static_cast<EventKind>(static_cast<std::uint32_t>(first) + number);
  };
  switch (kind) {
    case ExtendedKind::kIoCreate: return EventKind::kIoCreate;
    case ExtendedKind::kIoDestroy: return EventKind::kIoDestroy;
    case ExtendedKind::kIoDuplicate: return EventKind::kIoDuplicate;
    case ExtendedKind::kIoSeek: return EventKind::kIoSeek;
    case ExtendedKind::kIoStatusFlags: return EventKind::kIoStatusFlags;
    case ExtendedKind::kIoDelete: return EventKind::kIoDelete;
    case ExtendedKind::kIoBegin: return of_operation(EventKind::kIoRead);
    case ExtendedKind::kIoComplete: return of_operation(EventKind::kIoReadDone);
    default: return std::nullopt;
  }
}

// Whether the record of input or output has the right number of words.
bool has_io_words(ExtendedKind kind, std::size_t words) {
  switch (kind) {
    case ExtendedKind::kIoDestroy:
    case ExtendedKind::kIoDelete: return words == 1;
    case ExtendedKind::kIoSeek: return words == 3;
    case ExtendedKind::kIoBegin: return words == 2 || words == 3;
    default: return words == 2;
  }
}

// Adds one event, after its offset if the record has one. False: the record is malformed.
bool add_io(ExtendedKind kind, std::span<const std::uint64_t> words, std::uint64_t time,
            std::vector<Event>& events) {
  if (!has_io_words(kind, words.size())) return false;
  const std::uint32_t number = io_number_of(words[0]);
  const auto event = io_kind(kind, number);
  if (!event) return false;
  const std::uint32_t handle = io_handle_of(words[0]);
  if (kind == ExtendedKind::kIoDelete) {
    events.push_back({Timestamp{time}, *event, number, handle});
    return true;
  }
  const bool seek = kind == ExtendedKind::kIoSeek;
  if (words.size() == 3) {
    events.push_back(
        {Timestamp{time}, EventKind::kIoOffset, seek ? number : 0, words[seek ? 1 : 2]});
  }
  events.push_back({Timestamp{time}, *event, handle, words.size() == 1 ? 0 : words[seek ? 2 : 1]});
  return true;
}

constexpr bool is_io(ExtendedKind kind) {
  return kind >= ExtendedKind::kIoCreate && kind <= ExtendedKind::kIoStatusFlags;
}

bool is_track(EventWord word) {
  return kind_of(word) == WordKind::kExtended && extended_kind_of(word) == ExtendedKind::kTrack;
}

// Evens out small steps backwards; false: a larger step, which means damage. A thread that
// moves to another core may find that core's counter a little behind.
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

// Decodes enters and leaves, nearly all records, up to any other one.
void SegmentDecoder::decode_calls(std::size_t most, std::uint64_t& last_ticks,
                                  std::vector<Event>& events) {
  // Local copies: the compiler must assume that stores to `events` change the members.
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

// Decodes a head and the words after it; false: they are malformed.
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
  } else if (is_io(kind)) {
    if (payload_of(head) >> 16 != 0 || !advance(base_ + delta_of(head), last_ticks)) return false;
    if (!add_io(kind, words, last_ticks, events)) return false;
  } else if (is_mpi(kind)) {
    if (payload_of(head) >> 16 != 0 || !advance(base_ + delta_of(head), last_ticks)) return false;
    if (!add_mpi(kind, words, Timestamp{last_ticks}, events)) return false;
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
