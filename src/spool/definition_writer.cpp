// The definitions half of spool::Writer: records appended to `defs`.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "core/text/recorded_arguments.hpp"
#include "spool/writer.hpp"

namespace timeloom::spool {
namespace {

// The payload of one record. If memory runs out it stays incomplete, and append() refuses
// it: no exception may leave the writer.
class Payload {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Payload& number(T value) noexcept {
    return add(&value, sizeof value);
  }
  // Texts longer than a record may hold are cut between two characters; names in practice
  // are shorter.
  Payload& text(const std::string& value) noexcept {
    constexpr std::size_t kMaxText = 64 << 10;
    std::size_t size = std::min(value.size(), kMaxText);
    const auto inside_character = [&value](std::size_t at) {
      return at < value.size() && (static_cast<unsigned char>(value[at]) & 0xc0) == 0x80;
    };
    for (int i = 0; i < 3 && inside_character(size); ++i) --size;
    return number(static_cast<std::uint32_t>(size)).add(value.data(), size);
  }
  // A text of the program, which may contain a secret of its command line.
  Payload& label(const std::string& value, const std::vector<std::string>& secrets) noexcept {
    if (secrets.empty()) return text(value);
    try {
      return text(without_secrets(value, secrets));
    } catch (const std::bad_alloc&) {
      failed_ = true;
      bytes_.clear();
      return *this;
    }
  }
  // Empty if there was no memory for it.
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  Payload& add(const void* data, std::size_t size) noexcept {
    const auto* bytes = static_cast<const std::byte*>(data);
    try {
      if (!failed_) bytes_.insert(bytes_.end(), bytes, bytes + size);
    } catch (const std::bad_alloc&) {
      failed_ = true;
      bytes_.clear();
    }
    return *this;
  }

  std::vector<std::byte> bytes_;
  bool failed_ = false;
};

void put_record(DefinitionKind kind, std::span<const std::byte> payload, std::byte* to) noexcept {
  DefinitionHeader header{static_cast<std::uint32_t>(payload.size()), kind, 0, 0};
  header.check = definition_check(header, payload.data());
  std::memcpy(to, &header, sizeof header);
  std::memcpy(to + sizeof header, payload.data(), payload.size());
}

// Empty if there was no memory for it.
std::vector<std::byte> record_of(DefinitionKind kind, std::span<const std::byte> payload) noexcept {
  std::vector<std::byte> record;
  try {
    record.resize(sizeof(DefinitionHeader) + payload.size());
  } catch (const std::bad_alloc&) {
    return {};
  }
  put_record(kind, payload, record.data());
  return record;
}

Payload property_of(const std::string& key, const std::string& value) noexcept {
  return Payload{}.text(key).text(value);
}

}  // namespace

void Writer::append(DefinitionKind kind, std::span<const std::byte> payload) noexcept {
  if (payload.empty()) return fail(ENOMEM);
  if (payload.size() > kMaxDefinitionSize) return fail(EMSGSIZE);
  const std::vector<std::byte> record = record_of(kind, payload);
  if (record.empty()) return fail(ENOMEM);
  append(record);
}

void Writer::append(std::span<const std::byte> record) noexcept {
  const std::lock_guard lock(defs_mutex_);
  if (!holding_) return write_definitions(record);
  try {
    held_.insert(held_.end(), record.begin(), record.end());
  } catch (const std::bad_alloc&) {
    fail(ENOMEM);
  }
}

// With defs_mutex_ held.
void Writer::write_definitions(std::span<const std::byte> records) noexcept {
  const int error = defs_.write_at(defs_end_, records);
  if (error != 0) {
    defs_.truncate(defs_end_);
    return fail(error);
  }
  defs_end_ += records.size();
}

void Writer::hold_definitions() noexcept {
  const std::lock_guard lock(defs_mutex_);
  holding_ = true;
}

void Writer::release_definitions() noexcept {
  const std::lock_guard lock(defs_mutex_);
  holding_ = false;
  write_definitions(held_);
  held_ = {};
}

void Writer::define_process(const LocationGroup& process, const std::string& parent) noexcept {
  Payload payload;
  payload.number(process.process_id).text(process.hostname).label(process.name, options_.secrets);
  // An endless command line is cut rather than lost as a whole.
  constexpr std::size_t kMaxArguments = 4096;
  constexpr std::size_t kMaxBytes = kMaxDefinitionSize / 2;
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < std::min(process.arguments.size(), kMaxArguments); ++count) {
    bytes += process.arguments[count].size() + sizeof(std::uint32_t);
    if (bytes > kMaxBytes) break;
  }
  payload.text(process.executable).number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) payload.label(process.arguments[i], options_.secrets);
  payload.text(parent);
  append(DefinitionKind::kProcess, payload.bytes());
}

