// Call paths that are cut at a depth.

#include "exchange/limited_depth.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../profile/story.hpp"
#include "exchange/exclusive_times.hpp"

namespace timeloom::exchange {
namespace {

// "path visits own" of each cell, by location.
std::string text(const profile::CallTree& tree) {
  std::string all;
  ExclusiveTimes times(tree);
  for (const profile::LocationProfile& location : tree.locations) {
    times.for_each(location, [&](const profile::Cell& cell, std::uint64_t own) {
      std::string path;
      for (profile::NodeId node = cell.node; node.defined();
           node = tree.nodes[node.value()].parent) {
        const profile::Node& one = tree.nodes[node.value()];
        std::string name = tree.definitions.regions[one.region.value()].name;
        if (one.parameters.defined()) {
          name += "{" + text_of(tree.parameter_sets[one.parameters.value()]) + "}";
        }
        path = name + (path.empty() ? "" : ">") + path;
      }
      all += path + " " + std::to_string(cell.statistics.visits) + " " + std::to_string(own) + "; ";
    });
    all += "| ";
  }
  return all;
}

TEST(LimitedDepth, WhatIsNotDeeperStays) {
  profile::CallTree tree = profile::Story().thread("main", "main +1 f +2 g +4 ) ) )").fold();
  const std::string before = text(tree);
  EXPECT_FALSE(limit_depth(tree, 3));
  EXPECT_EQ(text(tree), before);
}

TEST(LimitedDepth, CallPathsThatAreDeeperAreJoined) {
  profile::CallTree tree =
      profile::Story()
          .thread("main",
                  "main +1 f +2 f +4 f +8 g +16 ) f +32 g +64 ) ) ) g +128 ) ) ) h +256 ) )")
          .thread("other", "main f f g n=7 +1 f +2 ) ) g +4 ) ) ) )")
          .fold();
  EXPECT_TRUE(limit_depth(tree, 2));
  EXPECT_EQ(text(tree),
            "main 1 1; main>f 1 2; main>f>(deeper calls) 0 0; main>f>(deeper calls)>f 3 44; "
            "main>f>(deeper calls)>g 3 208; main>h 1 256; | "
            "main 1 0; main>f 1 0; main>f>(deeper calls) 0 0; main>f>(deeper calls)>f 2 2; "
            "main>f>(deeper calls)>g 1 4; main>f>(deeper calls)>g{n=7} 1 1; | ");
}

}  // namespace
}  // namespace timeloom::exchange
