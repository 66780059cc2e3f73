// Removing, renaming and creating entries of a run, also where an attacker has replaced one by a
// symbolic link.
#include "run/open_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

class DirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(run_);
    fs::create_directories(elsewhere_ / "deep");
    put(elsewhere_ / "deep" / "data", "precious");
    put(file_, "precious");
  }
  void TearDown() override {  // no action in the run touches anything outside of it
    EXPECT_EQ(text(elsewhere_ / "deep" / "data"), "precious");
    EXPECT_EQ(text(file_), "precious");
    EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere_), {}), 1);
  }
  static void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static std::string text(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static bool there(const fs::path& path) { return fs::exists(fs::symlink_status(path)); }
  fs::path place(Item item) const { return run_ / entry(item).name; }
  // The three possible targets of a name: a directory, a file, nothing.
  void link(const fs::path& path, int what) const {
    const fs::path targets[] = {elsewhere_, file_, root_ / "nowhere"};
    fs::create_symlink(targets[what], path);
  }

  test::TempDirectory directory_;
  fs::path root_ = fs::canonical(directory_.path());
  fs::path run_ = root_ / "run";
  fs::path elsewhere_ = root_ / "elsewhere";
  fs::path file_ = root_ / "file";
};

TEST_F(DirectoryTest, RemovesFilesAndDirectoriesWithAllThatIsInThem) {
  put(place(Item::kAnchor), "text");
  put(place(Item::kTraceEvents) / "a" / "b" / "0.evt", "text");
  fs::create_symlink(elsewhere_, place(Item::kTraceEvents) / "a" / "link");
  ASSERT_EQ(::mkfifo((place(Item::kTraceEvents) / "fifo").c_str(), 0666), 0);
  const Directory run(run_);
  for (const Item item : {Item::kAnchor, Item::kTraceEvents, Item::kProfile}) run.remove(item);
  EXPECT_TRUE(run.empty());
}

TEST_F(DirectoryTest, RemovesALinkInThePlaceOfEveryEntryAndNotItsTarget) {
  const Directory run(run_);
  for (const Entry& entry : kContents) {
    for (int what = 0; what < 3; ++what) {
      link(place(entry.item), what);
      EXPECT_TRUE(run.holds(entry.item)) << entry.name;
      EXPECT_FALSE(run.open_directory(entry.item)) << entry.name;
      EXPECT_FALSE(run.open_file(entry.item).is_open()) << entry.name;
      EXPECT_THROW(run.write(entry.item, "x"), std::system_error) << entry.name;
      EXPECT_THROW(run.make_private_directory(entry.item), std::system_error) << entry.name;
      run.remove(entry.item);
      EXPECT_FALSE(there(place(entry.item))) << entry.name;
    }
  }
  EXPECT_FALSE(fs::exists(root_ / "nowhere"));
}

TEST_F(DirectoryTest, ADirectoryInThePlaceOfAFileIsNotOfTheRunAndStays) {
  const Directory run(run_);
  for (const Entry& entry : kContents) {
    if (entry.kind != Kind::kFile || entry.role == Role::kMark || entry.role == Role::kCopy)
      continue;
    put(place(Item::kTraceEvents) / "0.evt", "text");
    put(place(entry.item) / "notes", "precious");
    EXPECT_THROW(run.remove(entry.item), Error) << entry.name;
    EXPECT_THROW(run.check_removable(), Error) << entry.name;
    EXPECT_THROW(run.remove_run(), Error) << entry.name;
    EXPECT_EQ(text(place(entry.item) / "notes"), "precious") << entry.name;
    EXPECT_TRUE(run.holds(Item::kTraceEvents)) << "nothing is removed before " << entry.name;
    fs::remove_all(place(entry.item));
  }
}

TEST_F(DirectoryTest, MovesOverALinkAndNotOverItsTarget) {
  const Directory run(run_);
  const Directory working = run.make_private_directory(Item::kWorking);
  for (int what = 0; what < 3; ++what) {
    working.write(Item::kProfile, "new");
    link(place(Item::kProfile), what);
    working.move(Item::kProfile, run, Item::kProfile);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(place(Item::kProfile))));
    link(run_ / "mine.cubex", what);
    run.rename_profile(*ProfileName::of("mine"));
    EXPECT_EQ(text(run_ / "mine.cubex"), "new");
    EXPECT_FALSE(there(place(Item::kProfile)));
    fs::remove(run_ / "mine.cubex");
  }
}

