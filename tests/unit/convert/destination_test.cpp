#include "convert/destination.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "convert/leftovers.hpp"

namespace timeloom::convert {
namespace {

// A process in which several files are being written, and some finished or given up, when a signal
// ends it.
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

// A process id that nobody has any more.
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
                                   ".file.-1.part",
                                   ".file..part",
                                   ".file.1.part",
                                   ".other." + pid + ".part",
                                   "file." + pid + ".part",
                                   ".file.gz." + pid + ".part",
                                   ".file." + locked + ".part"};
  for (const std::string& name : kept) test::write_bytes(directory / name, "");
  test::write_bytes(directory / ".file." + pid + ".part", "half of it");
  // Of a process that lives where its id is not known.
  const int other = ::open((directory / ".file." + locked + ".part").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_SH), 0);
  // Neither what a link leads to, nor the link.
  const std::string linked = gone();
  std::filesystem::create_symlink("target", directory / ".file." + linked + ".part");
  test::write_bytes(directory / "target", "");
  kept.push_back(".file." + linked + ".part");
  kept.push_back("target");
  {
    Destination file(directory / "file", false);
    file.write("all of it");
    // This one is not taken away by another process.
    remove_leftovers(directory / "file");
    file.finish();
  }
  kept.push_back("file");
  std::ranges::sort(kept);
  EXPECT_EQ(names_in(directory), kept);
  ::close(other);
}

}  // namespace
}  // namespace timeloom::convert
