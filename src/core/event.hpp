// The events of a run on their way from a source to sinks, and the interfaces of both.
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
  kMetric,           // ref: metric, value: as the metric's type says
  kRecordingOff,     // nothing is recorded on this location until kRecordingOn
  kRecordingOn,
  kProgramBegin,  // ref: location group
  kProgramEnd,    // value: exit status as int64, kUnknownExitStatus if unknown
  // Creation of threads and tasks; each has a number that is unique in the run.
  kThreadCreate,  // value: number; the location creates it
  kThreadBegin,   // value: number; the location is that thread or task, and begins
  kThreadEnd,     // value: number; the location ends
  kThreadWait,    // value: number; the location has waited for its end
  // No event of its own: of the time between the event before and the enter or leave that comes
  // next, `value` nanoseconds were waiting: the thread did not run.
  kWaiting,
  // Only in streams read from a spool, where the stream of a thread also holds the events of
  // its tracks (tasks, greenlets).
  kTrack,     // ref: index of the location that the following events belong to
  kTrackEnd,  // that location ends
  // Only in streams read from a spool; the weave discards the events between them.
  kRewindBegin,  // ref: name, as a string id
  kRewindEnd,    // ref: name; value: 1 when all since the begin of that name is discarded
  // Input and output; the numbers are those of core/io.hpp.
  kIoOffset,       // no event of its own. ref: whence, value: offset, of the event that comes next
  kIoCreate,       // ref: handle, value: io_modes()
  kIoDestroy,      // ref: handle
  kIoDuplicate,    // ref: handle, value: the new handle | status flags << 32
  kIoSeek,         // ref: handle, value: offset reached; after a kIoOffset
  kIoStatusFlags,  // ref: handle, value: status flags
  kIoDelete,       // ref: interface, value: path, as a string id
  // The begin of a transfer and its end; each of a handle in turn. ref: handle, value: bytes
  kIoRead,
  kIoWrite,
  kIoFlush,
  kIoReadDone,
  kIoWriteDone,
  kIoFlushDone,
  // Messages of MPI; the operands before them are described in core/mpi/mpi_event.hpp.
  kOperand,              // no event of its own: ref: place, value: of the event that comes next
  kMpiSend,              // ref: communicator, value: bytes
  kMpiRecv,              // the same; it has arrived
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
};

constexpr bool is_io(EventKind kind) noexcept {
  return kind >= EventKind::kIoOffset && kind <= EventKind::kIoFlushDone;
}
constexpr bool is_mpi(EventKind kind) noexcept {
  return kind >= EventKind::kOperand && kind <= EventKind::kCommDestroy;
}
// What comes with an event rather than is one.
constexpr bool is_no_event(EventKind kind) noexcept {
  return kind == EventKind::kWaiting || kind == EventKind::kOperand || kind == EventKind::kIoOffset;
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

// Takes the events of one location, in order of time; enter and leave balance.
// Used by one thread at a time. Throws timeloom::Error.
class LocationSink {
 public:
  virtual ~LocationSink() = default;
  virtual void consume(std::span<const Event> events) = 0;
  virtual void finish() = 0;  // no more events; called once
};

// Takes a whole run. The reader that drives it calls begin once, open_location
// once per location (from any thread, each location from one), and finish once
// after every LocationSink has been finished. Throws timeloom::Error.
class RunSink {
 public:
  virtual ~RunSink() = default;
  // The definitions outlive the sink's use. Between begin and finish only their
  // `properties` change, and those not while a location is being fed.
  virtual void begin(const Definitions& definitions) = 0;
  virtual std::unique_ptr<LocationSink> open_location(const Location& location) = 0;
  virtual void finish() = 0;
};

// Something that can feed a run to a sink: a set of spools, a trace.
class RunSource {
 public:
  virtual ~RunSource() = default;
  virtual const Definitions& definitions() const = 0;
  // Reads every event once and feeds it to all sinks, with up to `threads` threads.
  virtual void feed(std::span<RunSink* const> sinks, unsigned threads) = 0;
};

}  // namespace timeloom
