#include "tools/report/findings/lock_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace timeloom::tools {
namespace {

constexpr char kSource[] = R"(import threading

class Ledger:
    def post(self, amount):
        # with the lock
        with self._lock:
            self.audit(amount)

    @staticmethod
    def head(
        lock,
    ):
        lock.acquire()

    def audit(self, amount):
        with open("lock-free") as file:
            return file.read()

def fetch():
    time.sleep(1)

with threading.Lock():
    pass
)";

TEST(LockLine, IsInTheFunctionItself) {
  EXPECT_EQ(lock_line(kSource, 4), 6u);
  EXPECT_EQ(lock_line(kSource, 19), 0u);
}

TEST(LockLine, DecoratorsAndLongHeadsBelongToTheFunction) { EXPECT_EQ(lock_line(kSource, 9), 13u); }

TEST(LockLine, AFileIsNoLock) { EXPECT_EQ(lock_line(kSource, 15), 0u); }

TEST(LockLine, LinesThatAreNoFunctionHaveNone) {
  for (const std::uint32_t line : {0u, 1u, 2u, 3u, 5u, 22u, 24u, 1000u}) {
    EXPECT_EQ(lock_line(kSource, line), 0u) << line;
  }
  EXPECT_EQ(lock_line("", 1), 0u);
}

TEST(LockLine, IsReadFromAFileThatIsOlderThanTheRunOnly) {
  namespace fs = std::filesystem;
  const std::string path = testing::TempDir() + "lock_line_test.py";
  std::ofstream(path) << kSource;
  Region region;
  region.file = path;
  region.first_line = 4;
  EXPECT_EQ(lock_place(region, UINT64_MAX), "lock_line_test.py:6");
  EXPECT_EQ(lock_place(region, 1), "");
  region.file = fs::path(path).filename().string();
  EXPECT_EQ(lock_place(region, UINT64_MAX), "");
  region.file = "/dev/zero";
  EXPECT_EQ(lock_place(region, UINT64_MAX), "");
  // The same text under a name that no source of Python has.
  region.file = path + ".txt";
  fs::rename(path, region.file);
  EXPECT_EQ(lock_place(region, UINT64_MAX), "");
  fs::remove(region.file);
}

}  // namespace
}  // namespace timeloom::tools
