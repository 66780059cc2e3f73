#include "view/index/track_writer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/memory/memory_attributes.hpp"
#include "view/index/tile.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kFlushAt = 256 << 10;
constexpr std::size_t kMostHeldCalls = 16 << 10;

void append_padded(std::string& to, std::string_view bytes) {
  to += bytes;
  to.resize(padded(to.size()));
}

}  // namespace

TrackWriter::TrackWriter(const Location& location, const Definitions& definitions,
                         const RegionCauses& causes, RunPaths& paths, IndexFile& file)
    : definitions_(definitions),
      causes_(causes),
      paths_(paths),
      file_(file),
      name_(display_name(location)),
      waiting_is_known_(std::ranges::any_of(definitions.metrics, &Metric::is_waiting)),
      causes_are_known_(has_causes(definitions)) {
  record_.location = location.id.value();
}

void TrackWriter::fail(const char* what) const {
  throw Error("the events of location '" + name_ + "' " + what + " [TL322]");
}

void TrackWriter::consume(std::span<const Event> events) {
  for (const Event& event : events) take(event);
}

// The waiting time of a thread is recorded with the enter or leave at its end, so the events in
// between are held until then.
void TrackWriter::take(const Event& event) {
  if (event.kind == EventKind::kWaiting) {
    const std::uint64_t ticks =
        scaled(event.value, definitions_.clock.ticks_per_second, kNanoseconds);
    std::uint64_t& sum = waited_[event.ref < kWaitingCauses && causes_are_known_ ? event.ref : 0];
    sum += std::min(ticks, UINT64_MAX - sum);
    return;
  }
  if (!keeps(event)) return;
  if (!waiting_is_known_) return add(event);
  if (event.kind != EventKind::kEnter && event.kind != EventKind::kLeave) {
    held_.push_back(event);
    if (held_.size() == kMostHeldCalls) add_held();
    return;
  }
  begin_gap(time_of(event));
  add_held();
  add(event);
  gap_ = {};
}

// The causes as `timeloom report` has them, which also knows some by the name of the function.
void TrackWriter::begin_gap(std::uint64_t end) {
  CauseTicks waited{};
  std::uint64_t left = end - last_;
  const bool named = causes_are_known_ && !open_.empty();
  for (std::uint32_t i = 0; i < kWaitingCauses; ++i) {
    const std::uint64_t part = std::min(std::exchange(waited_[i], 0), left);
    if (part == 0) continue;
    left -= part;
    const std::uint32_t cause =
        named ? static_cast<std::uint32_t>(causes_.in(open_.back().region, WaitingCause{i})) : i;
    waited[cause] += part;
  }
  gap_ = {last_, end, waited};
}

void TrackWriter::add_held() {
  for (const Event& event : held_) add(event);
  held_.clear();
}

std::uint64_t TrackWriter::time_of(const Event& event) const {
  const std::uint64_t time = ticks(event.time), begin = definitions_.clock.begin;
  return std::max(last_, std::min(time > begin ? time - begin : 0, kLastTime));
}

// False for the bytes that calls have read, written or allocated, and for teams, of which the page
// shows the regions.
bool TrackWriter::keeps(const Event& event) {
  if (is_io(event.kind) || is_of_team(event.kind) || is_memory_attribute(event)) return false;
  if (event.kind != EventKind::kMetric) return true;
  if (event.ref >= definitions_.metrics.size()) return false;
  return !definitions_.metrics[event.ref].sampled() || has_changed(event);
}

// False for most of the values that come with every event, because they are unchanged.
bool TrackWriter::has_changed(const Event& event) {
  if (sampled_.size() <= event.ref) sampled_.resize(event.ref + std::size_t{1});
  return std::exchange(sampled_[event.ref], event.value) != event.value;
}

void TrackWriter::add(const Event& event) {
  const std::uint64_t time = time_of(event);
  if (blocks_.empty()) {
    record_.begin = last_ = time;
    begin_block(time);
  } else {
    pass(time);
    if (blocks_.back().events == kBlockEvents) {
      end_block();
      begin_block(time);
    }
  }
  switch (event.kind) {
    case EventKind::kEnter: enter(event.ref, time); break;
    case EventKind::kLeave: leave(event.ref, time); break;
    default: other(event);
  }
  ++blocks_.back().events;
  ++record_.events;
}

