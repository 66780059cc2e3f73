#include "run/run_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <regex>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "run/contents.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr char kSettings[] = "TIMELOOM_INSTRUMENTER=frame\n";

// A separate directory for each test, which is also the current one.
class RunDirectory : public testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(root_);
  }
  void TearDown() override { fs::current_path(before_); }
  static void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static std::string check(const fs::path& path, bool force) {
    try {
      check_directory(path, force);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  test::TempDirectory directory_;
  fs::path root_ = fs::canonical(directory_.path());
  fs::path before_;
};

TEST_F(RunDirectory, IsNamedAfterTheProgramAndTheTime) {
  const auto name = [&](const char* program) {
    return choose_directory("", program).filename().string();
  };
  const auto is = [](const std::string& text, const std::string& begin) {
    return std::regex_match(text, std::regex(begin + "-[0-9]{8}-[0-9]{6}"));
  };
  EXPECT_TRUE(is(name("sub/app.py"), "timeloom-app"));
  EXPECT_TRUE(is(name("pack.mod"), "timeloom-pack.mod"));
  EXPECT_TRUE(is(name("a b'.py"), "timeloom-a_b_"));
  EXPECT_TRUE(is(name("dir/"), "timeloom-dir"));
  EXPECT_TRUE(is(name("."), "timeloom-program"));
  EXPECT_EQ(choose_directory("", "app.py").parent_path(), root_);
}

TEST_F(RunDirectory, NeedsACurrentDirectoryThatIsThere) {
  fs::remove(root_);
  try {
    choose_directory("", "app.py");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "the current directory is gone: No such file or directory; change to one that exists "
              "[TL228]");
  }
}

TEST_F(RunDirectory, GetsANumberWhenItIsTaken) {
  // Two may fall on different seconds, which proves nothing.
  for (int attempt = 0; attempt < 5; ++attempt) {
    const fs::path first = choose_directory("", "app.py");
    fs::create_directory(first);
    const fs::path second = choose_directory("", "app.py");
    fs::create_directory(second);
    const fs::path third = choose_directory("", "app.py");
    if (third.string().starts_with(first.string())) {
      EXPECT_EQ(second, first.string() + "-2");
      EXPECT_EQ(third, first.string() + "-3");
      return;
    }
  }
  FAIL() << "no two names in one second";
}

TEST_F(RunDirectory, IsTheOutputMadeAbsolute) {
  EXPECT_EQ(choose_directory("x/../run/", "app.py"), root_ / "run");
  EXPECT_EQ(choose_directory("/abs/run", "app.py"), "/abs/run");
}

TEST_F(RunDirectory, MayBeNewOrEmpty) {
  EXPECT_EQ(check(root_ / "new", false), "");
  fs::create_directory(root_ / "empty");
  EXPECT_EQ(check(root_ / "empty", false), "");
}

TEST_F(RunDirectory, OfAnotherRunIsRefusedWithoutForce) {
  const fs::path run = root_ / "run";
  make_directory(run, false, kSettings);
  EXPECT_EQ(check(run, false),
            "the run " + run.string() +
                " exists; replace it with --force or choose another with --output [TL224]");
  EXPECT_EQ(check(run, true), "");
  EXPECT_THROW(make_directory(run, false, kSettings), Error);
}

TEST_F(RunDirectory, KeepsWhatIsNotOfTheRunThatForceReplaces) {
  const fs::path run = root_ / "run";
  make_directory(run, false, kSettings);
  const char* const own[] = {"spool/1/log",  ".weaving/traces.def", ".woven/1/log",
                             "traces/0.evt", "traces.def",          "traces.marker",
                             "traces.otf2",  "callpaths.json",      "profile.cubex"};
  for (const char* name : own) put(run / name, "old");
  put(run / "results.csv", "of the program");
  put(run / "notes" / "today", "of the user");
  put(root_ / "precious", "text");
  fs::create_directory_symlink(root_, run / "link");
  make_directory(run, true, kSettings);
  for (const char* name : own) EXPECT_FALSE(fs::exists(run / name)) << name;
  EXPECT_FALSE(fs::exists(run / "spool"));
  EXPECT_TRUE(fs::exists(run / "scorep.cfg"));
  for (const char* name : {"results.csv", "notes/today", "link/precious"}) {
    EXPECT_TRUE(fs::exists(run / name)) << name;
  }
}

