// Names of libraries and of their functions below the functions of a program.
#include "tools/report/native/native_times.hpp"

#include <gtest/gtest.h>

namespace timeloom::tools {
namespace {

TEST(NativeTimes, LibrariesHaveNamesForPeople) {
  EXPECT_EQ(library_label("libc.so.6"), "libc");
  EXPECT_EQ(library_label("libscipy_openblas64_-4b78795a.so"), "libscipy_openblas64_");
  EXPECT_EQ(library_label("ld-linux-x86-64.so.2"), "ld-linux-x86-64");
  EXPECT_EQ(library_label("_json.cpython-313-x86_64-linux-gnu.so"), "_json");
  EXPECT_EQ(library_label("_rust.abi3.so"), "_rust");
  EXPECT_EQ(library_label("libpython3.13.so.1.0"), "interpreter");
  EXPECT_EQ(library_label("python3.13"), "interpreter");
  EXPECT_EQ(library_label("libtimeloom.so"), "Timeloom");
  EXPECT_EQ(library_label(".so"), ".so");
  EXPECT_EQ(library_label(""), "");
}

TEST(NativeTimes, PartsHaveTheLibraryAndTheFunction) {
  EXPECT_EQ(part_name({"libm", "sin"}), "libm: sin");
  EXPECT_EQ(part_name({"libz", "libz.so.1+0x4970"}), "libz.so.1+0x4970");
  EXPECT_EQ(part_name({"libz", ""}), "libz: (no name)");
  EXPECT_EQ(part_name({"interpreter", "", true}), "interpreter");
  EXPECT_EQ(part_name({}), "generated code");
}

TEST(NativeTimes, SharesAreOfTheRegionsThatAreAskedFor) {
  Definitions definitions;
  for (const char* const name : {"f", "g"}) {
    Region region;
    region.name = name;
    definitions.regions.push_back(region);
  }
  const NativeTimes times({{"f", "", 0, "libm.so.6", "sin", 3, 30},
                           {"f", "", 0, "libpython3.13.so.1.0", "a", 1, 10},
                           {"f", "", 0, "libpython3.13.so.1.0", "b", 1, 10},
                           {"g", "", 0, "libm.so.6", "cos", 7, 70},
                           {"", "", 0, "libm.so.6", "tan", 1, 10}},
                          definitions);
  const NativeShares shares = times.shares({RegionId(0)});
  EXPECT_EQ(shares.samples, 5u);
  EXPECT_EQ(shares.ns, 50u);
  ASSERT_EQ(shares.parts.size(), 2u);
  EXPECT_EQ(part_name(shares.parts[0]), "libm: sin");
  EXPECT_EQ(part_name(shares.parts[1]), "interpreter");
  EXPECT_EQ(shares.parts[1].samples, 2u);
  EXPECT_EQ(times.shares({RegionId(0), RegionId(1)}).ns, 120u);
}

}  // namespace
}  // namespace timeloom::tools
