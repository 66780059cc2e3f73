#include "exchange/destination_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "core/error.hpp"

namespace timeloom::exchange {
namespace {

namespace fs = std::filesystem;

void write(const DestinationDirectory& directory, const std::string& name) {
  Destination file = directory.open(name, true);
  file.write("new");
  file.finish();
}

bool is_empty(const std::string& directory) { return fs::is_empty(directory); }

TEST(DestinationDirectory, StaysTheSameWhateverIsPutInItsPlace) {
  const test::TempDirectory place;
  for (const char* name : {"files/below", "outside/below"}) fs::create_directories(place / name);
  const DestinationDirectory directory(place / "files");
  fs::rename(place / "files", place / "moved");
  fs::create_symlink("outside", place / "files");
  write(directory, "a");
  write(directory, "below/b");
  EXPECT_EQ(test::read_bytes(place / "moved/a"), "new");
  EXPECT_EQ(test::read_bytes(place / "moved/below/b"), "new");
  EXPECT_FALSE(fs::exists(place / "outside/a"));
  EXPECT_TRUE(is_empty(place / "outside/below"));
  EXPECT_TRUE(directory.holds("below/b"));
  EXPECT_FALSE(directory.holds("below/c"));
}

TEST(DestinationDirectory, LeadsThroughNoLinkBelow) {
  const test::TempDirectory place;
  for (const char* name : {"files", "outside"}) fs::create_directories(place / name);
  fs::create_symlink("../outside", place / "files/below");
  const DestinationDirectory directory(place / "files");
  EXPECT_THROW(write(directory, "below/b"), Error);
  EXPECT_TRUE(is_empty(place / "outside"));
}

TEST(DestinationDirectory, IsLedToByALinkOfThisUserAlone) {
  const test::TempDirectory place;
  fs::create_directories(place / "real");
  fs::create_symlink("real", place / "files");
  write(DestinationDirectory(place / "files"), "a");
  EXPECT_EQ(test::read_bytes(place / "real/a"), "new");
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser gives links to another user";
  ASSERT_EQ(::lchown((place / "files").c_str(), 54321, 54321), 0);
  for (const char* path : {"files", "files/"})
    EXPECT_THROW(DestinationDirectory(place / path), Error) << path;
}

TEST(DestinationDirectory, ShowsWhatTheUserKnows) {
  EXPECT_EQ(DestinationDirectory(".").shown("a"), "a");
  EXPECT_EQ(DestinationDirectory("files/").shown("a"), "files/a");
  EXPECT_EQ(DestinationDirectory("files").shown("/tmp/a"), "/tmp/a");
}

}  // namespace
}  // namespace timeloom::exchange
