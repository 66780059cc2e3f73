#include "os/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"

namespace timeloom::os {
namespace {

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class FileTest : public ::testing::Test {
 protected:
  File create(const std::string& name) {
    int error = -1;
    File file = File::create_exclusive(directory_ / name, &error);
    EXPECT_EQ(error, 0);
    return file;
  }
  std::string content(const std::string& name) { return test::read_bytes(directory_ / name); }

  // The answer to `question` in another process, which has inherited the descriptors.
  static bool in_child(const std::function<bool()>& question) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(question() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
  }

  bool in_use(const std::string& name) {
    int error = 0;
    const File file = File::open_read(directory_ / name, &error);
    return file.in_use();
  }

  test::TempDirectory directory_;
};

TEST_F(FileTest, AllocatesZeros) {
  // Several writes, and an odd remainder.
  constexpr std::size_t kLength = (1 << 20) + 3 * 4096 + 5;
  File file = create("a");
  EXPECT_EQ(file.write_at(0, bytes("before")), 0);
  EXPECT_EQ(file.allocate(6, kLength), 0);
  EXPECT_EQ(content("a"), "before" + std::string(kLength, '\0'));
}

TEST_F(FileTest, WritesAndReadsAtAnyOffset) {
  File file = create("a");
  EXPECT_EQ(file.write_at(0, bytes("hello")), 0);
  EXPECT_EQ(file.write_at(8, bytes("there")), 0);
  EXPECT_EQ(content("a"), std::string("hello\0\0\0there", 13));
  std::array<std::byte, 64> buffer{};
  int error = -1;
  EXPECT_EQ(file.read_at(8, buffer, &error), 5u);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(std::memcmp(buffer.data(), "there", 5), 0);
  EXPECT_EQ(file.read_at(100, buffer, &error), 0u);
  EXPECT_EQ(file.size(&error), 13u);
}

TEST_F(FileTest, CutsOffItsEnd) {
  File file = create("a");
  file.write_at(0, bytes("hello"));
  EXPECT_EQ(file.truncate(2), 0);
  EXPECT_EQ(content("a"), "he");
}

TEST_F(FileTest, HasAnotherNameOrACopy) {
  const std::string text(3 << 20, 'x');
  ASSERT_EQ(create("file").write_at(0, bytes(text)), 0);
  int error = -1;
  const File file = File::open_read(directory_ / "file", &error);
  ASSERT_EQ(file.link_to(directory_ / "same"), 0);
  EXPECT_TRUE(std::filesystem::equivalent(directory_ / "file", directory_ / "same"));
  EXPECT_EQ(file.link_to(directory_ / "same"), EEXIST);

  const std::filesystem::path memory = "/dev/shm/timeloom-file-test-" + std::to_string(::getpid());
  if (std::filesystem::is_directory("/dev/shm")) {
    ASSERT_EQ(file.link_to(memory), 0);  // another file system
    EXPECT_EQ(test::read_bytes(memory), text);
    std::filesystem::remove(memory);
  }
  const File directory = File::open_read(directory_.path(), &error);
  EXPECT_NE(directory.link_to(directory_ / "other"), 0);
}

// The file in memory is on another file system, where nothing can be shared.
TEST_F(FileTest, CopiesAPartOfAnother) {
  const std::string text(3'000'000, 'x');
  File to = create("to"), near = create("near");
  int error = -1;
  File far(::memfd_create("far", MFD_CLOEXEC));
  for (File* from : {&near, &far}) {
    ASSERT_EQ(from->write_at(0, bytes("ab" + text + "cd")), 0);
    EXPECT_EQ(to.copy_from(*from, 1, 5, text.size() + 2), 0);
    EXPECT_EQ(to.size(&error), 5 + text.size() + 2);
    EXPECT_EQ(to.copy_from(*from, text.size(), 0, 5), ENODATA);
    std::string read(text.size() + 2, ' ');
    const auto into = std::as_writable_bytes(std::span(read.data(), read.size()));
    EXPECT_EQ(to.read_at(5, into, &error), read.size());
    EXPECT_TRUE(read == "b" + text + "c");
  }
}

TEST_F(FileTest, IsLockedByOneAtATime) {
  File first = create("locked");
  int error = -1;
  File second = File::open_write_at(AT_FDCWD, directory_ / "locked", &error);
  ASSERT_EQ(error, 0);
  EXPECT_EQ(first.try_lock(), 0);
  EXPECT_EQ(second.try_lock(), EAGAIN);
  first.close();
  EXPECT_EQ(second.try_lock(), 0);
}

TEST_F(FileTest, DoesNotOpenWhatAnotherMade) {
  create("a");
  int error = 0;
  EXPECT_FALSE(File::create_exclusive(directory_ / "a", &error).is_open());
  EXPECT_EQ(error, EEXIST);
  EXPECT_FALSE(File::open_read(directory_ / "none", &error).is_open());
  EXPECT_EQ(error, ENOENT);
}

TEST_F(FileTest, StaysOutOfTheWayOfLowDescriptors) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur <= 512) GTEST_SKIP() << "no descriptors above 512 here";
  EXPECT_GE(create("a").fd(), 512);
}

