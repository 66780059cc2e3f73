#include "spool/memory_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/checksum.hpp"
#include "os/file.hpp"

namespace timeloom::spool {
namespace {

// The values of a part of the file; fewer where it ends before.
template <typename Value>
std::vector<Value> values_at(const os::File& file, std::uint64_t offset, std::uint64_t count) {
  int error = 0;
  const std::uint64_t size = file.size(&error);
  if (error != 0 || size < offset) return {};
  std::vector<Value> values(std::min<std::uint64_t>(count, (size - offset) / sizeof(Value)));
  const auto bytes = std::as_writable_bytes(std::span(values));
  values.resize(file.read_at(offset, bytes, &error) / sizeof(Value));
  return values;
}

std::uint64_t word(std::span<const std::uint64_t> words, std::size_t offset) {
  return words[offset / sizeof(std::uint64_t)];
}

// Bytes that a process held: none, where more frees than allocations were seen.
std::uint64_t held(std::uint64_t live) { return live >> 63 != 0 ? 0 : live; }

bool take_header(const os::File& file, MemoryData& data, std::uint64_t& paths,
                 std::uint64_t& blocks, std::uint64_t& peak_number) {
  constexpr std::size_t kWords = sizeof(MemoryHeader) / sizeof(std::uint64_t);
  const std::vector<std::uint64_t> words = values_at<std::uint64_t>(file, 0, kWords);
  if (words.size() != kWords || words[0] != kMemoryMagic) return false;
  const auto* const bytes = reinterpret_cast<const std::byte*>(words.data());
  const auto version = static_cast<std::uint16_t>(words[1]);
  const auto check = static_cast<std::uint32_t>(words[1] >> 32);
  if (version != kMemoryVersion || check != checksum(bytes, offsetof(MemoryHeader, check))) {
    return false;
  }
  data.forked = static_cast<std::uint16_t>(words[1] >> 16) == 1;
  data.interval = word(words, offsetof(MemoryHeader, interval));
  data.start = word(words, offsetof(MemoryHeader, start));
  data.live_at_start = held(word(words, offsetof(MemoryHeader, live_at_start)));
  paths = word(words, offsetof(MemoryHeader, paths));
  blocks = word(words, offsetof(MemoryHeader, blocks));
  data.live = held(word(words, offsetof(MemoryHeader, live)));
  data.peak = held(word(words, offsetof(MemoryHeader, peak)));
  data.peak_ticks = word(words, offsetof(MemoryHeader, peak_ticks));
  data.peak_blocks = word(words, offsetof(MemoryHeader, peak_blocks));
  data.end = word(words, offsetof(MemoryHeader, end));
  data.resident = word(words, offsetof(MemoryHeader, resident));
  data.lost = word(words, offsetof(MemoryHeader, lost_paths)) +
              word(words, offsetof(MemoryHeader, lost_blocks));
  data.foreign = word(words, offsetof(MemoryHeader, foreign)) != 0;
  data.all = word(words, offsetof(MemoryHeader, all)) != 0;
  data.each = word(words, offsetof(MemoryHeader, all)) == kMemoryEachBlock;
  peak_number = word(words, offsetof(MemoryHeader, peak_number));
  return data.interval != 0 && paths <= kMemoryPaths && blocks <= kMemoryBlocks;
}

// False: a path comes before its parent.
bool take_paths(const std::vector<std::uint64_t>& words, std::vector<MemoryAmounts>& paths) {
  constexpr std::size_t kWords = sizeof(MemoryPath) / sizeof(std::uint64_t);
  for (std::size_t i = 0; (i + 1) * kWords <= words.size(); ++i) {
    const auto of = std::span(words).subspan(i * kWords, kWords);
    MemoryAmounts path;
    path.parent = static_cast<std::uint32_t>(of[0]);
    path.region = static_cast<std::uint32_t>(of[0] >> 32);
    path.location = static_cast<std::uint32_t>(of[1]);
    path.allocations = word(of, offsetof(MemoryPath, allocations));
    path.allocated = word(of, offsetof(MemoryPath, allocated));
    path.frees = word(of, offsetof(MemoryPath, frees));
    path.freed = word(of, offsetof(MemoryPath, freed));
    path.largest = word(of, offsetof(MemoryPath, largest));
    path.highest = held(word(of, offsetof(MemoryPath, highest)));
    if (i >= kFirstMemoryPath && path.parent >= i) return false;
    paths.push_back(path);
  }
  return paths.size() >= kFirstMemoryPath;
}

// False: some are missing, or no number of bytes. `foreign`: the sizes of some blocks are not
// known.
bool take_holdings(const os::File& file, std::uint64_t peak_number, bool foreign,
                   std::vector<MemoryAmounts>& paths) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  const auto holdings = values_at<MemoryHolding>(file, kMemoryHoldingsAt, paths.size());
  bool sound = holdings.size() == paths.size();
  for (std::size_t i = 0; i < holdings.size(); ++i) {
    auto [bytes, blocks] = holdings[i].at_peak(peak_number);
    std::uint64_t now = holdings[i].bytes;
    if (foreign) bytes = held(bytes), now = held(now);
    if (bytes > kMost || now > kMost) {
      sound = false;
      continue;
    }
    paths[i].held = now;
    paths[i].held_blocks = holdings[i].blocks;
    paths[i].peak_held = bytes;
    paths[i].peak_held_blocks = blocks;
  }
  return sound;
}

bool is_possible(const MemoryBlock& block, std::size_t index, const MemoryData& data) {
  if (!block.is_death()) return block.number() < data.paths.size();
  return block.number() < index && !data.blocks[block.number()].is_death();
}

// A process gives the file its largest size at first, and at its end the size of its parts. With
// another one, bytes are missing or have been inserted.
bool is_size_of_file(std::uint64_t size, std::uint64_t blocks) {
  return size == kMemoryFileSize || size == kMemoryBlocksAt + blocks * sizeof(MemoryBlock);
}

}  // namespace

MemoryData read_memory(const SpoolDirectory& directory) {
  MemoryData data;
  int error = 0;
  const os::File file = directory.open(kMemoryName, &error);
  if (error != 0) return data;
  data.exists = true;
  std::uint64_t paths = 0, blocks = 0, peak_number = 0;
  constexpr std::uint64_t kWords = sizeof(MemoryPath) / sizeof(std::uint64_t);
  if (!take_header(file, data, paths, blocks, peak_number) ||
      !take_paths(values_at<std::uint64_t>(file, kMemoryPathsAt, paths * kWords), data.paths)) {
    data.damaged = true;
    data.paths.clear();
    return data;
  }
  data.blocks = values_at<MemoryBlock>(file, kMemoryBlocksAt, blocks);
  data.damaged = data.paths.size() != paths || data.blocks.size() != blocks ||
                 !is_size_of_file(file.size(&error), blocks);
  if (data.all && !take_holdings(file, peak_number, data.foreign, data.paths)) {
    data.all = false;  // sampled blocks tell less, but nothing wrong
    data.damaged = true;
  }
  for (std::size_t i = 0; i < data.blocks.size(); ++i) {
    data.blocks[i].live = held(data.blocks[i].live);
    if (is_possible(data.blocks[i], i, data)) continue;
    data.damaged = true;
    data.blocks.resize(i);
  }
  data.peak_blocks = std::min<std::uint64_t>(data.peak_blocks, data.blocks.size());
  return data;
}

}  // namespace timeloom::spool
