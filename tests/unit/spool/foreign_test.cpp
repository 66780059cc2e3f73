// Segments of one spool that were copied into the files of another one.
#include <filesystem>

#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

namespace fs = std::filesystem;

class ForeignTest : public SpoolTest {
 protected:
  std::string spool(const std::string& name) const { return directory_ / ("run/" + name); }
  std::string file(const std::string& name, const char* what) const {
    return spool(name) + "/" + what;
  }
  // Three segments, packed or not.
  Lines record(const std::string& name, PackEarly when = PackEarly::kNever) {
    fs::create_directories(directory_ / "run");
    WriterOptions options = small();
    options.pack_early = when;
    options.size_limit = {1 << 22, AtLimit::kStop};
    const auto writer = Writer::create(spool(name), options);
    Pen pen(*writer, 0);
    for (std::uint32_t i = 0; i < 1200; ++i) pen.enter(i, i % 5);
    pen.retire();
    writer->close();
    return pen.lines();
  }
  void expect_own(const std::string& name, const Lines& own, std::uint64_t foreign) {
    const Found found = read_spool(spool(name));
    EXPECT_EQ(found.events.at(0), own);
    EXPECT_EQ(found.damage, 0u);
    EXPECT_EQ(Reader::open(spool(name))->foreign_segments(), foreign);
  }
};

TEST_F(ForeignTest, AFileOfAnotherLogIsLeftOut) {
  for (const PackEarly when : {PackEarly::kNever, PackEarly::kAlways}) {
    const Lines own = record("a", when);
    record("b", when);
    expect_own("a", own, 0);
    fs::copy(file("b", "log"), file("a", "log-7"));
    expect_own("a", own, 3);
    fs::remove_all(spool("a"));
    fs::remove_all(spool("b"));
  }
}

TEST_F(ForeignTest, PartsOfAnotherLogAreLeftOut) {
  const Lines own = record("a");
  record("b");
  const std::string ours = test::read_bytes(file("a", "log"));
  const std::string others = test::read_bytes(file("b", "log"));
  test::write_bytes(file("a", "log"), ours + others);
  expect_own("a", own, 3);
  test::write_bytes(file("a", "log"), others + ours);
  expect_own("a", own, 3);
}

TEST_F(ForeignTest, WhatAnotherLogHasReplacedIsMissing) {
  record("a");
  record("b");
  fs::copy_file(file("b", "log"), file("a", "log"), fs::copy_options::overwrite_existing);
  const Found found = read_spool(spool("a"));
  EXPECT_FALSE(found.events.contains(0));
  EXPECT_GT(found.damage, 0u);
  EXPECT_EQ(Reader::open(spool("a"))->foreign_segments(), 3u);
}

// The record of the key is the first one behind the head, with 12 + 8 bytes.
TEST_F(ForeignTest, ASpoolThatHasLostItsKeyHasItsEvents) {
  const Lines own = record("a");
  std::string defs = test::read_bytes(file("a", "defs"));
  ASSERT_EQ(defs.substr(20, 2), std::string("\x17\0", 2));
  test::write_bytes(file("a", "defs"), defs.erase(sizeof(DefsHeader), 20));
  expect_own("a", own, 0);
}

TEST_F(ForeignTest, AKeyThatIsDamagedCostsNoEvents) {
  const Lines own = record("a");
  std::string defs = test::read_bytes(file("a", "defs"));
  for (std::size_t i = sizeof(DefsHeader); i < sizeof(DefsHeader) + 20; ++i) {
    std::string damaged = defs;
    damaged[i] ^= 1;
    test::write_bytes(file("a", "defs"), damaged);
    EXPECT_EQ(read_spool(spool("a")).events.at(0), own) << i;
  }
}

TEST_F(ForeignTest, ADamagedHeadIsDamage) {
  record("a");
  const std::string log = test::read_bytes(file("a", "log"));
  const std::size_t last = log.rfind("LSEG");
  for (std::size_t i = 0; i < sizeof(SegmentHeader); ++i) {
    std::string damaged = log;
    damaged[last + i] ^= 1;
    test::write_bytes(file("a", "log"), damaged);
    const bool unused = (i >= 4 && i < 8) || i >= 56;  // the state, the number and the tag
    EXPECT_EQ(read_spool(spool("a")).damage > 0, !unused) << i;
    EXPECT_EQ(Reader::open(spool("a"))->foreign_segments(), 0u) << i;
  }
}

}  // namespace
}  // namespace timeloom::spool
