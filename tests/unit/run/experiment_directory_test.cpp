#include "run/experiment_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "os/directory.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

// The current directory of each test is base/work, with a program in it.
class ExperimentDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    const char* home = std::getenv("HOME");
    home_ = home == nullptr ? "/" : home;
    for (const char* made : {"work", "home/me", "elsewhere", "old"}) {
      fs::create_directories(base_ / made);
    }
    put(base_ / "work" / "app.py");
    put(base_ / "elsewhere" / "app.py");
    put(base_ / "old" / "kept");
    ::setenv("HOME", (base_ / "home" / "me").c_str(), 1);
    fs::current_path(base_ / "work");
  }
  void TearDown() override {
    ::setenv("HOME", home_.c_str(), 1);
    fs::current_path(before_);
  }
  static void put(const fs::path& path) { std::ofstream(path) << "text"; }

  static ExperimentOptions named(const std::string& name,
                                 InTheWay in_the_way = InTheWay::kAsScorepSays) {
    ExperimentOptions options;
    options.directory = name;
    options.in_the_way = in_the_way;
    options.settings = "SCOREP_VERBOSE=false\n";
    return options;
  }

  // The message of the refusal, without the path; empty: it is not refused.
  std::string refusal(const std::string& name, const fs::path& program = {},
                      InTheWay in_the_way = InTheWay::kAsScorepSays, bool overwrite = true) const {
    try {
      ExperimentOptions options = named(name, in_the_way);
      options.overwrite = overwrite;
      options.program = program;
      ExperimentDirectory directory(std::move(options));
    } catch (const Error& error) {
      const std::string text = error.what();
      const std::string begin = "the experiment directory cannot be ";
      return text.starts_with(begin) ? text.substr(text.find(", which ") + 8) : text;
    }
    return {};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(base_)) {
      result.push_back(entry.path().filename().string());
    }
    std::ranges::sort(result);
    return result;
  }

  test::TempDirectory directory_;
  fs::path base_ = fs::canonical(directory_.path());
  fs::path before_;
  std::string home_;
};

constexpr char kMend[] = "; choose another with SCOREP_EXPERIMENT_DIRECTORY [TL234]";

TEST_F(ExperimentDirectoryTest, IsNotTheCurrentDirectoryNorOneThatHoldsIt) {
  const std::string is = std::string("is the current directory") + kMend;
  const std::string holds = std::string("holds the current directory") + kMend;
  for (const bool overwrite : {true, false}) {
    const auto refused = [&](const std::string& name) {
      return refusal(name, {}, InTheWay::kAsScorepSays, overwrite);
    };
    for (const char* name : {".", "./", "../work", "new/..", "../old/../work/."}) {
      EXPECT_EQ(refused(name), is) << name;
    }
    EXPECT_EQ(refused((base_ / "work").string()), is);
    EXPECT_EQ(refused(".."), holds);
    EXPECT_EQ(refused(base_.string()), holds);
    EXPECT_EQ(refused("/"), holds);
  }
  EXPECT_EQ(refusal(".", {}, InTheWay::kRenamed),
            "is the current directory; choose another with --output [TL234]");
  EXPECT_EQ(names(), (std::vector<std::string>{"elsewhere", "home", "old", "work"}));
}

TEST_F(ExperimentDirectoryTest, IsNotWhereTheProgramOrTheUserIsAtHome) {
  const fs::path program = base_ / "elsewhere" / "app.py";
  EXPECT_EQ(refusal("../elsewhere", program),
            std::string("is the directory of the program") + kMend);
  EXPECT_EQ(refusal("../elsewhere"), "");
  fs::create_symlink(program, base_ / "old" / "link.py");
  EXPECT_EQ(refusal("../elsewhere", base_ / "old" / "link.py"),
            std::string("holds the program") + kMend);
  EXPECT_EQ(refusal("../old", base_ / "old" / "link.py"),
            std::string("is the directory of the program") + kMend);
  EXPECT_EQ(refusal("../elsewhere/app.py", program),
            "Experiment directory \"" + program.string() +
                "\" exists but is not an directory. Choose another with "
                "SCOREP_EXPERIMENT_DIRECTORY");
  EXPECT_EQ(refusal("../home/me"), std::string("is the home directory") + kMend);
  EXPECT_EQ(refusal("../home"), std::string("holds the home directory") + kMend);
}

