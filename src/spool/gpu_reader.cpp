#include "spool/gpu_reader.hpp"

#include <cstring>
#include <span>

#include "os/file.hpp"
#include "spool/packed_rows.hpp"

namespace timeloom::spool {
namespace {

using GpuPayload = std::vector<std::uint64_t>;

// The value at the start of a payload; false: the payload is too short.
template <typename Value>
bool take_record(const GpuPayload& payload, Value& value) {
  if (payload.size() * 8 < sizeof value) return false;
  std::memcpy(&value, payload.data(), sizeof value);
  return true;
}

// Definitions come in the order of their ids.
template <typename Value>
bool add(std::vector<Value>& table, const GpuPayload& payload) {
  Value value{};
  if (!take_record(payload, value) || value.id != table.size()) return false;
  table.push_back(value);
  return true;
}

bool add_text(GpuData& data, const GpuPayload& payload) {
  GpuId id{};
  if (!take_record(payload, id) || id.id != data.texts.size()) return false;
  if (id.length > payload.size() * 8 - sizeof id) return false;
  data.texts.emplace_back(reinterpret_cast<const char*>(payload.data()) + sizeof id, id.length);
  return true;
}

bool add_launch(GpuData& data, const GpuPayload& payload) {
  return add(data.launches, payload) && data.launches.back().name < data.texts.size();
}

bool add_label(GpuData& data, const GpuPayload& payload) {
  const auto known = [&](std::uint32_t text) {
    return text == kGpuNone || text < data.texts.size();
  };
  return add(data.labels, payload) && known(data.labels.back().domain) &&
         known(data.labels.back().category);
}

bool add_device(GpuData& data, const GpuPayload& payload) {
  GpuDevice device{};
  if (!take_record(payload, device) || device.name >= data.texts.size()) return false;
  data.devices.push_back({device.id, data.texts[device.name], device.memory});
  return true;
}

bool is_defined(const GpuData& data, const GpuRecord& record) {
  if (record.place >= data.places.size()) return false;
  const GpuPlaceKind place = data.places[record.place].kind;
  const bool on_thread = place == GpuPlaceKind::kThread;
  const bool on_queue = place == GpuPlaceKind::kQueue;
  switch (record.kind()) {
    case GpuRecordKind::kRange:
      if (record.correlation > data.labels.size()) return false;
      [[fallthrough]];
    case GpuRecordKind::kCall: return on_thread && record.value() < data.texts.size();
    case GpuRecordKind::kKernel: return on_queue && record.value() < data.launches.size();
    case GpuRecordKind::kCopy:
    case GpuRecordKind::kSet:
    case GpuRecordKind::kWait:
    case GpuRecordKind::kEvent:
    case GpuRecordKind::kAllocate:
    case GpuRecordKind::kRelease: return on_queue;
    case GpuRecordKind::kCounter:
      return place == GpuPlaceKind::kDevice && record.detail() < kGpuCounters;
  }
  return false;
}

bool add_records(GpuData& data, const GpuPayload& payload) {
  const std::size_t count = payload.size() * 8 / sizeof(GpuRecord);
  for (std::size_t i = 0; i < count; ++i) {
    GpuRecord record{};
    std::memcpy(&record, payload.data() + i * sizeof record / 8, sizeof record);
    if (is_defined(data, record)) {
      data.records.push_back(record);
    } else {
      ++data.lost;
    }
  }
  return true;
}

// Packed records take far less space in a file than in memory.
constexpr std::size_t kMostGpuRecords = std::size_t{1} << 26;

bool add_packed(GpuData& data, const GpuPayload& payload) {
  if (data.records.size() + data.lost >= kMostGpuRecords) return false;
  RowUnpacker unpacker;
  GpuPayload rows;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(payload.data());
  return unpacker.unpack({bytes, payload.size() * 8}, kLargestGpuBlock / sizeof(GpuRecord), rows) &&
         add_records(data, rows);
}

// `lost`: the writer's count; the last block of this kind has the sum.
bool add_block(GpuData& data, std::uint64_t& lost, GpuBlockKind kind, const GpuPayload& payload) {
  switch (kind) {
    case GpuBlockKind::kText: return add_text(data, payload);
    case GpuBlockKind::kPlace: return add(data.places, payload);
    case GpuBlockKind::kLaunch: return add_launch(data, payload);
    case GpuBlockKind::kDevice: return add_device(data, payload);
    case GpuBlockKind::kLost: return take_record(payload, lost);
    case GpuBlockKind::kRecords: return add_records(data, payload);
    case GpuBlockKind::kPacked: return add_packed(data, payload);
    case GpuBlockKind::kLeft: data.left = true; return true;
    case GpuBlockKind::kLabel: return add_label(data, payload);
  }
  return true;  // a kind from a later version
}

template <typename Value>
bool read_value(const os::File& file, std::uint64_t offset, std::span<Value> to) {
  int error = 0;
  const auto bytes = std::as_writable_bytes(to);
  return file.read_at(offset, bytes, &error) == bytes.size() && error == 0;
}

bool has_head(const os::File& file) {
  GpuHeader header{};
  if (!read_value(file, 0, std::span(&header, 1))) return false;
  const std::uint32_t check =
      checksum(reinterpret_cast<const std::byte*>(&header), sizeof header - sizeof header.check);
  const bool known = header.version == kGpuVersion || header.version == kPackedGpuVersion;
  return header.magic == kGpuMagic && known && header.check == check;
}

}  // namespace

GpuData read_gpu(const SpoolDirectory& directory) {
  GpuData data;
  int error = 0;
  const os::File file = directory.open(kGpuFile, &error);
  if (error != 0) return data;
  std::uint64_t offset = sizeof(GpuHeader);
  const std::uint64_t size = file.size(&error);
  data.damaged = !has_head(file);
  GpuPayload payload;
  std::uint64_t lost = 0;
  while (!data.damaged && offset < size) {
    GpuBlock block{};
    data.damaged = true;  // until the block is known to be intact
    if (!read_value(file, offset, std::span(&block, 1))) break;
    if (block.size % 8 != 0 || block.size > kLargestGpuBlock) break;
    payload.resize(block.size / 8);
    if (!read_value(file, offset + sizeof block, std::span(payload))) break;
    if (block.check != gpu_check(block.kind, payload)) break;
    data.damaged = !add_block(data, lost, block.kind, payload);
    offset += sizeof block + block.size;
  }
  data.lost += lost;
  return data;
}

}  // namespace timeloom::spool