TEST_F(RunDirectory, OfAStartThatFailedIsTakenAsAnEmptyOne) {
  const fs::path run = root_ / "run";
  for (const char* text : {"", "# A run of Timeloom", "# A run of Timeloom: the settings used."}) {
    put(run / "scorep.cfg", text);
    EXPECT_EQ(check(run, false), "") << text;
  }
  make_directory(run, false, kSettings);
  EXPECT_NE(check(run, false), "");
  fs::remove_all(run);
  put(run / "scorep.cfg", "# Another tool");
  EXPECT_NE(check(run, true), "");
  put(run / "scorep.cfg", "");
  put(run / "data", "of the user");
  EXPECT_NE(check(run, true), "");
}

TEST_F(RunDirectory, LosesLinksButNotWhatTheyPointTo) {
  const fs::path run = root_ / "run";
  put(root_ / "elsewhere" / "data", "precious");
  const auto replace = [&](const fs::path& target) {
    for (const Entry& entry : kContents) {
      if (entry.role == Role::kSettings || entry.role == Role::kMark) continue;
      fs::remove_all(run / entry.name);
      fs::create_symlink(target, run / entry.name);
    }
    make_directory(run, true, kSettings);
  };
  make_directory(run, false, kSettings);
  for (const char* target : {"elsewhere", "elsewhere/data", "nowhere"}) {
    replace(root_ / target);
    // scorep.cfg, MANIFEST.md and scorep.filter
    EXPECT_EQ(std::distance(fs::directory_iterator(run), {}), 3);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(run / "MANIFEST.md")));
    EXPECT_TRUE(fs::is_regular_file(root_ / "elsewhere" / "data"));
    EXPECT_TRUE(fs::exists(fs::symlink_status(run / "scorep.filter")));
  }
  forget_directory(run, true);
  EXPECT_TRUE(fs::is_regular_file(root_ / "elsewhere" / "data"));
}

// The link may lead to the other run, which must not be replaced.
TEST_F(RunDirectory, IsNotKnownByALinkToTheSettingsOfAnother) {
  make_directory(root_ / "other", false, kSettings);
  const fs::path run = root_ / "run";
  put(run / "spool" / "data", "not ours");
  fs::create_symlink(root_ / "other" / "scorep.cfg", run / "scorep.cfg");
  EXPECT_EQ(
      check(run, true),
      run.string() + " exists and is not a run of Timeloom; choose another with --output [TL223]");
  forget_directory(run, false);
  EXPECT_TRUE(fs::exists(run / "spool" / "data"));
}

TEST_F(RunDirectory, IsNotReplacedWhileItsProgramRuns) {
  const fs::path run = root_ / "run";
  make_directory(run, false, kSettings);
  put(run / "spool" / "1-0" / "defs", "being written");
  EXPECT_EQ(check(run, true), "");
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open((run / "spool" / "1-0" / "defs").c_str(), O_RDWR | O_CLOEXEC);
    os::File file(fd);
    const char said = file.mark_in_use() == 0 ? 'y' : 'n';
    ::_exit(::write(ready[1], &said, 1) == 1 ? ::pause() : 1);
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  EXPECT_EQ(
      check(run, true),
      "the program of the run " + run.string() +
          " is still running; wait until it has ended or choose another with --output [TL225]");
  EXPECT_THROW(make_directory(run, true, kSettings), Error);
  EXPECT_TRUE(fs::exists(run / "spool" / "1-0" / "defs"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int fd : ready) ::close(fd);
  EXPECT_EQ(check(run, true), "");
}

TEST_F(RunDirectory, IsForgottenWhenNothingWasRecorded) {
  const fs::path run = root_ / "run";
  make_directory(run, false, kSettings);
  fs::create_directory(run / "spool");
  forget_directory(run, false);
  EXPECT_FALSE(fs::exists(run));
  fs::create_directory(run);
  make_directory(run, false, kSettings);
  put(root_ / "run-2" / "file", "text");
  forget_directory(run, true);
  EXPECT_TRUE(fs::is_empty(run));
  forget_directory(root_ / "run-2", false);
  EXPECT_TRUE(fs::exists(root_ / "run-2" / "file"));
}

TEST_F(RunDirectory, OfALongNameCanBeMade) {
  const fs::path run = choose_directory("", std::string(250, 'a') + ".py");
  make_directory(run, false, kSettings);
  EXPECT_TRUE(fs::exists(run / "scorep.cfg"));
}

TEST_F(RunDirectory, ThatIsNoRunIsNeverTouched) {
  const fs::path foreign = root_ / "foreign";
  put(foreign / "spool" / "defs", "not ours");
  for (const char* text : {"", "SCOREP_ENABLE_TRACING=true\n", "# A run of Timeloom"}) {
    put(foreign / "scorep.cfg", text);
    EXPECT_EQ(check(foreign, true),
              foreign.string() +
                  " exists and is not a run of Timeloom; choose another with --output [TL223]");
    EXPECT_THROW(make_directory(foreign, true, kSettings), Error);
    EXPECT_TRUE(fs::exists(foreign / "spool" / "defs"));
  }
  put(root_ / "file", "text");
  EXPECT_NE(check(root_ / "file", true), "");
}

TEST_F(RunDirectory, SaysWhyItCannotBeMade) {
  put(root_ / "file", "text");
  try {
    make_directory(root_ / "file" / "run", false, kSettings);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot write the run to " + (root_ / "file/run").string() +
                  ": Not a directory; choose another directory with --output [TL220]");
  }
}

