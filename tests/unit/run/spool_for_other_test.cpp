// A run for a process of another user, who may write in its directory.
#include "run/spool_for_other.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "core/error.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

class SpoolForOtherTest : public testing::Test {
 protected:
  SpoolForOtherTest() {
    fs::create_directory(run_);
    fs::permissions(run_, fs::perms::owner_all);
    fs::create_directory(foreign_);
  }

  static unsigned owner(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_uid;
  }
  static fs::perms mode(const fs::path& path) { return fs::status(path).permissions(); }

  test::TempDirectory directory_;
  fs::path run_ = directory_.path() / "run";
  fs::path foreign_ = directory_.path() / "foreign";
  // Only root can give files away.
  unsigned user_ = ::geteuid() == 0 ? 65534 : ::geteuid();
};

TEST_F(SpoolForOtherTest, TheUserGetsTheSpoolAndNothingElse) {
  make_spool_for_other(open_for_other(run_, user_), "text", user_);
  EXPECT_EQ(test::read_bytes((run_ / "spool/settings").string()), "text");
  EXPECT_EQ(owner(run_ / "spool"), user_);
  EXPECT_EQ(owner(run_ / "spool/settings"), user_);
  EXPECT_EQ(owner(run_), ::geteuid());
  EXPECT_EQ(mode(run_), static_cast<fs::perms>(0711));
}

TEST_F(SpoolForOtherTest, NobodyGetsAnythingOfARunOfOurOwn) {
  make_spool_for_other(open_for_other(run_, std::nullopt), "text", std::nullopt);
  EXPECT_EQ(owner(run_ / "spool"), ::geteuid());
  EXPECT_EQ(mode(run_), fs::perms::owner_all);
}

TEST_F(SpoolForOtherTest, ALinkIsRefused) {
  fs::remove(run_);
  fs::create_directory_symlink(foreign_, run_);
  EXPECT_THROW(open_for_other(run_, user_), Error);
  EXPECT_NO_THROW(open_for_other(run_, std::nullopt));
}

TEST_F(SpoolForOtherTest, ADirectoryOfAnotherIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown(run_.c_str(), user_, user_), 0);
  EXPECT_THROW(open_for_other(run_, user_), Error);
}

TEST_F(SpoolForOtherTest, WhatIsPutInItsPlaceIsLeftAlone) {
  const Directory run = open_for_other(run_, user_);
  EXPECT_TRUE(run.is_at_its_path());
  fs::rename(run_, directory_.path() / "moved");
  fs::create_directory_symlink(foreign_, run_);
  EXPECT_FALSE(run.is_at_its_path());
  make_spool_for_other(run, "text", user_);
  EXPECT_TRUE(fs::is_empty(foreign_));
  EXPECT_EQ(owner(directory_.path() / "moved/spool"), user_);
}

}  // namespace
}  // namespace timeloom::run
