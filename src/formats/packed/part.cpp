#include "formats/packed/part.hpp"

#include <algorithm>

#include "core/io.hpp"

namespace timeloom::packed {
namespace {

using Ids = std::vector<std::uint32_t>;

// Ids that follow each other become zeros; kNoId becomes a small number.
void put_ids(Bytes& to, const Ids& ids) {
  put_varint(to, ids.size());
  std::uint32_t expected = 1;
  for (const std::uint32_t id : ids) {
    const std::uint32_t next = id + 1;
    put_varint(to, zigzag(std::uint64_t{next} - expected));
    expected = next + 1;
  }
}

bool read_ids(ByteReader& from, Ids& ids) {
  std::uint64_t count = from.varint();
  if (count > from.left()) return false;
  ids.clear();
  std::uint32_t expected = 1;
  for (; count > 0; --count) {
    const std::uint64_t next = expected + unzigzag(from.varint());
    if (from.failed() || next > UINT32_MAX) return false;
    ids.push_back(static_cast<std::uint32_t>(next) - 1);
    expected = static_cast<std::uint32_t>(next) + 1;
  }
  return true;
}

bool translate_id(const Ids& ids, std::uint32_t& id) noexcept { return (id = ids[id]) != kNoId; }

bool translate_string(const Ids& strings, std::uint64_t& value) noexcept {
  return (value = strings[value]) != kNoId;
}

bool all_fit(const Ids& ids, std::size_t count) noexcept {
  return std::ranges::all_of(ids, [&](std::uint32_t id) { return id < count || id == kNoId; });
}

bool translate_io(const PartMeaning& part, Event& event) noexcept {
  switch (event.kind) {
    case EventKind::kIoOffset: return true;
    case EventKind::kIoDelete: return translate_string(part.strings, event.value);
    case EventKind::kIoDuplicate: {
      const std::uint32_t copy = part.io_handles[io_handle_of(event.value)];
      event.value = io_word(copy, io_number_of(event.value));
      return copy != kNoId && translate_id(part.io_handles, event.ref);
    }
    default: return translate_id(part.io_handles, event.ref);
  }
}

bool translate_other(const PartMeaning& part, Event& event) noexcept {
  switch (event.kind) {
    case EventKind::kParameterString:
      return translate_string(part.strings, event.value) &&
             translate_id(part.parameters, event.ref);
    case EventKind::kParameterInt:
    case EventKind::kParameterUint:
    case EventKind::kParameterFloat: return translate_id(part.parameters, event.ref);
    case EventKind::kMetric: return translate_id(part.metrics, event.ref);
    case EventKind::kProgramBegin:
    case EventKind::kProgramEnd: event.ref = part.group; return true;
    default: break;
  }
  if (refers_to_communicator(event.kind)) return translate_id(part.communicators, event.ref);
  return !is_io(event.kind) || translate_io(part, event);
}

}  // namespace

DefinitionCounts PartMeaning::counts() const noexcept {
  return {strings.size(),       regions.size(),    1, parameters.size(), metrics.size(),
          communicators.size(), io_handles.size(), 0};
}

bool PartMeaning::fits(const DefinitionCounts& run) const noexcept {
  return group < run.groups && clock.origin_ns <= TickLine::kLongest &&
         all_fit(regions, run.regions) && all_fit(strings, run.strings) &&
         all_fit(parameters, run.parameters) && all_fit(metrics, run.metrics) &&
         all_fit(communicators, run.communicators) && all_fit(io_handles, run.io_handles);
}

bool PartMeaning::translate(std::span<Event> events) const noexcept {
  const TickLine line = clock;
  for (Event& event : events) {
    event.time = line.to_time(ticks(event.time));
    const bool known = event.kind <= EventKind::kLeave ? translate_id(regions, event.ref)
                                                       : translate_other(*this, event);
    if (!known) return false;
  }
  return true;
}

bool PartMeaning::translate_regions(std::span<std::uint32_t> ids) const noexcept {
  return std::ranges::all_of(ids, [&](std::uint32_t& id) { return translate_id(regions, id); });
}

Bytes bytes_of(const PartMeaning& meaning) {
  Bytes bytes;
  for (const std::uint64_t number :
       {meaning.clock.origin_ticks, meaning.clock.origin_ns, meaning.clock.factor,
        std::uint64_t{meaning.group}, std::uint64_t{meaning.locations.size()}}) {
    put_varint(bytes, number);
  }
  for (const PartMeaning::OfLocation& one : meaning.locations) {
    put_varint(bytes, one.there.value());
    put_varint(bytes, one.here.value());
  }
  for (const Ids* ids : {&meaning.regions, &meaning.strings, &meaning.parameters, &meaning.metrics,
                         &meaning.communicators, &meaning.io_handles}) {
    put_ids(bytes, *ids);
  }
  return bytes;
}

bool read_meaning(ByteSpan bytes, PartMeaning& meaning) {
  ByteReader reader(bytes);
  meaning.clock.origin_ticks = reader.varint();
  meaning.clock.origin_ns = reader.varint();
  meaning.clock.factor = reader.varint();
  const std::uint64_t group = reader.varint();
  std::uint64_t locations = reader.varint();
  if (group > UINT32_MAX || locations > reader.left()) return false;
  meaning.group = static_cast<std::uint32_t>(group);
  for (meaning.locations.clear(); locations > 0; --locations) {
    const LocationId there{reader.varint()};
    meaning.locations.push_back({there, LocationId{reader.varint()}});
  }
  for (Ids* ids : {&meaning.regions, &meaning.strings, &meaning.parameters, &meaning.metrics,
                   &meaning.communicators, &meaning.io_handles}) {
    if (!read_ids(reader, *ids)) return false;
  }
  return !reader.failed() && reader.at_end();
}

}  // namespace timeloom::packed
