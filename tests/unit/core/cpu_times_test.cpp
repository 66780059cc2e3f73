// The texts of CPU times: back again, and from strangers.
#include "core/cpu_times.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

TEST(CpuTimes, ThreadsComeBackByTheirNames) {
  const NativeThreadsByName all = {
      {"OpenBLAS", {8, 1'700'000'000}}, {"pool 1 2", {1, 5}}, {"", {2, 0}}, {"two\nlines", {1, 1}}};
  const NativeThreadsByName found = native_threads_of(to_text(all));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found.at("OpenBLAS").threads, 8u);
  EXPECT_EQ(found.at("OpenBLAS").cpu_ns, 1'700'000'000u);
  EXPECT_EQ(found.at("pool 1 2").cpu_ns, 5u);
  EXPECT_EQ(found.at("").threads, 2u);
  EXPECT_EQ(found.at("two lines").threads, 1u);
}

TEST(CpuTimes, ThreadsOfAStrangerEndAtTheFirstMalformedLine) {
  for (const char* const text : {"", "\n", "1", "1 2", "x 2 name", "1 x name", "-1 2 name",
                                 "1 99999999999999999999 name", "1  2 name"}) {
    EXPECT_TRUE(native_threads_of(text).empty()) << text;
  }
  const NativeThreadsByName found = native_threads_of("1 2 a\n3 4 a\n5 b\n6 7 c\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("a").threads, 4u);
  EXPECT_EQ(found.at("a").cpu_ns, 6u);
}

}  // namespace
}  // namespace timeloom
