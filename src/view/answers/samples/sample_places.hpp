// The samples of a track, and the calls in which they were taken.
//
// Functions for any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions.hpp"
#include "core/scaled.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "view/index/cursor.hpp"

namespace timeloom::view {

// The ticks of a number of nanoseconds.
inline std::uint64_t ticks_of(std::uint64_t ns, const Definitions& definitions) {
  return scaled(ns, definitions.clock.ticks_per_second, kNanoseconds);
}

// All samples of a track, in order of time; empty for a track that the run does not have. REQUIRES:
// the samples and definitions belong to one run. The samples outlive the result.
inline std::span<const exchange::RunSample> samples_of(const exchange::RunSamples& samples,
                                                       const Definitions& definitions,
                                                       std::uint32_t track) {
  if (track >= definitions.locations.size()) return {};
  const auto found = samples.of_location.find(definitions.locations[track].id);
  if (found == samples.of_location.end()) return {};
  return found->second;
}

// The ones at the ticks [from, to). REQUIRES: `all` are the samples of a track.
inline std::span<const exchange::RunSample> samples_in(std::span<const exchange::RunSample> all,
                                                       const Definitions& definitions,
                                                       std::uint64_t from, std::uint64_t to) {
  const auto time_of = [&](const exchange::RunSample& sample) {
    return ticks_of(sample.time_ns, definitions);
  };
  const auto begin = std::ranges::lower_bound(all, from, {}, time_of);
  return {begin, std::ranges::lower_bound(begin, all.end(), to, {}, time_of)};
}

// Calls `take(path, sample)` with the path of the calls that are open before the sample; kNone: of
// none. Reads the blocks of the track that the samples lie in, and no others. Throws Error where
// the index is damaged. REQUIRES: the samples are in order of time.
template <typename Take>
void each_path(const Track& track, std::span<const exchange::RunSample> samples,
               const Definitions& definitions, const Take& take) {
  if (samples.empty()) return;
  if (track.blocks().empty()) {
    for (const exchange::RunSample& sample : samples) take(kNone, sample);
    return;
  }
  const auto innermost = [&track](const std::vector<Frame>& open) {
    return open.empty() ? kNone : track.nodes()[open.back().node].path;
  };
  Cursor cursor(track, track.block_before(ticks_of(samples.front().time_ns, definitions)));
  std::uint32_t path = innermost(cursor.open());
  bool more = cursor.next_of_track();
  for (const exchange::RunSample& sample : samples) {
    const std::uint64_t time = ticks_of(sample.time_ns, definitions);
    if (const std::uint32_t block = track.block_before(time); block > cursor.block() + 1) {
      cursor = Cursor(track, block);
      path = innermost(cursor.open());
      more = cursor.next_of_track();
    }
    for (; more && cursor.time() < time; more = cursor.next_of_track()) {
      path = innermost(cursor.open());
    }
    take(path, sample);
  }
}

}  // namespace timeloom::view
