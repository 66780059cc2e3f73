// Files of packed ranks: the ranks of a host append their parts (part.hpp) to one file.
//
//   section of a rank | its blocks | section of a rank | its blocks | ...
//
// The section of a rank has what its process tells about the part, and is written last: a part
// whose process was killed while it appended has none. The next part begins behind it.
//
// Any thread; an object of os::File that is written to is used by one. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/packed/packed_file.hpp"

namespace timeloom::packed {

struct RankPart {
  Section about;                // its number is the number of the blocks, its location the key
  std::uint64_t blocks_at = 0;  // of the blocks in the file
  std::uint64_t blocks_size = 0;

  std::uint64_t number() const noexcept { return about.head.run; }
  std::uint64_t key() const noexcept { return about.head.location; }
};

// Appends a part whose blocks are the whole file `blocks`, and reads all of it back. `key`: a
// number by which the part is found again. `error` gets an errno value (EIO: it does not read as it
// was written); then the file is as before. REQUIRES: the file is locked.
std::optional<RankPart> append_rank(os::File& file, std::uint64_t number, std::uint64_t key,
                                    ByteSpan about, const os::File& blocks, int* error);

// The parts of a file, as far as their own sections are whole. Reads only heads.
std::vector<RankPart> find_ranks(const os::File& file);

// The text of a part; empty: it is damaged.
Bytes about_rank(const os::File& file, const RankPart& part);

// Whether the blocks of the part are all there, and have their checks.
bool is_sound(os::File file, const RankPart& part);

}  // namespace timeloom::packed
