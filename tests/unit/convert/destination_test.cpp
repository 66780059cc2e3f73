#include "convert/destination.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <optional>

#include "../support/temp_directory.hpp"

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

}  // namespace
}  // namespace timeloom::convert
