// The part of SpoolSource that makes the file memory.timeloom.
#include <cmath>
#include <utility>

#include "formats/memory_file/memory_file_writer.hpp"
#include "weave/memory/memory_amounts.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace {

// Records may be damaged.
std::uint64_t rounded(double bytes) {
  return bytes >= 0 && bytes < 0x1p63 ? static_cast<std::uint64_t>(std::llround(bytes)) : 0;
}

memory_file::Amount amount_of(const profile::MetricStatistics& statistics) {
  return {rounded(statistics.sum), statistics.count, rounded(statistics.min)};
}

}  // namespace

// `first`: the number of its first path among all.
memory_file::Process SpoolSource::memory_section(const Process& process, std::size_t first) const {
  const spool::MemoryData& data = process.memory;
  memory_file::Process section;
  section.group = process.group.value();
  section.interval = data.interval;
  section.exact = data.all;
  section.each = data.each;
  section.start_ns = since_begin(process, data.start);
  section.live_at_start = data.live_at_start;
  for (std::size_t i = 0; i < process.memory_paths; ++i) {
    const MemoryOfPath& from = memory_[first + i];
    memory_file::Path& path = section.paths.emplace_back();
    path.own = i == spool::kMemoryOwn;
    if (from.region.defined()) {
      path.region = from.region.value();
      path.parent = static_cast<std::uint32_t>(from.parent - first);
    }
    path.allocated = amount_of(from.allocated);
    path.at_peak = amount_of(from.at_peak);
    path.at_end = amount_of(from.at_end);
  }
  return section;
}

std::string SpoolSource::take_memory_file() {
  memory_file::Writer writer;
  std::size_t next = 0;
  for (const Process& process : processes_) {
    const std::size_t first = std::exchange(next, next + process.memory_paths);
    if (!process.has_memory_curve) continue;
    std::vector<memory_file::Block> blocks;
    for (const spool::MemoryBlock& one : memory_log(process)) {
      const std::uint64_t bytes =
          one.is_death() ? 0 : rounded(bytes_of(one, process.memory.interval));
      blocks.push_back(
          {since_begin(process, one.ticks), one.is_death(), one.number(), bytes, one.live});
    }
    writer.add(memory_section(process, first), blocks);
  }
  return writer.empty() ? std::string() : writer.take();
}

}  // namespace timeloom::weave