void Writer::define_region(RegionId id, const Region& region) noexcept {
  append(DefinitionKind::kRegion, Payload{}
                                      .number(id.value())
                                      .label(region.name, options_.secrets)
                                      .label(region.canonical_name, options_.secrets)
                                      .text(region.file)
                                      .text(region.group)
                                      .number(region.first_line)
                                      .number(region.last_line)
                                      .number(static_cast<std::uint8_t>(region.paradigm))
                                      .number(static_cast<std::uint8_t>(region.role))
                                      .bytes());
}

void Writer::define_object(std::uint32_t id, const CodeObject& object) noexcept {
  append(DefinitionKind::kObject, Payload{}
                                      .number(id)
                                      .text(object.path)
                                      .text(object.build_id)
                                      .number(object.size)
                                      .number(object.changed_ns)
                                      .bytes());
}

void Writer::define_mapping(const ObjectMapping& mapping) noexcept {
  append(DefinitionKind::kMapping, Payload{}
                                       .number(mapping.object)
                                       .number(mapping.begin)
                                       .number(mapping.size)
                                       .number(mapping.bias)
                                       .number(mapping.ticks)
                                       .bytes());
}

void Writer::define_address(RegionId id, const CodeAddress& address) noexcept {
  append(DefinitionKind::kAddress, Payload{}
                                       .number(id.value())
                                       .number(address.object)
                                       .number(address.address)
                                       .text(address.construct)
                                       .bytes());
}

void Writer::define_location(std::uint32_t index, std::uint64_t thread_id,
                             const std::string& name) noexcept {
  append(DefinitionKind::kLocation,
         Payload{}.number(index).number(thread_id).label(name, options_.secrets).bytes());
}

void Writer::define_track(std::uint32_t index, std::uint32_t owner) noexcept {
  append(DefinitionKind::kTrack, Payload{}.number(index).number(owner).bytes());
}

void Writer::define_begin(std::uint32_t index, std::uint64_t ticks, std::uint64_t number) noexcept {
  append(DefinitionKind::kBegin, Payload{}.number(index).number(ticks).number(number).bytes());
}

void Writer::define_last(std::uint32_t index, std::uint64_t ticks) noexcept {
  append(DefinitionKind::kLast, Payload{}.number(index).number(ticks).bytes());
}

void Writer::define_string(StringId id, const std::string& text) noexcept {
  append(DefinitionKind::kString,
         Payload{}.number(id.value()).label(text, options_.secrets).bytes());
}

void Writer::define_parameter(ParameterId id, const Parameter& parameter) noexcept {
  append(DefinitionKind::kParameter, Payload{}
                                         .number(id.value())
                                         .label(parameter.name, options_.secrets)
                                         .number(static_cast<std::uint8_t>(parameter.type))
                                         .bytes());
}

void Writer::define_metric(MetricId id, const Metric& metric) noexcept {
  Payload payload;
  payload.number(id.value())
      .label(metric.name, options_.secrets)
      .text(metric.unit)
      .label(metric.description, options_.secrets)
      .number(static_cast<std::uint8_t>(metric.type));
  if (!metric.sampled()) return append(DefinitionKind::kMetric, payload.bytes());
  payload.number(static_cast<std::uint8_t>(metric.source))
      .number(static_cast<std::uint8_t>(metric.mode))
      .number(std::uint8_t{metric.binary})
      .number(metric.exponent)
      .text(metric.set);
  append(DefinitionKind::kSampledMetric, payload.bytes());
}

void Writer::define_metric_location(std::uint32_t index) noexcept {
  append(DefinitionKind::kMetricLocation, Payload{}.number(index).bytes());
}

void Writer::define_communicator(std::uint32_t id, const LocalCommunicator& communicator) noexcept {
  append(DefinitionKind::kCommunicator, Payload{}
                                            .number(id)
                                            .number(communicator.identity)
                                            .number(communicator.parent)
                                            .number(std::uint8_t{communicator.self})
                                            .number(communicator.size)
                                            .number(communicator.rank)
                                            .label(communicator.name, options_.secrets)
                                            .bytes());
}

