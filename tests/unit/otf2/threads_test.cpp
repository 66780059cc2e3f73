// Numbers of threads are read as they were written, whether they count in the run or, as in
// Score-P's layout, in each process.
#include <gtest/gtest.h>

#include "core/run_properties.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {
namespace {

using enum EventKind;

constexpr std::uint64_t number(std::uint64_t in_process, std::uint64_t rank) {
  return in_process << 32 | rank;
}

// Two processes; the first thread of each creates another one and waits for it.
Story two_processes(const std::string& layout) {
  Story run;
  Definitions& all = run.definitions;
  all.clock = {1'000'000'000, 0, 1000, {}};
  all.strings = {""};
  all.groups = {{"Process", "node", 1, "", {}}, {"Process 1", "node", 2, "", {}}};
  if (!layout.empty()) all.properties[kLayout] = layout;
  for (const std::uint64_t index : {0u, 1u}) {
    for (const std::uint64_t rank : {0u, 1u}) {
      const LocationId id{index << 32 | rank};
      all.locations.push_back({id, "a thread", LocationGroupId{static_cast<std::uint32_t>(rank)},
                               LocationType::kCpuThread});
      run.events[id] = {
          event(1 + 2 * index, index == 0 ? kThreadCreate : kThreadBegin, 0, number(1, rank)),
          event(9 - 2 * index, index == 0 ? kThreadWait : kThreadEnd, 0, number(1, rank))};
    }
  }
  return run;
}

class ThreadsTest : public testing::TestWithParam<std::string> {};

TEST_P(ThreadsTest, NumbersAreUniqueInTheRun) {
  const TemporaryDirectory directory;
  const Story written = two_processes(GetParam());
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  for (const auto& [id, events] : written.events) {
    const std::vector<Event>& read = found.events.at(id);
    ASSERT_EQ(read.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(read[i].kind, events[i].kind);
      EXPECT_EQ(read[i].value, events[i].value);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ThreadsTest, testing::Values("", "scorep"));

}  // namespace
}  // namespace timeloom::otf2
