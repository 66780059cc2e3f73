// What was lost or mended is said, whoever found it.
#include "tools/run_facts.hpp"

#include <gtest/gtest.h>

namespace timeloom::tools {
namespace {

TEST(RunFacts, SayEveryLoss) {
  EXPECT_TRUE(facts_of(Definitions{}).losses.empty());
  for (const char* key : {"lost_events", "dropped_events", "unnamed_visits", "damaged_definitions",
                          "closed_regions", "damaged_segments", "unreadable_spools",
                          "otf2_damaged_files", "otf2_missing_events", "otf2_closed_regions",
                          "otf2_dropped_leaves", "otf2_moved_events", "otf2_undefined_events"}) {
    Definitions definitions;
    definitions.properties[std::string("timeloom::") + key] = "7";
    const std::vector<std::string> losses = facts_of(definitions).losses;
    ASSERT_EQ(losses.size(), 1u) << key;
    EXPECT_NE(losses[0].find('7'), std::string::npos) << losses[0];
  }
}

TEST(RunFacts, NameAParameterOfSeveralTypesOnce) {
  Definitions definitions;
  definitions.parameters = {{"n", ParameterType::kInt64},
                            {"text", ParameterType::kString},
                            {"n", ParameterType::kString}};
  EXPECT_EQ(parameter_names(definitions), (std::vector<std::string>{"n", "text"}));
}

}  // namespace
}  // namespace timeloom::tools
