// Events, and the interfaces of sources, which read the events of a run, and sinks, which receive
// them. The caller owns sources and sinks; each interface names its threads and errors.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "core/definitions.hpp"
#include "core/ids.hpp"

namespace timeloom {

enum class EventKind : std::uint8_t {
  kEnter,            // ref: region
  kLeave,            // ref: region
  kParameterInt,     // ref: parameter, value: int64
  kParameterUint,    // ref: parameter, value: uint64
  kParameterFloat,   // ref: parameter, value: bits of a double
  kParameterString,  // ref: parameter, value: string id
  kMetric,           // ref: metric, value: of the metric's type
  kRecordingOff,     // nothing is recorded on this location until kRecordingOn
  kRecordingOn,
  kProgramBegin,  // ref: location group
  kProgramEnd,    // value: exit status as int64, kUnknownExitStatus if unknown
  // Creation of threads and tasks; each has a number that is unique in the run.
  kThreadCreate,  // value: number; the location creates it
  kThreadBegin,   // value: number; the location is that thread or task, and starts
  kThreadEnd,     // value: number; the location ends
  kThreadWait,    // value: number; the location has waited for its end
  // Not an event of its own: the thread did not run for `value` nanoseconds between the event
  // before and the next enter or leave.
  kWaiting,
  // Only in streams read from a spool, where the stream of a thread also holds the events of
  // its tracks (tasks, greenlets).
  kTrack,     // ref: index of the location that the following events belong to
  kTrackEnd,  // that location ends
  // Only in streams read from a spool; the weave discards the events between them.
  kRewindBegin,  // ref: name, as a string id
  kRewindEnd,    // ref: name; value: 1 when all events since kRewindBegin of it are discarded
  // Input and output, with the numbers of core/io.hpp.
  kIoOffset,       // not an event of its own. ref: whence, value: offset, of the next event
  kIoCreate,       // ref: handle, value: io_modes()
  kIoDestroy,      // ref: handle
  kIoDuplicate,    // ref: handle, value: the new handle | status flags << 32
  kIoSeek,         // ref: handle, value: offset reached; after a kIoOffset
  kIoStatusFlags,  // ref: handle, value: status flags
  kIoDelete,       // ref: interface, value: path, as a string id
  // The start and end of a transfer; one transfer of a handle at a time. ref: handle, value: bytes
  kIoRead,
  kIoWrite,
  kIoFlush,
  kIoReadDone,
  kIoWriteDone,
  kIoFlushDone,
  // Messages of MPI; the operands before them are described in core/mpi/mpi_event.hpp, and the
  // operands of calls that allocate memory in core/memory/memory_attributes.hpp.
  kOperand,              // not an event of its own: ref: kind, value: operand, of the next event
  kMpiSend,              // ref: communicator, value: bytes
  kMpiRecv,              // the same; the message has arrived
  kMpiIsend,             // the same
  kMpiIsendComplete,     // value: request
  kMpiIrecvRequest,      // value: request
  kMpiIrecv,             // ref: communicator, value: bytes
  kMpiRequestTest,       // value: request, which is not complete yet
  kMpiRequestCancelled,  // value: request
  kMpiCollectiveBegin,
  kMpiCollectiveEnd,       // ref: communicator, value: bytes sent
  kMpiCollectiveRequest,   // value: request
  kMpiCollectiveComplete,  // ref: communicator, value: bytes sent
  kCommCreate,             // ref: communicator
  kCommDestroy,            // ref: communicator
  // Teams of threads and their tasks (OpenMP), with numbers as for kThreadCreate. The fork and the
  // join happen on the thread that makes the team; each member, also this one, begins and ends.
  kTeamFork,      // value: number of the team, ref: threads requested, 0: not known
  kTeamJoin,      // value: number
  kTeamBegin,     // value: number, ref: index of the location in the team
  kTeamEnd,       // value: number
  kTaskCreate,    // value: number of the task
  kTaskSwitch,    // value: number of the task that runs from here on, 0: the implicit task
  kTaskComplete,  // value: number of the task
  // Copies between memory of the host and of an accelerator, on a queue. ref: context
  kRmaGet,   // value: bytes; a copy to the accelerator starts
  kRmaPut,   // value: bytes; a copy to the host starts
  kRmaDone,  // the copy has ended
  // Samples of CPU time; only in a run of exchange::with_samples(). A frame is not an event of its
  // own: a call that is open at the next sample and was not recorded, below all open ones and below
  // the frames before it.
  kSampleFrame,  // ref: region
  kSample,       // value: CPU time in ns, ref: the source line, 0: not known
};
// The last kind that a recorded run has.
inline constexpr EventKind kLastEventKind = EventKind::kRmaDone;

constexpr bool is_io(EventKind kind) noexcept {
  return kind >= EventKind::kIoOffset && kind <= EventKind::kIoFlushDone;
}
constexpr bool is_mpi(EventKind kind) noexcept {
  return kind >= EventKind::kOperand && kind <= EventKind::kCommDestroy;
}
// Whether Event::ref is a communicator.
constexpr bool refers_to_communicator(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::kMpiSend:
    case EventKind::kMpiRecv:
    case EventKind::kMpiIsend:
    case EventKind::kMpiIrecv:
    case EventKind::kMpiCollectiveEnd:
    case EventKind::kMpiCollectiveComplete:
    case EventKind::kCommCreate:
    case EventKind::kCommDestroy: return true;
    default: return false;
  }
}
constexpr bool is_of_team(EventKind kind) noexcept {
  return kind >= EventKind::kTeamFork && kind <= EventKind::kTaskComplete;
}
constexpr bool is_rma(EventKind kind) noexcept {
  return kind >= EventKind::kRmaGet && kind <= EventKind::kRmaDone;
}
// Whether the record belongs to the next event rather than being an event.
constexpr bool is_no_event(EventKind kind) noexcept {
  return kind == EventKind::kWaiting || kind == EventKind::kOperand ||
         kind == EventKind::kIoOffset || kind == EventKind::kSampleFrame;
}

