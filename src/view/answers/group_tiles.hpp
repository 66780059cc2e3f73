// Tiles of several tracks together, of a process or of the whole run for example: the mean over
// them.
//
// Functions over an index and the definitions of its run, for any thread. Throws Error where the
// file is damaged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions.hpp"
#include "view/index/index.hpp"
#include "view/index/tile.hpp"

namespace timeloom::view {

inline constexpr std::uint32_t kWholeRun = 0xfffffffe;
inline constexpr std::uint32_t kFirstGroup = 0x80000000;

// The first rows of tracks, in which suspended tasks wait, too: for what the functions around the
// suspension tell, as the page draws it (viewer/src/source/cells.ts). The definitions outlive it.
class FirstRows {
 public:
  explicit FirstRows(const Definitions& definitions);
  // Has at least row 0; `waiting` and `cause` are of the suspension where it is longer than the
  // measured waiting.
  Picture of(const Track& track, const TileKey& place) const;

 private:
  void count(Picture& picture, std::uint32_t column) const;
  bool suspends(std::uint32_t region) const;

  const Definitions& definitions_;
  const bool causes_;
  std::vector<std::uint32_t> suspensions_;  // regions; empty where waiting was not measured
};

// True if the number stands for a process or the run, instead of a track.
bool is_group(std::uint32_t number, const Definitions& definitions) noexcept;

// Row 0 only. REQUIRES: is_group(number).
Picture group_picture(const Index& index, const Definitions& definitions, std::uint32_t number,
                      const TileKey& place, std::uint32_t first_row, std::uint32_t rows);

// The same of some tracks. REQUIRES: they are tracks of the index.
Picture mixed_picture(const Index& index, const Definitions& definitions,
                      std::span<const std::uint32_t> tracks, const TileKey& place);

}  // namespace timeloom::view