// The time since the last event belongs to the innermost call.
void TrackWriter::pass(std::uint64_t until) {
  if (until <= last_ || open_.empty()) return;
  PathSum& sum = sums_.of(open_.back().node);
  sum.own += until - last_;
  const CauseTicks waited = gap_.in(last_, until);
  sum.add_waiting(waited);
  for (std::uint32_t i = 0; i < kWaitingCauses; ++i) {
    if (waited[i] > 0) append_other(until, {{}, EventKind::kWaiting, i, waited[i]});
  }
}

void TrackWriter::head(std::uint64_t time, unsigned kind) {
  append_varint(tokens_, (time - last_) << 2 | kind);
  last_ = time;
}

void TrackWriter::append_enter(std::string& to, const Frame& frame) const {
  const NodeState& state = nodes_[frame.node];
  append_varint(to, state.ordinal);
  if (state.node.region == kNone) append_varint(to, frame.region);
}

void TrackWriter::enter(std::uint32_t region, std::uint64_t time) {
  if (region >= definitions_.regions.size()) fail("enter a region that is undefined");
  const std::uint32_t parent = open_.empty() ? kNone : open_.back().node;
  const Frame frame{time, child_of(parent, region), region};
  head(time, 0);
  if (frame.node == parent) {
    append_varint(tokens_, 0);  // beyond the limit
    append_varint(tokens_, region);
  } else {
    append_enter(tokens_, frame);
  }
  ++sums_.of(frame.node).enters;
  open_.push_back(frame);
  record_.depth = std::max(record_.depth, static_cast<std::uint32_t>(open_.size()));
}

void TrackWriter::leave(std::uint32_t region, std::uint64_t time) {
  if (open_.empty() || open_.back().region != region) fail("do not balance");
  const Frame frame = open_.back();
  open_.pop_back();
  head(time, 1);
  sums_.of(frame.node).add_leave(time - frame.begin);
  low_ = std::min(low_, static_cast<std::uint32_t>(open_.size()));
}

void TrackWriter::other(const Event& event) {
  const bool off = event.kind == EventKind::kRecordingOff;
  if (off || event.kind == EventKind::kRecordingOn) {
    // A repeated switch has no effect.
    if (off != off_) {
      head(time_of(event), 3);
      off_ = off;
      return;
    }
  }
  append_other(time_of(event), event);
}

void TrackWriter::append_other(std::uint64_t time, const Event& event) {
  head(time, 2);
  append_varint(tokens_, static_cast<std::uint64_t>(event.kind));
  append_varint(tokens_, event.ref);
  append_varint(tokens_, event.value);
}

std::uint32_t TrackWriter::child_of(std::uint32_t node, std::uint32_t region) {
  if (node != kNone && nodes_[node].node.region == kNone) return node;
  const std::uint32_t key = node + 1;  // kNone + 1 is 0
  const std::uint32_t found = children_.find(key, region);
  if (found != ChildTable::kNone) return found;
  // Many regions beyond the limit share one node.
  const std::uint32_t rest = children_.find(key, kNone);
  if (rest != ChildTable::kNone) return rest;
  const std::uint32_t path = paths_.child(node == kNone ? kNone : nodes_[node].node.path, region);
  const bool beyond = paths_.is_beyond(path);
  const auto child = static_cast<std::uint32_t>(nodes_.size());
  children_.insert(key, beyond ? kNone : region, child);
  std::uint32_t& siblings = node == kNone ? roots_ : nodes_[node].children;
  const std::uint32_t ordinal = siblings++;
  nodes_.push_back({{path, node, beyond ? kNone : region}, ordinal, 0});
  sums_.grow(nodes_.size());
  return child;
}

