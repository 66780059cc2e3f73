// The workers that the setting workers chooses.
#include "settings/workers_setting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace timeloom {
namespace {

WorkerChoice choice(const std::string& text) {
  Settings settings;
  settings.set("workers", text, "<workers>");
  return worker_choice_of(settings);
}

TEST(WorkerChoice, IsANumberOrAPattern) {
  EXPECT_FALSE(worker_choice_of(Settings()).most);
  EXPECT_FALSE(worker_choice_of(Settings()).pattern);
  EXPECT_FALSE(choice("all").most || choice("all").pattern);
  EXPECT_EQ(choice("none").most, 0u);
  EXPECT_EQ(choice("0").most, 0u);
  EXPECT_EQ(choice("17").most, 17u);
  EXPECT_TRUE(choice("Fork*").pattern);
}

TEST(WorkerChoice, MatchesANameOrAWordInIt) {
  const std::string dask = "Dask worker 3 tcp://10.0.0.7:4321";
  EXPECT_TRUE(choice("Dask worker 3 *").matches(dask));
  EXPECT_TRUE(choice("tcp://10.*").matches(dask));
  EXPECT_FALSE(choice("tcp://10.*:1234").matches(dask));
  EXPECT_FALSE(choice("worke").matches(dask));
  EXPECT_TRUE(choice("ForkPoolWorker-[12]").matches("ForkPoolWorker-2"));
  EXPECT_FALSE(choice("ForkPoolWorker-[12]").matches("ForkPoolWorker-12"));
  EXPECT_FALSE(choice("x").matches(""));
}

}  // namespace
}  // namespace timeloom
