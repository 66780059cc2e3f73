#include "view/call_details.hpp"

#include <nlohmann/json.hpp>

#include "convert/arguments.hpp"
#include "view/calls.hpp"
#include "view/range_table.hpp"

namespace timeloom::view {

namespace {

using Json = nlohmann::ordered_json;

// Events that are looked at for parameters of a call; programs give them at its begin.
constexpr unsigned kMostEvents = 65536;

Json json_of(const Call& call) {
  return {{"depth", call.depth},
          {"begin", call.begin},
          {"end", call.end},
          {"path", call.path},
          {"region", call.region}};
}

struct Inside {
  std::uint64_t own = 0;
  std::uint64_t calls = 0;
};

// Whether a path lies below another.
bool is_below(const Index& index, std::uint32_t path, std::uint32_t above) {
  while (path != kNone && path > above) path = index.paths()[path].parent;
  return path == above;
}

Inside inside_of(const Index& index, const Track& track, const Call& call) {
  std::vector<RangeSum> sums(index.paths().size());
  add_range(track, call.begin, call.end, sums);
  Inside inside;
  for (std::uint32_t path = 0; path < sums.size(); ++path) {
    if (sums[path].visits == 0 || !is_below(index, path, call.path)) continue;
    if (path == call.path) inside.own = sums[path].own;
    inside.calls += sums[path].visits - sums[path].cut_begin;
  }
  if (inside.calls > 0) --inside.calls;  // the call itself
  return inside;
}

Json parameters_of(const Track& track, const Definitions& definitions, const Call& call) {
  Json parameters = Json::array();
  Cursor cursor(track, track.block_before(call.begin));
  for (unsigned events = 0; events < kMostEvents && cursor.next_of_track(); ++events) {
    if (cursor.time() > call.end) break;
    const std::vector<Frame>& open = cursor.open();
    const bool innermost = open.size() == call.depth + 1 && open.back().begin == call.begin &&
                           open.back().region == call.region;
    if (cursor.token() != Token::kOther || !innermost) continue;
    const Event& event = cursor.other();
    if (!convert::is_parameter(event.kind) || !convert::is_sound(event, definitions)) continue;
    parameters.push_back({{"name", definitions.parameters[event.ref].name},
                          {"value", convert::value_text(event, definitions)}});
  }
  return parameters;
}

Json details_of(const Index& index, const Definitions& definitions, std::uint32_t number,
                const Call& call) {
  const auto track = index.track(number);
  const Inside inside = inside_of(index, *track, call);
  Json json = json_of(call);
  json["track"] = number;
  json["own"] = inside.own;
  json["calls"] = inside.calls;
  json["parameters"] = parameters_of(*track, definitions, call);
  return json;
}

}  // namespace

std::string call_details(const Index& index, const Definitions& definitions, std::uint32_t number,
                         std::uint32_t depth, std::uint64_t time) {
  const auto track = index.track(number);
  const std::vector<Call> found = call_at(*track, depth, time);
  Json json;
  json["call"] = nullptr;
  json["stack"] = Json::array();
  if (!found.empty()) {
    json["call"] = details_of(index, definitions, number, found.front());
    CallQuestion callers;
    callers.from = found.front().begin;
    callers.to = callers.from + 1;
    callers.depths = depth;
    for (const Call& call : calls_in(*track, callers).calls) {
      const bool holds = call.begin <= found.front().begin && call.end >= found.front().end;
      // Of those without duration at the same time, the last of each depth.
      while (holds && !json["stack"].empty() && json["stack"].back()["depth"] >= call.depth) {
        json["stack"].erase(json["stack"].size() - 1);
      }
      if (holds) json["stack"].push_back(json_of(call));
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace timeloom::view
