// Checksums of data on disk. They detect bytes that were half written, overwritten or changed by
// the medium; they do not protect against intent. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace timeloom {

// FNV-1a. `hash`: the result for the bytes before, to continue with.
constexpr std::uint32_t checksum(const std::byte* data, std::size_t size,
                                 std::uint32_t hash = 2166136261u) noexcept {
  for (std::size_t i = 0; i < size; ++i) {
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): it loses a struct's bytes
    hash = (hash ^ static_cast<std::uint32_t>(data[i])) * 16777619u;
  }
  return hash;
}

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t part) noexcept {
  hash = (hash ^ part) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}

// A checksum of many words, at several bytes a cycle. Every step is invertible, so a change of a
// single word never goes undetected; four lanes keep the multiplier busy.
constexpr std::uint64_t words_check(std::span<const std::uint64_t> words) noexcept {
  constexpr std::size_t kLanes = 4;
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const auto step = [&](std::size_t lane, std::uint64_t word) {
    lanes[lane] = (lanes[lane] ^ word) * 0x9fb21c651e98df25u;
  };
  // Whole groups first, so that the lanes stay in registers.
  const std::size_t grouped = words.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < grouped; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) step(lane, words[i + lane]);
  }
  for (std::size_t lane = 0; grouped + lane < words.size(); ++lane)
    step(lane, words[grouped + lane]);
  std::uint64_t hash = words.size();
  for (const std::uint64_t lane : lanes) hash = mix(hash, lane);
  return hash;
}

}  // namespace timeloom
