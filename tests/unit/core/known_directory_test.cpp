#include "core/known_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <string>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"

namespace timeloom {
namespace {

namespace fs = std::filesystem;

class KnownDirectoryTest : public testing::Test {
 protected:
  KnownDirectoryTest() { fs::create_directory(run_); }
  KnownDirectory known() const {
    int error = -1;
    const os::Directory directory = os::Directory::open(run_.string(), &error);
    EXPECT_EQ(error, 0);
    return {run_, directory.id()};
  }

  test::TempDirectory base_;
  fs::path run_ = base_ / "run";
};

TEST_F(KnownDirectoryTest, IsOpenedAsLongAsItIsTheSame) {
  const KnownDirectory run = known();
  int error = -1;
  EXPECT_TRUE(run.open(&error).is_open());
  EXPECT_EQ(error, 0);
  fs::rename(run_, base_ / "moved");
  EXPECT_FALSE(run.open(&error).is_open());
  EXPECT_EQ(error, ENOENT);
  fs::create_directory(run_);
  EXPECT_FALSE(run.open(&error).is_open());
  EXPECT_EQ(error, ESTALE);
  EXPECT_FALSE(run.open_to_list(&error).is_open());
  EXPECT_EQ(error, ESTALE);
  fs::remove(run_);
  fs::create_symlink("moved", run_);  // to the same directory, as its new place shows
  EXPECT_TRUE(run.open(&error).is_open());
}

TEST_F(KnownDirectoryTest, NothingIsMadeInAnotherOne) {
  const KnownDirectory run = known();
  fs::rename(run_, base_ / "moved");
  fs::create_directory(base_ / "other");
  fs::create_symlink("other", run_);
  int error = 0;
  run.make_below("spool/rank-1", &error);
  EXPECT_EQ(error, ESTALE);
  run.make_new("spool", &error);
  EXPECT_EQ(error, ESTALE);
  EXPECT_FALSE(run.create_file("file", &error).is_open());
  EXPECT_EQ(error, ESTALE);
  test::write_bytes(base_ / "other/file", "text");
  EXPECT_EQ(run.remove_file("file"), ESTALE);
  EXPECT_EQ(test::read_bytes(base_ / "other/file"), "text");
}

TEST_F(KnownDirectoryTest, FollowsNoLinkBelow) {
  const KnownDirectory run = known();
  fs::create_directory(base_ / "other");
  fs::create_symlink("../other", run_ / "spool");
  int error = 0;
  run.below("spool", &error);
  EXPECT_TRUE(error == ELOOP || error == ENOTDIR) << error;
  run.make_below("spool/rank-1", &error);
  EXPECT_TRUE(error == ELOOP || error == ENOTDIR) << error;
  run.make_new("spool", &error);
  EXPECT_EQ(error, EEXIST);
  EXPECT_TRUE(fs::is_empty(base_ / "other"));
  fs::remove(run_ / "spool");
  const KnownDirectory made = run.make_below("spool/rank-1", &error);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(made.path(), (run_ / "spool/rank-1").string());
  EXPECT_TRUE(run.below("spool/rank-1", &error).id().is_of(made.id()));
}

TEST_F(KnownDirectoryTest, ADirectoryOfAnotherUserIsNoneOfOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can give a directory away";
  const KnownDirectory run = known();
  fs::create_directory(run_ / "spool");
  ASSERT_EQ(::chown((run_ / "spool").c_str(), 65534, 65534), 0);
  int error = 0;
  run.make_below("spool", &error);
  EXPECT_EQ(error, ESTALE);
  EXPECT_TRUE(fs::is_empty(run_ / "spool"));  // the check has left nothing behind
}

TEST_F(KnownDirectoryTest, IsToldToOtherProcesses) {
  const os::DirectoryId id = known().id();
  const std::string text = text_of(id);
  EXPECT_EQ(directory_id_in(text).device, id.device);
  EXPECT_EQ(directory_id_in(text).number, id.number);
  // On another machine.
  std::string elsewhere = text;
  elsewhere.back() = elsewhere.back() == '0' ? '1' : '0';
  EXPECT_EQ(directory_id_in(elsewhere).device, 0u);
  EXPECT_EQ(directory_id_in(elsewhere).number, id.number);
  EXPECT_TRUE(directory_id_in(elsewhere).is_of(id));
  for (const std::string& bad : {std::string(), text + "-1", text + "x",
                                 text.substr(1 + text.rfind('-')), std::string("x-1-2-3")}) {
    EXPECT_FALSE(directory_id_in(bad).known()) << bad;
  }
  EXPECT_EQ(text_of(os::DirectoryId()), "");
}

TEST_F(KnownDirectoryTest, AFileIsFoundAgainAndNoOther) {
  int error = 0;
  os::File file = known().create_file("file", &error);
  ASSERT_EQ(error, 0);
  const auto write = [&](const char* text) {
    return file.write_at(0, std::as_bytes(std::span(text, 4)));
  };
  EXPECT_EQ(write("1234"), 0);
  file.close();
  EXPECT_EQ(write("abcd"), 0);
  EXPECT_EQ(test::read_bytes(run_ / "file"), "abcd");
  file.close();
  fs::rename(run_ / "file", run_ / "moved");
  test::write_bytes(base_ / "victim", "text");
  fs::create_hard_link(base_ / "victim", run_ / "file");
  EXPECT_EQ(write("1234"), ENOENT);
  fs::remove(run_ / "file");
  fs::create_symlink("../victim", run_ / "file");
  EXPECT_NE(write("1234"), 0);
  EXPECT_EQ(test::read_bytes(base_ / "victim"), "text");
}

}  // namespace
}  // namespace timeloom
