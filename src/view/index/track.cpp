#include "view/index/track.hpp"

#include <algorithm>

namespace timeloom::view {

namespace {

std::uint64_t table_bytes(const TrackRecord& record) noexcept {
  return std::uint64_t{record.node_count} * sizeof(NodeRecord) +
         std::uint64_t{record.block_count} * sizeof(BlockRecord) +
         std::uint64_t{record.group_count} * sizeof(GroupRecord) +
         std::uint64_t{record.tile_count} * sizeof(TileRecord);
}

std::vector<Node> nodes_of(const std::vector<NodeRecord>& records,
                           std::span<const PathRecord> paths) {
  std::vector<Node> nodes;
  nodes.reserve(records.size());
  for (const NodeRecord& record : records) {
    const bool sound =
        record.path < paths.size() && (record.parent == kNone || record.parent < nodes.size());
    if (!sound) damaged();
    nodes.push_back({record.path, record.parent, paths[record.path].region});
  }
  return nodes;
}

}  // namespace

std::shared_ptr<const Track> Track::load(const IndexFile& file, const TrackRecord& record,
                                         std::span<const PathRecord> paths) {
  Words words;
  file.read(record.tables_offset, table_bytes(record), record.check, words);
  std::uint64_t at = 0;
  const auto take = [&]<typename Record>(std::vector<Record>& to, std::uint32_t count) {
    to = records_in<Record>(words, at, count);
    at += std::uint64_t{count} * sizeof(Record);
  };
  std::vector<NodeRecord> nodes;
  std::vector<BlockRecord> blocks;
  take(nodes, record.node_count);
  take(blocks, record.block_count);
  auto track = std::make_shared<Track>(file, record, nodes_of(nodes, paths), std::move(blocks));
  take(track->groups_, record.group_count);
  take(track->tiles_, record.tile_count);
  track->check();
  return track;
}

Track::Track(const IndexFile& file, const TrackRecord& record, std::vector<Node> nodes,
             std::vector<BlockRecord> blocks)
    : file_(&file), record_(record), nodes_(std::move(nodes)), blocks_(std::move(blocks)) {
  link();
}

// Links children in the order of the nodes, and computes the fewest open calls of many blocks.
void Track::link() {
  const auto slot_of = [](const Node& node) {
    return node.parent == kNone ? 0 : std::size_t{node.parent} + 1;
  };
  first_child_.assign(nodes_.size() + 2, 0);
  for (const Node& node : nodes_) ++first_child_[slot_of(node) + 1];
  for (std::size_t i = 1; i < first_child_.size(); ++i) first_child_[i] += first_child_[i - 1];
  std::vector<std::uint32_t> next(first_child_.begin(), first_child_.end());
  children_.resize(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) children_[next[slot_of(nodes_[i])]++] = i;

  std::vector<std::uint32_t> lows;
  for (const BlockRecord& block : blocks_) lows.push_back(block.low);
  while (lows.size() > kGroupSize) {
    std::vector<std::uint32_t> above((lows.size() + kGroupSize - 1) / kGroupSize, UINT32_MAX);
    for (std::size_t i = 0; i < lows.size(); ++i) {
      above[i / kGroupSize] = std::min(above[i / kGroupSize], lows[i]);
    }
    lows_.push_back(above);
    lows = std::move(above);
  }
}

void Track::check() const {
  if (record_.group_count != all_groups(record_.block_count)) damaged();
  std::uint64_t last = 0;
  for (const BlockRecord& block : blocks_) {
    if (block.time < last || block.time > kLastTime || block.low > block.depth) damaged();
    last = block.time;
  }
  const auto before = [](const TileRecord& a, const TileRecord& b) {
    return a.level != b.level ? a.level < b.level : a.index < b.index;
  };
  if (!std::ranges::is_sorted(tiles_, before)) damaged();
}

void Track::check_all(const std::atomic<bool>& cancelled) const {
  Words words;
  for (const BlockRecord& block : blocks_) {
    if (cancelled.load(std::memory_order_relaxed)) return;
    const std::uint64_t tokens = block.offset + padded(block.frame_bytes);
    file_->read(block.offset, block.frame_bytes, block.frame_check, words);
    file_->read(tokens, block.token_bytes, block.token_check, words);
    file_->read(tokens + padded(block.token_bytes), block.list_bytes, block.list_check, words);
  }
  for (const GroupRecord& group : groups_) {
    file_->read(group.offset, group.bytes, group.check, words);
  }
  for (const TileRecord& tile : tiles_) file_->read(tile.offset, tile.bytes, tile.check, words);
}

std::size_t Track::memory() const noexcept {
  return sizeof *this + nodes_.size() * (sizeof(Node) + 2 * sizeof(std::uint32_t)) +
         blocks_.size() * (sizeof(BlockRecord) + sizeof(std::uint32_t)) +
         groups_.size() * sizeof(GroupRecord) + tiles_.size() * sizeof(TileRecord);
}

std::uint32_t Track::block_before(std::uint64_t time) const noexcept {
  const auto found = std::ranges::lower_bound(blocks_, time, {}, &BlockRecord::time);
  return found == blocks_.begin() ? 0 : static_cast<std::uint32_t>(found - blocks_.begin() - 1);
}

std::uint32_t Track::blocks_in(std::uint64_t from, std::uint64_t to) const noexcept {
  const auto first = std::ranges::lower_bound(blocks_, from, {}, &BlockRecord::time);
  const auto last = std::ranges::lower_bound(blocks_, to, {}, &BlockRecord::time);
  return first < last ? static_cast<std::uint32_t>(last - first) : 0;
}

std::uint32_t Track::end_block(std::uint32_t block, std::uint32_t depth) const noexcept {
  const auto count = static_cast<std::uint32_t>(blocks_.size());
  while (block < count) {
    // Groups without such a block are skipped, starting with the largest one here.
    std::uint64_t size = 1, skip = 0;
    for (const std::vector<std::uint32_t>& lows : lows_) {
      size *= kGroupSize;
      if (block % size != 0 || lows[block / size] <= depth) break;
      skip = size;
    }
    if (skip == 0) {
      if (blocks_[block].low <= depth) return block;
      skip = 1;
    }
    block = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, block + skip));
  }
  return count;
}

