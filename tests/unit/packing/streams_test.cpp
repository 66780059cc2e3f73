#include "packing/streams.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace timeloom::packing {
namespace {

constexpr std::uint64_t kMuch = 1 << 20;

TEST(Varint, KeepsEveryNumber) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128},
                                     std::uint64_t{1} << 62, UINT64_MAX}) {
    Bytes bytes;
    put_varint(bytes, number);
    ByteReader reader(bytes);
    EXPECT_EQ(reader.varint(), number);
    EXPECT_TRUE(reader.at_end() && !reader.failed());
    EXPECT_EQ(unzigzag(zigzag(number)), number);
  }
}

TEST(Varint, FailsForMoreThan64BitsAndForACutNumber) {
  const Bytes long_one = {255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
  ByteReader reader(long_one);
  EXPECT_EQ(reader.varint(), 0u);
  EXPECT_TRUE(reader.failed());
  const Bytes cut = {255, 255};
  ByteReader second(cut);
  EXPECT_EQ(second.varint(), 0u);
  EXPECT_TRUE(second.failed());
}

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

TEST(Streams, ComeBack) {
  const Bytes same(50'000, 7), few = {1, 2, 3}, many = counted(3000);
  Compressor compressor;
  StreamWriter writer;
  writer.add(compressor, 0, same);
  writer.add(compressor, 3, Bytes());
  writer.add(compressor, 4, few);
  writer.add(compressor, 200, many);
  const Bytes body = writer.take();
  EXPECT_LT(body.size(), 1000u);
  Decompressor decompressor;
  StreamReader reader;
  ASSERT_TRUE(reader.read(decompressor, body, kMuch));
  EXPECT_EQ(reader.ids(), (std::vector<std::uint8_t>{0, 4, 200}));
  EXPECT_TRUE(std::ranges::equal(reader.stream(0), same));
  EXPECT_TRUE(std::ranges::equal(reader.stream(4), few));
  EXPECT_TRUE(std::ranges::equal(reader.stream(200), many));
  EXPECT_TRUE(reader.stream(3).empty());
}

TEST(Streams, OfABodyThatIsCutAreRefused) {
  Compressor compressor;
  StreamWriter writer;
  writer.add(compressor, 0, counted(300));
  writer.add(compressor, 1, counted(10));
  const Bytes body = writer.take();
  Decompressor decompressor;
  StreamReader reader;
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(reader.read(decompressor, ByteSpan(body).first(size), kMuch)) << size;
  }
  EXPECT_FALSE(reader.read(decompressor, body, 309));
  EXPECT_TRUE(reader.read(decompressor, body, 310));
}

TEST(Streams, DoNotTakeWhatIsOnlyClaimed) {
  Bytes body = {1, 0};
  put_varint(body, std::uint64_t{1} << 62);
  put_varint(body, 4);
  body.insert(body.end(), 4, 0);
  Decompressor decompressor;
  StreamReader reader;
  EXPECT_FALSE(reader.read(decompressor, body, UINT64_MAX));
}

// The size that zstd writes into its own head is not believed either.
TEST(Streams, ThatUnpackToAnotherSizeAreRefused) {
  Compressor compressor;
  StreamWriter writer;
  writer.add(compressor, 0, Bytes(60'000, 7));
  const Bytes body = writer.take();
  for (const std::uint64_t claimed : {59'999u, 60'001u, 65'000u}) {
    Bytes other = {body[0], body[1]};
    put_varint(other, claimed);
    other.insert(other.end(), body.begin() + 5, body.end());
    Decompressor decompressor;
    StreamReader reader;
    EXPECT_FALSE(reader.read(decompressor, other, kMuch)) << claimed;
  }
}

}  // namespace
}  // namespace timeloom::packing
