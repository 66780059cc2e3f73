#include "weave/gpu/gpu_memory.hpp"

#include <algorithm>
#include <vector>

namespace timeloom::weave {

using spool::GpuRecord;
using spool::GpuRecordKind;

struct GpuMemoryUse::Device {
  std::vector<Block> blocks{};
  std::unordered_map<std::uint64_t, std::size_t> live{};  // blocks, by address
  std::uint64_t held = 0;
  std::uint64_t peak = 0;
  std::size_t peak_at = 0;

  void allocate(const GpuRecord& record, std::size_t at) {
    release(record, at);  // of a block there whose release was lost
    live[record.end] = blocks.size();
    blocks.push_back({record.value(), record.correlation, at, SIZE_MAX});
    held += record.value();
    if (held <= peak) return;
    peak = held;
    peak_at = at;
  }
  void release(const GpuRecord& record, std::size_t at) {
    const auto block = live.find(record.end);
    if (block == live.end()) return;
    blocks[block->second].until = at;
    held -= blocks[block->second].bytes;
    live.erase(block);
  }
};

GpuMemoryUse::GpuMemoryUse(const spool::GpuData& data) {
  std::vector<const GpuRecord*> records;
  for (const GpuRecord& record : data.records) {
    const bool of_host = record.detail() == static_cast<std::uint8_t>(spool::GpuMemory::kHost);
    if (record.is_of_memory() && !of_host) records.push_back(&record);
  }
  std::ranges::stable_sort(records, {}, &GpuRecord::start);
  std::map<std::uint32_t, Device> devices;
  for (std::size_t at = 0; at < records.size(); ++at) {
    const GpuRecord& record = *records[at];
    Device& device = devices[data.places[record.place].device];
    if (record.kind() == GpuRecordKind::kAllocate) {
      device.allocate(record, at);
      calls_[record.correlation].allocated += record.value();
    } else {
      device.release(record, at);
    }
    calls_[record.correlation].held = device.held;
  }
  for (const auto& [id, device] : devices) close(device, id);
}

void GpuMemoryUse::close(const Device& device, std::uint32_t id) {
  peaks_[id] = device.peak;
  for (const Block& block : device.blocks) {
    GpuMemoryOfCall& call = calls_[block.correlation];
    if (block.since <= device.peak_at && device.peak_at < block.until) call.at_peak += block.bytes;
    if (block.until == SIZE_MAX) call.at_end += block.bytes;
  }
}

const GpuMemoryOfCall* GpuMemoryUse::of(std::uint32_t correlation) const {
  const auto found = calls_.find(correlation);
  return found == calls_.end() ? nullptr : &found->second;
}

}  // namespace timeloom::weave
