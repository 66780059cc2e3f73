#include "core/executable.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"

namespace timeloom {
namespace {

namespace fs = std::filesystem;

class ExecutableTest : public testing::Test {
 protected:
  ExecutableTest() {
    for (const char* name : {"one", "two", "two/directory"}) {
      fs::create_directory(at(name));
    }
    for (const char* name : {"one/tool", "two/tool", "two/other"}) put(name, 0755);
    put("one/other", 0644);
    fs::create_directory(at("one/directory"));
    put("two/linked", 0755);
    fs::create_symlink("../two/linked", at("one/link"));
    fs::create_symlink("nothing", at("one/broken"));
  }
  ~ExecutableTest() override {
    if (!before_.empty()) ::setenv("PATH", before_.c_str(), 1);
  }
  ExecutableTest(const ExecutableTest&) = delete;
  ExecutableTest& operator=(const ExecutableTest&) = delete;

  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }
  void put(const char* name, unsigned mode) const {
    test::write_bytes(at(name), "#!/bin/sh\n");
    fs::permissions(at(name), fs::perms{mode});
  }
  std::string found(const std::string& path, const char* name,
                    OnPath directories = OnPath::kAny) const {
    ::setenv("PATH", path.c_str(), 1);
    return find_executable(name, directories);
  }

  test::TempDirectory directory_;
  std::string before_ = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
};

TEST_F(ExecutableTest, IsARegularFileWithTheRight) {
  EXPECT_TRUE(is_executable(at("one/tool").c_str()));
  EXPECT_TRUE(is_executable(at("one/link").c_str()));
  for (const char* name : {"one/other", "one/directory", "one/broken", "one/none", ""}) {
    EXPECT_FALSE(is_executable(at(name).c_str())) << name;
  }
}

TEST_F(ExecutableTest, IsTheFirstOnPath) {
  const std::string both = at("one") + ":" + at("two");
  EXPECT_EQ(found(both, "tool"), at("one/tool"));
  EXPECT_EQ(found(at("two") + "/:" + at("one"), "tool"), at("two/tool"));
  EXPECT_EQ(found(both, "other"), at("two/other"));  // the first cannot be executed
  EXPECT_EQ(found(both, "directory"), "");
  EXPECT_EQ(found(both, "none"), "");
  EXPECT_EQ(found("", "tool"), "");
  ::unsetenv("PATH");
  EXPECT_EQ(find_executable("tool"), "");
}

TEST_F(ExecutableTest, IsAPathWhereTheNameHasASlash) {
  EXPECT_EQ(found("", at("one/tool").c_str()), at("one/tool"));
  EXPECT_EQ(found(at("one"), at("one/other").c_str()), "");
  EXPECT_EQ(found(directory_.path().string(), "one/tool"), "");
}

TEST_F(ExecutableTest, IsInTheCurrentDirectoryOnlyWhereThatIsWanted) {
  const fs::path current = fs::current_path();
  fs::current_path(at("one"));
  const std::string empty_first = ":" + at("two");
  const std::string relative_first = "../one:" + at("two");
  EXPECT_EQ(found(empty_first, "tool"), "tool");
  EXPECT_EQ(found(relative_first, "tool"), "../one/tool");
  EXPECT_EQ(found(empty_first, "tool", OnPath::kAbsolute), at("two/tool"));
  EXPECT_EQ(found(relative_first, "tool", OnPath::kAbsolute), at("two/tool"));
  EXPECT_EQ(found(".::..", "tool", OnPath::kAbsolute), "");
  fs::current_path(current);
}

}  // namespace
}  // namespace timeloom
