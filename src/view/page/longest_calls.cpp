// The longest calls of an outline.
//
// A caller is at least as long as its callees, and comes before them among calls of equal length:
// the callers of one of the longest calls are among them.

#include <algorithm>
#include <numeric>
#include <tuple>

#include "view/answers/api.hpp"
#include "view/answers/fields.hpp"
#include "view/answers/find.hpp"
#include "view/page/outline.hpp"

namespace timeloom::view {

namespace {

CallAnswer longest_of(const Index& index, std::uint32_t track, std::size_t most) {
  FindQuestion question;
  question.order = FindOrder::kLongest;
  question.limit = most;
  question.shortest = 1;  // of calls without duration, the order is not known by their times
  question.tracks = {track};
  FindAnswer found = find_calls(index, question);
  std::ranges::sort(found.calls, {}, [](const FoundCall& one) {
    return std::tuple(one.call.begin, one.call.depth);
  });
  CallAnswer answer;
  answer.complete = found.complete;
  answer.until = kLastTime;
  for (const FoundCall& one : found.calls) answer.calls.push_back(one.call);
  return answer;
}

}  // namespace

std::vector<std::string> longest_calls(const Index& index, std::size_t most) {
  std::vector<std::uint32_t> order(index.tracks().size());
  std::iota(order.begin(), order.end(), 0u);
  // Tracks with few calls leave room for the others.
  std::ranges::sort(order, {}, [&](std::uint32_t track) { return index.tracks()[track].events; });
  std::vector<std::string> sections;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t share = most / (order.size() - i);
    if (share == 0) continue;
    const CallAnswer found = longest_of(index, order[i], share);
    if (found.calls.empty()) continue;
    most -= found.calls.size();
    AnswerWriter out;
    out.u32(order[i]);
    out.u32(0);
    sections.push_back(out.take() + calls_answer(found));
  }
  return sections;
}

}  // namespace timeloom::view