// A daemon closes all descriptors, and its own files get their numbers.
TEST_F(FileTest, FindsItsFileAgainWhenTheProgramHasClosedIt) {
  File file = create("a");
  ASSERT_EQ(file.mark_in_use(), 0);
  File other = create("other");
  const int number = file.fd();
  ::close(number);
  EXPECT_FALSE(in_use("a"));
  ASSERT_EQ(::dup2(other.fd(), number), number);
  EXPECT_EQ(file.write_at(0, bytes("mine")), 0);
  EXPECT_EQ(content("a"), "mine");
  EXPECT_EQ(content("other"), "");
  EXPECT_TRUE(in_use("a"));
  ::close(file.fd());
  ASSERT_EQ(::dup2(other.fd(), file.fd()), file.fd());
  const int taken = file.fd();
  file.close();
  EXPECT_EQ(::fcntl(taken, F_GETFD), 0) << "not ours to close";
  ::close(taken);
}

TEST_F(FileTest, DoesNotTakeAnotherFileForItsOwn) {
  File file = create("a");
  ::close(file.fd());
  std::filesystem::rename(directory_ / "a", directory_ / "b");
  File impostor = create("a");
  EXPECT_EQ(file.write_at(0, bytes("x")), ENOENT);
  EXPECT_EQ(content("a"), "");
}

TEST_F(FileTest, SaysWhyAWriteFailed) {
  int error = 0;
  create("a").write_at(0, bytes("x"));
  File file = File::open_read(directory_ / "a", &error);
  EXPECT_EQ(file.write_at(0, bytes("y")), EBADF);
  EXPECT_EQ(content("a"), "x");
}

// SIGXFSZ has its default action: it would end the child.
TEST_F(FileTest, MeetsTheFileSizeLimitWithoutASignal) {
  EXPECT_TRUE(in_child([this] {
    ::signal(SIGXFSZ, SIG_DFL);
    const struct rlimit limit { 4096, RLIM_INFINITY };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int error = 0;
    File file = File::create_exclusive(directory_ / "a", &error);
    return file.write_at(4090, bytes("123456")) == 0 &&
           file.write_at(4090, bytes("1234567")) == EFBIG && file.allocate(0, 4096) == 0 &&
           file.allocate(0, 4097) == EFBIG;
  }));
  EXPECT_EQ(content("a").size(), 4096u);
}

TEST_F(FileTest, AMappingIsTheFile) {
  File file = create("a");
  ASSERT_EQ(file.allocate(0, 3 * 65536), 0);
  int error = -1;
  {
    const Mapping mapping = Mapping::map(file, 65536, 65536, &error);
    ASSERT_EQ(error, 0);
    ASSERT_EQ(mapping.size(), 65536u);
    std::memcpy(mapping.data() + 10, "mapped", 6);
    EXPECT_EQ(content("a").substr(65546, 6), "mapped");
  }
  EXPECT_EQ(content("a").substr(65546, 6), "mapped");
}

TEST_F(FileTest, AMappingThatCannotBeIsAnError) {
  File file = create("a");
  int error = 0;
  EXPECT_EQ(Mapping::map(file, 1, 4096, &error).data(), nullptr);
  EXPECT_EQ(error, EINVAL);
}

TEST_F(FileTest, OthersSeeThatItIsInUse) {
  File file = create("a");
  EXPECT_FALSE(in_child([this] { return in_use("a"); }));
  ASSERT_EQ(file.mark_in_use(), 0);
  EXPECT_TRUE(in_child([this] { return in_use("a"); }));
}

TEST_F(FileTest, StaysInUseWhenItsProcessOpensAndClosesItAgain) {
  File file = create("a");
  ASSERT_EQ(file.mark_in_use(), 0);
  EXPECT_EQ(content("a"), "");
  EXPECT_TRUE(in_use("a"));
  EXPECT_TRUE(in_child([this] { return in_use("a"); }));
}

TEST_F(FileTest, IsInUseNoLongerThanItsProcessLives) {
  // The child that sets the mark has a child itself, which closes its inherited descriptors.
  std::array<int, 2> closed{}, end{};
  ASSERT_EQ(::pipe(closed.data()) | ::pipe(end.data()), 0);
  EXPECT_TRUE(in_child([&] {
    int error = 0;
    char byte = 0;
    File file = File::create_exclusive(directory_ / "a", &error);
    if (file.mark_in_use() != 0) return false;
    if (::fork() != 0) return ::read(closed[0], &byte, 1) == 1 && in_use("a");
    file.close();
    ::close(end[1]);
    ::_exit(::write(closed[1], &byte, 1) == 1 && ::read(end[0], &byte, 1) == 0 ? 0 : 1);
  }));
  EXPECT_FALSE(in_use("a"));
  for (const int fd : {closed[0], closed[1], end[0], end[1]}) ::close(fd);
}

TEST_F(FileTest, MovesItsDescriptor) {
  File first = create("a");
  const int fd = first.fd();
  File second = std::move(first);
  EXPECT_EQ(second.fd(), fd);
  EXPECT_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move, clang-analyzer-cplusplus.Move)
  second = create("b");
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);  // closed by the assignment
}

}  // namespace
}  // namespace timeloom::os
