// Numbers of the arrows between tasks of engines, for formats.
#include "exchange/engines/task_arrows_of.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/engines/engine_regions.hpp"
#include "support/one_location.hpp"

namespace timeloom::exchange {
namespace {

constexpr std::uint32_t kKeys = 0, kNeeds = 1;  // parameters
constexpr std::uint32_t kMade = 0, kTaken = 1;  // strings

class OneTrack final : public test::OneLocation {
 public:
  OneTrack() {
    for (const char* name : {kKeyParameter, kNeedsParameter}) {
      Parameter parameter;
      parameter.name = name;
      parameter.type = ParameterType::kString;
      definitions_.parameters.push_back(parameter);
    }
    definitions_.strings = {"made", "taken"};
    definitions_.clock.ticks_per_second = 1000;
    definitions_.locations[0].id = LocationId{7};
  }
  void enter(std::uint64_t time) { events_.push_back({Timestamp{time}, EventKind::kEnter, 0, 0}); }
  void leave(std::uint64_t time) { events_.push_back({Timestamp{time}, EventKind::kLeave, 0, 0}); }
  void text(std::uint32_t parameter, std::uint32_t string) {
    events_.push_back({events_.back().time, EventKind::kParameterString, parameter, string});
  }
  const std::vector<Event>& events() const { return events_; }
};

void add_task(OneTrack& run, std::uint32_t key, std::uint64_t begin,
              const std::vector<std::uint32_t>& needs = {}) {
  run.enter(begin);
  run.text(kKeys, key);
  for (const std::uint32_t need : needs) run.text(kNeeds, need);
  run.leave(begin + 1);
}

TEST(NumberedArrows, ANoteTellsThatSomeAreMissing) {
  for (const std::size_t needs : {std::size_t{1}, profile::TaskFollower::kMost + 1}) {
    OneTrack run;
    add_task(run, kMade, 0);
    std::vector<std::uint32_t> keys(needs, kTaken);  // its own value, but for the first
    keys.front() = kMade;
    add_task(run, kTaken, 10, keys);
    std::vector<std::string> notes;
    Options options;
    options.notes = &notes;
    const NumberedArrows arrows = number_arrows(run, options);
    EXPECT_EQ(arrows.at(LocationId{7}).size(), 2u);
    EXPECT_EQ(notes, needs == 1 ? std::vector<std::string>()
                                : std::vector<std::string>{profile::kArrowsLeftOut});
  }
}

// The numbers of the arrows that end at the starts of calls (<), and that start at their ends (>).
std::string arrows_in(const std::vector<Event>& events, const NumberedArrows& numbers) {
  ArrowReader reader(numbers, LocationId{7});
  std::string text;
  const auto add = [&](char mark, const std::vector<std::uint64_t>& arrows) {
    for (const std::uint64_t arrow : arrows) text += mark + std::to_string(arrow) + " ";
  };
  for (const Event& event : events) {
    if (event.kind == EventKind::kEnter) {
      text += "( ";
      if (const ArrowsOfTask* const task = reader.entered()) add('<', task->taken);
    }
    if (event.kind != EventKind::kLeave) continue;
    if (const ArrowsOfTask* const task = reader.left()) add('>', task->made);
    text += ") ";
  }
  return text;
}

// The key of a task may come after calls within it, or with no call at all.
TEST(NumberedArrows, BelongToTheCallsOfTheirTasks) {
  OneTrack run;
  run.leave(0);
  run.text(kKeys, kMade);
  run.enter(0);
  run.enter(1);
  run.leave(2);
  run.text(kKeys, kMade);
  run.leave(3);
  run.enter(4);
  run.leave(5);
  add_task(run, kTaken, 10, {kMade});
  const NumberedArrows numbers = number_arrows(run, {});
  EXPECT_EQ(arrows_in(run.events(), numbers), ") ( ( ) >1 ) ( ) ( <1 ) ");
}

}  // namespace
}  // namespace timeloom::exchange
