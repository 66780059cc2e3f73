// The layout of docs/formats/spool.md, byte by byte. A change must also change the version, the
// page and this test.
#include "spool/spool_format.hpp"
#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

class FormatTest : public SpoolTest {
 protected:
  template <typename T>
  static T number(const std::string& bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  std::string file(const char* name) { return test::read_bytes(path() + "/" + name); }
};

TEST_F(FormatTest, Definitions) {
  create().define_string(StringId{7}, "abc");
  const std::string defs = file("defs");
  EXPECT_EQ(defs.substr(0, 8), std::string("\x01TLDEFS1", 8));
  EXPECT_EQ(number<std::uint16_t>(defs, 8), 3);
  EXPECT_EQ(number<std::uint16_t>(defs, 10), static_cast<std::uint16_t>(os::clock_source()));
  EXPECT_EQ(number<std::uint32_t>(defs, 16), 8u);  // size
  EXPECT_EQ(number<std::uint16_t>(defs, 20), 23);  // key
  EXPECT_EQ(number<std::uint32_t>(defs, 36), 11u);
  EXPECT_EQ(number<std::uint16_t>(defs, 40), 3);  // string
  EXPECT_EQ(number<std::uint16_t>(defs, 42), 0);
  EXPECT_EQ(defs.substr(48, 11), std::string("\x07\0\0\0\x03\0\0\0abc", 11));
}

TEST_F(FormatTest, TheRing) {
  Pen pen(create(), 5);
  pen.enter(1000, 3);
  pen.leave(1004, 3);
  writer_->count_lost(9);
  const std::string ring = file("ring");
  EXPECT_EQ(ring.size(), 65536u + 4 * 4096);
  EXPECT_EQ(ring.substr(0, 8), std::string("\x01TLRING1", 8));
  EXPECT_EQ(number<std::uint32_t>(ring, 8), 3u);
  EXPECT_EQ(number<std::uint32_t>(ring, 12), 4096u);
  EXPECT_EQ(number<std::uint32_t>(ring, 16), 4u);
  EXPECT_EQ(number<std::uint64_t>(ring, 24), 9u);
  const std::size_t segment = ring.find("LSEG");
  ASSERT_NE(segment, std::string::npos);
  EXPECT_EQ((segment - 65536) % 4096, 0u);
  EXPECT_EQ(number<std::uint32_t>(ring, segment + 4), 1u);   // active
  EXPECT_EQ(number<std::uint32_t>(ring, segment + 8), 5u);   // location
  EXPECT_EQ(number<std::uint32_t>(ring, segment + 12), 0u);  // size
  EXPECT_EQ(number<std::uint64_t>(ring, segment + 16), 0u);  // sequence
  EXPECT_EQ(number<std::uint64_t>(ring, segment + 24), 1000u);
  EXPECT_EQ(number<std::uint64_t>(ring, segment + 64), 0x0000'0000'0000'000du);
  EXPECT_EQ(number<std::uint64_t>(ring, segment + 72), 0x0000'0000'4000'000eu);
  EXPECT_EQ(number<std::uint64_t>(ring, segment + 80), 0u);
}

TEST_F(FormatTest, TheLog) {
  Pen pen(create(), 5);
  pen.enter(1000, 3);
  pen.retire();
  writer_->close();
  const std::string log = file("log");
  ASSERT_EQ(log.size(), 72u);
  EXPECT_EQ(log.substr(0, 4), "LSEG");
  EXPECT_EQ(number<std::uint32_t>(log, 12), 8u);
  EXPECT_EQ(number<std::uint64_t>(log, 64), 0xdu);
  const std::string defs = file("defs");
  EXPECT_EQ(number<std::uint16_t>(defs, defs.size() - 44), 10);   // end
  EXPECT_EQ(number<std::uint64_t>(defs, defs.size() - 28), 72u);  // bytes of the log
  EXPECT_EQ(number<std::uint64_t>(defs, defs.size() - 20), 0u);   // an ordinary end
  EXPECT_EQ(number<std::uint32_t>(defs, defs.size() - 12), 0u);   // the only file of the log
  EXPECT_EQ(number<std::uint64_t>(defs, defs.size() - 8), 0u);    // nothing dropped
}

// The page gives these values for authors of other readers.
TEST_F(FormatTest, TheChecksums) {
  const std::string text = "timeloom";
  EXPECT_EQ(checksum(reinterpret_cast<const std::byte*>(text.data()), text.size()), 0x81062819u);
  const std::uint64_t check = segment_check(5, 2, 1000);
  const std::uint64_t words[] = {1, 2, 3, 4, 5};
  EXPECT_EQ(check, 0xe847d4bd6b3534fau);
  EXPECT_EQ(records_check(words), 0x8dc5cccd1b2e493au);
  EXPECT_EQ(segment_seal(check, 40, records_check(words)), 0x393575b61778ab60u);
}

TEST_F(FormatTest, ChangingAnyBitOfTheRecordsChangesTheirCheck) {
  std::vector<std::uint64_t> words(9);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 0x123456789abcdefu;
  const std::uint64_t check = records_check(words);
  for (std::size_t bit = 0; bit < words.size() * 64; ++bit) {
    words[bit / 64] ^= std::uint64_t{1} << bit % 64;
    EXPECT_NE(records_check(words), check) << bit;
    words[bit / 64] ^= std::uint64_t{1} << bit % 64;
  }
}

}  // namespace
}  // namespace timeloom::spool
