// The definitions half of spool::Writer: records appended to `defs`.
#include <cstring>
#include <vector>

#include "spool/writer.hpp"

namespace timeloom::spool {
namespace {

class Payload {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  Payload& number(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  // Longer texts than a record may hold are cut; no name in practice is.
  Payload& text(const std::string& value) {
    constexpr std::size_t kMaxText = 64 << 10;
    const std::size_t size = std::min(value.size(), kMaxText);
    number(static_cast<std::uint32_t>(size));
    const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), bytes, bytes + size);
    return *this;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

void Writer::append(DefinitionKind kind, std::span<const std::byte> payload) noexcept {
  if (payload.size() > kMaxDefinitionSize) return fail(EMSGSIZE);
  const DefinitionHeader header{static_cast<std::uint32_t>(payload.size()), kind, 0,
                                checksum(payload.data(), payload.size())};
  std::vector<std::byte> record(sizeof header + payload.size());
  std::memcpy(record.data(), &header, sizeof header);
  std::memcpy(record.data() + sizeof header, payload.data(), payload.size());
  const std::lock_guard lock(defs_mutex_);
  // A record that fails halfway is written over by the next one.
  const int error = defs_.write_at(defs_end_, record);
  if (error != 0) return fail(error);
  defs_end_ += record.size();
}

void Writer::define_process(const LocationGroup& process) noexcept {
  Payload payload;
  payload.number(process.process_id).text(process.hostname).text(process.name);
  // An endless command line is cut rather than lost as a whole.
  constexpr std::size_t kMaxArguments = 4096;
  constexpr std::size_t kMaxBytes = kMaxDefinitionSize / 2;
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < std::min(process.arguments.size(), kMaxArguments); ++count) {
    bytes += process.arguments[count].size() + sizeof(std::uint32_t);
    if (bytes > kMaxBytes) break;
  }
  payload.text(process.executable).number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) payload.text(process.arguments[i]);
  append(DefinitionKind::kProcess, payload.bytes());
}

void Writer::define_region(RegionId id, const Region& region) noexcept {
  append(DefinitionKind::kRegion, Payload{}
                                      .number(id.value())
                                      .text(region.name)
                                      .text(region.canonical_name)
                                      .text(region.file)
                                      .text(region.group)
                                      .number(region.first_line)
                                      .number(region.last_line)
                                      .number(static_cast<std::uint8_t>(region.paradigm))
                                      .number(static_cast<std::uint8_t>(region.role))
                                      .bytes());
}

void Writer::define_location(std::uint32_t index, std::uint64_t thread_id,
                             const std::string& name) noexcept {
  append(DefinitionKind::kLocation, Payload{}.number(index).number(thread_id).text(name).bytes());
}

void Writer::define_string(StringId id, const std::string& text) noexcept {
  append(DefinitionKind::kString, Payload{}.number(id.value()).text(text).bytes());
}

void Writer::define_parameter(ParameterId id, const Parameter& parameter) noexcept {
  append(DefinitionKind::kParameter, Payload{}
                                         .number(id.value())
                                         .text(parameter.name)
                                         .number(static_cast<std::uint8_t>(parameter.type))
                                         .bytes());
}

void Writer::define_metric(MetricId id, const Metric& metric) noexcept {
  append(DefinitionKind::kMetric, Payload{}
                                      .number(id.value())
                                      .text(metric.name)
                                      .text(metric.unit)
                                      .text(metric.description)
                                      .number(static_cast<std::uint8_t>(metric.type))
                                      .bytes());
}

void Writer::define_marker(std::uint32_t location, std::uint64_t ticks,
                           const std::string& text) noexcept {
  append(DefinitionKind::kMarker, Payload{}.number(location).number(ticks).text(text).bytes());
}

void Writer::define_property(const std::string& key, const std::string& value) noexcept {
  append(DefinitionKind::kProperty, Payload{}.text(key).text(value).bytes());
}

void Writer::define_clock_sync(const os::ClockSync& sync) noexcept {
  append(DefinitionKind::kClockSync, Payload{}
                                         .number(sync.ticks)
                                         .number(sync.monotonic_ns)
                                         .number(sync.realtime_ns)
                                         .bytes());
}

}  // namespace timeloom::spool
