#include "core/parallel.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <stdexcept>

namespace timeloom {
namespace {

TEST(ForEachInParallel, DoesEachItemOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 9u}) {
    std::vector<std::atomic<int>> done(100);
    for_each_in_parallel(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    for (const auto& one : done) EXPECT_EQ(one, 1);
  }
  for_each_in_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(ForEachInParallel, StopsAtAnExceptionAndThrowsIt) {
  std::atomic<std::size_t> done = 0;
  const auto work = [&](std::size_t i) {
    ++done;
    if (i == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(for_each_in_parallel(1'000'000, 2, work), std::runtime_error);
  EXPECT_LT(done, 1'000'000u);
}

TEST(ForEachInParallel, GoesOnWithoutMoreThreads) {
  pthread_attr_t before, huge;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(::pthread_attr_init(&huge), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 46), 0);  // more than any machine
                                                                           // has
  ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
  std::vector<int> done(10);
  EXPECT_NO_THROW(for_each_in_parallel(done.size(), 4, [&](std::size_t i) { ++done[i]; }));
  ::pthread_setattr_default_np(&before);
  EXPECT_EQ(done, std::vector<int>(10, 1));
}

}  // namespace
}  // namespace timeloom
