// Ranks from the variables of launchers: each launcher, launchers inside others, invalid values.
#include "settings/launched_rank.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace timeloom {
namespace {

using Environment = std::map<std::string, std::string>;

std::optional<LaunchedRank> rank_in(const Environment& environment) {
  return launched_rank([&](std::string_view name) {
    const auto found = environment.find(std::string(name));
    return found == environment.end() ? std::string() : found->second;
  });
}

// "Open MPI 1/2 (2 here), job"; empty: no rank.
std::string text_of(const Environment& environment) {
  const std::optional<LaunchedRank> rank = rank_in(environment);
  if (!rank) return {};
  return std::string(rank->launcher) + " " + std::to_string(rank->rank) + "/" +
         std::to_string(rank->size) + " (" + std::to_string(rank->local_size) + " here), " +
         rank->job;
}

const Environment kOpenMpi4 = {{"OMPI_COMM_WORLD_RANK", "1"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                               {"PMIX_RANK", "1"},
                               {"PMIX_NAMESPACE", "62521345"},
                               {"OMPI_MCA_orte_hnp_uri", "62521344.0;tcp://192.0.2.2:54323"}};
const Environment kHydra = {
    {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}};
const Environment kStep = {{"SLURM_PROCID", "3"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_JOB_ID", "77"},
                           {"SLURM_NTASKS", "8"},
                           {"SLURM_STEP_NUM_TASKS", "4"}};
const Environment kTorch = {
    {"RANK", "5"},           {"WORLD_SIZE", "8"},      {"LOCAL_WORLD_SIZE", "4"},
    {"MASTER_ADDR", "here"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "id"}};

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

Environment without(Environment environment, const std::string& name) {
  environment.erase(name);
  return environment;
}

TEST(LaunchedRankTest, EachLauncherHasItsVariables) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of(kOpenMpi4),
            "Open MPI 1/2 (2 here), Open MPI 62521345 62521344.0;tcp://192.0.2.2:54323");
  EXPECT_EQ(text_of(without(with(kOpenMpi4, {{"PMIX_NAMESPACE", "prterun-a-12@1"}}),
                            "OMPI_MCA_orte_hnp_uri")),
            "Open MPI 1/2 (2 here), Open MPI prterun-a-12@1");
  EXPECT_EQ(text_of(kHydra), "MPICH 1/2 (2 here), ");
  EXPECT_EQ(text_of(kStep), "Slurm 3/4 (0 here), Slurm 77 0");
  EXPECT_EQ(text_of(with(kStep, {{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "slurm.pmix.77.0"}})),
            "PMIx 3/4 (0 here), PMIx slurm.pmix.77.0 77 0");
  EXPECT_EQ(text_of({{"PALS_RANKID", "0"}, {"PMI_SIZE", "3"}, {"PALS_APID", "a-1"}}),
            "PALS 0/3 (0 here), PALS a-1");
  EXPECT_EQ(text_of(kTorch), "torchrun 5/8 (4 here), torchrun id here 29500");
  EXPECT_EQ(text_of({{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "1"}}),
            "MVAPICH 0/1 (0 here), ");
}

TEST(LaunchedRankTest, TheInnermostLauncherCounts) {
  EXPECT_EQ(rank_in(with(kOpenMpi4, kStep))->launcher, "Open MPI");
  EXPECT_EQ(rank_in(with(kHydra, kStep))->launcher, "MPICH");
  EXPECT_EQ(rank_in(with(kTorch, kStep))->rank, 5u);
  // Variables that a script has set for torch do not hide the launcher.
  EXPECT_EQ(rank_in(with(kStep, {{"RANK", "3"}, {"WORLD_SIZE", "4"}}))->launcher, "Slurm");
}

TEST(LaunchedRankTest, ABatchScriptIsNoRank) {
  EXPECT_EQ(text_of(without(kStep, "SLURM_STEP_ID")), "");
  for (const char* special : {"4294967290", "4294967291", "4294967292", "-2", "x", "1x", ""}) {
    EXPECT_EQ(text_of(with(kStep, {{"SLURM_STEP_ID", special}})), "") << special;
  }
}

TEST(LaunchedRankTest, ABatchSystemNamesTheJobOfALauncherThatDoesNot) {
  EXPECT_EQ(rank_in(with(kHydra, {{"PBS_JOBID", "12.server"}}))->job, "MPICH PBS_JOBID 12.server");
  EXPECT_EQ(rank_in(with(kHydra, {{"LSB_JOBID", "5"}}))->job, "MPICH LSB_JOBID 5");
  EXPECT_EQ(rank_in(with(kHydra, {{"SLURM_JOB_ID", "7"}}))->job, "MPICH SLURM_JOB_ID 7");
  // Several at once on several hosts are steps of one batch job.
  const Environment slurm = with(kHydra, {{"SLURM_JOB_ID", "7"}});
  EXPECT_EQ(rank_in(with(slurm, {{"SLURM_STEP_ID", "2"}}))->job, "MPICH SLURM_JOB_ID 7 2");
  EXPECT_EQ(rank_in(with(slurm, {{"SLURM_STEP_ID", "4294967291"}}))->job, "MPICH SLURM_JOB_ID 7");
}

TEST(LaunchedRankTest, RanksThatAreStartedAnewAreAnotherJob) {
  const Environment requeued = {{"SLURM_RESTART_COUNT", "1"}};
  const Environment restarted = {{"TORCHELASTIC_RESTART_COUNT", "2"}};
  EXPECT_EQ(rank_in(with(kStep, requeued))->job, "Slurm 77 0.requeue-1");
  EXPECT_EQ(
      rank_in(with(with(kHydra, {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}}), requeued))->job,
      "MPICH SLURM_JOB_ID 7 0.requeue-1");
  EXPECT_EQ(rank_in(with(kTorch, restarted))->job, "torchrun id here 29500.restart-2");
  EXPECT_EQ(rank_in(with(with(kTorch, restarted), requeued))->restart_suffix,
            ".requeue-1.restart-2");
  EXPECT_EQ(rank_in(with(kHydra, requeued))->job, "");
  for (const char* value : {"", "0", "-1", "x", "../x", "4294967296"}) {
    EXPECT_EQ(rank_in(with(kStep, {{"SLURM_RESTART_COUNT", value}}))->job, "Slurm 77 0") << value;
  }
}

