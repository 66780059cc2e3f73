#include "view/answers/range_table.hpp"

#include <algorithm>

#include "core/regions/called_region.hpp"
#include "view/answers/calls.hpp"
#include "view/index/cursor.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

namespace {

class TrackRange {
 public:
  TrackRange(const Track& track, std::uint64_t from, std::uint64_t to, std::vector<RangeSum>& sums)
      : track_(track), from_(from), to_(to), sums_(sums) {}

  void add() {
    const std::uint32_t first = track_.block_before(from_);
    const std::uint32_t last = track_.block_before(to_);
    Cursor cursor(track_, first);
    read(cursor);
    if (first == last) return finish(cursor);
    std::uint32_t next = first + 1;
    for (const std::uint32_t block : blocks_to_read(cursor.open(), next, last)) {
      add_blocks(next, block);
      Cursor inside(track_, block);
      read(inside);
      if (block == last) finish(inside);
      next = block + 1;
    }
  }
  bool found() const noexcept { return found_; }

 private:
  RangeSum& sum_of(std::uint32_t node) { return sums_[track_.nodes()[node].path]; }

  // The blocks in which calls end that were open at the start of the range, and the last one.
  std::vector<std::uint32_t> blocks_to_read(const std::vector<Frame>& open, std::uint32_t next,
                                            std::uint32_t last) const {
    std::vector<std::uint32_t> blocks;
    std::uint32_t end = next;
    for (auto depth = static_cast<std::uint32_t>(open.size()); depth-- > 0;) {
      if (open[depth].begin >= from_) continue;
      end = track_.end_block(end, depth);  // a caller ends there or later
      if (end >= last) break;
      if (blocks.empty() || blocks.back() != end) blocks.push_back(end);
    }
    blocks.push_back(last);
    return blocks;
  }

  void add_blocks(std::uint32_t from, std::uint32_t to) {
    Track::decompose(from, to, [&](unsigned level, std::uint32_t index) {
      track_.sums_of(level, index, [&](std::uint32_t node, const PathSum& part) {
        found_ = true;
        RangeSum& sum = sum_of(node);
        sum.own += part.own;
        sum.waiting += part.waiting;
        add_causes(sum.causes, part.causes);
        sum.visits += part.leaves;
        if (part.leaves == 0) return;
        sum.min = std::min(sum.min, part.min);
        sum.max = std::max(sum.max, part.max);
      });
    });
  }

  // Takes the events of the block up to the end of the range, and the time until the next block.
  void read(Cursor& cursor) {
    std::uint64_t time = cursor.time();
    std::uint32_t inner = cursor.open().empty() ? kNone : cursor.open().back().node;
    ended_ = false;
    while (cursor.next()) {
      book(inner, time, cursor.time());
      if (cursor.is_waiting()) wait(inner, cursor.waited());
      time = cursor.time();
      if (time >= to_) {
        ended_ = true;
        return;
      }
      if (cursor.token() == Token::kLeave) count(cursor.frame(), time);
      inner = cursor.open().empty() ? kNone : cursor.open().back().node;
    }
    if (cursor.block() + 1 < track_.blocks().size()) {
      book(inner, time, track_.blocks()[cursor.block() + 1].time);
    }
  }
  void book(std::uint32_t node, std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, from_);
    end = std::min(end, to_);
    if (node != kNone && begin < end) sum_of(node).own += end - begin;
  }
  void wait(std::uint32_t node, const Waited& waited) {
    if (node == kNone || waited.end <= from_ || waited.begin >= to_) return;
    const CauseTicks ticks = waited.in(from_, to_);
    RangeSum& sum = sum_of(node);
    sum.waiting += total(ticks);
    add_causes(sum.causes, ticks);
  }
  void count(const Frame& frame, std::uint64_t end) {
    if (!is_in(frame.begin, end, from_, to_)) return;
    found_ = true;
    RangeSum& sum = sum_of(frame.node);
    const std::uint64_t duration = std::min(end, to_) - std::max(frame.begin, from_);
    ++sum.visits;
    if (frame.begin < from_) ++sum.cut_begin;
    sum.min = std::min(sum.min, duration);
    sum.max = std::max(sum.max, duration);
  }

  // Counts the calls that are open at the end of the range.
  void finish(Cursor& cursor) {
    std::vector<Frame> open = cursor.open();
    if (ended_ && cursor.token() == Token::kLeave) open.push_back(cursor.frame());
    if (ended_ && cursor.token() == Token::kEnter) open.pop_back();
    // Calls that end exactly with the range do not continue after it.
    std::size_t going_on = open.size();
    for (bool more = ended_ || cursor.next_of_track(); more && cursor.time() == to_;
         more = cursor.next_of_track()) {
      going_on = std::min(going_on, cursor.open().size());
    }
    for (std::size_t depth = 0; depth < open.size(); ++depth) {
      count(open[depth], to_);
      if (depth < going_on) ++sum_of(open[depth].node).cut_end;
    }
  }

  const Track& track_;
  std::uint64_t from_, to_;
  std::vector<RangeSum>& sums_;
  bool found_ = false;
  bool ended_ = false;  // the event read last lies behind the range
};

}  // namespace

bool add_range(const Track& track, std::uint64_t from, std::uint64_t to,
               std::vector<RangeSum>& sums) {
  const TrackRecord& record = track.record();
  if (track.blocks().empty() || from >= to || from > record.end || to <= record.begin) return false;
  TrackRange range(track, from, to, sums);
  range.add();
  return range.found();
}

RangeSum counted(RangeSum sum, const Definitions& definitions, std::uint32_t region) {
  if (region >= definitions.regions.size() || is_called(definitions.regions[region])) return sum;
  return {.own = sum.own,
          .waiting = sum.waiting,
          .causes = sum.causes,
          .inclusive = sum.inclusive,
          .min = 0};
}

RangeTable range_table(const Index& index, std::span<const std::uint32_t> tracks,
                       std::uint64_t from, std::uint64_t to) {
  RangeTable table;
  table.sums.resize(index.paths().size());
  for (const std::uint32_t number : tracks) {
    const TrackRecord& record = index.tracks()[number];
    if (record.block_count == 0 || from > record.end || to <= record.begin) continue;
    if (add_range(*index.track(number), from, to, table.sums)) ++table.tracks;
  }
  for (std::size_t i = table.sums.size(); i-- > 0;) {
    RangeSum& sum = table.sums[i];
    sum.inclusive += sum.own;
    const std::uint32_t parent = index.paths()[i].parent;
    if (parent != kNone) table.sums[parent].inclusive += sum.inclusive;
  }
  return table;
}

}  // namespace timeloom::view
