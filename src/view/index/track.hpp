// One track of an index: its tables in memory; everything else is read from the file on demand.
//
// Any thread may use a const object. The file outlives it. Throws Error where the file is damaged.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "view/index/index_bytes.hpp"
#include "view/index/index_file.hpp"
#include "view/index/index_format.hpp"
#include "view/index/path_sums.hpp"

namespace timeloom::view {

// An open call.
struct Frame {
  std::uint64_t begin = 0;
  std::uint32_t node = kNone;
  std::uint32_t region = kNone;
};

// A call path of a track.
struct Node {
  std::uint32_t path = kNone;
  std::uint32_t parent = kNone;
  std::uint32_t region = kNone;  // kNone: beyond the limit; its calls carry their own regions
};

class Track {
 public:
  // Reads and checks the tables of a track.
  static std::shared_ptr<const Track> load(const IndexFile& file, const TrackRecord& record,
                                           std::span<const PathRecord> paths);
  // A track that is being written: without groups and tiles.
  Track(const IndexFile& file, const TrackRecord& record, std::vector<Node> nodes,
        std::vector<BlockRecord> blocks);

  const IndexFile& file() const noexcept { return *file_; }
  const TrackRecord& record() const noexcept { return record_; }
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const std::vector<BlockRecord>& blocks() const noexcept { return blocks_; }
  const std::vector<GroupRecord>& groups() const noexcept { return groups_; }
  const std::vector<TileRecord>& tiles() const noexcept { return tiles_; }
  std::size_t memory() const noexcept;  // bytes, approximately

  // For the writer: groups in the order of the file.
  void add_group(const GroupRecord& group) { groups_.push_back(group); }
  void set_tiles(std::vector<TileRecord> tiles) { tiles_ = std::move(tiles); }

  // Reads all its data in the file, unless cancelled meanwhile.
  void check_all(const std::atomic<bool>& cancelled) const;

  // The last block that starts before `time`, otherwise the first. REQUIRES: there are blocks.
  std::uint32_t block_before(std::uint64_t time) const noexcept;
  // The number of blocks that start in [from, to).
  std::uint32_t blocks_in(std::uint64_t from, std::uint64_t to) const noexcept;
  // The first block from `block` on in which fewer than depth + 1 calls are open at some time:
  // there the call ends that is open at this depth at the start of `block`. The number of blocks:
  // none.
  std::uint32_t end_block(std::uint32_t block, std::uint32_t depth) const noexcept;

  // The calls that are open at the start of a block, outermost first.
  std::vector<Frame> frames_at(std::uint32_t block) const;
  // Reads the operands of an enter at time `begin`.
  Frame read_enter(ByteReader& in, const std::vector<Frame>& open, std::uint64_t time) const {
    const std::uint32_t ordinal = in.varint32();
    Frame frame{time, child(open.empty() ? kNone : open.back().node, ordinal), kNone};
    frame.region = nodes_[frame.node].region;
    if (frame.region == kNone) frame.region = in.varint32();
    return frame;
  }

  // Calls take(node, sum) for the sums of block `index` (level 0) or a group of blocks.
  template <typename Take>
  void sums_of(unsigned level, std::uint32_t index, Take&& take) const {
    Words words;
    const std::uint64_t bytes = read_sums(level, index, words);
    read_list(ByteReader(bytes_of(words), bytes), nodes_.size(), take);
  }
  // Calls take(level, index) for the fewest groups and blocks that cover [from, to).
  template <typename Take>
  static void decompose(std::uint32_t from, std::uint32_t to, Take&& take) {
    while (from < to) {
      unsigned level = 0;
      std::uint64_t size = 1;
      while (from % (size * kGroupSize) == 0 && from + size * kGroupSize <= to) {
        size *= kGroupSize;
        ++level;
      }
      take(level, static_cast<std::uint32_t>(from / size));
      from += static_cast<std::uint32_t>(size);
    }
  }
  // The number of groups of a level above 0.
  static std::uint32_t groups_of_level(std::uint32_t blocks, unsigned level) noexcept;
  static std::uint32_t all_groups(std::uint32_t blocks) noexcept;

 private:
  std::uint32_t child(std::uint32_t node, std::uint32_t ordinal) const {
    if (node != kNone && nodes_[node].region == kNone) {
      if (ordinal != 0) damaged();
      return node;
    }
    const std::size_t slot = node == kNone ? 0 : std::size_t{node} + 1;
    if (ordinal >= first_child_[slot + 1] - first_child_[slot]) damaged();
    return children_[first_child_[slot] + ordinal];
  }
  void link();
  void check() const;
  std::uint64_t read_sums(unsigned level, std::uint32_t index, Words& words) const;

  const IndexFile* file_;
  TrackRecord record_;
  std::vector<Node> nodes_;
  std::vector<BlockRecord> blocks_;
  std::vector<GroupRecord> groups_;
  std::vector<TileRecord> tiles_;
  std::vector<std::uint32_t> first_child_;  // by node + 1; 0: the roots
  std::vector<std::uint32_t> children_;
  std::vector<std::vector<std::uint32_t>> lows_;  // of 16, 256, ... blocks: the fewest open calls
};

}  // namespace timeloom::view
