// The walk over the fields of a record, before the library reads it.

#include "formats/otf2/read/record_layout.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace timeloom::otf2 {

namespace {

// The number of bytes that the layout takes; -1 if it does not fit.
long walked(const char* layout, const std::vector<std::uint8_t>& bytes, bool big_endian = false) {
  Bytes walk_over{bytes.data(), bytes.data() + bytes.size(), big_endian};
  if (!walk(layout, walk_over)) return -1;
  return walk_over.at - bytes.data();
}

TEST(RecordLayout, Numbers) {
  EXPECT_EQ(walked("u", {0}), 1);
  EXPECT_EQ(walked("u", {0xff}), 1);
  EXPECT_EQ(walked("u", {4, 1, 2, 3, 4, 9}), 5);
  EXPECT_EQ(walked("u", {4, 1, 2, 3}), -1);
  EXPECT_EQ(walked("u", {5, 1, 2, 3, 4, 5}), -1);  // too long for 32 bits
  EXPECT_EQ(walked("U", {5, 1, 2, 3, 4, 5}), 6);
  EXPECT_EQ(walked("U", {9, 1, 2, 3, 4, 5, 6, 7, 8, 9}), -1);
  EXPECT_EQ(walked("b", {}), -1);
  EXPECT_EQ(walked("q", {1, 2, 3, 4, 5, 6, 7, 8}), 8);
  EXPECT_EQ(walked("q", {1, 2, 3, 4, 5, 6, 7}), -1);
}

TEST(RecordLayout, Texts) {
  EXPECT_EQ(walked("s", {'a', 'b', 0, 'c'}), 3);
  EXPECT_EQ(walked("s", {'a', 'b'}), -1);
}

TEST(RecordLayout, OlderVersionsEndEarly) {
  EXPECT_EQ(walked("u|u", {1, 7}), 2);
  EXPECT_EQ(walked("u|u", {1, 7, 1, 8}), 4);
  EXPECT_EQ(walked("u|u", {1, 7, 1}), -1);
}

TEST(RecordLayout, ArraysHaveAllTheirElements) {
  EXPECT_EQ(walked("c(u)", {2, 1, 7, 0}), 4);
  EXPECT_EQ(walked("c(u)", {3, 1, 7, 0}), -1);
  EXPECT_EQ(walked("n(U)b", {1, 1, 1, 7, 5}), 5);
  EXPECT_EQ(walked("n(U)", {4, 255, 255, 255, 255, 0}), -1);  // four billion elements
  EXPECT_EQ(walked("n(U)", {0xff}), -1);
  EXPECT_EQ(walked("n(U)", {2, 0, 2, 0, 0}), -1);       // 512
  EXPECT_EQ(walked("n(U)", {2, 0, 2, 0, 0}, true), 5);  // 2 in big endian
}

TEST(RecordLayout, ValuesAreAsLongAsTheirType) {
  EXPECT_EQ(walked("v", {1, 7}), 2);                        // uint8
  EXPECT_EQ(walked("v", {10, 1, 2, 3, 4, 5, 6, 7, 8}), 9);  // double
  EXPECT_EQ(walked("v", {10, 1, 2, 3}), -1);
  EXPECT_EQ(walked("v", {11, 2, 1, 1}), 4);  // string
  EXPECT_EQ(walked("v", {}), -1);
}

TEST(RecordLayout, MappingTables) {
  EXPECT_EQ(walked("m", {1, 2, 0, 1, 5, 1, 6}), 7);   // two ids
  EXPECT_EQ(walked("m", {1, 1, 1, 1, 5, 1, 6}), 7);   // one pair
  EXPECT_EQ(walked("m", {1, 2, 1, 1, 5, 1, 6}), -1);  // two pairs
  EXPECT_EQ(walked("m", {1, 2, 2, 1, 5, 1, 6}), -1);  // no such mode
  EXPECT_EQ(walked("m", {8, 0, 0, 0, 0, 0, 0, 0, 128, 1, 0}), -1);
}

TEST(RecordLayout, EveryKindOfRecordHasAKnownLayout) {
  for (const FileKind file : {FileKind::kEvents, FileKind::kGlobalDefinitions,
                              FileKind::kLocalDefinitions, FileKind::kMarkers}) {
    for (int record = 0; record < 256; ++record) {
      const char* fields = layout_of(file, static_cast<std::uint8_t>(record)).fields;
      if (fields == nullptr) continue;
      EXPECT_EQ(std::string(fields).find_first_not_of("bquUsvcnm|()"), std::string::npos) << record;
    }
  }
  EXPECT_TRUE(layout_of(FileKind::kEvents, 12).bare);
  EXPECT_EQ(layout_of(FileKind::kEvents, 200).fields, nullptr);
}

}  // namespace

}  // namespace timeloom::otf2
