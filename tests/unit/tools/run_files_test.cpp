#include "tools/run/run_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace timeloom::tools {
namespace {

namespace fs = std::filesystem;

TEST(RunFiles, ListsFilesWithSizesAndTools) {
  const fs::path run = fs::temp_directory_path() / ("run-files-" + std::to_string(getpid()));
  fs::create_directories(run / "traces");
  std::ofstream(run / "traces.otf2") << "12345";
  std::ofstream(run / "notes") << "1";
  std::ofstream(run / "traces" / "0.evt") << "123";
  std::ofstream(run / "traces" / "0.def") << "1234";
  const std::vector<RunFile> files = files_of(run);
  fs::remove_all(run);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].name, "notes");
  EXPECT_EQ(files[0].what, "");
  EXPECT_EQ(files[1].name, "traces.otf2");
  EXPECT_EQ(files[1].bytes, 5u);
  EXPECT_EQ(files[1].opened_by, "timeloom, otf2-print, Vampir");
  EXPECT_EQ(files[2].name, "traces/");
  EXPECT_EQ(files[2].bytes, 7u);
  EXPECT_EQ(files[2].files, 2u);
}

TEST(RunFiles, HasNothingToSayOfWhatIsNotThere) { EXPECT_TRUE(files_of("/nonexistent").empty()); }

}  // namespace
}  // namespace timeloom::tools
