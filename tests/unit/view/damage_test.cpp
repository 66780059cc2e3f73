// An index that was changed or cut is refused, or answers as before: never with wrong numbers.

#include <gtest/gtest.h>

#include "../support/bytes.hpp"
#include "core/error.hpp"
#include "model.hpp"
#include "view/find.hpp"
#include "view/tile.hpp"

namespace timeloom::view {
namespace {

struct Answers {
  std::vector<RangeSum> sums;
  std::vector<Call> calls;
  std::vector<std::uint8_t> cover;
  friend bool operator==(const Answers&, const Answers&) = default;
};

Answers ask(const Index& index) {
  Answers answers;
  answers.sums = range_table(index, std::vector<std::uint32_t>{0, 1}, 500, 1500).sums;
  CallQuestion question;
  question.to = kLastTime;
  answers.calls = calls_in(*index.track(1), question).calls;
  answers.cover = picture_at(*index.track(0), {3, 0}, 0, 20).cover;
  return answers;
}

TEST(Damage, OfAnyByteIsSeen) {
  Model model({.seed = 41, .tracks = 2, .events = 120});
  const IndexOfModel index(model);
  const std::string good = test::read_bytes(index.path());
  const Answers expected = ask(*index);
  const test::TempDirectory directory;
  const std::string path = directory / "view.timeloom";
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    test::write_bytes(path, bytes);
    try {
      EXPECT_EQ(ask(*IndexOfModel::open(path)), expected) << "byte " << i;
    } catch (const Error&) {
      ++refused;
    }
  }
  // The rest are lists of sums of tracks with one block, which no question needs.
  EXPECT_GT(refused, good.size() / 2);
}

TEST(Damage, OfTheLengthIsSeen) {
  Model model({.seed = 42, .tracks = 2, .events = 300});
  const IndexOfModel index(model);
  const std::string good = test::read_bytes(index.path());
  const test::TempDirectory directory;
  const std::string path = directory / "view.timeloom";
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 50) {
    test::write_bytes(path, good.substr(0, size));
    EXPECT_THROW(IndexOfModel::open(path), Error) << size;
  }
  test::write_bytes(path, good + "12345678");
  EXPECT_THROW(IndexOfModel::open(path), Error);
}

TEST(Damage, OfAnotherArchiveIsSeen) {
  Model model({.seed = 43, .tracks = 1, .events = 30});
  const IndexOfModel index(model);
  auto file = std::make_unique<IndexFile>(IndexFile::open_to_read(index.path()), index.path());
  EXPECT_THROW(Index(std::move(file), IndexOfModel::kSource + 1), Error);
}

}  // namespace
}  // namespace timeloom::view
