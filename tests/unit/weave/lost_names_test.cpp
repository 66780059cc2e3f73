// Regions without a definition: a loss is reported, and data that can be read later are not lost.
#include <unistd.h>

#include <span>
#include <thread>

#include "core/run_properties.hpp"
#include "spool/profile_file.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class LostNamesTest : public WeaveTest {};

TEST_F(LostNamesTest, ARegionWhoseDefinitionIsLostIsOneThatSaysSo) {
  spool::Writer& writer = spool("p", {"f"});
  write_calls(writer, 0, 1);  // g was never defined
  kill("p");
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines.at("main"), in_program({"enter f", "enter (definition lost)",
                                                           "leave (definition lost)", "leave f"}));
  EXPECT_EQ(source.definitions().properties.at(kUnnamedVisits), "1");
}

TEST_F(LostNamesTest, SoIsOneOfAProfile) {
  spool("p", {"f"});
  kill("p");
  int error = 0;
  const auto profile =
      spool::ProfileWriter::create((run() / "spool" / "p").string(), 0, os::now(), &error);
  ASSERT_EQ(error, 0);
  const std::uint32_t known = profile->add(0, 0);
  profile->node(known).visits = 3;
  profile->node(profile->add(known, 1)).visits = 5;  // g was never defined
  SpoolSource source = this->source();
  collect(source);
  EXPECT_EQ(source.definitions().properties.at(kUnnamedVisits), "5");
}

TEST_F(LostNamesTest, AProfileThatGrowsMeanwhileHasAllItsNames) {
  spool::Writer& writer = spool("p", {});
  int error = 0;
  const auto profile =
      spool::ProfileWriter::create((run() / "spool" / "p").string(), 0, os::now(), &error);
  ASSERT_EQ(error, 0);
  std::atomic<bool> begun = false, enough = false;
  std::thread program([&] {
    for (std::uint32_t id = 0; !enough; ++id) {
      Region region;
      region.name = region.canonical_name = "f" + std::to_string(id);
      writer.define_region(RegionId{id}, region);
      profile->add(0, id);
      begun = true;
      ::usleep(20);  // the readings stay short
    }
  });
  while (!begun) std::this_thread::yield();
  std::size_t seen = 0, lost = 0;
  for (int i = 0; i < 10; ++i) {
    SpoolSource source = this->source();
    EXPECT_EQ(source.running(), 1u);
    for (const auto& [location, aggregated] : source.take_profiles()) {
      for (const profile::AggregatedNode& node : std::span(aggregated.nodes).subspan(1)) {
        ++(source.definitions().regions.at(node.region).name == "(definition lost)" ? lost : seen);
      }
    }
  }
  enough = true;
  program.join();
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(lost, 0u);
}

}  // namespace
}  // namespace timeloom::weave
