// The records of an index file. docs/formats/view-index.md draws them.
//
// Plain values, as in the file: little-endian, with every table at a multiple of 8 bytes. Readers
// must check a record before they use it.
#pragma once

#include <bit>
#include <cstdint>

namespace timeloom::view {

static_assert(std::endian::native == std::endian::little, "records are copied as they are");

inline constexpr std::uint64_t kMagic = 0x0a57454956'4c54;  // "TLVIEW\n"
inline constexpr std::uint32_t kVersion = 4;

inline constexpr std::uint32_t kNone = UINT32_MAX;
// Times are ticks since the start of the run; a double represents all of them exactly.
inline constexpr std::uint64_t kLastTime = (std::uint64_t{1} << 53) - 1;
inline constexpr std::uint32_t kBlockEvents = 4096;
inline constexpr std::uint32_t kGroupSize =
    16;  // blocks in a group, groups in one of the next level

struct Header {
  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t path_count = 0;
  std::uint64_t source = 0;  // the identity of the archive
  std::uint64_t size = 0;    // of the file
  std::uint64_t events = 0;
  std::uint64_t paths_offset = 0;       // PathRecord[path_count]
  std::uint64_t tracks_offset = 0;      // TrackRecord[track_count]
  std::uint64_t properties_offset = 0;  // texts, each ended by a zero byte: name, value, name, ...
  std::uint64_t properties_bytes = 0;
  std::uint32_t track_count = 0;
  std::uint32_t tables_check = 0;  // of the paths, tracks and properties
  std::uint32_t check = 0;         // of this record, with 0 here
  std::uint32_t unused = 0;
};
static_assert(sizeof(Header) == 88);

struct PathRecord {
  std::uint32_t parent = kNone;  // a smaller number, or kNone: a root
  std::uint32_t region = kNone;  // kNone: the call paths beyond the limit
};

// A track: its tables follow each other in the order of their counts.
struct TrackRecord {
  std::uint64_t location = 0;
  std::uint64_t events = 0;
  std::uint64_t begin = 0;  // time of its first event
  std::uint64_t end = 0;    // of its last
  std::uint64_t tables_offset = 0;
  std::uint32_t node_count = 0;   // NodeRecord
  std::uint32_t block_count = 0;  // BlockRecord
  std::uint32_t group_count = 0;  // GroupRecord, by levels
  std::uint32_t tile_count = 0;   // TileRecord
  std::uint32_t depth = 0;        // calls that were open at once, at most
  std::uint32_t check = 0;        // of the tables
};
static_assert(sizeof(TrackRecord) == 64);

// A call path of a track, in the order of first visits.
struct NodeRecord {
  std::uint32_t path = 0;        // of the run
  std::uint32_t parent = kNone;  // a node
};

// Some thousand events: three parts, each padded to 8 bytes.
// frames   varint: how many of the calls open at its start were open without a break since the
//          start of block b & (b - 1), where b is the number of this one; then the others,
//          outermost first: varint ticks since the start of the one around it (or since 0), and
//          the operands of an enter
// tokens   the events, see cursor.hpp
// list     the sums, see path_sums.hpp
struct BlockRecord {
  std::uint64_t offset = 0;
  std::uint64_t time = 0;   // of its first event
  std::uint32_t depth = 0;  // calls open at its start
  std::uint32_t low = 0;    // the fewest open calls in it, including its start
  std::uint32_t events = 0;
  std::uint32_t frame_bytes = 0;  // without the padding, like the following sizes
  std::uint32_t token_bytes = 0;
  std::uint32_t list_bytes = 0;
  std::uint32_t frame_check = 0;
  std::uint32_t token_check = 0;
  std::uint32_t list_check = 0;
  std::uint32_t off = 0;  // 1: recording is off at its start
};
static_assert(sizeof(BlockRecord) == 56);

// The sums of kGroupSize blocks, or groups of the level below; only full groups exist.
struct GroupRecord {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t check = 0;
};

// A tile with too many events to be drawn from them, see tile.hpp.
struct TileRecord {
  std::uint64_t index = 0;
  std::uint64_t offset = 0;
  std::uint32_t level = 0;
  std::uint32_t bytes = 0;
  std::uint32_t check = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(TileRecord) == 32);

constexpr std::uint64_t padded(std::uint64_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

}  // namespace timeloom::view
