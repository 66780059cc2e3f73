// The SCOREP_* variables: the meaning of their texts, and the lines of scorep.cfg.
#include "doors/scorep/settings/scorep_settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"

namespace timeloom {
namespace {

ScorepSettings read(const std::vector<std::string>& entries) {
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  return ScorepSettings(environment.data());
}

std::string line_of(const ScorepSettings& settings, const std::string& name) {
  const std::string cfg = settings.as_cfg();
  const std::size_t at = cfg.find(name + "=");
  return cfg.substr(at, cfg.find('\n', at) - at);
}

TEST(ScorepSettings, DefaultsAreThoseOfScoreP) {
  const ScorepSettings settings = read({});
  EXPECT_TRUE(settings.flag("SCOREP_ENABLE_PROFILING"));
  EXPECT_FALSE(settings.flag("SCOREP_ENABLE_TRACING"));
  EXPECT_EQ(settings.number("SCOREP_TOTAL_MEMORY"), 16000u * 1024);
  EXPECT_EQ(settings.number("SCOREP_PROFILING_MAX_CALLPATH_DEPTH"), 100u);
  EXPECT_EQ(settings.text("SCOREP_PROFILING_FORMAT"), "cube4");
  EXPECT_TRUE(settings.explicitly_set().empty());
}

TEST(ScorepSettings, BooleansAreNeverWrong) {
  for (const std::string yes : {"true", "TRUE", "Yes", "on", "1", "-3", " 7 "}) {
    EXPECT_TRUE(read({"SCOREP_ENABLE_TRACING=" + yes}).flag("SCOREP_ENABLE_TRACING")) << yes;
  }
  for (const std::string no : {"false", "", "0", "2x", "maybe", "0.5"}) {
    EXPECT_FALSE(read({"SCOREP_ENABLE_TRACING=" + no}).flag("SCOREP_ENABLE_TRACING")) << no;
  }
}

TEST(ScorepSettings, BooleansThatAreNeitherHaveALine) {
  const std::string line = ": neither true nor false; it counts as false [TL706]";
  EXPECT_EQ(
      unmet_requests(read({"SCOREP_ENABLE_TRACING=maybe", "SCOREP_ENABLE_PROFILING=2x"}), false),
      (std::vector<std::string>{"SCOREP_ENABLE_TRACING=maybe" + line,
                                "SCOREP_ENABLE_PROFILING=2x" + line}));
  for (const std::string plain : {"true", "on", "-3", "false", "No", "off", "", "0", "00", " 0 "}) {
    EXPECT_EQ(unmet_requests(read({"SCOREP_ENABLE_TRACING=" + plain}), false),
              std::vector<std::string>{})
        << plain;
  }
}

TEST(ScorepSettings, WishesThatAreNotMetHaveALineEach) {
  const std::string unknown = ": no variable of this name has an effect here";
  EXPECT_EQ(
      unmet_requests(
          read({"SCOREP_ENABLE_TRACIN=true", "SCOREP_BOGUS=1", "SCOREP_ROOT=/opt",
                "SCOREP_METRIC_HDEEM=x", "SCOREP_METRIC_RUSAG=all", "SCOREP_WRAPPER=off",
                "SCOREP_HIP_ENABLE=api", "SCOREP_CUDA_ENABLE=no", "SCOREP_OPENACC_ENABLE=yes",
                "SCOREP_KOKKOS_ENABLE=yes", "SCOREP_PROFILING_MAX_CALLPATH_DEPTH=0"}),
          false),
      (std::vector<std::string>{
          "SCOREP_ENABLE_TRACIN" + unknown + "; did you mean SCOREP_ENABLE_TRACING? [TL707]",
          "SCOREP_BOGUS" + unknown + " [TL707]",
          "SCOREP_METRIC_RUSAG" + unknown + "; did you mean SCOREP_METRIC_RUSAGE? [TL707]",
          "SCOREP_PROFILING_MAX_CALLPATH_DEPTH=0: call paths of every depth are kept apart [TL708]",
          "SCOREP_OPENACC_ENABLE='yes': devices of this kind are not recorded [TL708]",
          "SCOREP_HIP_ENABLE='api': devices of this kind are not recorded [TL708]"}));
}

TEST(ScorepSettings, EachAllocationIsAnEventAndTheCostIsTold) {
  const ScorepSettings on = read({"SCOREP_MEMORY_RECORDING=yes"});
  Settings settings;
  apply(on, settings);
  EXPECT_TRUE(settings.flag(kSettings.memory_events));
  EXPECT_TRUE(unmet_requests(on, true).empty());
  ASSERT_EQ(costs_of(on).size(), 1u);
  EXPECT_TRUE(costs_of(on)[0].starts_with("SCOREP_MEMORY_RECORDING: "));
  EXPECT_TRUE(costs_of(read({"SCOREP_MEMORY_RECORDING=no"})).empty());
}

TEST(ScorepSettings, SizesHaveUnits) {
  const auto size = [](const std::string& text) {
    return read({"SCOREP_TOTAL_MEMORY=" + text}).number("SCOREP_TOTAL_MEMORY");
  };
  EXPECT_EQ(size("0"), 0u);
  EXPECT_EQ(size("12"), 12u);
  EXPECT_EQ(size(" 3 k "), 3u << 10);
  EXPECT_EQ(size("3MB"), 3u << 20);
  EXPECT_EQ(size("7b"), 7u);
  EXPECT_EQ(size("15E"), std::uint64_t{15} << 60);
  for (const std::string wrong : {"16E", "", "k", "-1", "1.5G", "3 kk", "3 bk"}) {
    EXPECT_THROW(size(wrong), Error) << wrong;
  }
}

TEST(ScorepSettings, OptionsAndSetsIgnoreCase) {
  EXPECT_EQ(read({"SCOREP_TIMER=GetTimeOfDay"}).text("SCOREP_TIMER"), "gettimeofday");
  const auto groups = [](const std::string& text) {
    return read({"SCOREP_MPI_ENABLE_GROUPS=" + text}).text("SCOREP_MPI_ENABLE_GROUPS");
  };
  EXPECT_EQ(groups("P2P coll"), "coll,p2p");
  EXPECT_EQ(groups("all:~io,~rma"),
            "cg,coll,env,err,ext,misc,p2p,perf,spawn,topo,type,xnonblock,"
            "xreqtest");
  EXPECT_EQ(groups("default;none"), "");
  EXPECT_EQ(groups("none default ~cg"), "coll,env,io,p2p,rma,topo,xnonblock");
  EXPECT_THROW(groups("p2p,pp"), Error);
}

TEST(ScorepSettings, ErrorsNameTheVariableTheValueAndTheWayOut) {
  try {
    read({"SCOREP_TOTAL_MEMORY=many"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "variable SCOREP_TOTAL_MEMORY: 'many' cannot be read; write a size such as "
                 "16000k, 64M or 2G, see scorep-info config-vars --full [TL701]");
  }
}

TEST(ScorepSettings, CfgLinesAreForAShell) {
  const ScorepSettings settings = read(
      {"SCOREP_TOTAL_MEMORY=65536k", "SCOREP_PAGE_SIZE=1000", "SCOREP_EXPERIMENT_DIRECTORY=a'b!c d",
       "SCOREP_PROFILING_FORMAT=default", "SCOREP_UNHEARD_OF=1", "PATH=/bin"});
  EXPECT_EQ(line_of(settings, "SCOREP_TOTAL_MEMORY"), "SCOREP_TOTAL_MEMORY=64M");
  EXPECT_EQ(line_of(settings, "SCOREP_PAGE_SIZE"), "SCOREP_PAGE_SIZE=1000");
  EXPECT_EQ(line_of(settings, "SCOREP_EXPERIMENT_DIRECTORY"),
            "SCOREP_EXPERIMENT_DIRECTORY='a'\\''b'\\!'c d'");
  EXPECT_EQ(line_of(settings, "SCOREP_PROFILING_FORMAT"), "SCOREP_PROFILING_FORMAT='cube4'");
  EXPECT_EQ(line_of(read({"SCOREP_TOTAL_MEMORY=0"}), "SCOREP_TOTAL_MEMORY"),
            "SCOREP_TOTAL_MEMORY=0E");  // as Score-P writes it
  const std::vector<std::string_view> set = {"SCOREP_TOTAL_MEMORY", "SCOREP_PAGE_SIZE",
                                             "SCOREP_EXPERIMENT_DIRECTORY",
                                             "SCOREP_PROFILING_FORMAT"};
  EXPECT_EQ(settings.explicitly_set(), set);
}

TEST(ScorepSettings, RecordKokkosAndCudaWhereTheirVariableNamesAnything) {
  const auto recorded = [](const std::vector<std::string>& entries) {
    Settings settings;
    apply(read(entries), settings);
    return std::string(settings.flag(kSettings.kokkos) ? "kokkos " : "") +
           (settings.flag(kSettings.gpu) ? "cuda" : "");
  };
  EXPECT_EQ(recorded({"SCOREP_KOKKOS_ENABLE=regions,user", "SCOREP_CUDA_ENABLE=yes"}),
            "kokkos cuda");
  EXPECT_EQ(recorded({"SCOREP_KOKKOS_ENABLE=no", "SCOREP_CUDA_ENABLE=none"}), "");
  EXPECT_EQ(recorded({"SCOREP_KOKKOS_ENABLE=", "SCOREP_CUDA_ENABLE=0"}), "");
}

TEST(ScorepSettings, ChooseRecordsOfCudaByWords) {
  const auto words = [](const std::vector<std::string>& entries) {
    Settings settings;
    apply(read(entries), settings);
    return settings.text(kSettings.gpu_records);
  };
  EXPECT_EQ(words({"SCOREP_CUDA_ENABLE=driver,kernel:memcpy"}), "driver,kernel:memcpy");
  EXPECT_EQ(words({"SCOREP_CUDA_ENABLE=yes"}), "yes");
  EXPECT_EQ(words({"SCOREP_CUDA_ENABLE=no"}), "");
  EXPECT_EQ(words({}), "");
}

TEST(ScorepSettings, DecideWhatIsMeasured) {
  const auto applied = [](const std::vector<std::string>& entries) {
    Settings settings;
    apply(read(entries), settings);
    return std::string(settings.flag(kSettings.profile) ? "profile " : "") +
           settings.text(kSettings.results);
  };
  EXPECT_EQ(applied({}), "profile all");
  EXPECT_EQ(applied({"SCOREP_ENABLE_TRACING=1"}), "all");
  EXPECT_EQ(applied({"SCOREP_ENABLE_TRACING=1", "SCOREP_ENABLE_PROFILING=0"}), "trace");
  EXPECT_EQ(applied({"SCOREP_ENABLE_PROFILING=0"}), "none");
  EXPECT_EQ(applied({"SCOREP_PROFILING_FORMAT=none"}), "none");
}

}  // namespace
}  // namespace timeloom
