// Selected parts of a run with teams of threads.
#include <gtest/gtest.h>

#include <array>

#include "../profile/story.hpp"
#include "exchange/selection.hpp"

namespace timeloom::exchange {
namespace {

class StorySource : public RunSource {
 public:
  StorySource() {
    story_.thread("main",
                  "main f parallel @fork/5 @team/5/0 +50 @end/5 @join/5 ) ) ) +1 main +10 )");
    story_.thread("worker", "+1 @team/5/1 parallel work +40 ) ) @end/5");
    story_.definitions().clock.ticks_per_second = 1'000'000'000;
    story_.definitions().clock.begin = 100;
  }
  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    for (RunSink* sink : sinks) {
      sink->begin(definitions_);
      story_.replay(*sink);
    }
  }

 private:
  profile::Story story_;
  const Definitions& definitions_ = story_.definitions();
};

std::string worker_of(const Selection& selection) {
  StorySource run;
  const auto selected = select(run, selection, 1);
  profile::CallTreeSink sink;
  const std::array<RunSink*, 1> sinks = {&sink};
  selected->replay(sinks, 1);
  return profile::describe(sink.take(), [](const Location& one) { return one.name == "worker"; });
}

TEST(SelectedTeams, AMemberAloneLiesBelowTheForkOfAnotherThread) {
  EXPECT_EQ(worker_of({.window = {}, .threads = {"worker"}}),
            "main: 0 visits, inclusive 40, exclusive 0\n"
            "  f: 0 visits, inclusive 40, exclusive 0\n"
            "    parallel: 1 visits, inclusive 40, exclusive 0, 40 to 40\n"
            "      work: 1 visits, inclusive 40, exclusive 40, 40 to 40\n");
}

TEST(SelectedTeams, AMemberThatTheWindowCutsStaysThere) {
  Window window;
  window.from = {WindowPoint::Kind::kTime, 21, {}};
  EXPECT_EQ(worker_of({.window = window, .threads = {}}),
            "main: 0 visits, inclusive 20, exclusive 0\n"
            "  f: 0 visits, inclusive 20, exclusive 0\n"
            "    parallel: 1 visits, inclusive 20, exclusive 0, 20 to 20\n"
            "      work: 1 visits, inclusive 20, exclusive 20, 20 to 20\n");
}

}  // namespace
}  // namespace timeloom::exchange
