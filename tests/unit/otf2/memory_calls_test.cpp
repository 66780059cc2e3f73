// Calls that allocate memory are read with the attributes that were written.
#include <gtest/gtest.h>

#include "core/memory/memory_attributes.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {
namespace {

using enum EventKind;

Event memory_attribute(std::uint64_t time, MemoryAttribute which, std::uint64_t value) {
  return {Timestamp{time}, kOperand, static_cast<std::uint32_t>(which), value};
}

Region memory_region(const char* name, RegionRole role) {
  return {name, name, "", "MEMORY", 0, 0, Paradigm::kMemory, role};
}

Story allocating_calls() {
  using enum MemoryAttribute;
  Story run;
  Definitions& all = run.definitions;
  all.clock = {1'000'000'000, 0, 1000, {}};
  all.strings = {""};
  all.regions = {{"main", "main", "", "", 0, 0, Paradigm::kUser, RegionRole::kFunction},
                 memory_region("malloc", RegionRole::kAllocate),
                 memory_region("realloc", RegionRole::kReallocate),
                 memory_region("free", RegionRole::kDeallocate)};
  all.groups = {{"Process", "node", 1, "", {}}};
  all.locations = {{LocationId{0}, "Master thread", LocationGroupId{0}, LocationType::kCpuThread}};
  run.events[LocationId{0}] = {
      event(1, kEnter, 0),
      memory_attribute(2, kAllocationSize, 1000),
      event(2, kEnter, 1),
      memory_attribute(3, kResultAddress, 0xabc0),
      event(3, kLeave, 1),
      memory_attribute(4, kAllocationSize, 0),
      memory_attribute(4, kArgumentAddress, 0xabc0),
      event(4, kEnter, 2),
      memory_attribute(5, kDeallocationSize, 1000),
      memory_attribute(5, kResultAddress, UINT64_MAX),
      event(5, kLeave, 2),
      event(6, kEnter, 3),
      event(7, kLeave, 3),
      event(8, kLeave, 0),
  };
  return run;
}

std::vector<std::vector<std::uint64_t>> values_of(const std::vector<Event>& events) {
  std::vector<std::vector<std::uint64_t>> result;
  for (const Event& one : events) {
    result.push_back({ticks(one.time), static_cast<std::uint64_t>(one.kind), one.ref, one.value});
  }
  return result;
}

TEST(MemoryCalls, KeepAttributesAndRegions) {
  const TemporaryDirectory directory;
  const Story written = allocating_calls();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  EXPECT_EQ(values_of(found.events.at(LocationId{0})), values_of(written.events.at(LocationId{0})));
  EXPECT_EQ(found.definitions.locations[0].event_count, 8u);  // attributes are not events
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.definitions.regions[i].paradigm, written.definitions.regions[i].paradigm);
    EXPECT_EQ(found.definitions.regions[i].role, written.definitions.regions[i].role);
  }
}

// A part of a run may have the attributes without the call.
TEST(MemoryCalls, GiveNoAttributesToOtherCalls) {
  const TemporaryDirectory directory;
  Story written = allocating_calls();
  std::vector<Event>& events = written.events[LocationId{0}];
  events = {memory_attribute(1, MemoryAttribute::kAllocationSize, 7), event(1, kEnter, 0),
            event(2, kEnter, 1), event(3, kLeave, 1), event(4, kLeave, 0)};
  write(written, directory.path());
  events.erase(events.begin());
  const Story found = read(directory.path() / "traces.otf2");
  EXPECT_EQ(values_of(found.events.at(LocationId{0})), values_of(events));
}

// A damaged file may have any number of attributes before a call: one of each kind is kept.
TEST(MemoryCalls, HaveTheLastOfSeveralValues) {
  const TemporaryDirectory directory;
  Story written = allocating_calls();
  const auto bytes = [](std::uint64_t value) {
    return memory_attribute(2, MemoryAttribute::kAllocationSize, value);
  };
  const std::vector<Event> call = {bytes(1000), event(2, kEnter, 1), event(3, kLeave, 1)};
  std::vector<Event>& events = written.events[LocationId{0}];
  events = {bytes(7), bytes(8), bytes(9)};
  events.insert(events.end(), call.begin(), call.end());
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  EXPECT_EQ(values_of(found.events.at(LocationId{0})), values_of(call));
}

}  // namespace
}  // namespace timeloom::otf2
