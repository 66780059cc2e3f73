#include "os/directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>

#include "../support/temp_directory.hpp"

namespace timeloom::os {
namespace {

namespace fs = std::filesystem;

class DirectoryTest : public testing::Test {
 protected:
  void put(const std::string& name) const { std::ofstream(path_ / name) << "text"; }
  Directory open() const {
    int error = -1;
    Directory directory = Directory::open(path_.string(), &error);
    EXPECT_EQ(error, 0);
    return directory;
  }
  static EntryKind kind(const Directory& directory, const std::string& name) {
    int error = -1;
    const EntryKind kind = directory.kind(name, &error);
    EXPECT_EQ(error, 0);
    return kind;
  }

  test::TempDirectory temporary_;
  fs::path path_ = temporary_.path();
};

TEST_F(DirectoryTest, TellsWhatIsInIt) {
  put("file");
  fs::create_directory(path_ / "directory");
  fs::create_symlink("directory", path_ / "link");
  const Directory directory = open();
  for (int i = 0; i < 2; ++i) {  // again from the start
    int error = -1;
    std::vector<std::string> names = directory.names(&error);
    std::ranges::sort(names);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(names, (std::vector<std::string>{"directory", "file", "link"}));
  }
  EXPECT_EQ(kind(directory, "file"), EntryKind::kFile);
  EXPECT_EQ(kind(directory, "directory"), EntryKind::kDirectory);
  EXPECT_EQ(kind(directory, "link"), EntryKind::kOther);
  EXPECT_EQ(kind(directory, "none"), EntryKind::kNone);
}

TEST_F(DirectoryTest, OpensNoLinkInIt) {
  fs::create_directory(path_ / "directory");
  put("file");
  fs::create_symlink("directory", path_ / "link");
  fs::create_symlink("file", path_ / "link-to-file");
  const Directory directory = open();
  int error = 0;
  EXPECT_TRUE(directory.open_below("directory", &error).is_open());
  EXPECT_FALSE(directory.open_below("link", &error).is_open());
  EXPECT_TRUE(error == ENOTDIR || error == ELOOP) << error;
  EXPECT_TRUE(directory.open_file("file", &error).is_open());
  EXPECT_FALSE(directory.open_file("link-to-file", &error).is_open());
  EXPECT_EQ(error, ELOOP);
}

TEST_F(DirectoryTest, OpensWhatLiesBelowByWaysWithoutLinks) {
  fs::create_directories(path_ / "a" / "b");
  put("a/b/file");
  put("outside");
  fs::create_directory(path_ / "inner");
  fs::create_symlink(path_ / "a", path_ / "inner" / "link");
  const Directory directory = open();
  int error = -1;
  EXPECT_TRUE(directory.open_file("a/b/file", &error).is_open());
  EXPECT_TRUE(directory.open_below("a/b", &error).is_open());
  EXPECT_EQ(kind(directory, "a/b/file"), EntryKind::kFile);
  EXPECT_EQ(kind(directory, "a/none/file"), EntryKind::kNone);
  const Directory inner = directory.open_below("inner", &error);
  for (const std::string& way :
       {std::string("../outside"), std::string("link/b/file"), path_.string() + "/outside",
        std::string("./x"), std::string(""), std::string("link/"), std::string("x\0y", 3),
        std::string(300, 'x')}) {
    EXPECT_FALSE(inner.open_file(way, &error).is_open()) << way;
    EXPECT_NE(error, 0) << way;
    EXPECT_FALSE(inner.open_below(way, &error).is_open()) << way;
    EXPECT_EQ(inner.kind(way, &error), EntryKind::kNone) << way;
  }
}

TEST_F(DirectoryTest, KnowsWhetherOthersCanHavePutAnythingIntoIt) {
  const Directory directory = open();
  int error = directory.make_directory("new", 0700);
  EXPECT_EQ(error, 0);
  const auto is_private = [&](const std::string& name) {
    return directory.open_below(name, &error).is_new_and_private();
  };
  EXPECT_TRUE(is_private("new"));
  EXPECT_TRUE(fs::is_empty(path_ / "new"));
  put("new/file");
  EXPECT_FALSE(is_private("new"));
  fs::create_directory(path_ / "open");
  fs::permissions(path_ / "open", fs::perms::all);
  EXPECT_FALSE(is_private("open"));
}

TEST_F(DirectoryTest, HasAPathThatFollowsItsDescriptor) {
  fs::create_directory(path_ / "before");
  int error = 0;
  const Directory before = open().open_below("before", &error);
  fs::rename(path_ / "before", path_ / "after");
  fs::create_directory(path_ / "before");
  std::ofstream(fs::path(before.path_of_descriptor()) / "file") << "text";
  EXPECT_TRUE(fs::exists(path_ / "after" / "file"));
  EXPECT_FALSE(fs::exists(path_ / "before" / "file"));
}

TEST_F(DirectoryTest, RemovesADeepTree) {
  constexpr int kDepth = 200;
  fs::path below = path_ / "tree";
  for (int i = 0; i < kDepth; ++i) below /= "d";
  fs::create_directories(below);
  std::ofstream(below / "file") << "text";
  const Directory directory = open();
  EXPECT_EQ(directory.remove_all("tree"), 0);
  EXPECT_EQ(directory.remove_all("tree"), 0);  // it is gone already
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(DirectoryTest, RenamesToANewNameOnly) {
  put("a");
  put("b");
  fs::create_symlink("nowhere", path_ / "link");
  const Directory directory = open();
  EXPECT_EQ(directory.rename_to_new("a", "b"), EEXIST);
  EXPECT_EQ(directory.rename_to_new("a", "link"), EEXIST);
  EXPECT_EQ(directory.rename_to_new("none", "c"), ENOENT);
  EXPECT_EQ(directory.rename_to_new("a", "c"), 0);
  EXPECT_TRUE(fs::exists(path_ / "c"));
}

TEST_F(DirectoryTest, RemovesOnlyEmptyDirectoriesWithoutTheirContents) {
  fs::create_directory(path_ / "empty");
  fs::create_directory(path_ / "full");
  put("full/file");
  fs::create_symlink("empty", path_ / "link");
  const Directory directory = open();
  EXPECT_EQ(directory.remove_directory("full"), ENOTEMPTY);
  EXPECT_EQ(directory.remove_directory("link"), ENOTDIR);
  EXPECT_EQ(directory.remove_directory("empty"), 0);
}

TEST_F(DirectoryTest, CreatesAFileThatKnowsItself) {
  const Directory directory = open();
  int error = -1;
  File file = directory.create_file("file", &error);
  ASSERT_EQ(error, 0);
  EXPECT_FALSE(directory.create_file("file", &error).is_open());
  EXPECT_EQ(error, EEXIST);
  EXPECT_FALSE(file.removed());
  EXPECT_EQ(directory.remove_all("file"), 0);
  EXPECT_TRUE(file.removed());
  // If a program closes unknown descriptors, another file may get the number.
  ASSERT_EQ(::close(file.fd()), 0);
  const std::byte byte{};
  EXPECT_EQ(file.write_at(0, std::span(&byte, 1)), EBADF);
}

TEST_F(DirectoryTest, ThatMayNotBeListedCanBeChanged) {
  put("file");
  int error = -1;
  const Directory directory = Directory::open_unlisted(path_.string(), &error);
  ASSERT_EQ(error, 0);
  EXPECT_NE(directory.try_lock(), 0);
  EXPECT_EQ(directory.make_directory("made"), 0);
  EXPECT_EQ(directory.rename_to_new("file", "renamed"), 0);
  for (const char* name : {"made", "renamed"}) EXPECT_EQ(directory.remove_all(name), 0);
  EXPECT_TRUE(fs::is_empty(path_));
}

// From now on this process cannot create unnamed files, as on file systems that do not support
// them.
bool refuse_files_without_names() {
  constexpr auto kCall = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kFlags = static_cast<std::uint32_t>(offsetof(seccomp_data, args[2]));
  constexpr std::uint32_t kFlag = O_TMPFILE & ~O_DIRECTORY;
  sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, kCall},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_openat},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, kFlags},
      {BPF_JMP | BPF_JSET | BPF_K, 0, 1, kFlag},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EOPNOTSUPP},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program = {std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The result in a process that creates files as `user`, where unnamed files are refused.
enum Found : int { kOurs, kOfAnother, kFilesHaveNoNames };
int found_in_child(const fs::path& path, uid_t user) {
  const pid_t child = ::fork();
  if (child == 0) {
    int error = -1;
    const Directory directory = Directory::open(path.string(), &error);
    ::setfsuid(user);
    if (!refuse_files_without_names() || ::open(path.c_str(), O_TMPFILE | O_WRONLY, 0600) >= 0) {
      ::_exit(kFilesHaveNoNames);
    }
    ::_exit(directory.is_of_another_user() ? kOfAnother : kOurs);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// File servers may give all files of a client to one user, which is then the user in question.
TEST_F(DirectoryTest, IsOfTheUserWhoseFilesAreMadeThereAlsoWhereTheyNeedNames) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can give a directory away";
  constexpr uid_t kOther = 12345;
  fs::permissions(path_, fs::perms::all);
  ASSERT_EQ(::chown(path_.c_str(), kOther, kOther), 0);
  EXPECT_EQ(found_in_child(path_, 0), kOfAnother);
  EXPECT_EQ(found_in_child(path_, kOther), kOurs);
  EXPECT_TRUE(fs::is_empty(path_));
}

}  // namespace
}  // namespace timeloom::os
