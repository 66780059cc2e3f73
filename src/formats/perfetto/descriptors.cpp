// The packets other than events.

#include <cmath>
#include <optional>

#include "core/metric_unit.hpp"
#include "exchange/format_text.hpp"
#include "formats/perfetto/schema.hpp"
#include "formats/perfetto/shared.hpp"

namespace timeloom::perfetto {

using exchange::ProtoMessage;

namespace {

void add_clock(ProtoMessage& snapshot, std::uint64_t id, std::uint64_t time) {
  ProtoMessage one;
  one.number(clock::kClockId, id);
  one.number(clock::kTimestamp, time);
  snapshot.message(clock::kClocks, one);
}

// Times of the trace are nanoseconds since the start of the run, in place of the time since the
// boot of the machine.
ProtoMessage clocks_of(const Definitions& definitions) {
  ProtoMessage snapshot;
  add_clock(snapshot, clock::kBoottime, 0);
  if (definitions.clock.realtime) {
    add_clock(snapshot, clock::kRealtime, *definitions.clock.realtime);
  }
  snapshot.number(clock::kPrimaryTraceClock, clock::kBoottime);
  ProtoMessage packet;
  packet.message(packet::kClockSnapshot, snapshot);
  return packet;
}

ProtoMessage process_packet(const Shared& shared, std::size_t index) {
  const exchange::Process& process = shared.tracks.processes[index];
  ProtoMessage description;
  description.number(process::kPid, process.id);
  if (!process.command.empty()) description.text(process::kCmdline, process.command);
  description.text(process::kProcessName, process.name);
  ProtoMessage track;
  track.number(track::kUuid, shared.numbers.of_process(index));
  track.message(track::kProcess, description);
  ProtoMessage packet;
  packet.message(packet::kTrackDescriptor, track);
  return packet;
}

ProtoMessage location_packet(const Shared& shared, std::size_t index) {
  const exchange::Track& one = shared.tracks.tracks[index];
  ProtoMessage track;
  track.number(track::kUuid, shared.numbers.of_location(index));
  track.number(track::kParentUuid, shared.numbers.of_process(one.process));
  // Perfetto shows a thread once: a task that runs on it has its own track.
  if (one.kind == exchange::TrackKind::kThread) {
    ProtoMessage description;
    description.number(thread::kPid, shared.tracks.processes[one.process].id);
    description.number(thread::kTid, one.thread);
    description.text(thread::kThreadName, one.name);
    track.message(track::kThread, description);
  } else {
    track.text(track::kName, one.name);
  }
  ProtoMessage packet;
  packet.message(packet::kTrackDescriptor, track);
  return packet;
}

struct KnownUnit {
  std::uint64_t unit;
  std::uint64_t multiplier;  // of each value
};

// Multipliers are whole numbers: the unit name contains other factors.
std::optional<KnownUnit> known_unit(const Metric& metric) {
  const bool time = metric.unit == "s";
  if (!time && metric.unit != "Bytes") return {};
  Metric counted = metric;
  if (time && !metric.binary) counted.exponent += 9;
  const double factor = unit_factor(counted) * (time && metric.binary ? 1e9 : 1);
  if (!(factor >= 1 && factor < 0x1p63) || factor != std::floor(factor)) return {};
  return KnownUnit{time ? counter::kUnitNs : counter::kUnitBytes,
                   static_cast<std::uint64_t>(factor)};
}

}  // namespace

void append_packet(std::string& to, const ProtoMessage& packet) {
  ProtoMessage framed;
  framed.message(trace::kPacket, packet);
  to += framed.bytes();
}

std::string describe(const Shared& shared) {
  std::string packets;
  append_packet(packets, clocks_of(shared.definitions));
  for (std::size_t i = 0; i < shared.tracks.processes.size(); ++i) {
    append_packet(packets, process_packet(shared, i));
  }
  for (std::size_t i = 0; i < shared.tracks.tracks.size(); ++i) {
    if (!shared.works.device_of(i)) append_packet(packets, location_packet(shared, i));
  }
  return packets;
}

std::string describe_markers(const Shared& shared) {
  std::string packets;
  const std::uint64_t sequence = 1 + shared.tracks.tracks.size();
  for (const Marker& marker : shared.definitions.markers) {
    const std::size_t location = shared.tracks.index_of(marker.location);
    ProtoMessage event;
    event.number(event::kType, event::kInstant);
    event.number(event::kTrackUuid, shared.numbers.of_location(location));
    event.text(event::kCategories, "marker");
    event.text(event::kName, exchange::utf8(marker.text));
    ProtoMessage packet;
    packet.number(packet::kTimestamp, shared.clock(marker.time));
    packet.number(packet::kTimestampClockId, clock::kBoottime);
    packet.number(packet::kTrustedPacketSequenceId, sequence);
    packet.message(packet::kTrackEvent, event);
    append_packet(packets, packet);
  }
  return packets;
}

ProtoMessage describe_counter(const Metric& metric, std::uint64_t number, std::uint64_t parent) {
  ProtoMessage description;
  if (const auto known = known_unit(metric)) {
    description.number(counter::kUnit, known->unit);
    if (known->multiplier != 1) description.number(counter::kUnitMultiplier, known->multiplier);
  } else if (const std::string unit = value_unit(metric); !unit.empty()) {
    description.text(counter::kUnitName, exchange::utf8(unit));
  }
  ProtoMessage track;
  track.number(track::kUuid, number);
  track.number(track::kParentUuid, parent);
  track.text(track::kName, exchange::utf8(exchange::metric_name(metric)));
  track.message(track::kCounter, description);
  ProtoMessage packet;
  packet.message(packet::kTrackDescriptor, track);
  return packet;
}

}  // namespace timeloom::perfetto
