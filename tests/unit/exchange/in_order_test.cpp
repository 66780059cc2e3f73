// The order of data that several locations write.

#include "exchange/in_order.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"

namespace timeloom::exchange {
namespace {

// Three locations write in turn and finish in another order; text precedes and follows their data.
std::string written(std::size_t most_held, std::size_t skipped = 0) {
  const test::TempDirectory directory;
  {
    Destination out(directory / "file", false);
    out.write("(");
    InOrder ordered(out, 4, skipped, most_held);
    for (const char* piece : {"1", "2", "3"}) {
      for (const std::size_t location : {2u, 0u, 1u}) {
        ordered.write(location, std::string(1, static_cast<char>('a' + location)) + piece);
      }
    }
    ordered.finish(1);
    ordered.write(2, "c4");
    ordered.finish(0);
    ordered.write(2, "c5");
    ordered.finish(2);
    ordered.end();  // the fourth one is absent
    out.write(")");
    out.finish();
  }
  return test::read_bytes(directory / "file");
}

TEST(InOrder, TheOrderIsThatOfTheLocations) {
  EXPECT_EQ(written(InOrder::kMostHeld), "(a1a2a3b1b2b3c1c2c3c4c5)");
}

TEST(InOrder, PiecesThatAreTooManyForMemoryAreKeptInAFile) {
  for (const std::size_t most : {0u, 1u, 3u, 5u}) {
    EXPECT_EQ(written(most), "(a1a2a3b1b2b3c1c2c3c4c5)") << most;
  }
}

TEST(InOrder, TheBeginOfAllMayBeLeftOut) { EXPECT_EQ(written(0, 1), "(1a2a3b1b2b3c1c2c3c4c5)"); }

}  // namespace
}  // namespace timeloom::exchange
