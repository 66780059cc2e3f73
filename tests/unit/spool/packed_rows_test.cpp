// Rows of records of GPUs and of waits, packed, damaged and invented.
#include "spool/packed_rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace timeloom::spool {
namespace {

using packing::Bytes;
using Rows = std::vector<std::uint64_t>;
constexpr std::size_t kMost = UINT32_MAX;

// Waits of eight threads, one after the other.
Rows rows(std::size_t count) {
  Rows result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = 1'000'000 + 30'000 * i, location = i % 8, looks = 1 + i % 5;
    result.insert(result.end(),
                  {first, first + 25'000 + i % 11, location | looks << 32 | std::uint64_t{1} << 56,
                   0x7f00'0000'1000 + 64 * location});
  }
  return result;
}

Bytes packed_rows(const Rows& rows) {
  RowPacker packer;
  Bytes bytes;
  EXPECT_TRUE(packer.pack(rows, bytes));
  return bytes;
}

TEST(PackedRows, ComeBackAsTheyWere) {
  const Rows plain = rows(4000);
  const Bytes bytes = packed_rows(plain);
  EXPECT_LT(8 * bytes.size(), plain.size() * 8);
  Rows back;
  RowUnpacker unpacker;
  ASSERT_TRUE(unpacker.unpack(bytes, kMost, back));
  EXPECT_EQ(back, plain);
  Bytes padded = bytes;
  padded.resize(padded.size() + 7);
  ASSERT_TRUE(unpacker.unpack(padded, kMost, back));
  EXPECT_EQ(back, plain);
}

TEST(RecordPacker, PacksRecordsThatGetSmallerOnceItHasBegun) {
  const Rows plain = rows(400), one = rows(1);
  RecordPacker packer;
  EXPECT_TRUE(packer.pack(std::as_bytes(std::span(plain))).empty());
  packer.begin();
  EXPECT_TRUE(packer.pack(std::as_bytes(std::span(one))).empty());
  for (int turn = 0; turn < 2; ++turn) {
    const auto bytes = packer.pack(std::as_bytes(std::span(plain)));
    EXPECT_EQ(bytes.size() % 8, 0u);
    Rows back;
    ASSERT_TRUE(RowUnpacker().unpack(bytes, kMost, back));
    EXPECT_EQ(back, plain);
  }
}

TEST(PackedRows, ThatHaveNoPatternComeBackOrStayAsTheyAre) {
  std::mt19937_64 random(1);
  RowPacker packer;
  RowUnpacker unpacker;
  for (std::size_t count : {1u, 2u, 1000u}) {
    Rows plain(4 * count), back;
    for (std::uint64_t& word : plain) word = random();
    plain[0] = UINT64_MAX;
    Bytes bytes;
    EXPECT_FALSE(packer.pack(plain, bytes));  // no smaller
    ASSERT_TRUE(unpacker.unpack(bytes, kMost, back));
    EXPECT_EQ(back, plain);
  }
}

TEST(PackedRows, AreRefusedWhereTheyAreDamaged) {
  const Rows plain = rows(100);
  const Bytes bytes = packed_rows(plain);
  RowUnpacker unpacker;
  Rows back;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(unpacker.unpack(packing::ByteSpan(bytes).first(length), kMost, back)) << length;
    EXPECT_TRUE(back.empty());
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] = static_cast<std::uint8_t>(changed[i] ^ 0x41);
    if (!unpacker.unpack(changed, kMost, back)) {
      EXPECT_TRUE(back.empty());
    }
  }
}

TEST(PackedRows, AreRefusedWhereThereAreTooMany) {
  Rows back;
  RowUnpacker unpacker;
  EXPECT_FALSE(unpacker.unpack(packed_rows(rows(100)), 99, back));
  EXPECT_TRUE(unpacker.unpack(packed_rows(rows(100)), 100, back));
}

// The head claims 2^32 - 1 rows of a body of a few bytes.
TEST(PackedRows, TakeNoMemoryForWhatIsOnlyClaimed) {
  Bytes bytes = packed_rows(rows(100));
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = 0xff;
  Rows back;
  RowUnpacker unpacker;
  EXPECT_FALSE(unpacker.unpack(bytes, kMost, back));
  EXPECT_EQ(back.capacity(), 0u);
}

}  // namespace
}  // namespace timeloom::spool
