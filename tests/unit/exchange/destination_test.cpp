#include "exchange/destination.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "exchange/leftovers.hpp"

namespace timeloom::exchange {
namespace {

// A process that is writing several files, and has finished or given up some, when a signal ends
// it.
void end_while_writing(const test::TempDirectory& directory) {
  Destination first(directory / "first", false);
  Destination second(directory / "second", false);
  std::optional<Destination> third;
  third.emplace(directory / "third", false);
  first.write("one");
  second.write("two");
  second.finish();
  third.reset();
  ::raise(SIGTERM);
}

TEST(DestinationDeathTest, ASignalRemovesAllThatIsNotFinished) {
  const test::TempDirectory directory;
  EXPECT_EXIT(end_while_writing(directory), ::testing::KilledBySignal(SIGTERM), "");
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    left.push_back(entry.path().filename().string());
  EXPECT_EQ(left, std::vector<std::string>{"second"});
}

std::vector<std::string> names_in(const test::TempDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// The id of a process that has ended.
std::string gone() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return std::to_string(child);
}

TEST(Destination, RemovesWhatKilledConversionsOfThisFileHaveLeft) {
  const test::TempDirectory directory;
  const std::string pid = gone(), mine = std::to_string(::getpid());
  const std::string locked = gone();
  std::vector<std::string> kept = {".file." + pid,
                                   ".file." + pid + "x.part",
                                   ".file." + pid + "-.part",
                                   ".file." + pid + "-1x.part",
                                   ".file.-1.part",
                                   ".file..part",
                                   ".file.1.part",
                                   ".other." + pid + ".part",
                                   "file." + pid + ".part",
                                   ".file.gz." + pid + ".part",
                                   ".file." + locked + ".part"};
  for (const std::string& name : kept) test::write_bytes(directory / name, "");
  test::write_bytes(directory / ".file." + pid + ".part", "half of it");
  test::write_bytes(directory / ".file." + pid + "-12.part", "half of it");
  // From a process in another container that had this process's number.
  test::write_bytes(directory / ".file." + mine + ".part", "half of it");
  // From a process that is alive where its id is not known.
  const int other = ::open((directory / ".file." + locked + ".part").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_SH), 0);
  // Neither the target of a link nor the link is removed.
  const std::string linked = gone();
  std::filesystem::create_symlink("target", directory / ".file." + linked + ".part");
  test::write_bytes(directory / "target", "");
  kept.push_back(".file." + linked + ".part");
  kept.push_back("target");
  {
    Destination file(directory / "file", false);
    file.write("all of it");
    // Neither another process nor this one removes this file.
    int error = 0;
    remove_leftovers(os::Directory::open(directory.path(), &error), "file");
    EXPECT_TRUE(std::filesystem::exists(directory / ".file." + mine + ".part"));
    file.finish();
  }
  kept.push_back("file");
  std::ranges::sort(kept);
  EXPECT_EQ(names_in(directory), kept);
  ::close(other);
}

TEST(Destination, ALinkOfThisUserIsFollowedAndStays) {
  const test::TempDirectory directory;
  std::filesystem::create_directory(directory / "below");
  test::write_bytes(directory / "below/file", "old");
  std::filesystem::create_symlink("below/file", directory / "link");
  EXPECT_THROW(Destination(directory / "link", false), Error);
  Destination out(directory / "link", true);
  out.write("new");
  out.finish();
  EXPECT_EQ(test::read_bytes(directory / "below/file"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
}

TEST(Destination, ALinkOfAnotherUserIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can give a link away";
  const test::TempDirectory directory;
  test::write_bytes(directory / "victim", "text");
  const std::filesystem::path link = directory / "link";
  std::filesystem::create_symlink("victim", link);
  ASSERT_EQ(::lchown(link.c_str(), 54321, 54321), 0);
  EXPECT_THROW(Destination(link, true), Error);
  EXPECT_EQ(test::read_bytes(directory / "victim"), "text");
  // The same for a link on the way.
  std::filesystem::create_directory(directory / "place");
  std::filesystem::create_symlink("place", directory / "way");
  ASSERT_EQ(::lchown((directory / "way").c_str(), 54321, 54321), 0);
  EXPECT_THROW(Destination(directory / "way/new", false), Error);
  EXPECT_TRUE(std::filesystem::is_empty(directory / "place"));
}

// Covers the name that it has while it is written and its final name.
TEST(Destination, LinksThatAreSwappedInAreReplacedAndNotFollowed) {
  const test::TempDirectory directory;
  test::write_bytes(directory / "victim", "text");
  const auto put_link = [&](const std::filesystem::path& path, bool hard) {
    std::filesystem::remove(path);
    hard ? std::filesystem::create_hard_link(directory / "victim", path)
         : std::filesystem::create_symlink("victim", path);
  };
  const std::string part = ".file." + std::to_string(::getpid()) + ".part";
  for (const bool hard : {true, false}) {
    Destination out(directory / "file", true);
    put_link(directory / "file", hard);
    out.write("new");
    out.finish();
    EXPECT_EQ(test::read_bytes(directory / "file"), "new");
    std::filesystem::remove(directory / "file");
    put_link(directory / part, hard);
    {
      Destination another(directory / "file", true);  // uses another temporary name
      another.write("newer");
      another.finish();
    }
    EXPECT_EQ(test::read_bytes(directory / "file"), "newer");
    EXPECT_EQ(names_in(directory), (std::vector<std::string>{part, "file", "victim"}));
    std::filesystem::remove(directory / part);
    EXPECT_EQ(test::read_bytes(directory / "victim"), "text");
  }
}

TEST(Destination, ItsDirectoryMayBeMovedMeanwhile) {
  const test::TempDirectory directory;
  std::filesystem::create_directories(directory / "place");
  std::filesystem::create_directories(directory / "other");
  Destination out(directory / "place/file", false);
  out.write("new");
  std::filesystem::rename(directory / "place", directory / "moved");
  std::filesystem::create_symlink("other", directory / "place");
  out.finish();
  EXPECT_TRUE(std::filesystem::is_empty(directory / "other"));
  EXPECT_EQ(test::read_bytes(directory / "moved/file"), "new");
}

}  // namespace
}  // namespace timeloom::exchange
