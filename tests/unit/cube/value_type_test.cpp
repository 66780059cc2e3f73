#include "formats/cube/value_type.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cstring>
#include <vector>

#include "core/error.hpp"

namespace timeloom::cube {
namespace {

TEST(ValueType, KnowsNamesAndSizes) {
  const std::vector<std::pair<const char*, std::size_t>> expected = {
      {"UINT64", 8},       {"INT64", 8},     {"DOUBLE", 8}, {"MINDOUBLE", 8},   {"MAXDOUBLE", 8},
      {"UINT32", 4},       {"INT32", 4},     {"UINT16", 2}, {"INT16", 2},       {"UINT8", 1},
      {"INT8", 1},         {"COMPLEX", 16},  {"RATE", 16},  {"TAU_ATOMIC", 36}, {"NDOUBLES(3)", 24},
      {"HISTOGRAM(5)", 0}, {"SCALE_FUNC", 0}};
  for (const auto& [name, size] : expected) {
    EXPECT_EQ(value_type_of(name).size(), size) << name;
    EXPECT_EQ(value_type_of(name).name(), name);
  }
  EXPECT_EQ(value_type_of("INTEGER").name(), "INT64");
  EXPECT_EQ(value_type_of("FLOAT").name(), "DOUBLE");
  EXPECT_EQ(value_type_of("UNSIGNED INTEGER").name(), "UINT64");
  EXPECT_EQ(value_type_of("NDOUBLES ( 4 )").count, 4u);
}

TEST(ValueType, RefusesOtherNames) {
  for (const char* name : {"", "UINT128", "uint64", "NDOUBLES", "NDOUBLES(0)", "NDOUBLES(x)",
                           "NDOUBLES(-1)", "NDOUBLES(1", "UINT64(2)", "NDOUBLES(99999999999)"}) {
    EXPECT_THROW(value_type_of(name), Error) << name;
  }
}

TEST(ValueType, KnowsWhatChangesNothing) {
  std::vector<std::byte> row(16, std::byte{7});
  double values[2];
  fill_neutral({DataType::kMinDouble, 1}, row);
  std::memcpy(values, row.data(), 16);
  EXPECT_EQ(values[0], DBL_MAX);
  EXPECT_EQ(values[1], DBL_MAX);
  fill_neutral({DataType::kMaxDouble, 1}, row);
  std::memcpy(values, row.data(), 16);
  EXPECT_EQ(values[1], -DBL_MAX);
  fill_neutral({DataType::kUint16, 1}, row);
  EXPECT_EQ(row, std::vector<std::byte>(16));
}

TEST(ValueType, TurnsTheNumbersOfATupleOneByOne) {
  std::vector<std::byte> value(36);
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = std::byte(i);
  swap_bytes({DataType::kTauAtomic, 1}, value);
  EXPECT_EQ(value[0], std::byte{3});
  EXPECT_EQ(value[3], std::byte{0});
  EXPECT_EQ(value[4], std::byte{11});
  EXPECT_EQ(value[35], std::byte{28});
}

}  // namespace
}  // namespace timeloom::cube
