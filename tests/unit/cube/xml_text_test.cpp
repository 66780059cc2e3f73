// Text that XML accepts, for every way of cutting it into pieces.
#include "formats/cube/xml_text.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace timeloom::cube {
namespace {

std::string repaired(std::string_view text, std::size_t piece) {
  TextRepair repair;
  std::string result;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    result += repair.next(text.substr(0, piece));
  }
  result += repair.next({});
  return result;
}

TEST(XmlTextTest, IsTheSameInPiecesOfAnySize) {
  const std::string good = "<?xml?>\t\r\n plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x8D \x7f";
  const std::string bad =
      "\x02 \xC3 x \xE2\x82 y \xF0\x9F\x90 \xFF\x80 \xC0\x80 \xED\xA0\x80 \xF0\x9F";
  const std::string whole = repaired(good + bad, 1000);
  for (std::size_t piece = 1; piece < 12; ++piece) {
    EXPECT_EQ(repaired(good, piece), good) << piece;
    EXPECT_EQ(repaired(good + bad, piece), whole) << piece;
  }
  EXPECT_EQ(repaired("\x02\xC3", 1), "\xE2\x90\x82\xEF\xBF\xBD");
}

TEST(XmlTextTest, InAnotherEncodingStaysAsItIs) {
  const std::string latin = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\xE9\xE8";
  EXPECT_EQ(repaired(latin, 1000), latin);
  EXPECT_EQ(repaired("<?xml encoding=", 1000), "<?xml encoding=");
  EXPECT_EQ(repaired("<?xml encoding='utf-8'?>\x01", 1000), "<?xml encoding='utf-8'?>\xE2\x90\x81");
}

}  // namespace
}  // namespace timeloom::cube
