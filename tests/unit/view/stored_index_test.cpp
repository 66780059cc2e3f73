// The fate of an index that cannot be completed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "support/bytes.hpp"
#include "support/one_location.hpp"
#include "support/temp_directory.hpp"
#include "view/index/stored_index.hpp"

namespace timeloom::view {
namespace {

class Unreadable : public test::OneLocation {
 public:
  void replay(std::span<RunSink* const>, unsigned) override { throw Error("it is damaged"); }
};

// The changes in a directory, in order.
class Watched {
 public:
  explicit Watched(const std::string& path) : descriptor_(::inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(::inotify_add_watch(descriptor_, path.c_str(), IN_DELETE | IN_CLOSE_WRITE), 0);
  }
  ~Watched() { ::close(descriptor_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  std::vector<std::uint32_t> happened() const {
    alignas(inotify_event) std::array<std::byte, 4096> bytes{};
    const ssize_t size = ::read(descriptor_, bytes.data(), bytes.size());
    std::vector<std::uint32_t> masks;
    for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, bytes.data() + at, sizeof event);
      masks.push_back(event.mask);
      at += sizeof event + event.len;
    }
    return masks;
  }

 private:
  int descriptor_;
};

// If its lock ended before its name was removed, another process could take it for a file to
// continue.
TEST(IndexPlace, AFileThatIsGivenUpKeepsItsLockUntilItsNameIsGone) {
  const test::TempDirectory directory;
  const Watched watched(directory.path().string());
  Unreadable run;
  Progress progress;
  EXPECT_THROW(make_index(run, directory / "traces.otf2", 1, progress, 1), Error);
  EXPECT_EQ(watched.happened(), (std::vector<std::uint32_t>{IN_DELETE, IN_CLOSE_WRITE}));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

// An attacker who may write beside the archive puts a file of the user there under the name of the
// index.
TEST(IndexPlace, WritesToNoFileThatIsThere) {
  const test::TempDirectory directory;
  ::setenv("XDG_CACHE_HOME", (directory / "cache").c_str(), 1);  // the second possible place
  const std::filesystem::path victim = directory / "victim";
  for (const std::string name : {".view.timeloom", "view.timeloom"}) {
    for (const bool hard : {true, false}) {
      test::write_bytes(victim, "text");
      hard ? std::filesystem::create_hard_link(victim, directory / name)
           : std::filesystem::create_symlink("victim", directory / name);
      test::OneLocation run;
      Progress progress;
      EXPECT_NE(make_index(run, directory / "traces.otf2", 1, progress, 1), nullptr);
      EXPECT_EQ(test::read_bytes(victim), "text");
      for (const char* one : {".view.timeloom", "view.timeloom"})
        std::filesystem::remove(directory / one);
    }
  }
}

// The index of a running program never lies beside its run, nor in the cache.
TEST(IndexPlace, TheErrorOfAPassingIndexNamesItsOwnPlace) {
  ::setenv("TMPDIR", "/proc", 1);  // a directory without new files
  test::OneLocation run;
  Progress progress;
  try {
    make_passing_index(run, progress, 1, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos) << error.what();
  }
  ::unsetenv("TMPDIR");
  const test::TempDirectory directory;
  ::setenv("TMPDIR", directory.path().c_str(), 1);
  EXPECT_NE(make_passing_index(run, progress, 1, nullptr), nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace timeloom::view
