#include "tools/report/answer.hpp"

#include <gtest/gtest.h>

#include "core/run_properties.hpp"
#include "core/throttled.hpp"
#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

using profile::Story;

// A tick is a microsecond. Regions whose names begin with "mpi." have that paradigm.
Story story_of(const std::string& script) {
  Story story;
  story.thread("main", script);
  story.definitions().clock.ticks_per_second = 1'000'000;
  for (Region& region : story.definitions().regions) {
    if (region.name.starts_with("mpi.")) region.paradigm = Paradigm::kMpi;
  }
  story.definitions().properties["timeloom::python"] = "3.13";
  return story;
}

std::optional<double> long_stretches(Story story) {
  const profile::CallTree tree = story.fold();
  return Answer(tree, {}).long_stretches();
}

TEST(Answer, AFunctionThatWorksLongBetweenTwoCallsMayBeInC) {
  EXPECT_DOUBLE_EQ(long_stretches(story_of("app.fetch +9 )")).value(), 1);
  EXPECT_DOUBLE_EQ(long_stretches(story_of("app.main app.fetch +9 ) app.small +3 ) )")).value(),
                   0.75);
}

TEST(Answer, CallsThatAFunctionMakesDivideItsTime) {
  EXPECT_DOUBLE_EQ(long_stretches(story_of("app.f +4 app.g +1 ) +4 )")).value(), 0);
  EXPECT_DOUBLE_EQ(long_stretches(story_of("app.f +4 ) app.f +7 )")).value(), 1);
}

TEST(Answer, WhatWrappersRecordHasItsName) {
  EXPECT_DOUBLE_EQ(long_stretches(story_of("app.main mpi.barrier +99 ) +1 )")).value(), 0);
}

TEST(Answer, WhereFunctionsOfPythonAreMissingNothingIsSaid) {
  for (const auto& [key, value] : {std::pair{kCFunctions, "true"}, {kThrottled, "m.f (m.py:1)"}}) {
    Story story = story_of("app.fetch +9 )");
    story.definitions().properties[key] = value;
    EXPECT_FALSE(long_stretches(std::move(story)).has_value()) << key;
  }
  Story native = story_of("app.fetch +9 )");
  native.definitions().properties.erase("timeloom::python");
  EXPECT_FALSE(long_stretches(std::move(native)).has_value());
}

}  // namespace
}  // namespace timeloom::tools
