#include "run/prepared_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <vector>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "run/experiment_directory.hpp"

namespace timeloom::run {
namespace {

namespace fs = std::filesystem;

class PreparedDirectoryTest : public testing::Test {
 protected:
  // The name that an ended process would have used.
  static std::string name_of_the_dead() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string name = prepared_name();
      static_cast<void>(!::write(ends[1], name.data(), name.size()));
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    std::array<char, 256> text{};
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    ::close(ends[1]);
    return {text.data(), static_cast<std::size_t>(size)};
  }
  std::string make(const std::string& name, const std::vector<std::string>& files = {}) const {
    fs::create_directory(directory_.path() / name);
    for (const std::string& file : files) test::write_bytes(directory_.path() / name / file, "x");
    return name;
  }
  bool is_there(const std::string& name) const {
    return fs::exists(fs::symlink_status(directory_.path() / name));
  }
  void clean() const {
    int error = 0;
    remove_abandoned(os::Directory::open(directory_.path().string(), &error));
    EXPECT_EQ(error, 0);
  }

  test::TempDirectory directory_;
};

TEST_F(PreparedDirectoryTest, NameSaysWhoMadeIt) {
  const os::ProcessIdentity self = os::this_process();
  const auto found = preparer_of(prepared_name());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, self.id);
  EXPECT_EQ(found->start, self.start);
  EXPECT_EQ(found->pid_namespace, self.pid_namespace);
  EXPECT_EQ(found->boot, self.boot);
  EXPECT_NE(prepared_name(), prepared_name());
  for (const char* name : {"", ".scorep-", ".scorep-1", ".scorep-1-2-3-4-5", ".scorep-1-2-3-4-5-6-",
                           ".scorep-1-2-3-4-5-6-7", ".scorep-x-2-3-4-5-6", ".scorep--2-3-4-5-6",
                           "scorep-1-2-3-4-5-6", ".scorep-11111111111111111-2-3-4-5-6"}) {
    EXPECT_FALSE(preparer_of(name).has_value()) << name;
  }
}

TEST_F(PreparedDirectoryTest, OfAProcessThatHasEndedIsRemoved) {
  const std::string empty = make(name_of_the_dead());
  const std::string half = make(name_of_the_dead(), {"MANIFEST.md"});
  const std::string whole =
      make(name_of_the_dead(), {"MANIFEST.md", "scorep.cfg", "scorep.filter"});
  clean();
  EXPECT_FALSE(is_there(empty));
  EXPECT_FALSE(is_there(half));
  EXPECT_FALSE(is_there(whole));
}

TEST_F(PreparedDirectoryTest, OfAnotherStays) {
  const std::string dead = name_of_the_dead();
  std::vector<std::string> kept;
  kept.push_back(make(prepared_name()));                              // it lives
  kept.push_back(make(name_of_the_dead(), {"MANIFEST.md", "data"}));  // a user's file
  kept.push_back(make(name_of_the_dead(), {"traces.otf2"}));          // a result
  kept.push_back(make(".scorep-4711-99", {"MANIFEST.md"}));           // not a name of Timeloom
  kept.push_back(make(".scorep-1-2-3-4-5-6"));                        // of another machine
  kept.push_back(name_of_the_dead());                                 // contains a recording
  fs::create_directories(directory_.path() / kept.back() / "spool");
  kept.push_back(name_of_the_dead());
  fs::create_directories(directory_.path() / kept.back() / "MANIFEST.md");
  kept.push_back(name_of_the_dead());
  fs::create_directory_symlink(directory_.path() / kept.front(), directory_.path() / kept.back());
  kept.push_back(dead);  // a file
  test::write_bytes(directory_.path() / dead, "text");
  clean();
  for (const std::string& name : kept) EXPECT_TRUE(is_there(name)) << name;
  EXPECT_TRUE(is_there(kept[1] + "/MANIFEST.md"));
}

TEST_F(PreparedDirectoryTest, IsRemovedByTheNextRun) {
  const std::string left = make(name_of_the_dead(), {"MANIFEST.md", "scorep.cfg"});
  ExperimentOptions options;
  options.directory = (directory_.path() / "run").string();
  ExperimentDirectory directory(options);
  directory.create();
  EXPECT_FALSE(is_there(left));
  EXPECT_TRUE(is_there("run/MANIFEST.md"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), {}), 1);
}

}  // namespace
}  // namespace timeloom::run
