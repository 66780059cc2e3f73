// A hash table by addresses, against std::map, with many entries that come and go.
#include "record/locks/pointer_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace timeloom::record {
namespace {

TEST(PointerMap, AgreesWithAMap) {
  std::mt19937 random(1);
  PointerMap<int> map;
  std::map<std::pair<const void*, std::uint32_t>, int> known;
  for (int i = 0; i < 200000; ++i) {
    const void* const key = reinterpret_cast<const void*>(16 * (1 + random() % 700));
    const std::uint32_t number = static_cast<std::uint32_t>(random()) % 3;
    int* const found = map.find(key, number);
    const auto expected = known.find({key, number});
    ASSERT_EQ(found != nullptr, expected != known.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, expected->second);
      map.erase(key, number);
      known.erase(expected);
    } else {
      map.insert(key, number, i);
      known[{key, number}] = i;
    }
    ASSERT_EQ(map.size(), known.size());
  }
  std::size_t count = 0;
  map.each([&](const void*, int) { ++count; });
  EXPECT_EQ(count, known.size());
  map.erase(&count, 0);  // it is not there
  EXPECT_EQ(map.size(), known.size());
}

}  // namespace
}  // namespace timeloom::record
