// Losses and repairs are reported, whichever component found them.
#include "tools/run/run_facts.hpp"

#include <gtest/gtest.h>

#include "core/run_properties.hpp"

namespace timeloom::tools {
namespace {

TEST(RunFacts, SayEveryLoss) {
  EXPECT_TRUE(facts_of(Definitions{}).losses.empty());
  for (const char* key :
       {"lost_events", "dropped_events", "unnamed_visits", "damaged_definitions", "closed_regions",
        "damaged_segments", "unreadable_spools", "otf2_damaged_files", "otf2_missing_events",
        "otf2_closed_regions", "otf2_dropped_leaves", "otf2_moved_events", "otf2_undefined_events",
        "missing_calls"}) {
    Definitions definitions;
    definitions.properties[std::string("timeloom::") + key] = "7";
    const std::vector<std::string> losses = facts_of(definitions).losses;
    ASSERT_EQ(losses.size(), 1u) << key;
    EXPECT_NE(losses[0].find('7'), std::string::npos) << losses[0];
  }
}

TEST(RunFacts, SayHowMuchCpuTimeIsInNoTable) {
  Definitions definitions;
  const auto lines = [&](const char* times) {
    definitions.properties[kCpuTimes] = times;
    return other_cpu_lines(facts_of(definitions), Terminal{});
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(lines("4000000000 1000000000"),
            (Texts{"1.00 s of CPU time (25.0% of all) in threads that ended unseen"}));
  EXPECT_EQ(lines("4000000000 30000000"), Texts{});  // below a hundredth
  EXPECT_EQ(lines("100000000 19000000"), Texts{});   // and below the difference of clocks
  EXPECT_EQ(lines("0 0"), Texts{});
  for (const char* wrong : {"", "5", "5 6", "5 x", "x 5", "5 5 5", "-5 5"}) {
    EXPECT_EQ(lines(wrong), Texts{}) << wrong;
    EXPECT_FALSE(facts_of(definitions).cpu.known()) << wrong;
  }
  definitions.properties[kNativeThreads] = "2 600000000 blas\n1 200000000 arrow\n";
  EXPECT_EQ(
      lines("4000000000 1000000000"),
      (Texts{"native threads: 3, 800 ms of CPU time (20.0% of all): blas 600 ms, arrow 200 ms",
             "200 ms of CPU time (5.0% of all) in threads that ended unseen"}));
  // Before and after the window, threads of Python record nothing either.
  definitions.properties[kWindow] = "from 0.3s until 0.9s";
  EXPECT_EQ(lines("4000000000 1000000000").front(),
            "threads that recorded nothing: 3, 800 ms of CPU time (20.0% of all): blas 600 ms, "
            "arrow 200 ms");
}

TEST(RunFacts, TellTheResidentMemory) {
  Definitions definitions;
  const auto facts = [&](const char* text) {
    definitions.properties[kResidentPeak] = text;
    return facts_of(definitions);
  };
  EXPECT_EQ(memory_text(facts("1240000000 0")), "peak RSS 1.24 GB");
  EXPECT_TRUE(memory_limit_lines(facts("1240000000 0")).empty());
  EXPECT_TRUE(memory_limit_lines(facts("1240000000 2000000000")).empty());
  EXPECT_EQ(memory_limit_lines(facts("1900000000 2000000000")),
            (std::vector<std::string>{
                "memory: the peak RSS of 1.90 GB is 95.0% of the limit of its control group"}));
  definitions.groups.resize(2);
  EXPECT_EQ(memory_text(facts("1240000000 0")), "largest RSS 1.24 GB");
  for (const char* wrong : {"", "5", "5 x", "x 5", "5 5 5", "-5 5", "0 7"}) {
    EXPECT_EQ(memory_text(facts(wrong)), "") << wrong;
    EXPECT_TRUE(memory_limit_lines(facts(wrong)).empty()) << wrong;
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
