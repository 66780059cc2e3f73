#include <algorithm>
#include <cstring>
#include <utility>

#include "spool/reader.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {
namespace {

// Takes numbers and texts off the front of a payload; ok() is false once more was taken than
// it holds.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    if (const auto* data = take(sizeof value)) std::memcpy(&value, data, sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    const auto* data = take(size);
    return data == nullptr ? std::string{} : std::string(reinterpret_cast<const char*>(data), size);
  }
  bool ok() const { return ok_; }

 private:
  const std::byte* take(std::size_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      return nullptr;
    }
    const std::byte* data = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return data;
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

// An enumerator from a file, or `fallback` when this version does not know it.
template <typename Enum>
Enum enumerator(std::uint8_t value, Enum last, Enum fallback) {
  return value <= static_cast<std::uint8_t>(last) ? static_cast<Enum>(value) : fallback;
}

bool parse_process(Cursor& in, ProcessDefinitions& out) {
  LocationGroup process;
  process.process_id = in.number<std::uint64_t>();
  process.hostname = in.text();
  process.name = in.text();
  process.executable = in.text();
  const auto count = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) process.arguments.push_back(in.text());
  std::string parent = in.text();
  if (!in.ok()) return false;
  out.process = std::move(process);
  out.parent = std::move(parent);
  return true;
}

bool parse_region(Cursor& in, std::map<std::uint32_t, Region>& regions) {
  const auto id = in.number<std::uint32_t>();
  Region region;
  region.name = in.text();
  region.canonical_name = in.text();
  region.file = in.text();
  region.group = in.text();
  region.first_line = in.number<std::uint32_t>();
  region.last_line = in.number<std::uint32_t>();
  region.paradigm = enumerator(in.number<std::uint8_t>(), Paradigm::kMemory, Paradigm::kUnknown);
  region.role =
      enumerator(in.number<std::uint8_t>(), RegionRole::kReallocate, RegionRole::kUnknown);
  if (in.ok()) regions[id] = std::move(region);
  return in.ok();
}

bool parse_object(Cursor& in, std::map<std::uint32_t, CodeObject>& objects) {
  const auto id = in.number<std::uint32_t>();
  CodeObject object;
  object.path = in.text();
  object.build_id = in.text();
  object.size = in.number<std::uint64_t>();
  object.changed_ns = in.number<std::int64_t>();
  if (in.ok()) objects[id] = std::move(object);
  return in.ok();
}

bool parse_mapping(Cursor& in, std::vector<ObjectMapping>& mappings) {
  ObjectMapping mapping;
  mapping.object = in.number<std::uint32_t>();
  mapping.begin = in.number<std::uint64_t>();
  mapping.size = in.number<std::uint64_t>();
  mapping.bias = in.number<std::uint64_t>();
  mapping.ticks = in.number<std::uint64_t>();
  if (in.ok()) mappings.push_back(mapping);
  return in.ok();
}

bool parse_address(Cursor& in, std::map<std::uint32_t, CodeAddress>& addresses) {
  const auto region = in.number<std::uint32_t>();
  CodeAddress address;
  address.object = in.number<std::uint32_t>();
  address.address = in.number<std::uint64_t>();
  address.construct = in.text();
  if (in.ok()) addresses[region] = std::move(address);
  return in.ok();
}

bool parse_metric(DefinitionKind kind, Cursor& in, std::map<std::uint32_t, Metric>& metrics) {
  const auto id = in.number<std::uint32_t>();
  Metric metric;
  metric.name = in.text();
  metric.unit = in.text();
  metric.description = in.text();
  metric.type =
      enumerator(in.number<std::uint8_t>(), MetricValueType::kDouble, MetricValueType::kUint64);
  if (kind == DefinitionKind::kSampledMetric) {
    metric.source =
        enumerator(in.number<std::uint8_t>(), MetricSource::kOther, MetricSource::kOther);
    metric.mode = enumerator(in.number<std::uint8_t>(), MetricMode::kAccumulatedStart,
                             MetricMode::kAbsolutePoint);
    metric.binary = in.number<std::uint8_t>() != 0;
    metric.exponent = in.number<std::int32_t>();
    metric.set = in.text();
  }
  if (in.ok()) metrics[id] = std::move(metric);
  return in.ok();
}

