// The record of one event: a word of 64 bits. Pure functions for the event path: any thread,
// nothing throws.
//
//      63                                28 27                       2 1  0
//     +------------------------------------+--------------------------+----+
//     | ticks since the base of the segment|          payload         |kind|
//     +------------------------------------+--------------------------+----+
//                   36 bits                          26 bits            2
//
//   kind 0  end: no record here (fresh and recycled segments are all zero)
//   kind 1  enter, payload: region id
//   kind 2  leave, payload: region id
//   kind 3  extended, payload: sub-kind (8 bits), number of words that follow
//           (8 bits), zero (10 bits)
//
// All other events are extended records. When 2^36 ticks (26 s at 2.6 GHz) have
// passed since the base, a kTimeBase record with the absolute ticks sets a new base,
// which is used until the next one. Regions beyond the first 2^26 - 1 share the last id, the id of
// a region whose name tells so. The words of an extended record are written before its head, so a
// reader finds a record whole or not at all. docs/formats/spool.md describes the same for readers
// in other languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/ids.hpp"

namespace timeloom {

using EventWord = std::uint64_t;

inline constexpr unsigned kKindBits = 2;
inline constexpr unsigned kPayloadBits = 26;
inline constexpr unsigned kTimeShift = kKindBits + kPayloadBits;
inline constexpr unsigned kTimeBits = 64 - kTimeShift;
inline constexpr std::uint64_t kMaxDelta = (std::uint64_t{1} << kTimeBits) - 1;
inline constexpr std::uint32_t kMaxPayload = (std::uint32_t{1} << kPayloadBits) - 1;
static_assert(kTimeBits == 36);

enum class WordKind : std::uint8_t { kEnd = 0, kEnter = 1, kLeave = 2, kExtended = 3 };

// Sub-kinds of extended records, with the words that follow.
enum class ExtendedKind : std::uint8_t {
  kTimeBase = 1,         // absolute ticks
  kParameterInt = 2,     // parameter id, int64
  kParameterUint = 3,    // parameter id, uint64
  kParameterFloat = 4,   // parameter id, bits of a double
  kParameterString = 5,  // parameter id, string id
  kMetric = 6,           // metric id, value of the metric's type
  kRecordingOff = 7,     // none
  kRecordingOn = 8,      // none
  kCreate = 9,           // number of the thread or task that is being created
  kWait = 10,            // number of the thread that the innermost region waits for
  kTrack = 11,           // index of the location that the following records belong to
  kTrackEnd = 12,        // none: the location that the last kTrack names ends
  kRewindBegin = 13,     // string id of its name
  kRewindEnd = 14,       // string id of the name, 1: discard all events since its kRewindBegin
  kSamples = 15,         // id of the first metric, then its value and the values of the metrics
                         // after it; belongs to the next enter or leave
  kOpenRegions = 16,     // the regions open when a segment begins: two region ids a word
  kWaiting = 17,         // nanoseconds in which the thread did not run, between the event before
                         // and the next one
  // Teams of threads and their tasks; numbers are unique in the process.
  kTeamFork = 18,      // number of the team, threads requested (0: not known)
  kTeamJoin = 19,      // number
  kTeamBegin = 20,     // number, index of the thread in the team
  kTeamEnd = 21,       // number
  kTaskCreate = 22,    // number of the task
  kTaskSwitch = 23,    // number of the task that runs from here on (0: the implicit task)
  kTaskComplete = 24,  // number of the task
  kAttribute = 25,     // MemoryAttribute, value; belongs to the next enter or leave
  // Messages; see core/mpi/mpi_event.hpp. A pair of u32 is (first | second << 32).
  kMpiSend = 32,                // (communicator, rank of the peer), tag, bytes
  kMpiRecv = 33,                // the same
  kMpiIsend = 34,               // the same, request
  kMpiIsendComplete = 35,       // request
  kMpiIrecvRequest = 36,        // request
  kMpiIrecv = 37,               // as kMpiIsend
  kMpiRequestTest = 38,         // request
  kMpiRequestCancelled = 39,    // request
  kMpiCollectiveBegin = 40,     // none
  kMpiCollectiveEnd = 41,       // (communicator, operation), rank of the root, bytes sent, received
  kMpiCollectiveRequest = 42,   // request
  kMpiCollectiveComplete = 43,  // as kMpiCollectiveEnd, request
  kCommCreate = 44,             // communicator
  kCommDestroy = 45,            // communicator
  // 32 to 63: MPI. 64 to 79: input and output, see core/io.hpp.
  kIoCreate = 64,       // handle, io_modes()
  kIoDestroy = 65,      // handle
  kIoDuplicate = 66,    // handle, the new handle | status flags << 32
  kIoSeek = 67,         // handle | whence << 32, offset asked for, offset reached
  kIoBegin = 68,        // handle | operation << 32, bytes asked for; then the offset, if the call
                        // has one
  kIoComplete = 69,     // handle | operation << 32, bytes transferred
  kIoDelete = 70,       // string id of the path of a deleted file | interface << 32
  kIoStatusFlags = 71,  // handle, status flags
};

// A word without a time; the event path adds the time to it with one `or`.
constexpr EventWord make_word(WordKind kind, std::uint32_t payload) noexcept {
  return static_cast<EventWord>(kind) | (static_cast<EventWord>(payload) << kKindBits);
}
constexpr EventWord make_extended(ExtendedKind kind, unsigned words) noexcept {
  return make_word(WordKind::kExtended, static_cast<std::uint32_t>(kind) | (words << 8));
}
constexpr EventWord at(EventWord word, std::uint64_t delta) noexcept {
  return word | (delta << kTimeShift);
}

// An enter word becomes the leave word of the same region and back.
inline constexpr EventWord kEnterLeaveFlip = 3;
static_assert((make_word(WordKind::kEnter, 5) ^ kEnterLeaveFlip) == make_word(WordKind::kLeave, 5));

constexpr WordKind kind_of(EventWord word) noexcept { return static_cast<WordKind>(word & 3); }
constexpr std::uint32_t payload_of(EventWord word) noexcept {
  return static_cast<std::uint32_t>(word >> kKindBits) & kMaxPayload;
}
constexpr std::uint64_t delta_of(EventWord word) noexcept { return word >> kTimeShift; }
constexpr ExtendedKind extended_kind_of(EventWord word) noexcept {
  return static_cast<ExtendedKind>(payload_of(word) & 0xff);
}
constexpr unsigned extended_words_of(EventWord word) noexcept {
  return (payload_of(word) >> 8) & 0xff;
}

// Whether a record is an event; the other records only serve to decode events.
constexpr bool is_event(EventWord word) noexcept {
  if (kind_of(word) != WordKind::kExtended) return kind_of(word) != WordKind::kEnd;
  switch (extended_kind_of(word)) {
    case ExtendedKind::kTimeBase:
    case ExtendedKind::kOpenRegions:
    case ExtendedKind::kWaiting:
    case ExtendedKind::kTrack:
    case ExtendedKind::kTrackEnd:
    case ExtendedKind::kRewindBegin:
    case ExtendedKind::kRewindEnd:
    case ExtendedKind::kAttribute: return false;
    default: return true;
  }
}

// The number of events. REQUIRES: the words are whole records.
constexpr std::uint64_t count_events(std::span<const EventWord> words) noexcept {
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_event(words[i])) ++events;
    if (kind_of(words[i]) == WordKind::kExtended) i += extended_words_of(words[i]);
  }
  return events;
}

}  // namespace timeloom