void Writer::define_clock_offset(std::uint64_t monotonic_ns, std::int64_t offset_ns) noexcept {
  append(DefinitionKind::kClockOffset, Payload{}.number(monotonic_ns).number(offset_ns).bytes());
}

void Writer::define_marker(std::uint32_t location, std::uint64_t ticks,
                           const std::string& text) noexcept {
  append(DefinitionKind::kMarker,
         Payload{}.number(location).number(ticks).label(text, options_.secrets).bytes());
}

void Writer::define_native_threads(const std::string& name, const NativeThreads& threads) noexcept {
  append(DefinitionKind::kNativeThreads, Payload{}
                                             .label(name, options_.secrets)
                                             .number(threads.threads)
                                             .number(threads.cpu_ns)
                                             .bytes());
}

void Writer::define_io_handle(IoHandleId id, const IoHandle& handle) noexcept {
  append(DefinitionKind::kIoHandle, Payload{}
                                        .number(id.value())
                                        .text(handle.name)
                                        .text(handle.file)
                                        .number(static_cast<std::uint8_t>(handle.paradigm))
                                        .number(handle.parent.value())
                                        .number(std::uint8_t{handle.pre_created})
                                        .number(handle.access)
                                        .number(handle.status)
                                        .bytes());
}

void Writer::define_property(const std::string& key, const std::string& value) noexcept {
  append(DefinitionKind::kProperty, property_of(key, value).bytes());
}

bool add_property(os::File& definitions, const std::string& key,
                  const std::string& value) noexcept {
  const Payload payload = property_of(key, value);
  if (payload.bytes().empty()) return false;
  const std::vector<std::byte> record = record_of(DefinitionKind::kProperty, payload.bytes());
  if (record.empty()) return false;
  int error = definitions.open_again();
  const std::uint64_t end = error == 0 ? definitions.size(&error) : 0;
  const bool written = error == 0 && definitions.write_at(end, record) == 0;
  if (error == 0 && !written) definitions.truncate(end);
  definitions.close();
  return written;
}

// The next two do without the heap: the drain thread, which allocates nothing else, would get a
// heap of its own, 64 MiB of the address space, for which the program may have a limit.
void Writer::define_short_property(std::string_view key, std::string_view value) noexcept {
  std::array<std::byte, 128> payload;
  std::array<std::byte, sizeof(DefinitionHeader) + sizeof payload> record;
  if (2 * sizeof(std::uint32_t) + key.size() + value.size() > payload.size()) return;
  std::size_t size = 0;
  for (const std::string_view text : {key, value}) {
    const auto length = static_cast<std::uint32_t>(text.size());
    std::memcpy(payload.data() + size, &length, sizeof length);
    std::memcpy(payload.data() + size + sizeof length, text.data(), text.size());
    size += sizeof length + text.size();
  }
  put_record(DefinitionKind::kProperty, std::span(payload).first(size), record.data());
  append(std::span(record).first(sizeof(DefinitionHeader) + size));
}

void Writer::define_clock_sync(const os::ClockSync& sync) noexcept {
  const std::array<std::uint64_t, 3> payload{sync.ticks, sync.monotonic_ns, sync.realtime_ns};
  std::array<std::byte, sizeof(DefinitionHeader) + sizeof payload> record;
  put_record(DefinitionKind::kClockSync, std::as_bytes(std::span(payload)), record.data());
  append(record);
}

void Writer::define_key() noexcept { append(DefinitionKind::kKey, Payload{}.number(key_).bytes()); }

void Writer::define_limit() noexcept {
  append(DefinitionKind::kLimit,
         Payload{}.number(options_.size_limit.bytes).number(std::uint8_t{keeps_newest()}).bytes());
}

void Writer::define_end(Ending ending) noexcept {
  append(DefinitionKind::kEnd, Payload{}
                                   .number(lost())
                                   .number(log_end_)
                                   .number(to_word(ending))
                                   .number(log_number_)
                                   .number(dropped())
                                   .bytes());
}

void Writer::define_cut(std::uint32_t location, std::uint64_t ticks) noexcept {
  append(DefinitionKind::kCut, Payload{}.number(location).number(ticks).bytes());
}

}  // namespace timeloom::spool
