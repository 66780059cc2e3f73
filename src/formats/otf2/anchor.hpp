// The anchor of an archive ("….otf2"): the list of its files and their chunk sizes.
//
// Read here before the library does, because the library trusts the numbers in
// it: with a damaged anchor it writes beyond its memory. A plain value.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/ids.hpp"

namespace timeloom::otf2 {

struct Anchor {
  std::filesystem::path path;  // absolute
  std::uint64_t event_chunk = 0;
  std::uint64_t definition_chunk = 0;
  std::uint64_t trace_id = 0;  // a random number of this archive; 0: an old format without one

  std::filesystem::path global_definitions() const;
  std::filesystem::path markers() const;  // need not exist
  std::filesystem::path events(LocationId location) const;
  std::filesystem::path local_definitions(LocationId location) const;
};

// Throws Error when there is no sound anchor at `path`.
Anchor read_anchor(const std::filesystem::path& path);

}  // namespace timeloom::otf2
