#include "view/answers/find.hpp"

#include <algorithm>
#include <unordered_set>

namespace timeloom::view {

namespace {

using Regions = std::unordered_set<std::uint32_t>;

// True if `a` comes before `b` in an answer. The order of calls that are equal in all of this does
// not matter.
struct Before {
  FindOrder order;

  bool operator()(const FoundCall& a, const FoundCall& b) const noexcept {
    if (order == FindOrder::kLatest) return earlier(b, a);
    if (order == FindOrder::kEarliest) return earlier(a, b);
    const std::uint64_t one = a.call.end - a.call.begin, other = b.call.end - b.call.begin;
    return one != other ? one > other : earlier(a, b);
  }
  static bool earlier(const FoundCall& a, const FoundCall& b) noexcept {
    if (a.call.begin != b.call.begin) return a.call.begin < b.call.begin;
    if (a.track != b.track) return a.track < b.track;
    if (a.call.depth != b.call.depth) return a.call.depth < b.call.depth;
    if (a.call.end != b.call.end) return a.call.end < b.call.end;
    return a.call.region < b.call.region;
  }
};

// The best calls so far, `limit` at most.
class Best {
 public:
  Best(FindOrder order, std::size_t limit) : before_{order}, limit_(limit) {}

  bool full() const noexcept { return calls_.size() == limit_; }
  const FoundCall& worst() const noexcept { return calls_.front(); }
  void add(const FoundCall& call) {
    // A heap with the worst on top.
    if (full()) {
      left_out_ = true;
      if (!before_(call, worst())) return;
      std::ranges::pop_heap(calls_, before_);
      calls_.pop_back();
    }
    calls_.push_back(call);
    std::ranges::push_heap(calls_, before_);
  }
  // Notes that there may be more calls.
  void leave_out() noexcept { left_out_ = true; }
  FindAnswer take() {
    std::ranges::sort(calls_, before_);
    return {std::move(calls_), !left_out_};
  }

 private:
  Before before_;
  std::size_t limit_;
  std::vector<FoundCall> calls_;
  bool left_out_ = false;
};

class TrackSearch {
 public:
  TrackSearch(const Track& track, std::uint32_t number, const FindQuestion& question,
              const Regions& regions, Best& best)
      : track_(track), number_(number), question_(question), regions_(regions), best_(best) {
    for (const Node& node : track.nodes()) {
      // Calls beyond the limit of call paths may have any region.
      wanted_.push_back(node.region == kNone || is_wanted(node.region));
      any_ = any_ || wanted_.back();
    }
  }

  void search() {
    if (!any_) return;
    const std::uint32_t first = track_.block_before(question_.from);
    const std::uint32_t last = track_.block_before(question_.to) + 1;
    std::vector<std::pair<unsigned, std::uint32_t>> parts;
    Track::decompose(first, last, [&](unsigned level, std::uint32_t index) {
      parts.emplace_back(level, index);
    });
    if (question_.order == FindOrder::kLatest) std::ranges::reverse(parts);
    for (const auto& [level, index] : parts) search_group(level, index);
  }

 private:
  bool is_wanted(std::uint32_t region) const {
    return regions_.empty() || regions_.contains(region);
  }

  static std::uint32_t first_block(unsigned level, std::uint32_t index) noexcept {
    return index << (4 * level);
  }
  // True if no call that starts in these blocks can be better than the present results.
  bool is_too_late(std::uint32_t first, std::uint32_t end) const {
    if (!best_.full()) return false;
    const std::uint64_t worst = best_.worst().call.begin;
    if (question_.order == FindOrder::kEarliest) return track_.blocks()[first].time > worst;
    if (question_.order == FindOrder::kLongest) return false;
    return end < track_.blocks().size() && track_.blocks()[end].time < worst;
  }

  void search_group(unsigned level, std::uint32_t index) {
    const std::uint32_t first = first_block(level, index);
    const std::uint32_t end = first_block(level, index + 1);
    bool begins = false;
    std::uint64_t longest = 0;
    track_.sums_of(level, index, [&](std::uint32_t node, const PathSum& sum) {
      if (!wanted_[node]) return;
      begins = begins || sum.enters > 0;
      if (sum.leaves > 0) longest = std::max(longest, sum.max);
    });
    if (!begins) return;
    if (is_too_late(first, end)) return best_.leave_out();
    if (!question_.parameter && longest < least()) return search_open(first, end);
    if (level == 0) return search_block(first);
    for (std::uint32_t i = 0; i < kGroupSize; ++i) {
      const std::uint32_t part = question_.order == FindOrder::kLatest ? kGroupSize - 1 - i : i;
      search_group(level - 1, index * kGroupSize + part);
    }
  }
  // The least duration that a call needs to be of use. Calls that it excludes may make the answer
  // incomplete, so this is noted.
  std::uint64_t least() {
    if (question_.order != FindOrder::kLongest || !best_.full()) return question_.shortest;
    const Call& worst = best_.worst().call;
    if (worst.end - worst.begin > question_.shortest) best_.leave_out();
    return std::max(question_.shortest, worst.end - worst.begin);
  }