bool parse_location(Cursor& in, std::map<std::uint32_t, ProcessDefinitions::Thread>& threads) {
  const auto index = in.number<std::uint32_t>();
  const auto thread_id = in.number<std::uint64_t>();
  std::string name = in.text();
  if (!in.ok()) return false;
  ProcessDefinitions::Thread& thread = threads[index];
  if (thread_id != 0) thread.thread_id = thread_id;  // else a new name only
  thread.name = std::move(name);
  return true;
}

// The properties of a location other than its name.
bool parse_life(DefinitionKind kind, Cursor& in,
                std::map<std::uint32_t, ProcessDefinitions::Thread>& threads) {
  const auto index = in.number<std::uint32_t>();
  ProcessDefinitions::Thread life;
  if (kind == DefinitionKind::kTrack) life.owner = in.number<std::uint32_t>();
  if (kind == DefinitionKind::kBegin) {
    life.begin = in.number<std::uint64_t>();
    life.number = in.number<std::uint64_t>();
  }
  if (kind == DefinitionKind::kLast) life.last = in.number<std::uint64_t>();
  if (!in.ok()) return false;
  ProcessDefinitions::Thread& thread = threads[index];
  if (kind == DefinitionKind::kTrack) thread.owner = life.owner;
  if (kind == DefinitionKind::kBegin) {
    thread.begin = life.begin;
    thread.number = life.number;
  }
  if (kind == DefinitionKind::kLast) thread.last = life.last;
  return true;
}

bool parse_clock_sync(Cursor in, ProcessDefinitions& out) {
  os::ClockSync sync;
  sync.ticks = in.number<std::uint64_t>();
  sync.monotonic_ns = in.number<std::uint64_t>();
  sync.realtime_ns = in.number<std::uint64_t>();
  if (in.ok()) out.clock_syncs.push_back(sync);
  return in.ok();
}

bool parse_string(Cursor in, ProcessDefinitions& out) {
  const auto id = in.number<std::uint32_t>();
  std::string text = in.text();
  if (in.ok()) out.strings[id] = std::move(text);
  return in.ok();
}

bool parse_parameter(Cursor in, ProcessDefinitions& out) {
  const auto id = in.number<std::uint32_t>();
  Parameter parameter;
  parameter.name = in.text();
  parameter.type =
      enumerator(in.number<std::uint8_t>(), ParameterType::kString, ParameterType::kUint64);
  if (in.ok()) out.parameters[id] = std::move(parameter);
  return in.ok();
}

bool parse_metric_location(Cursor in, ProcessDefinitions& out) {
  const auto index = in.number<std::uint32_t>();
  if (in.ok()) out.threads[index].has_metrics = true;
  return in.ok();
}

bool parse_marker(Cursor in, ProcessDefinitions& out) {
  ProcessDefinitions::Mark mark;
  mark.thread = in.number<std::uint32_t>();
  mark.ticks = in.number<std::uint64_t>();
  mark.text = in.text();
  if (in.ok()) out.markers.push_back(std::move(mark));
  return in.ok();
}

bool parse_io_handle(Cursor in, ProcessDefinitions& out) {
  const auto id = in.number<std::uint32_t>();
  IoHandle handle;
  handle.name = in.text();
  handle.file = in.text();
  handle.paradigm = enumerator(in.number<std::uint8_t>(), IoParadigm::kOther, IoParadigm::kOther);
  handle.parent = IoHandleId{in.number<std::uint32_t>()};
  handle.pre_created = in.number<std::uint8_t>() != 0;
  handle.access = std::min<std::uint8_t>(in.number<std::uint8_t>(), 2);
  handle.status = in.number<std::uint32_t>();
  if (in.ok()) out.io_handles[id] = std::move(handle);
  return in.ok();
}