TEST_F(RunDirectory, HoldsTheSettings) {
  make_directory(root_ / "a" / "run", false, kSettings);
  std::ifstream file(root_ / "a" / "run" / "scorep.cfg");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, std::string("# A run of Timeloom: the settings used.\n") + kSettings);
}

TEST_F(RunDirectory, IsNotReplacedWhileItIsWoven) {
  make_directory(root_ / "run", false, kSettings);
  {
    int error = 0;
    const os::Directory weave = os::Directory::open((root_ / "run").string(), &error);
    ASSERT_EQ(weave.try_lock(), 0);
    EXPECT_EQ(
        check(root_ / "run", true),
        "the run " + (root_ / "run").string() +
            " is being woven; wait until that has ended or choose another with --output [TL226]");
    EXPECT_THROW(make_directory(root_ / "run", true, kSettings), Error);
  }
  EXPECT_EQ(check(root_ / "run", true), "");
}

// All ranks of a job ask at once, before one of them replaces it.
TEST_F(RunDirectory, MayBeAskedAboutBySeveralAtOnce) {
  make_directory(root_ / "run", false, kSettings);
  const int other = ::open((root_ / "run").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_SH | LOCK_NB), 0);
  EXPECT_EQ(check(root_ / "run", true), "");
  make_directory(root_ / "run", true, kSettings);
  ::close(other);
}

TEST_F(RunDirectory, OneThatOthersMayChangeIsForcedAndSaid) {
  const fs::path run = root_ / "run";
  fs::create_directory(run);
  fs::permissions(run, fs::perms::all);
  const std::string all = run.string() + " lets every user change the run";
  const std::string remedy = "; allow it with --force or choose another with --output [TL229]";
  EXPECT_EQ(check(run, false), all + remedy);
  EXPECT_EQ(check(run, true), "");
  EXPECT_EQ(make_directory(run, true, kSettings).note, all + " [TL229]");
  fs::permissions(run, fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_EQ(make_directory(run, true, kSettings).note, "");
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can give a directory away";
  const fs::path other = root_ / "other";
  fs::create_directory(other);
  ASSERT_EQ(::chown(other.c_str(), 54321, 54321), 0);
  const std::string stranger = other.string() + " belongs to user 54321, who can change the run";
  EXPECT_EQ(check(other, false), stranger + remedy);
  EXPECT_TRUE(fs::is_empty(other));
  EXPECT_EQ(make_directory(other, true, kSettings).note, stranger + " [TL229]");
}

TEST_F(RunDirectory, OneThatIsMadeHereIsUsedWhateverItsMode) {
  const mode_t before = ::umask(0);
  const MadeRun made = make_directory(root_ / "run", false, kSettings);
  const fs::path claimed = claim_directory("", "app.py");
  EXPECT_EQ(make_directory(claimed, false, kSettings, true).note, "");
  ::umask(before);
  EXPECT_EQ(made.note, "");
  int error = 0;
  EXPECT_TRUE(made.directory.open(&error).is_open());
}

TEST_F(RunDirectory, ALinkOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can give a link away";
  const fs::path link = root_ / "link";
  fs::create_directory(root_ / "own");
  fs::create_symlink("own", link);
  EXPECT_EQ(check(link, false), "");
  ASSERT_EQ(::lchown(link.c_str(), 54321, 54321), 0);
  for (const bool force : {false, true}) {
    EXPECT_EQ(check(link, force),
              link.string() + " is a link of another user; choose another with --output [TL221]");
    EXPECT_THROW(make_directory(link, force, kSettings), Error);
  }
  EXPECT_TRUE(fs::is_empty(root_ / "own"));
}

TEST_F(RunDirectory, OnlyTheOneThatWasMadeIsForgotten) {
  const MadeRun made = make_directory(root_ / "run", false, kSettings);
  fs::rename(root_ / "run", root_ / "moved");
  make_directory(root_ / "run", false, kSettings);  // of another user
  forget_directory(made.directory, false);
  EXPECT_TRUE(fs::exists(root_ / "run" / "scorep.cfg"));
}

}  // namespace
}  // namespace timeloom::run
