#include "view/answers/call_details.hpp"

#include <nlohmann/json.hpp>

#include "core/wakeups.hpp"
#include "exchange/arguments.hpp"
#include "view/answers/calls.hpp"
#include "view/answers/json_strings.hpp"
#include "view/index/cursor.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

namespace {

using DetailsJson = nlohmann::ordered_json;

// Events that are searched for parameters of a call; programs give them at its start.
constexpr unsigned kMostDetailEvents = 65536;

DetailsJson json_of(const Call& call) {
  return {{"depth", call.depth},
          {"begin", call.begin},
          {"end", call.end},
          {"path", call.path},
          {"region", call.region}};
}

struct Inside {
  std::uint64_t own = 0;
  std::uint64_t own_waiting = 0;
  std::uint64_t waiting = 0;  // including the calls inside
  CauseTicks own_causes{};    // parts of own_waiting and waiting
  CauseTicks causes{};
  std::uint64_t calls = 0;
};

// Counts the events inside a call, from its enter to its leave, even if others have the same time.
class InsideCounter {
 public:
  InsideCounter(const Track& track, const Call& call) : track_(track), call_(call) {}

  Inside count() {
    Cursor cursor(track_, track_.block_before(call_.begin));
    last_ = cursor.time();
    while (cursor.next_of_track() && take(cursor)) {
      if (inside_) skip(cursor);
    }
    return inside_sum_;
  }

 private:
  // Returns false when the call has ended, and no other with the same path and time starts.
  bool take(const Cursor& cursor) {
    const std::size_t depth = cursor.open().size();
    const bool enters = cursor.token() == Token::kEnter, leaves = cursor.token() == Token::kLeave;
    if (inside_) {
      const std::size_t before = enters ? depth - 1 : leaves ? depth + 1 : depth;
      const bool own = before == call_.depth + std::size_t{1};
      if (own) inside_sum_.own += cursor.time() - last_;
      if (cursor.is_waiting()) wait(cursor.waited().ticks, own);
      if (enters) ++inside_sum_.calls;
      if (leaves && depth == call_.depth) inside_ = false;
    } else if (enters && depth == call_.depth + std::size_t{1} && cursor.time() == call_.begin) {
      inside_ = true;  // the last call of this time is the one in question
      inside_sum_ = {};
      node_ = cursor.frame().node;
    }
    last_ = cursor.time();
    return inside_ || cursor.time() <= call_.begin;
  }

  void wait(const CauseTicks& ticks, bool own) {
    inside_sum_.waiting += total(ticks);
    add_causes(inside_sum_.causes, ticks);
    if (!own) return;
    inside_sum_.own_waiting += total(ticks);
    add_causes(inside_sum_.own_causes, ticks);
  }

  // Goes to the end of the block, and skips blocks that lie wholly inside.
  void skip(Cursor& cursor) {
    while (cursor.next()) take(cursor);
    const std::uint32_t from = cursor.block() + 1;
    const std::uint32_t to = inside_ ? track_.end_block(from, call_.depth) : from;
    if (to >= track_.blocks().size() || to == from) return;
    inside_sum_.own += own_until(cursor, track_.blocks()[from].time);
    Track::decompose(from, to, [&](unsigned level, std::uint32_t index) {
      track_.sums_of(level, index, [&](std::uint32_t node, const PathSum& sum) {
        inside_sum_.calls += sum.enters;
        inside_sum_.waiting += sum.waiting;
        add_causes(inside_sum_.causes, sum.causes);
        if (node != node_) return;
        inside_sum_.own += sum.own;
        inside_sum_.own_waiting += sum.waiting;
        add_causes(inside_sum_.own_causes, sum.causes);
      });
    });
    cursor = Cursor(track_, to);
    last_ = cursor.time();
  }
  std::uint64_t own_until(const Cursor& cursor, std::uint64_t time) const {
    return cursor.open().size() == call_.depth + std::size_t{1} ? time - last_ : 0;
  }

  const Track& track_;
  const Call& call_;
  Inside inside_sum_;
  bool inside_ = false;
  std::uint32_t node_ = kNone;
  std::uint64_t last_ = 0;
};

DetailsJson parameters_of(const Track& track, const Definitions& definitions, const Call& call) {
  DetailsJson parameters = DetailsJson::array();
  Cursor cursor(track, track.block_before(call.begin));
  for (unsigned events = 0; events < kMostDetailEvents && cursor.next_of_track(); ++events) {
    if (cursor.time() > call.end) break;
    const std::vector<Frame>& open = cursor.open();
    const bool innermost = open.size() == call.depth + 1 && open.back().begin == call.begin &&
                           open.back().region == call.region;
    if (cursor.token() != Token::kOther || !innermost) continue;
    const Event& event = cursor.other();
    if (!exchange::is_parameter(event.kind) || !exchange::is_sound(event, definitions)) continue;
    if (wakeup_end_of(event, definitions) != WakeupEnd::kNone) continue;
    parameters.push_back({{"name", definitions.parameters[event.ref].name},
                          {"value", exchange::value_text(event, definitions)}});
  }
  return parameters;
}

DetailsJson details_of(const Index& index, const Definitions& definitions, std::uint32_t number,
                       const Call& call) {
  const auto track = index.track(number);
  const Inside inside = InsideCounter(*track, call).count();
  DetailsJson json = json_of(call);
  json["track"] = number;
  json["own"] = inside.own;
  json["own_waiting"] = inside.own_waiting;
  json["waiting"] = inside.waiting;
  if (has_causes(definitions)) {
    json["own_causes"] = inside.own_causes;
    json["causes"] = inside.causes;
  }
  json["calls"] = inside.calls;
  json["parameters"] = parameters_of(*track, definitions, call);
  return json;
}

}  // namespace

std::string call_details(const Index& index, const Definitions& definitions, std::uint32_t number,
                         std::uint32_t depth, std::uint64_t time) {
  const auto track = index.track(number);
  const std::vector<Call> found = call_at(*track, depth, time);
  DetailsJson json;
  json["call"] = nullptr;
  json["stack"] = DetailsJson::array();
  if (!found.empty()) {
    json["call"] = details_of(index, definitions, number, found.front());
    CallQuestion callers;
    callers.from = found.front().begin;
    callers.to = callers.from + 1;
    callers.depths = depth;
    for (const Call& call : calls_in(*track, callers).calls) {
      const bool holds = call.begin <= found.front().begin && call.end >= found.front().end;
      // Of calls without duration at the same time, the last of each depth.
      while (holds && !json["stack"].empty() && json["stack"].back()["depth"] >= call.depth) {
        json["stack"].erase(json["stack"].size() - 1);
      }
      if (holds) json["stack"].push_back(json_of(call));
    }
  }
  return json_text(json);
}

}  // namespace timeloom::view
