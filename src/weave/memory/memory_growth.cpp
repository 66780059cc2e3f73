#include "weave/memory/memory_growth.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "weave/memory/memory_amounts.hpp"

namespace timeloom::weave {
namespace {

constexpr std::size_t kSlices = 10;
constexpr std::size_t kFirstSlice = 1;  // that counts
constexpr std::size_t kLastSlice = kSlices - 2;
constexpr double kLeastGrowth = 32e6;  // bytes
constexpr double kMuchOfPeak = 0.3;
constexpr double kLeastStep = 0.03;  // of the whole growth, from slice to slice
constexpr double kMostStep = 0.4;

// The least that was held in a slice of time, and the last record that showed it.
struct Slice {
  std::uint64_t least = UINT64_MAX;
  std::uint64_t ticks = 0;
  std::uint64_t length = 0;  // of the log, with this record
};

std::array<Slice, kSlices> slices_of(const spool::MemoryData& data, std::uint64_t end) {
  std::array<Slice, kSlices> slices;
  const std::uint64_t width = (end - data.start) / kSlices + 1;
  for (std::size_t i = 0; i < data.blocks.size(); ++i) {
    const spool::MemoryBlock& block = data.blocks[i];
    if (block.ticks < data.start || block.ticks > end) continue;
    Slice& slice = slices[(block.ticks - data.start) / width];
    if (block.live <= slice.least) slice = {block.live, block.ticks, i + 1};
  }
  return slices;
}

bool is_steady(const std::array<Slice, kSlices>& slices, double growth) {
  for (std::size_t i = kFirstSlice; i < kLastSlice; ++i) {
    if (slices[i + 1].least == UINT64_MAX || slices[i + 1].least <= slices[i].least) return false;
    const double step = static_cast<double>(slices[i + 1].least - slices[i].least) / growth;
    if (step < kLeastStep || step > kMostStep) return false;
  }
  return true;
}

}  // namespace

std::optional<GrowthOfProcess> find_growth(const spool::MemoryData& data, std::uint64_t end) {
  if (end <= data.start) return std::nullopt;
  const std::array<Slice, kSlices> slices = slices_of(data, end);
  const Slice &first = slices[kFirstSlice], &last = slices[kLastSlice];
  if (first.least == UINT64_MAX || last.least <= first.least) return std::nullopt;
  const auto growth = static_cast<double>(last.least - first.least);
  if (growth < kLeastGrowth || growth < kMuchOfPeak * static_cast<double>(data.peak) ||
      !is_steady(slices, growth)) {
    return std::nullopt;
  }
  GrowthOfProcess found{first.ticks, last.ticks, first.least, last.least};
  const auto before = held_after(data, first.length), after = held_after(data, last.length);
  for (std::size_t i = 0; i < data.paths.size(); ++i) {
    const double of_path = after[i].sum - before[i].sum;
    if (of_path <= found.of_path) continue;
    found.path = i;
    found.of_path = of_path;
  }
  return found;
}

}  // namespace timeloom::weave
