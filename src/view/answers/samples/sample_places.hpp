// The calls in which the samples of a track were taken.
//
// A function for any thread. Reads the blocks of the track that the samples lie in, and no others.
// Throws Error where the index is damaged.
#pragma once

#include <span>
#include <vector>

#include "exchange/samples/sampled_run.hpp"
#include "view/index/cursor.hpp"

namespace timeloom::view {

// Calls `take(path, sample)` with the path of the calls that are open before the sample; kNone: of
// none. `time_of` tells the ticks of a sample. REQUIRES: the samples are in order of time.
template <typename Take>
void each_path(const Track& track, std::span<const exchange::RunSample> samples,
               const auto& time_of, const Take& take) {
  if (samples.empty()) return;
  if (track.blocks().empty()) {
    for (const exchange::RunSample& sample : samples) take(kNone, sample);
    return;
  }
  const auto innermost = [&track](const std::vector<Frame>& open) {
    return open.empty() ? kNone : track.nodes()[open.back().node].path;
  };
  Cursor cursor(track, track.block_before(time_of(samples.front())));
  std::uint32_t path = innermost(cursor.open());
  bool more = cursor.next_of_track();
  for (const exchange::RunSample& sample : samples) {
    const std::uint64_t time = time_of(sample);
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