void TrackWriter::begin_block(std::uint64_t time) {
  const auto number = static_cast<std::uint32_t>(blocks_.size());
  const auto depth = static_cast<std::uint32_t>(open_.size());
  const int zeros = number == 0 ? 31 : std::countr_zero(number);
  const std::uint32_t kept =
      number == 0 ? 0 : std::min(lows_[static_cast<std::size_t>(zeros)], depth);
  frames_.clear();
  append_varint(frames_, kept);
  for (std::uint32_t i = kept; i < depth; ++i) {
    append_varint(frames_, open_[i].begin - (i == 0 ? 0 : open_[i - 1].begin));
    if (i > 0 && open_[i].node == open_[i - 1].node) {
      append_varint(frames_, 0);
      append_varint(frames_, open_[i].region);
    } else {
      append_enter(frames_, open_[i]);
    }
  }
  std::fill_n(lows_.begin(), zeros + 1, depth);
  low_ = depth;
  BlockRecord block;
  block.time = time;
  block.depth = depth;
  block.off = off_ ? 1 : 0;
  blocks_.push_back(block);
  last_ = time;
}

void TrackWriter::end_block() {
  for (std::uint32_t& low : lows_) low = std::min(low, low_);
  std::string list;
  sums_.write(list);
  sums_.clear();
  BlockRecord& block = blocks_.back();
  block.low = low_;
  block.offset = pending_.size();  // relative; flush() adds the start
  block.frame_bytes = static_cast<std::uint32_t>(frames_.size());
  block.token_bytes = static_cast<std::uint32_t>(tokens_.size());
  block.list_bytes = static_cast<std::uint32_t>(list.size());
  block.frame_check = check_of_bytes(frames_);
  block.token_check = check_of_bytes(tokens_);
  block.list_check = check_of_bytes(list);
  append_padded(pending_, frames_);
  append_padded(pending_, tokens_);
  append_padded(pending_, list);
  tokens_.clear();
  if (pending_.size() >= kFlushAt) flush();
}

void TrackWriter::flush() {
  if (pending_.empty()) return;
  const std::uint64_t begin = file_.append(pending_);
  for (; first_pending_ < blocks_.size(); ++first_pending_) blocks_[first_pending_].offset += begin;
  pending_.clear();
}

TrackRecord TrackWriter::finish() {
  add_held();
  if (!open_.empty()) fail("do not balance");
  if (!blocks_.empty()) end_block();
  flush();
  record_.end = last_;
  std::vector<Node> nodes;
  for (const NodeState& state : nodes_) nodes.push_back(state.node);
  Track track(file_, record_, std::move(nodes), std::move(blocks_));
  write_groups(track);
  track.set_tiles(write_tiles(track, file_));
  return write_tables(track);
}

void TrackWriter::write_groups(Track& track) {
  const auto blocks = static_cast<std::uint32_t>(track.blocks().size());
  std::string list;
  for (unsigned level = 1; Track::groups_of_level(blocks, level) > 0; ++level) {
    for (std::uint32_t i = 0; i < Track::groups_of_level(blocks, level); ++i) {
      for (std::uint32_t part = 0; part < kGroupSize; ++part) {
        track.sums_of(level - 1, i * kGroupSize + part,
                      [&](std::uint32_t node, const PathSum& sum) { sums_.of(node).add(sum); });
      }
      list.clear();
      sums_.write(list);
      sums_.clear();
      track.add_group(
          {file_.append(list), static_cast<std::uint32_t>(list.size()), check_of_bytes(list)});
    }
  }
}

TrackRecord TrackWriter::write_tables(const Track& track) {
  TrackRecord record = record_;
  std::string tables;
  std::vector<NodeRecord> nodes;
  for (const Node& node : track.nodes()) nodes.push_back({node.path, node.parent});
  tables += record_bytes(nodes.data(), nodes.size());
  tables += record_bytes(track.blocks().data(), track.blocks().size());
  tables += record_bytes(track.groups().data(), track.groups().size());
  tables += record_bytes(track.tiles().data(), track.tiles().size());
  record.node_count = static_cast<std::uint32_t>(nodes.size());
  record.block_count = static_cast<std::uint32_t>(track.blocks().size());
  record.group_count = static_cast<std::uint32_t>(track.groups().size());
  record.tile_count = static_cast<std::uint32_t>(track.tiles().size());
  record.check = check_of_bytes(tables);
  record.tables_offset = file_.append(tables);
  return record;
}

}  // namespace timeloom::view
