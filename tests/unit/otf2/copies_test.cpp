// Contexts of accelerators, their queues and copies are read as they were written.
#include <gtest/gtest.h>

#include "sample_run.hpp"

namespace timeloom::otf2 {
namespace {

using enum EventKind;

constexpr std::uint64_t kThread = std::uint64_t{1} << 32, kFirst = std::uint64_t{2} << 32,
                        kSecond = std::uint64_t{3} << 32, kOther = kFirst | 1;

// Two processes on two hosts; the first uses two devices, the second one of its own host. The last
// queue of the first one has no thread.
Story run_of_devices() {
  Story run;
  Definitions& all = run.definitions;
  all.clock = {1'000'000'000, 0, 1000, {}};
  all.strings = {""};
  all.regions = {{"copy host to device", "copy host to device", "", "CUDA copies", 0, 0,
                  Paradigm::kCuda, RegionRole::kFunction}};
  all.groups = {{"Process", "node1", 1, "", {}},
                {"Process 2", "node2", 2, "", {}, LocationGroupId{0}}};
  all.contexts = {{"CUDA Context 1", "0", LocationGroupId{0}},
                  {"CUDA Context 2", "1", LocationGroupId{0}},
                  {"CUDA Context 1", "0", LocationGroupId{1}}};
  const auto add = [&](std::uint64_t id, const char* name, std::uint32_t group) -> Location& {
    Location location;
    location.id = LocationId{id};
    location.name = name;
    location.group = LocationGroupId{group};
    return all.locations.emplace_back(std::move(location));
  };
  const auto add_queue = [&](std::uint64_t id, const char* name, std::uint32_t group,
                             std::uint32_t context, std::uint64_t feeder) {
    Location& location = add(id, name, group);
    location.type = LocationType::kAcceleratorStream;
    location.context = ContextId{context};
    location.feeder = LocationId{feeder};
  };
  add(0, "MainThread", 0);
  add(1, "MainThread", 1);
  add(kThread, "worker", 0);
  add_queue(kFirst, "CUDA[0:7]", 0, 0, kThread);
  add_queue(kOther, "CUDA[0:7]", 1, 2, 1);
  add_queue(kSecond, "CUDA[1:7]", 0, 1, 0);
  add_queue(kSecond + 1, "CUDA[1:8]", 1, 2, UINT64_MAX);
  for (const Location& location : all.locations) run.events[location.id] = {};
  run.events[LocationId{kFirst}] = {event(10, kEnter, 0), event(10, kRmaGet, 0, 4096),
                                    event(20, kRmaDone, 0), event(20, kLeave, 0)};
  run.events[LocationId{kOther}] = {event(30, kRmaPut, 2, 1 << 20), event(40, kRmaDone, 2)};
  return run;
}

std::vector<std::string> lines_of(const Definitions& all) {
  std::vector<std::string> lines;
  for (const LocationGroup& group : all.groups) lines.push_back(group.hostname + " " + group.name);
  for (const AcceleratorContext& one : all.contexts) {
    lines.push_back(one.name + " of device " + one.device + ", " +
                    std::to_string(one.process.value()));
  }
  for (const Location& one : all.locations) {
    lines.push_back(one.name + ", " + std::to_string(one.group.value()) + " " +
                    std::to_string(one.context.value()) + " " + std::to_string(one.feeder.value()));
  }
  return lines;
}

TEST(Copies, ContextsAndTheirQueuesAreReadAsWritten) {
  const TemporaryDirectory directory;
  const Story written = run_of_devices();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  EXPECT_EQ(lines_of(found.definitions), lines_of(written.definitions));
  EXPECT_EQ(found.definitions.groups[1].creator, LocationGroupId{0});
  EXPECT_EQ(found.definitions.regions[0].paradigm, Paradigm::kCuda);
}

TEST(Copies, CopiesAreReadAsWritten) {
  const TemporaryDirectory directory;
  const Story written = run_of_devices();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  for (const auto& [location, events] : written.events) {
    const std::vector<Event>& read = found.events.at(location);
    ASSERT_EQ(read.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(read[i].time, events[i].time);
      EXPECT_EQ(read[i].kind, events[i].kind);
      EXPECT_EQ(read[i].ref, events[i].ref);
      EXPECT_EQ(read[i].value, events[i].value);
    }
  }
}

// Nothing names the memory from which they copy.
TEST(Copies, CopiesOfAQueueWithoutAThreadAreLeftOut) {
  const TemporaryDirectory directory;
  Story written = run_of_devices();
  written.events[LocationId{kSecond + 1}] = {event(30, kRmaPut, 2, 9), event(40, kRmaDone, 2)};
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  EXPECT_EQ(found.definitions.locations.back().event_count, 0u);
  EXPECT_TRUE(found.events.at(LocationId{kSecond + 1}).empty());
}

}  // namespace
}  // namespace timeloom::otf2
