// A library that the test compiles, strips and takes apart, with the functions that it exports.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "symbols/debug_files.hpp"

namespace timeloom::symbols {

namespace fs = std::filesystem;

// The tests know the lines of this text.
inline constexpr char kLibraryText[] = R"(namespace solver {
struct Grid { int step(int n) const; };
__attribute__((visibility("default"))) int Grid::step(int n) const {
  return n + 1;
}
template <typename T>
__attribute__((visibility("default"), noinline)) T twice(T value) {
  return value + value;
}
template int twice<int>(int);
}
extern "C" {
__attribute__((visibility("default"))) int plain(int n) { return n; }
__attribute__((visibility("default"), alias("plain"))) int __other_name(int n);
__attribute__((noinline)) static int hidden(int n) { return 3 * n; }
typedef int (*function)(int);
__attribute__((visibility("default"))) function address_of_hidden() { return hidden; }
# 70 "heat.f90"
__attribute__((visibility("default"))) int advance_(int n) { return n - 1; }
}
)";

inline void run_tool(const std::string& command) {
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c)
}

class CompiledTest : public ::testing::Test {
 protected:
  // Compiles the library at `path`.
  void compile(const std::string& path, const std::string& options = "-Wl,--build-id=sha1") {
    fs::create_directories(fs::path(path).parent_path());
    test::write_bytes(directory_ / "library.cpp", kLibraryText);
    run_tool(std::string(TIMELOOM_TEST_CXX) + " -g -O0 -fPIC -shared -fvisibility=hidden -o " +
             path + " " + directory_ / "library.cpp " + options);
  }
  static void strip(const std::string& path) { run_tool("strip --strip-all " + path); }
  static void split(const std::string& path, const std::string& debug, bool link = true) {
    fs::create_directories(fs::path(debug).parent_path());
    run_tool("objcopy --only-keep-debug " + path + " " + debug);
    strip(path);
    if (link) run_tool("objcopy --add-gnu-debuglink=" + debug + " " + path);
  }
  // As a measured process records it.
  static CodeObject object_at(const std::string& path) {
    const std::optional<ElfFile> file = ElfFile::open(path);
    EXPECT_TRUE(file);
    CodeObject object{path, file->build_id()};
    if (object.build_id.empty()) {
      object.size = file->size();
      object.changed_ns = file->changed_ns();
    }
    return object;
  }
  // The address of a function by its symbol, and of "hidden", as the dynamic linker knows them.
  static std::map<std::string, std::uint64_t> addresses_in(const std::string& path) {
    std::map<std::string, std::uint64_t> result;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    Dl_info info{};
    for (const char* name : {"plain", "_ZNK6solver4Grid4stepEi", "_ZN6solver5twiceIiEET_S1_",
                             "advance_", "address_of_hidden"}) {
      void* const address = ::dlsym(library, name);
      EXPECT_NE(::dladdr(address, &info), 0) << name;
      result[name] = reinterpret_cast<std::uint64_t>(address) -
                     reinterpret_cast<std::uint64_t>(info.dli_fbase);
    }
    const auto ask = reinterpret_cast<void* (*)()>(::dlsym(library, "address_of_hidden"));
    result["hidden"] =
        reinterpret_cast<std::uint64_t>(ask()) - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    ::dlclose(library);
    return result;
  }

  test::TempDirectory directory_;
};

}  // namespace timeloom::symbols
