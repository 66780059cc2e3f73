#include "settings/wrappers.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

std::vector<std::string> names(const std::vector<Wrapper>& wrappers) {
  std::vector<std::string> result;
  for (const Wrapper& one : wrappers) result.emplace_back(setting_of(one.setting).name);
  return result;
}

TEST(Wrappers, AreAskedForBySettings) {
  Settings settings;
  EXPECT_TRUE(wanted_wrappers(settings).empty());
  settings.set(kSettings.io, "posix", "--io");
  settings.set(kSettings.mpi, "on", "--mpi");
  EXPECT_EQ(names(wanted_wrappers(settings)), (std::vector<std::string>{"io", "mpi"}));
  settings.set(kSettings.io, "none", "--io");
  EXPECT_EQ(names(wanted_wrappers(settings)), (std::vector<std::string>{"mpi"}));
  settings.set(kSettings.results, "none", "--results");
  EXPECT_TRUE(wanted_wrappers(settings).empty());
}

TEST(Wrappers, OfThreadsAndOfOpenMpHaveOneSetting) {
  const auto files = [](const char* value) {
    Settings settings;
    settings.set(kSettings.thread, value, "--thread");
    std::string text;
    for (const Wrapper& one : wanted_wrappers(settings)) text += std::string(one.library) + " ";
    return text + (replaces_openmp(settings) ? "libomp" : "");
  };
  const std::string threads = "libtimeloom_wrap_thread.so ", teams = "libtimeloom_wrap_openmp.so ";
  EXPECT_EQ(files("none"), "");
  EXPECT_EQ(files("pthread"), threads);
  EXPECT_EQ(files("omp"), teams);
  EXPECT_EQ(files("pthread,omp"), threads + teams);
  EXPECT_EQ(files("omp:libomp"), teams + "libomp");
  EXPECT_EQ(files("pthread,omp:libomp"), threads + teams + "libomp");
  EXPECT_EQ(without_wrappers("/a/libtimeloom_wrap_openmp.so:/b/libomp.so:libx.so", true),
            "libx.so");
  EXPECT_EQ(without_wrappers("/a/libtimeloom_wrap_openmp.so:/b/libomp.so"), "/b/libomp.so");
}

TEST(Wrappers, DoNotKeepASanitizerFromStarting) {
  EXPECT_EQ(with_any_link_order(""), "verify_asan_link_order=0");
  EXPECT_EQ(with_any_link_order("detect_leaks=0"), "verify_asan_link_order=0:detect_leaks=0");
  EXPECT_EQ(with_any_link_order("verify_asan_link_order=1"), "verify_asan_link_order=1");
}

TEST(Wrappers, OfMpiAreAskedForByItsLauncher) {
  const char* const mpirun[] = {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
                                "PMIX_NAMESPACE=job", nullptr};
  Settings settings;
  ask_for_mpi(settings, mpirun);
  EXPECT_EQ(names(wanted_wrappers(settings)), (std::vector<std::string>{"mpi"}));
  Settings refused;
  refused.set(kSettings.mpi, "off", "--no-mpi");
  ask_for_mpi(refused, mpirun);
  EXPECT_TRUE(wanted_wrappers(refused).empty());
  const char* const nothing[] = {"HOME=/root", nullptr};
  Settings plain;
  ask_for_mpi(plain, nothing);
  EXPECT_TRUE(wanted_wrappers(plain).empty());
}

TEST(Wrappers, OfCompiledCodeKeepsNoOtherAwake) {
  Settings settings;
  settings.set(kSettings.io, "none", "--io");
  settings.set(kSettings.thread, "none", "--thread");
  EXPECT_FALSE(refuses_wrappers(settings));
  settings.set(kSettings.mpi, "off", "--no-mpi");
  EXPECT_TRUE(refuses_wrappers(settings));
  settings.set(kSettings.compiler, "on", "--compiler");
  EXPECT_FALSE(refuses_wrappers(settings));
  EXPECT_EQ(names(wanted_wrappers(settings)), (std::vector<std::string>{"compiler"}));
}

TEST(Wrappers, StandBeforeWhatIsPreloadedAnyway) {
  const std::vector<std::string> files = {"/a/libtimeloom_wrap_io.so"};
  EXPECT_EQ(with_libraries("", files), "/a/libtimeloom_wrap_io.so");
  EXPECT_EQ(with_libraries("libx.so /b/liby.so", files),
            "/a/libtimeloom_wrap_io.so:libx.so:/b/liby.so");
}

TEST(Wrappers, AreTakenOutAgain) {
  EXPECT_EQ(without_wrappers(""), "");
  EXPECT_EQ(without_wrappers("/a/libtimeloom_wrap_io.so"), "");
  EXPECT_EQ(without_wrappers("libx.so  /a/libtimeloom_wrap_io.so:/b/liby.so:"),
            "libx.so:/b/liby.so");
  EXPECT_EQ(without_wrappers("/a/libtimeloom_wrap_io.so.bak"), "/a/libtimeloom_wrap_io.so.bak");
}

TEST(Wrappers, AreFoundInWhateverDirectory) {
  EXPECT_TRUE(preloads("libx.so:/a/b/libtimeloom_wrap_io.so", "libtimeloom_wrap_io.so"));
  EXPECT_TRUE(preloads("libtimeloom_wrap_io.so", "libtimeloom_wrap_io.so"));
  EXPECT_FALSE(preloads("/a/libtimeloom_wrap_io.so/libx.so", "libtimeloom_wrap_io.so"));
  EXPECT_FALSE(preloads("", "libtimeloom_wrap_io.so"));
}

}  // namespace
}  // namespace timeloom
