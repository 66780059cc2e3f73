#include "os/resolved_path.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "../support/temp_directory.hpp"

namespace timeloom::os {
namespace {

namespace fs = std::filesystem;

class ResolvedPathTest : public testing::Test {
 protected:
  // own/dir/file, and links of this user to it.
  ResolvedPathTest() {
    fs::create_directories(path_ / "own/dir");
    std::ofstream(path_ / "own/dir/file") << "text";
    fs::create_symlink("own/./dir/", path_ / "relative");
    fs::create_symlink(path_ / "own", path_ / "absolute");
    fs::create_symlink("../own/dir/file", path_ / "own/to_file");
    fs::create_symlink("loop", path_ / "loop");
  }

  // "PATH/NAME" with the real path of the directory.
  static std::string text_of(const ResolvedPath& resolved) {
    if (resolved.error != 0) return "error " + std::to_string(resolved.error) + " " + resolved.link;
    return fs::read_symlink(resolved.directory.path_of_descriptor()) / resolved.name;
  }
  std::string at(const std::string& way) const { return text_of(resolve_path(path_ / way)); }
  std::string below(const std::string& way) const { return path_ / way; }

  test::TempDirectory temporary_;
  fs::path path_ = fs::canonical(temporary_.path());
};

TEST_F(ResolvedPathTest, IsWhereThePathLeads) {
  EXPECT_EQ(at("own/dir/file"), below("own/dir/file"));
  EXPECT_EQ(at("own//dir/./../dir/none"), below("own/dir/none"));
  EXPECT_EQ(at("own/dir///"), below("own/dir"));
  EXPECT_EQ(at("own/dir/.."), below("own/."));
  EXPECT_EQ(at("relative/file"), below("own/dir/file"));
  EXPECT_EQ(at("relative"), below("own/dir"));
  EXPECT_EQ(at("absolute/dir/file"), below("own/dir/file"));
  EXPECT_EQ(at("absolute/to_file"), below("own/dir/file"));
  EXPECT_EQ(text_of(resolve_path("/")), "/.");
  EXPECT_EQ(text_of(resolve_path(".")), (fs::current_path() / ".").string());
  EXPECT_EQ(text_of(resolve_path("none")), (fs::current_path() / "none").string());
}

TEST_F(ResolvedPathTest, HasAnErrorWhereThereIsNoWay) {
  EXPECT_EQ(at("none/file"), "error " + std::to_string(ENOENT) + " ");
  EXPECT_EQ(at("own/dir/file/below"), "error " + std::to_string(ENOTDIR) + " ");
  EXPECT_EQ(at("loop/file"), "error " + std::to_string(ELOOP) + " ");
  EXPECT_EQ(text_of(resolve_path("")), "error " + std::to_string(ENOENT) + " ");
}

TEST_F(ResolvedPathTest, FollowsTheKernelToWhatIsOpen) {
  const ResolvedPath open = resolve_path(path_ / "own/dir/file");
  fs::rename(path_ / "own", path_ / "moved");
  EXPECT_EQ(text_of(resolve_path(open.directory.path_of_descriptor() + "/file")),
            below("moved/dir/file"));
  EXPECT_EQ(text_of(resolve_path("/proc/self/cwd/none")), (fs::current_path() / "none").string());
}

TEST_F(ResolvedPathTest, MakesTheDirectoriesThatAreNotThere) {
  const ResolvedPath made = make_directories(path_ / "relative/a/b");
  EXPECT_EQ(text_of(made), below("own/dir/a/b"));
  EXPECT_TRUE(made.made);
  int error = -1;
  EXPECT_TRUE(made.open(&error).is_at(path_ / "own/dir/a/b"));
  EXPECT_EQ(error, 0);
  const ResolvedPath there = make_directories(path_ / "absolute/dir");
  EXPECT_EQ(text_of(there), below("own/dir"));
  EXPECT_FALSE(there.made);
}

TEST_F(ResolvedPathTest, OpensNoLinkThatIsPutInItsPlace) {
  const ResolvedPath resolved = resolve_path(path_ / "own/dir");
  fs::rename(path_ / "own/dir", path_ / "own/away");
  fs::create_symlink("away", path_ / "own/dir");
  int error = 0;
  EXPECT_FALSE(resolved.open_unlisted(&error).is_open());
  EXPECT_EQ(error, ENOTDIR);
}

TEST_F(ResolvedPathTest, IsNotReachedByALinkOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser gives links to another user";
  for (const char* link : {"relative", "absolute", "own/to_file"})
    ASSERT_EQ(::lchown((path_ / link).c_str(), 54321, 54321), 0);
  fs::create_symlink("absolute/dir", path_ / "to_absolute");
  const std::string refused = "error " + std::to_string(ELOOP) + " ";
  EXPECT_EQ(at("relative"), refused + below("relative"));
  EXPECT_EQ(at("relative/"), refused + below("relative"));
  EXPECT_EQ(at("relative/none/file"), refused + below("relative"));
  EXPECT_EQ(at("own/to_file"), refused + below("own/to_file"));
  EXPECT_EQ(at("to_absolute/file"), refused + below("absolute"));
  EXPECT_EQ(text_of(make_directories(path_ / "absolute/new/below")), refused + below("absolute"));
  EXPECT_FALSE(fs::exists(path_ / "own/new"));
  EXPECT_EQ(link_of_another_user(path_ / "relative/x"), below("relative"));
  EXPECT_EQ(link_of_another_user(path_ / "own/dir/x"), "");
}

}  // namespace
}  // namespace timeloom::os