// rename(2) renames the link, not its target.
TEST_F(ExperimentDirectoryTest, MayBeALinkToADirectoryThatHoldsNothingInUse) {
  fs::create_directory_symlink(base_ / "work", base_ / "here");
  fs::create_directory_symlink(base_, base_ / "work" / "above");
  fs::create_directory_symlink(base_ / "old", base_ / "run");
  EXPECT_EQ(refusal("../here"), std::string("is the current directory") + kMend);
  EXPECT_EQ(refusal("above"), std::string("holds the current directory") + kMend);
  ExperimentDirectory run(named("../run"));
  run.create();
  EXPECT_TRUE(fs::is_symlink(run.previous()));
  EXPECT_FALSE(fs::is_symlink(base_ / "run"));
  EXPECT_TRUE(fs::exists(base_ / "old" / "kept"));
  EXPECT_TRUE(fs::exists(base_ / "run" / "scorep.cfg"));
}

TEST_F(ExperimentDirectoryTest, InTheWayIsRenamed) {
  ExperimentDirectory run(named("../old"));
  run.create();
  EXPECT_TRUE(fs::exists(run.previous() / "kept"));
  EXPECT_TRUE(run.previous().filename().string().starts_with("old-"));
  // A directory whose name is a prefix of the current one does not contain it.
  fs::create_directory(base_ / "wor");
  EXPECT_EQ(refusal("../wor"), "");
}

TEST_F(ExperimentDirectoryTest, NamedByOutputFollowsTheRulesOfOutput) {
  const auto path = [&](const char* name) { return (base_ / name).string(); };
  for (const InTheWay rule : {InTheWay::kRefused, InTheWay::kRenamed}) {
    EXPECT_EQ(refusal("../old", {}, rule),
              path("old") + " exists and is not a run; choose another with --output [TL223]");
    EXPECT_EQ(refusal("app.py", {}, rule),
              path("work/app.py") +
                  " exists and is not a directory; choose another with --output [TL222]");
  }
  fs::create_directory(base_ / "run");
  for (const char* name : {"../run", "../new/deep"}) {  // empty, and without a parent
    ExperimentDirectory made(named(name, InTheWay::kRefused));
    made.create();
    EXPECT_EQ(made.previous(), "");
    EXPECT_TRUE(fs::exists(fs::path(name) / "scorep.cfg")) << name;
    EXPECT_EQ(
        refusal(name, {}, InTheWay::kRenamed),
        "the program of the run " + made.path().string() +
            " is still running; wait until it has ended or choose another with --output [TL225]");
  }
  EXPECT_EQ(
      refusal("../run", {}, InTheWay::kRefused),
      "the run " + path("run") +
          " exists; give it another name with --force or choose another with --output [TL224]");
  ExperimentDirectory second(named("../run", InTheWay::kRenamed));
  second.create();
  EXPECT_TRUE(fs::exists(second.previous() / "scorep.cfg"));
}

// Also after the process that created the directory has ended.
TEST_F(ExperimentDirectoryTest, IsInUseWhileAProcessThatHasJoinedIsThere) {
  std::optional<ExperimentDirectory> made(named(""));
  made->create();
  ExperimentDirectory joined = ExperimentDirectory::joined(named(""), made->path());
  made.reset();
  ExperimentDirectory another(named(""));
  another.create();
  EXPECT_TRUE(another.evaded());
  joined.finish();
  EXPECT_TRUE(joined.path().filename().string().starts_with("scorep-2"));
  ExperimentDirectory third(named(""));
  third.create();
  EXPECT_FALSE(third.evaded());
}

TEST_F(ExperimentDirectoryTest, IsInUseWhileItIsWoven) {
  std::optional<ExperimentDirectory> made(named(""));
  made->create();
  const fs::path path = made->path();
  made.reset();
  int error = 0;
  const os::Directory weave = os::Directory::open(path.string(), &error);
  ASSERT_EQ(weave.try_lock(), 0);
  EXPECT_EQ(
      refusal(path.string(), {}, InTheWay::kRenamed),
      "the program of the run " + path.string() +
          " is still running; wait until it has ended or choose another with --output [TL225]");
  ExperimentDirectory another(named(""));
  another.create();
  EXPECT_TRUE(another.evaded());
}

TEST_F(ExperimentDirectoryTest, OfAnotherRunIsNotRenamed) {
  ExperimentDirectory made(named(""));
  made.create();
  fs::rename(made.path(), base_ / "moved");
  fs::create_directory(made.path());
  EXPECT_THROW(made.finish(), Error);
  EXPECT_TRUE(fs::is_empty(made.path()));
}

}  // namespace
}  // namespace timeloom::run