std::vector<Frame> Track::frames_at(std::uint32_t block) const {
  std::vector<std::uint32_t> chain;
  for (; block != 0; block &= block - 1) chain.push_back(block);
  std::vector<Frame> open;
  Words words;
  for (; !chain.empty(); chain.pop_back()) {
    const BlockRecord& record = blocks_[chain.back()];
    file_->read(record.offset, record.frame_bytes, record.frame_check, words);
    ByteReader in(bytes_of(words), record.frame_bytes);
    const std::uint64_t kept = in.varint();
    if (kept > open.size()) damaged();
    open.resize(kept);
    while (!in.at_end()) {
      const std::uint64_t begin = (open.empty() ? 0 : open.back().begin) + in.varint();
      if (begin > record.time) damaged();
      open.push_back(read_enter(in, open, begin));
    }
    if (open.size() != record.depth) damaged();
  }
  return open;
}

std::uint32_t Track::groups_of_level(std::uint32_t blocks, unsigned level) noexcept {
  for (; level > 0; --level) blocks /= kGroupSize;
  return blocks;
}

std::uint32_t Track::all_groups(std::uint32_t blocks) noexcept {
  std::uint32_t count = 0;
  while (blocks >= kGroupSize) count += blocks /= kGroupSize;
  return count;
}

std::uint64_t Track::read_sums(unsigned level, std::uint32_t index, Words& words) const {
  if (level == 0) {
    const BlockRecord& block = blocks_[index];
    const std::uint64_t offset =
        block.offset + padded(block.frame_bytes) + padded(block.token_bytes);
    file_->read(offset, block.list_bytes, block.list_check, words);
    return block.list_bytes;
  }
  std::uint32_t at = index;
  const auto count = static_cast<std::uint32_t>(blocks_.size());
  for (unsigned below = 1; below < level; ++below) at += groups_of_level(count, below);
  const GroupRecord& group = groups_[at];
  file_->read(group.offset, group.bytes, group.check, words);
  return group.bytes;
}

}  // namespace timeloom::view
