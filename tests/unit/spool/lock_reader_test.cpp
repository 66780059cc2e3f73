// The file `locks` of a spool: read whole, cut and damaged.
#include "spool/locks/lock_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "../support/temp_directory.hpp"
#include "core/checksum.hpp"

namespace timeloom::spool {
namespace {

template <typename Value>
void place_at(std::string& bytes, std::size_t offset, Value value) {
  if (bytes.size() < offset + sizeof value) bytes.resize(offset + sizeof value);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <typename... Words>
void put_words(std::string& bytes, LockTable table, std::size_t number, Words... words) {
  std::size_t at = kLockLayout[table].offset + number * kLockLayout[table].entry;
  ((place_at(bytes, at, words), at += sizeof words), ...);
}

std::uint32_t operator""_w(unsigned long long value) { return static_cast<std::uint32_t>(value); }
std::uint64_t operator""_c(unsigned long long value) { return value; }

// A lock that thread 0 has, and for which thread 1 waits.
std::string whole_lock_file() {
  std::string bytes;
  place_at(bytes, 0, kLockMagic);
  place_at(bytes, 8, kLockVersion);
  place_at(bytes, 10, std::uint16_t{0});
  place_at(bytes, 12, checksum(reinterpret_cast<const std::byte*>(bytes.data()), 12));
  const std::string texts("\0a.py\0f\0", 8);
  const std::uint64_t used[] = {texts.size(), 1, 1, 1, 2, 1, 2, 70, 0, 5};
  for (std::size_t i = 0; i < std::size(used); ++i) place_at(bytes, 16 + 8 * i, used[i]);
  bytes.resize(kLockLayout[kLockTexts].offset);
  bytes += texts;
  put_words(bytes, kLockSites, 0, 1_w, 6_w, 7_w, 0_w, 2_w, 0_w, 3_c, 4_c, 5_c);
  put_words(bytes, kLockHolds, 0, 0_w, 1_w, 6_w, 8_w, 10_c, 11_c, 12_c, 13_c);
  put_words(bytes, kLockWaits, 0, 0_w, 1_w, 1_w, 6_w, 9_w, 0_w, 20_c, 21_c, 22_c);
  put_words(bytes, kLockThreads, 0, 0_w, 1_w, 0_w, 0_w, 0_w, 0_w, 0_c);
  put_words(bytes, kLockThreads, 1, 3_w, 0_w, 1_w, 1_w, 6_w, 9_w, 60_c);
  put_words(bytes, kLockWanted, 0, 0_w, 1_w, 1_w, 6_w, 8_w, 0_w, 50_c);
  put_words(bytes, kLockCircles, 0, 0_w, 1_w, 1_w, 6_w, 9_w, 0_w, 1_w, 6_w, 8_w, 0_w, 30_c);
  put_words(bytes, kLockCircles, 1, 0_w, 0_w, 1_w, 6_w, 8_w, 0_w, 1_w, 6_w, 9_w, 0_w, 30_c);
  return bytes;
}

LockData read_lock_bytes(const std::string& bytes) {
  const test::TempDirectory directory;
  std::ofstream(directory.path() / kLockFile, std::ios::binary) << bytes;
  return read_locks(SpoolDirectory(directory.path()));
}

TEST(LockReader, ReadsAWholeFile) {
  const LockData data = read_lock_bytes(whole_lock_file());
  EXPECT_TRUE(data.exists);
  EXPECT_FALSE(data.damaged);
  EXPECT_EQ(data.last, 70u);
  EXPECT_EQ(data.end, 0u);
  EXPECT_EQ(data.lost, 5u);
  ASSERT_EQ(data.sites.size(), 1u);
  EXPECT_EQ(data.sites[0].place.file, "a.py");
  EXPECT_EQ(data.sites[0].place.function, "f");
  EXPECT_EQ(data.sites[0].place.line, 7u);
  EXPECT_EQ(data.sites[0].maker, "");
  EXPECT_EQ(data.sites[0].kind, LockKind::kRLock);
  EXPECT_EQ(data.sites[0].foreign, 5u);
  ASSERT_EQ(data.holds.size(), 1u);
  EXPECT_EQ(data.holds[0].takes, 10u);
  EXPECT_EQ(data.holds[0].blocked, 13u);
  ASSERT_EQ(data.waits.size(), 1u);
  EXPECT_EQ(data.waits[0].thread, 1u);
  EXPECT_EQ(data.waits[0].longest, 22u);
  ASSERT_EQ(data.threads.size(), 2u);
  EXPECT_TRUE(data.threads[0].ended);
  EXPECT_EQ(data.threads[1].location, 3u);
  EXPECT_EQ(data.threads[1].wanted, 1u);
  EXPECT_EQ(data.threads[1].since, 60u);
  ASSERT_EQ(data.wanted.size(), 1u);
  EXPECT_EQ(data.wanted[0].owner, 1u);
  EXPECT_EQ(data.wanted[0].place.line, 8u);
  ASSERT_EQ(data.circles.size(), 2u);
  EXPECT_EQ(data.circles[1].circle, 0u);
  EXPECT_EQ(data.circles[1].thread, 0u);
  EXPECT_EQ(data.circles[1].place.line, 8u);
  EXPECT_EQ(data.circles[1].taken_at.line, 9u);
  EXPECT_EQ(data.circles[1].closed, 30u);
}

TEST(LockReader, FindsNoFile) {
  const test::TempDirectory directory;
  EXPECT_FALSE(read_locks(SpoolDirectory(directory.path())).exists);
}

// Indices are valid, whatever the file contains.
void expect_sound(const LockData& data) {
  for (const auto& hold : data.holds) EXPECT_LT(hold.site, data.sites.size());
  for (const auto& wait : data.waits) {
    EXPECT_LT(wait.site, data.sites.size());
    EXPECT_LT(wait.thread, data.threads.size());
  }
  for (const auto& thread : data.threads) EXPECT_LE(thread.wanted, data.wanted.size());
  for (const auto& wanted : data.wanted) EXPECT_LE(wanted.owner, data.threads.size());
  for (const auto& circle : data.circles) {
    EXPECT_LT(circle.circle, data.circles.size());
    EXPECT_LT(circle.thread, data.threads.size());
  }
}

TEST(LockReader, ReadsAFileThatWasCut) {
  const std::string whole = whole_lock_file();
  for (const LockTableLayout& table : kLockLayout) {
    for (const std::uint64_t more : {0u, 1u, 20u}) {
      const LockData data = read_lock_bytes(whole.substr(0, table.offset + more));
      EXPECT_TRUE(data.damaged);
      expect_sound(data);
    }
  }
  EXPECT_TRUE(read_lock_bytes(whole.substr(0, 80)).damaged);
  EXPECT_TRUE(read_lock_bytes("").damaged);
}

TEST(LockReader, ReadsADamagedFile) {
  const std::string whole = whole_lock_file();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sizeof(LockHeader); ++i) places.push_back(i);
  for (const LockTableLayout& table : kLockLayout) {
    for (std::size_t i = 0; i < table.entry; ++i) places.push_back(table.offset + i);
  }
  for (const std::size_t place : places) {
    std::string bytes = whole;
    bytes[place] = static_cast<char>(bytes[place] ^ 0xff);
    expect_sound(read_lock_bytes(bytes));
  }
}

}  // namespace
}  // namespace timeloom::spool