inline constexpr std::int64_t kUnknownExitStatus = INT64_MIN;

struct Event {
  Timestamp time{};
  EventKind kind{};
  std::uint32_t ref = 0;
  std::uint64_t value = 0;

  RegionId region() const noexcept { return RegionId{ref}; }
  CommunicatorId communicator() const noexcept { return CommunicatorId{ref}; }
  ParameterId parameter() const noexcept { return ParameterId{ref}; }
  IoHandleId io_handle() const noexcept { return IoHandleId{ref}; }
  MetricId metric() const noexcept { return MetricId{ref}; }
  StringId string() const noexcept { return StringId{static_cast<std::uint32_t>(value)}; }
  std::int64_t as_int() const noexcept { return std::bit_cast<std::int64_t>(value); }
  double as_double() const noexcept { return std::bit_cast<double>(value); }
};
static_assert(sizeof(Event) == 24);

// Receives the events of one location, in order of time; every enter has its leave. Used by
// one thread at a time. Throws timeloom::Error.
class LocationSink {
 public:
  virtual ~LocationSink() = default;
  virtual void consume(std::span<const Event> events) = 0;
  virtual void finish() = 0;  // no more events; called once
};

// Receives a whole run. The source that drives it calls begin() once, open_location() once
// per location (several threads may call it at the same time, for different locations), and
// finish() once after every LocationSink has been finished. Throws timeloom::Error.
class RunSink {
 public:
  virtual ~RunSink() = default;
  // Whether the definitions shall have the teams of the run, for which its source reads all events
  // once more.
  virtual bool wants_teams() const { return false; }
  // The definitions stay valid until finish() has returned. Until then only their
  // `properties` change, and not while any location receives events.
  virtual void begin(const Definitions& definitions) = 0;
  virtual std::unique_ptr<LocationSink> open_location(const Location& location) = 0;
  virtual void finish() = 0;
};

// A run that can be replayed into sinks: a set of spools, or a trace.
class RunSource {
 public:
  virtual ~RunSource() = default;
  virtual const Definitions& definitions() const = 0;
  // Reads every event once and passes it to all sinks, with up to `threads` threads.
  virtual void replay(std::span<RunSink* const> sinks, unsigned threads) = 0;
};

}  // namespace timeloom