TEST(LaunchedRankTest, AValueThatIsNoNumberMakesNoRank) {
  const std::vector<std::string> bad = {
      "", "-1", "1 ", " 1", "0x1", "1.0", "1e3", "+1", "2", "4294967296", "999999999999999999999"};
  const Environment plain = without(kOpenMpi4, "PMIX_NAMESPACE");
  for (const std::string& value : bad) {
    EXPECT_EQ(text_of(with(plain, {{"OMPI_COMM_WORLD_RANK", value}})), "") << value;
    EXPECT_EQ(text_of(with(kHydra, {{"PMI_RANK", value}})), "") << value;
  }
}

TEST(LaunchedRankTest, ASizeThatIsNoNumberIsNotKnown) {
  for (const char* value : {"0", "-4", "many", "4294967295"}) {
    const auto rank = rank_in(with(kOpenMpi4, {{"OMPI_COMM_WORLD_SIZE", value}}));
    ASSERT_TRUE(rank) << value;
    EXPECT_EQ(rank->size, 0u) << value;
    EXPECT_FALSE(rank->on_one_host()) << value;
  }
}

// ---- With the system's data about this process

std::optional<LaunchedRank> rank_of_this_process(const Environment& environment) {
  std::vector<std::string> words;
  for (const auto& [name, value] : environment) words.push_back(name + "=" + value);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  return launched_rank_of_this_process(pointers.data());
}

TEST(LaunchedRankTest, OnOneHostTheProcessOfTheLauncherMakesTheJobUnique) {
  const auto rank = rank_of_this_process(kHydra);
  ASSERT_TRUE(rank);
  EXPECT_TRUE(rank->job.starts_with("MPICH ")) << rank->job;
  EXPECT_EQ(rank->job, rank_of_this_process(with(kHydra, {{"PMI_RANK", "0"}}))->job);
  // On several hosts, each has a different process.
  EXPECT_EQ(rank_of_this_process(with(kHydra, {{"MPI_LOCALNRANKS", "1"}}))->job, "");
}

TEST(LaunchedRankTest, TheUserNamesAJobThatNothingElseTells) {
  const Environment several = with(kHydra, {{"MPI_LOCALNRANKS", "1"}});
  EXPECT_EQ(rank_of_this_process(with(several, {{"TIMELOOM_JOB", "a\nb"}}))->job, "named a_b");
  EXPECT_EQ(rank_of_this_process(with(kStep, {{"TIMELOOM_JOB", "a"}}))->job, "Slurm 77 0 named a");
  const Environment batch = with(several, {{"PBS_JOBID", "12"}});
  EXPECT_EQ(rank_of_this_process(with(batch, {{"TIMELOOM_JOB", "a"}}))->job,
            "MPICH PBS_JOBID 12 named a");
}

TEST(LaunchedRankTest, AChildOfARankIsNone) {
  const auto rank = rank_of_this_process(kStep);
  ASSERT_TRUE(rank);
  EXPECT_FALSE(rank_of_this_process(with(kStep, {{kRankVariable, rank_mark(*rank)}})));
  // It has started a launcher itself: another job, or another rank.
  EXPECT_TRUE(rank_of_this_process(
      with(kStep, {{kRankVariable, rank_mark(*rank)}, {"SLURM_STEP_ID", "1"}})));
  EXPECT_TRUE(rank_of_this_process(
      with(kStep, {{kRankVariable, rank_mark(*rank)}, {"SLURM_PROCID", "2"}})));
}

}  // namespace
}  // namespace timeloom
