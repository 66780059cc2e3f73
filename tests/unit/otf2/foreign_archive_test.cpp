// Archives of other tools: local ids, drifting clocks, gaps, imbalance.

#include "foreign_archive.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

using Lines = std::vector<std::string>;

class ForeignArchive : public ::testing::Test {
 protected:
  ForeignArchive() {
    write_foreign_archive(directory_.path());
    run_ = read(anchor(), 2);
  }
  std::filesystem::path anchor() const { return directory_.path() / "foreign.otf2"; }

  const TemporaryDirectory directory_;
  Story run_;
};

TEST_F(ForeignArchive, DefinitionsAreCountedFromZero) {
  const Definitions& all = run_.definitions;
  EXPECT_EQ(all.creator, "some tool");
  EXPECT_EQ(all.clock.ticks_per_second, 1'000'000u);
  ASSERT_EQ(all.regions.size(), 2u);
  EXPECT_EQ(all.regions[0].name, "compute");
  EXPECT_EQ(all.regions[0].role, RegionRole::kLoop);
  EXPECT_EQ(all.regions[0].paradigm, Paradigm::kOpenMp);
  EXPECT_EQ(all.regions[0].last_line, 9u);
  EXPECT_EQ(all.regions[0].group, "");
  EXPECT_EQ(all.regions[0].file, "");
  EXPECT_EQ(all.regions[1].name, "send");
  EXPECT_EQ(all.regions[1].role, RegionRole::kPointToPoint);
  EXPECT_EQ(all.regions[1].group, "group");
  ASSERT_EQ(all.groups.size(), 2u);
  EXPECT_EQ(all.groups[0].name, "rank 1");
  EXPECT_EQ(all.groups[0].hostname, "frontend");
  EXPECT_EQ(all.groups[1].process_id, 4242u);
  ASSERT_EQ(all.locations.size(), 2u);
  EXPECT_EQ(all.locations[0].id, LocationId{0});
  EXPECT_EQ(all.locations[0].group, LocationGroupId{1});
  EXPECT_EQ(all.locations[1].group, LocationGroupId{0});
  ASSERT_EQ(all.metrics.size(), 2u);
  EXPECT_EQ(all.metrics[0].name, "instructions");
  EXPECT_EQ(all.metrics[1].unit, "seconds");
  EXPECT_EQ(all.metrics[1].exponent, -9);
  ASSERT_EQ(all.parameters.size(), 1u);
  EXPECT_EQ(all.parameters[0].name, "label");
}

TEST_F(ForeignArchive, EventsAreKnownOnesAndBalance) {
  const std::string eight = std::to_string(bits(8.0));
  const std::string minus_three = std::to_string(bits(std::int64_t{-3}));
  EXPECT_EQ(describe(run_.events.at(LocationId{0})),
            (Lines{"120 enter 0", "130 metric 0 " + minus_three, "130 metric 1 " + eight,
                   "131 metric 0 " + minus_three, "131 metric 1 " + eight, "140 enter 1",
                   "160 enter 0", "170 leave 0", "180 leave 1", "180 leave 0"}));
}

TEST_F(ForeignArchive, LocalIdsAndClocksAreApplied) {
  // 1000 - 900, 1500 - 950, 2000 - 1000; region 70 stays open.
  EXPECT_EQ(
      describe(run_.events.at(LocationId{1})),
      (Lines{"100 enter 0", "550 enter 1", "550 string 0 15", "1000 leave 1", "1000 leave 0"}));
  EXPECT_EQ(run_.definitions.strings.at(15), "value");
}

TEST_F(ForeignArchive, WhatWasMendedIsCounted) {
  const auto& properties = run_.definitions.properties;
  EXPECT_EQ(properties.at("timeloom::otf2_dropped_leaves"), "1");
  EXPECT_EQ(properties.at("timeloom::otf2_closed_regions"), "2");
  EXPECT_EQ(properties.at("timeloom::otf2_undefined_events"), "3");
  EXPECT_FALSE(properties.contains("timeloom::otf2_missing_events"));
  EXPECT_FALSE(properties.contains("timeloom::otf2_damaged_files"));
}

TEST_F(ForeignArchive, MissingFilesAreSaid) {
  const auto message = [&] {
    try {
      read(anchor());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::filesystem::path traces = directory_.path() / "foreign";
  std::filesystem::rename(traces / "1.def", traces / "kept");
  EXPECT_NE(message().find("location 'rank 1' has no file"), std::string::npos) << message();
  std::filesystem::rename(traces / "kept", traces / "1.def");
  std::filesystem::rename(traces / "0.evt", traces / "kept");
  EXPECT_NE(message().find("location 'rank 0' has no file"), std::string::npos) << message();
  std::filesystem::rename(traces / "kept", traces / "0.evt");
  std::filesystem::rename(directory_.path() / "foreign.def", traces / "kept");
  EXPECT_NE(message().find("cannot read " + (directory_.path() / "foreign.def").string()),
            std::string::npos)
      << message();
  std::filesystem::rename(traces / "kept", directory_.path() / "foreign.def");
  EXPECT_EQ(message(), "no error");
}

}  // namespace

}  // namespace timeloom::otf2