bool parse_property(Cursor in, ProcessDefinitions& out) {
  std::string key = in.text();
  std::string value = in.text();
  if (in.ok()) out.properties[key] = std::move(value);
  return in.ok();
}

bool parse_end(Cursor in, ProcessDefinitions& out) {
  out.lost_events = in.number<std::uint64_t>();
  out.log_size = in.number<std::uint64_t>();
  out.ending = to_ending(in.number<std::uint64_t>());
  out.ended = in.ok();
  out.last_log = in.number<std::uint32_t>();  // 0 where there is none
  out.dropped_events = in.number<std::uint64_t>();
  return out.ended;
}

bool parse_limit(Cursor in, ProcessDefinitions& out) {
  in.number<std::uint64_t>();
  out.may_miss_begin = in.number<std::uint8_t>() != 0;
  return in.ok();
}

bool parse_key(Cursor in, ProcessDefinitions& out) {
  const auto key = in.number<std::uint64_t>();
  if (in.ok() && !out.key) out.key = key;
  return in.ok();
}

bool parse_cut(Cursor in, ProcessDefinitions& out) {
  const auto index = in.number<std::uint32_t>();
  const auto ticks = in.number<std::uint64_t>();
  if (in.ok()) out.cuts[index] = ticks;
  return in.ok();
}

bool parse_communicator(Cursor in, ProcessDefinitions& out) {
  const auto id = in.number<std::uint32_t>();
  LocalCommunicator communicator;
  communicator.identity = in.number<std::uint64_t>();
  communicator.parent = in.number<std::uint64_t>();
  communicator.self = in.number<std::uint8_t>() != 0;
  communicator.size = in.number<std::uint32_t>();
  communicator.rank = in.number<std::uint32_t>();
  communicator.name = in.text();
  if (in.ok()) out.communicators[id] = std::move(communicator);
  return in.ok();
}

bool parse_clock_offset(Cursor in, ProcessDefinitions& out) {
  ProcessDefinitions::ClockOffset offset;
  offset.monotonic_ns = in.number<std::uint64_t>();
  offset.offset_ns = in.number<std::int64_t>();
  if (in.ok()) out.clock_offsets.push_back(offset);
  return in.ok();
}

bool parse_native_threads(Cursor in, ProcessDefinitions& out) {
  std::string name = in.text();
  NativeThreads threads;
  threads.threads = in.number<std::uint64_t>();
  threads.cpu_ns = in.number<std::uint64_t>();
  if (in.ok()) out.native_threads[std::move(name)] = threads;
  return in.ok();
}

bool parse_record(DefinitionKind kind, Cursor in, ProcessDefinitions& out) {
  switch (kind) {
    case DefinitionKind::kProcess: return parse_process(in, out);
    case DefinitionKind::kClockSync: return parse_clock_sync(in, out);
    case DefinitionKind::kString: return parse_string(in, out);
    case DefinitionKind::kRegion: return parse_region(in, out.regions);
    case DefinitionKind::kObject: return parse_object(in, out.objects);
    case DefinitionKind::kMapping: return parse_mapping(in, out.mappings);
    case DefinitionKind::kAddress: return parse_address(in, out.addresses);
    case DefinitionKind::kLocation: return parse_location(in, out.threads);
    case DefinitionKind::kTrack:
    case DefinitionKind::kBegin:
    case DefinitionKind::kLast: return parse_life(kind, in, out.threads);
    case DefinitionKind::kParameter: return parse_parameter(in, out);
    case DefinitionKind::kMetric:
    case DefinitionKind::kSampledMetric: return parse_metric(kind, in, out.metrics);
    case DefinitionKind::kMetricLocation: return parse_metric_location(in, out);
    case DefinitionKind::kIoHandle: return parse_io_handle(in, out);
    case DefinitionKind::kMarker: return parse_marker(in, out);
    case DefinitionKind::kProperty: return parse_property(in, out);
    case DefinitionKind::kEnd: return parse_end(in, out);
    case DefinitionKind::kLimit: return parse_limit(in, out);
    case DefinitionKind::kKey: return parse_key(in, out);
    case DefinitionKind::kNativeThreads: return parse_native_threads(in, out);
    case DefinitionKind::kCommunicator: return parse_communicator(in, out);
    case DefinitionKind::kClockOffset: return parse_clock_offset(in, out);
    case DefinitionKind::kCut: return parse_cut(in, out);
  }
  return true;  // a kind from a later version: skipped
}

