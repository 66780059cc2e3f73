// Lines of functions come only from source files below the given folders, however a run names its
// files.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/error.hpp"
#include "support/temp_directory.hpp"
#include "view/answers/source_files.hpp"

namespace timeloom::view {
namespace {

namespace fs = std::filesystem;

class SourceTest : public testing::Test {
 protected:
  SourceTest() {
    fs::create_directories(here / "pkg");
    write(here / "pkg/mod.py", 20);
    write(outside / "secret.py", 20);
    write(outside / "app/tool.py", 20);
  }

  static void write(const fs::path& path, int lines) {
    fs::create_directories(path.parent_path());
    std::ofstream file(path);
    for (int line = 1; line <= lines; ++line)
      file << path.filename().string() << ' ' << line << '\n';
  }
  static Region region(const std::string& file, std::uint32_t first = 5, std::uint32_t last = 7) {
    Region region;
    region.name = "f";
    region.file = file;
    region.first_line = first;
    region.last_line = last;
    return region;
  }
  std::string reason(const std::string& file) const {
    return files().lines_of(region(file), {}).reason;
  }
  SourceFiles files(const std::vector<std::string>& others = {}) const { return {here, others}; }

  test::TempDirectory folder;
  fs::path here = folder.path() / "here";
  fs::path outside = folder.path() / "outside";
};

TEST_F(SourceTest, LinesOfAFunctionAndSomeAroundThem) {
  for (const std::string& file : {(here / "pkg/mod.py").string(), std::string("pkg/mod.py")}) {
    const SourceLines lines = files().lines_of(region(file), {});
    EXPECT_EQ(lines.reason, "");
    EXPECT_EQ(lines.first, 2u);
    ASSERT_EQ(lines.lines.size(), 9u);
    EXPECT_EQ(lines.lines.front(), "mod.py 2");
    EXPECT_EQ(lines.lines.back(), "mod.py 10");
    EXPECT_EQ(lines.file, (fs::canonical(here) / "pkg/mod.py").string());
  }
  EXPECT_EQ(files().lines_of(region("pkg/mod.py", 1, 0), {}).lines.size(), 20u);
  EXPECT_EQ(files().lines_of(region("pkg/mod.py", 19, UINT32_MAX), {}).lines.size(), 5u);
}

TEST_F(SourceTest, NothingOutsideIsRead) {
  fs::create_symlink(outside / "secret.py", here / "link.py");
  fs::create_symlink(outside, here / "out");
  for (const std::string& file :
       {(outside / "secret.py").string(), std::string("../outside/secret.py"),
        std::string("pkg/../../outside/secret.py"), std::string("link.py"),
        std::string("out/secret.py"), (here / "../outside/secret.py").string(),
        std::string("/etc/passwd"), std::string("/"), std::string("."), std::string("pkg"),
        std::string("pkg/none.py"), std::string("pkg/mod.py\0x", 12)}) {
    EXPECT_NE(reason(file), "") << file;
  }
  EXPECT_NE(reason(""), "");
}

TEST_F(SourceTest, LinksThatStayInsideAreFollowed) {
  fs::create_symlink("pkg", here / "inside");
  EXPECT_EQ(reason("inside/mod.py"), "");
}

TEST_F(SourceTest, OnlyRegularSourceFiles) {
  for (const char* name : {"data.txt", "id_rsa", ".env", ".hidden.py", "noend"}) {
    write(here / name, 20);
    EXPECT_NE(reason(name), "") << name;
  }
  ASSERT_EQ(::mkfifo((here / "fifo.py").c_str(), 0600), 0);
  EXPECT_NE(reason("fifo.py"), "");
  fs::create_directories(here / "folder.py");
  EXPECT_NE(reason("folder.py"), "");
  write(here / "large.py", 200'000);
  EXPECT_NE(reason("large.py"), "");
}

TEST_F(SourceTest, AnotherFolderByTheEndOfThePath) {
  const SourceFiles sources = files({outside.string()});
  EXPECT_EQ(sources.lines_of(region((outside / "secret.py").string()), {}).reason, "");
  EXPECT_EQ(sources.lines_of(region("/home/somebody/app/tool.py"), {}).lines.front(), "tool.py 2");
  EXPECT_NE(sources.lines_of(region("/home/somebody/app/other.py"), {}).reason, "");
  EXPECT_THROW(files({(folder.path() / "none").string()}), Error);
}

TEST_F(SourceTest, AChangeAfterTheRunIsTold) {
  const std::uint64_t future = std::uint64_t{1} << 62;
  EXPECT_TRUE(files().lines_of(region("pkg/mod.py"), 1).changed);
  EXPECT_FALSE(files().lines_of(region("pkg/mod.py"), future).changed);
}

TEST_F(SourceTest, ALineThatIsNotThereAnyMore) {
  EXPECT_NE(files().lines_of(region("pkg/mod.py", 500, 510), {}).reason, "");
  EXPECT_NE(files().lines_of(region("pkg/mod.py", 0, 0), {}).reason, "");
}

}  // namespace
}  // namespace timeloom::view