TEST_F(DirectoryTest, RemovesASpoolUnderAnotherName) {
  const Directory run(run_);
  run.remove_spool();  // it does not exist
  put(place(Item::kSpool) / "1-0" / "defs", "text");
  put(place(Item::kWoven) / "1-0" / "defs", "of an interrupted removal");
  run.remove_spool();
  EXPECT_TRUE(run.empty());
  link(place(Item::kSpool), 0);
  link(place(Item::kWoven), 0);
  run.remove_spool();
  EXPECT_TRUE(run.empty());
}

TEST_F(DirectoryTest, RemovesTheWholeRunAndNothingElse) {
  const Directory run(run_);
  for (int what = -1; what < 3; ++what) {
    for (const Entry& entry : kContents) {
      if (entry.role == Role::kMark) continue;
      if (what >= 0) {
        link(place(entry.item), what);
      } else {
        put(entry.kind == Kind::kFile ? place(entry.item) : place(entry.item) / "below", "text");
      }
    }
    for (const char* name : {"results.csv", "running", "unmeasured"}) {
      put(run_ / name, "of the program");
    }
    run.remove_run();
    for (const Entry& entry : kContents) {
      const bool stays = entry.role == Role::kCopy || entry.role == Role::kMark;
      EXPECT_EQ(there(place(entry.item)), stays) << entry.name;
    }
    EXPECT_EQ(text(run_ / "results.csv"), "of the program");
    EXPECT_EQ(text(run_ / "running"), "of the program");
    EXPECT_EQ(text(run_ / "unmeasured"), "of the program");
    fs::remove(place(Item::kFilter));
  }
}

TEST_F(DirectoryTest, StaysTheOneThatWasOpened) {
  put(run_ / "traces.otf2", "text");
  const Directory run(run_);
  fs::rename(run_, root_ / "moved");
  fs::create_symlink(elsewhere_, run_);
  run.write(Item::kManifest, "text");
  run.remove(Item::kAnchor);
  EXPECT_TRUE(fs::exists(root_ / "moved" / "MANIFEST.md"));
  EXPECT_FALSE(fs::exists(root_ / "moved" / "traces.otf2"));
}

TEST_F(DirectoryTest, MayBeReachedThroughALink) {
  fs::create_symlink(run_, root_ / "link");
  const Directory run(root_ / "link");
  run.write(Item::kManifest, "text");
  EXPECT_EQ(text(run_ / "MANIFEST.md"), "text");
}

TEST_F(DirectoryTest, OverwritesNothing) {
  put(place(Item::kManifest), "old");
  const Directory run(run_);
  EXPECT_THROW(run.write(Item::kManifest, "new"), std::system_error);
  EXPECT_EQ(text(place(Item::kManifest)), "old");
}

TEST_F(DirectoryTest, SaysWhatCannotBeDone) {
  const auto code_of = [](auto action) {
    try {
      action();
    } catch (const std::system_error& error) {
      return error.code();
    }
    return std::error_code();
  };
  EXPECT_EQ(code_of([&] { Directory(root_ / "none"); }), std::errc::no_such_file_or_directory);
  EXPECT_EQ(code_of([&] { Directory{file_}; }), std::errc::not_a_directory);
  const Directory run(run_);
  EXPECT_EQ(code_of([&] { run.move(Item::kSpool, run, Item::kWoven); }),
            std::errc::no_such_file_or_directory);
  put(place(Item::kWoven) / "left", "text");
  fs::create_directory(place(Item::kSpool));
  EXPECT_EQ(code_of([&] { run.move(Item::kSpool, run, Item::kWoven); }),
            std::errc::directory_not_empty);
}

TEST_F(DirectoryTest, IsLockedByOneObject) {
  const Directory second(run_);
  {
    const Directory first(run_);
    EXPECT_TRUE(first.try_lock());
    EXPECT_FALSE(second.try_lock());
  }
  EXPECT_TRUE(second.try_lock());
}

}  // namespace
}  // namespace timeloom::run