  // Of the calls that start in these blocks, only those open at the end can be long enough.
  void search_open(std::uint32_t first, std::uint32_t end) {
    if (end >= track_.blocks().size()) return;  // nothing is open at the end of a track
    Cursor cursor(track_, end);
    std::vector<Call> calls;
    std::vector<std::size_t> places(cursor.open().size(), SIZE_MAX);
    // Calls at depths below the minimum depth of the blocks had started before.
    std::uint32_t low = UINT32_MAX;
    for (std::uint32_t i = first; i < end; ++i) low = std::min(low, track_.blocks()[i].low);
    for (std::size_t depth = low; depth < cursor.open().size(); ++depth) {
      take(cursor.open()[depth], depth, calls, places);
    }
    find_ends(cursor, std::move(places), calls, track_);
    for (const Call& call : calls) add(call);
  }

  void search_block(std::uint32_t block) {
    Cursor cursor(track_, block);
    const std::size_t before = cursor.open().size();
    std::vector<Call> calls;
    std::vector<std::size_t> places(before, SIZE_MAX);
    std::vector<bool> given;  // by place in `calls`
    while (cursor.next()) {
      const std::size_t depth = cursor.open().size();
      if (cursor.token() == Token::kOther) {
        note(cursor, places, given);
      } else if (cursor.token() == Token::kEnter) {
        places.push_back(SIZE_MAX);
        take(cursor.frame(), depth - 1, calls, places);
      } else if (cursor.token() == Token::kLeave) {
        if (places[depth] != SIZE_MAX) calls[places[depth]].end = cursor.time();
        places.pop_back();
      }
    }
    if (question_.parameter) note_in_next_block(block + 1, places, given);
    find_ends(cursor, std::move(places), calls, track_);
    given.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!question_.parameter || given[i]) add(calls[i]);
    }
  }

  // A value belongs to the innermost call.
  void note(const Cursor& cursor, const std::vector<std::size_t>& places,
            std::vector<bool>& given) const {
    const std::size_t depth = cursor.open().size();
    if (!question_.parameter || depth == 0 || depth > places.size()) return;
    const std::size_t place = places[depth - 1];
    if (place == SIZE_MAX || !question_.parameter(cursor.other())) return;
    given.resize(std::max(given.size(), place + 1));
    given[place] = true;
  }
  // Calls that are open at the end of a block may have values after it.
  void note_in_next_block(std::uint32_t block, const std::vector<std::size_t>& at_end,
                          std::vector<bool>& given) const {
    if (block >= track_.blocks().size()) return;
    std::vector<std::size_t> places = at_end;
    Cursor cursor(track_, block);
    while (cursor.next()) {
      if (cursor.token() == Token::kOther) note(cursor, places, given);
      if (cursor.token() == Token::kEnter) places.push_back(SIZE_MAX);
      if (cursor.token() == Token::kLeave) places.pop_back();
    }
  }

  void take(const Frame& frame, std::size_t depth, std::vector<Call>& calls,
            std::vector<std::size_t>& places) const {
    const bool in = frame.begin >= question_.from && frame.begin < question_.to;
    if (!in || !is_wanted(frame.region)) return;
    places[depth] = calls.size();
    calls.push_back(call_of(track_, frame, 0, depth));
  }
  void add(const Call& call) {
    const std::uint64_t duration = call.end - call.begin;
    if (duration >= question_.shortest && duration <= question_.longest) {
      best_.add({number_, call});
    }
  }

  const Track& track_;
  std::uint32_t number_;
  const FindQuestion& question_;
  const Regions& regions_;
  Best& best_;
  std::vector<bool> wanted_;  // by node
  bool any_ = false;
};

}  // namespace

FindAnswer find_calls(const Index& index, const FindQuestion& question) {
  const Regions regions(question.regions.begin(), question.regions.end());
  Best best(question.order, question.limit);
  for (const std::uint32_t number : question.tracks) {
    const TrackRecord& record = index.tracks()[number];
    const bool nothing = record.block_count == 0 || question.from > record.end ||
                         question.to <= record.begin || question.from >= question.to;
    if (nothing) continue;
    TrackSearch(*index.track(number), number, question, regions, best).search();
  }
  return best.take();
}

}  // namespace timeloom::view