// The maximum size of a record with its head.
constexpr std::size_t kMostRecord = sizeof(DefinitionHeader) + kMaxDefinitionSize;

// The size, with its head, of the record at the front of `bytes`; 0: there is no intact one.
// Adds the bytes that had to be read to `effort`.
std::size_t sound_record(std::span<const std::byte> bytes, DefinitionHeader& header,
                         std::uint64_t& effort) {
  ++effort;
  if (bytes.size() < sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.reserved != 0 || header.size > kMaxDefinitionSize ||
      header.size > bytes.size() - sizeof header) {
    return 0;
  }
  effort += header.size;
  const bool sound = definition_check(header, bytes.data() + sizeof header) == header.check;
  return sound ? sizeof header + header.size : 0;
}

// Takes the records off the front of a file that comes in pieces. Bytes that are not an intact
// record are skipped one by one up to the next record; every such stretch counts as damage once.
class Parser {
 public:
  Parser(ProcessDefinitions& definitions, Damage& damage)
      : definitions_(definitions), damage_(damage) {}

  // Accidental damage never needs more; with damage on purpose, the search would be quadratic.
  bool gives_up() const noexcept { return wasted_ >= std::uint64_t{256} << 20; }

  // Returns the number of bytes taken: up to a record that may continue in the next piece, or
  // all of them.
  std::size_t take(const std::span<const std::byte> bytes, bool last) {
    std::span<const std::byte> rest = bytes;
    while (!rest.empty() && (last || rest.size() >= kMostRecord) && !gives_up()) {
      DefinitionHeader header{};
      std::uint64_t effort = 0;
      const std::size_t size = sound_record(rest, header, effort);
      if (size != 0) {
        lost_ = false;
        const auto payload = rest.subspan(sizeof header, header.size);
        if (!parse_record(header.kind, Cursor(payload), definitions_)) ++damage_.definitions;
        rest = rest.subspan(size);
        continue;
      }
      if (!std::exchange(lost_, true)) ++damage_.definitions;
      wasted_ += effort;
      rest = rest.subspan(to_next(rest));
    }
    return bytes.size() - rest.size();
  }

 private:
  // Where the next record may begin: its head is not of zeros only.
  static std::size_t to_next(std::span<const std::byte> bytes) {
    const auto used = std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{}; });
    const auto zeros = static_cast<std::size_t>(used - bytes.begin());
    return zeros < sizeof(DefinitionHeader) ? 1 : zeros - sizeof(DefinitionHeader) + 1;
  }

  ProcessDefinitions& definitions_;
  Damage& damage_;
  std::uint64_t wasted_ = 0;
  bool lost_ = false;
};

}  // namespace

// In pieces, and without the holes of a sparse file, which may be far larger than its data.
void parse_definitions(const os::File& defs, ProcessDefinitions& definitions, Damage& damage) {
  constexpr std::size_t kPiece = 4 * kMostRecord;
  Parser parser(definitions, damage);
  int error = 0;
  const std::uint64_t end = defs.size(&error);
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPiece, end));
  for (std::uint64_t offset = sizeof(DefsHeader); offset < end && !parser.gives_up();) {
    const std::size_t size = defs.read_at(offset, piece, &error);
    const bool last = size < piece.size() || offset + size >= end;
    const std::size_t taken = parser.take(std::span(piece).first(size), last);
    if (last) return;
    offset += taken;
    const std::uint64_t data = defs.next_data(offset, end);
    if (data - offset >= kPiece) offset = data - sizeof(DefinitionHeader);
  }
}

}  // namespace timeloom::spool
