// Frees that are booked later.
#include "preload/memory/pending_frees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace timeloom::preload {
namespace {

using Booked = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Booked booked(PendingFrees& frees) {
  Booked result;
  frees.take([&](std::uint64_t block, std::uint64_t bytes) { result.emplace_back(block, bytes); });
  std::ranges::sort(result);
  return result;
}

TEST(PendingFrees, AreBookedOnce) {
  PendingFrees frees;
  EXPECT_TRUE(booked(frees).empty());
  EXPECT_TRUE(frees.add(32, 100));
  EXPECT_TRUE(frees.add(16, UINT64_MAX));
  EXPECT_EQ(booked(frees), (Booked{{16, UINT64_MAX}, {32, 100}}));
  EXPECT_TRUE(booked(frees).empty());
  frees.clear();
  EXPECT_TRUE(frees.add(16, 1));
  frees.clear();
  EXPECT_TRUE(booked(frees).empty());
}

TEST(PendingFrees, ThatHaveNoRoomAreRefused) {
  PendingFrees frees;
  for (std::uint64_t i = 0; i < PendingFrees::kMost; ++i) EXPECT_TRUE(frees.add(16 * (i + 1), i));
  EXPECT_FALSE(frees.add(8, 1));
  EXPECT_EQ(booked(frees).size(), PendingFrees::kMost);
  EXPECT_TRUE(frees.add(8, 1));
}

// Threads add while others take: each accepted free is booked once.
TEST(PendingFrees, OfManyThreadsAreBookedOnce) {
  constexpr std::uint64_t kThreads = 4, kEach = 5000;
  const auto frees = std::make_unique<PendingFrees>();
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        while (!frees->add(16 * (1 + thread * kEach + i), i)) std::this_thread::yield();
      }
    });
  }
  Booked all;
  while (all.size() < kThreads * kEach) {
    const Booked some = booked(*frees);
    all.insert(all.end(), some.begin(), some.end());
    std::this_thread::yield();
  }
  for (std::thread& one : threads) one.join();
  std::ranges::sort(all);
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], (std::pair<std::uint64_t, std::uint64_t>(16 * (i + 1), i % kEach)));
  }
  EXPECT_TRUE(booked(*frees).empty());
}

}  // namespace
}  // namespace timeloom::preload
