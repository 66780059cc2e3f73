#include "view/answers/calls.hpp"

#include <algorithm>

namespace timeloom::view {

namespace {

constexpr std::size_t kNotWanted = SIZE_MAX;

// Collects the calls of a range while a cursor goes through it.
class CallCollector {
 public:
  CallCollector(const Track& track, const CallQuestion& question)
      : track_(track), question_(question), cursor_(track, track.block_before(question.from)) {
    slots_.resize(cursor_.open().size(), kNotWanted);
  }

  CallAnswer collect() {
    answer_.until = question_.to;
    bool more = true;
    for (std::uint64_t events = 0; more && (more = cursor_.next_of_track()); ++events) {
      const std::uint64_t time = cursor_.time();
      if (time >= question_.to) break;
      if (events >= question_.most_events && time >= question_.from) more = stop(time);
      if (more) more = take(time);
    }
    if (!begun_ && slots_.size() > cursor_.open().size()) begin_before_leave();
    if (!begun_) begin(slots_.size());
    find_rest();
    std::erase_if(answer_.calls, [&](const Call& call) {
      return !is_in(call.begin, call.end, question_.from, question_.to);
    });
    return std::move(answer_);
  }

 private:
  bool wanted(std::size_t depth) const noexcept {
    return depth >= question_.first_depth && depth - question_.first_depth < question_.depths;
  }
  bool stop(std::uint64_t time) {
    answer_.complete = false;
    answer_.until = time;
    return false;
  }
  // Adds the calls that were open at the start of the range.
  void begin(std::size_t count) {
    begun_ = true;
    const std::vector<Frame>& open = cursor_.open();
    for (std::size_t depth = 0; depth < std::min(count, slots_.size()); ++depth) {
      if (wanted(depth) && open[depth].begin < question_.from) add(open[depth], depth);
    }
  }
  void add(const Frame& frame, std::size_t depth) {
    if (answer_.calls.size() == question_.limit) {
      if (answer_.complete) stop(std::max(frame.begin, question_.from));
      return;
    }
    slots_[depth] = answer_.calls.size();
    answer_.calls.push_back(call_of(track_, frame, 0, depth));
  }
  // Takes the event; false: the limit was reached before it.
  bool take(std::uint64_t time) {
    const std::size_t depth = cursor_.open().size();
    if (cursor_.token() == Token::kLeave) {
      if (!begun_ && time > question_.from) begin_before_leave();
      if (slots_[depth] != kNotWanted) answer_.calls[slots_[depth]].end = time;
      slots_.resize(depth);
      return true;
    }
    if (!begun_ && time >= question_.from) begin(slots_.size());
    if (cursor_.token() != Token::kEnter) return true;
    slots_.push_back(kNotWanted);
    if (time >= question_.from && wanted(depth - 1)) add(cursor_.frame(), depth - 1);
    return answer_.complete;
  }
  // The first event in the range is a leave: its call was open before, too.
  void begin_before_leave() {
    const std::size_t depth = cursor_.open().size();
    begin(depth);
    if (wanted(depth) && cursor_.frame().begin < question_.from) add(cursor_.frame(), depth);
  }
  void find_rest() {
    // The last event may lie after the range: the call that it left is open, and the call that it
    // entered is not.
    if (slots_.size() > cursor_.open().size()) {
      const std::size_t depth = cursor_.open().size();
      if (slots_[depth] != kNotWanted) answer_.calls[slots_[depth]].end = cursor_.time();
      slots_.resize(depth);
    }
    slots_.resize(cursor_.open().size(), kNotWanted);
    find_ends(cursor_, std::move(slots_), answer_.calls, track_);
  }

  const Track& track_;
  CallQuestion question_;
  Cursor cursor_;
  bool begun_ = false;
  std::vector<std::size_t> slots_;  // by depth: index in the answer
  CallAnswer answer_;
};

}  // namespace

void find_ends(Cursor& cursor, std::vector<std::size_t> open, std::vector<Call>& calls,
               const Track& track) {
  const auto trim = [&] {
    while (!open.empty() && open.back() == kNotWanted) open.pop_back();
  };
  for (trim(); !open.empty(); trim()) {
    // Goes from here to the end of the block.
    while (!open.empty() && cursor.next()) {
      const std::size_t depth = cursor.open().size();
      if (cursor.token() != Token::kLeave || depth >= open.size()) continue;
      if (open[depth] != kNotWanted) calls[open[depth]].end = cursor.time();
      open.resize(depth);
      trim();
    }
    if (open.empty()) return;
    const std::uint32_t block =
        track.end_block(cursor.block() + 1, static_cast<std::uint32_t>(open.size() - 1));
    if (block >= track.blocks().size()) damaged();
    cursor = Cursor(track, block);
    if (cursor.open().size() < open.size()) damaged();
  }
}

CallAnswer calls_in(const Track& track, const CallQuestion& question) {
  const TrackRecord& record = track.record();
  const bool nothing = track.blocks().empty() || question.from >= question.to ||
                       question.from > record.end || question.to <= record.begin;
  if (nothing) return {{}, true, question.to};
  return CallCollector(track, question).collect();
}

std::vector<Call> call_at(const Track& track, std::uint32_t depth, std::uint64_t time) {
  CallQuestion question;
  question.from = time;
  question.to = time + 1;
  question.first_depth = depth;
  question.depths = 1;
  std::vector<Call> calls = calls_in(track, question).calls;
  std::erase_if(calls, [&](const Call& call) { return call.begin > time; });
  // Several calls without duration may start at the same time; a call with a duration comes last.
  if (calls.size() > 1) calls.erase(calls.begin(), calls.end() - 1);
  return calls;
}

}  // namespace timeloom::view
