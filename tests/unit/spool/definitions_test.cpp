// Definitions through `defs` and back.
#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

class DefinitionsTest : public SpoolTest {
 protected:
  ProcessDefinitions close_and_read_definitions() {
    writer_->close();
    return Reader::open(path())->definitions();
  }
  static Region named(const std::string& name) {
    Region region;
    region.name = name;
    return region;
  }
};

TEST_F(DefinitionsTest, AProcessComesBack) {
  LocationGroup process{"app.py", "node7", 4711, "/usr/bin/python3", {"app.py", "", "--n=1"}};
  create().define_process(process, "12-0");
  const ProcessDefinitions definitions = close_and_read_definitions();
  const LocationGroup& found = definitions.process;
  EXPECT_EQ(definitions.parent, "12-0");
  EXPECT_EQ(found.name, "app.py");
  EXPECT_EQ(found.hostname, "node7");
  EXPECT_EQ(found.process_id, 4711u);
  EXPECT_EQ(found.executable, "/usr/bin/python3");
  EXPECT_EQ(found.arguments, process.arguments);
}

TEST_F(DefinitionsTest, ALaterNameOfTheProcessCounts) {
  LocationGroup process{"app.py", "node7", 4711, "/usr/bin/python3", {"app.py"}};
  create().define_process(process, "12-0");
  process.name = "worker";
  writer_->define_process(process, "12-0");
  const ProcessDefinitions found = close_and_read_definitions();
  EXPECT_EQ(found.process.name, "worker");
  EXPECT_EQ(found.process.arguments, process.arguments);
  EXPECT_EQ(found.parent, "12-0");
}

TEST_F(DefinitionsTest, ALaterSumOfNativeThreadsCounts) {
  create().define_native_threads("OpenBLAS", {4, 1000});
  writer_->define_native_threads("pool", {1, 50});
  writer_->define_native_threads("OpenBLAS", {8, 3000});
  const ProcessDefinitions found = close_and_read_definitions();
  ASSERT_EQ(found.native_threads.size(), 2u);
  EXPECT_EQ(found.native_threads.at("OpenBLAS").threads, 8u);
  EXPECT_EQ(found.native_threads.at("OpenBLAS").cpu_ns, 3000u);
  EXPECT_EQ(found.native_threads.at("pool").cpu_ns, 50u);
}

TEST_F(DefinitionsTest, APropertyMayFollowTheEnd) {
  create().define_property("a", "1");
  writer_->close();
  os::File definitions = writer_->take_definitions();
  EXPECT_TRUE(add_property(definitions, "b", "2"));
  const auto reader = Reader::open(path());
  EXPECT_EQ(reader->definitions().properties,
            (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->damage().definitions, 0u);
  // Another file under its name is not written.
  std::filesystem::rename(path() + "/defs", path() + "/other");
  EXPECT_FALSE(add_property(definitions, "c", "3"));
  std::ofstream(path() + "/defs") << "of somebody else";
  EXPECT_FALSE(add_property(definitions, "c", "3"));
  EXPECT_EQ(test::read_bytes(path() + "/defs"), "of somebody else");
}

TEST_F(DefinitionsTest, HeldBackTheyComeInOrderAndWhole) {
  Writer& writer = create();
  writer.hold_definitions();
  for (std::uint32_t id = 0; id < 1000; ++id) writer.define_region(RegionId{id}, named("held"));
  EXPECT_TRUE(read_definitions().regions.empty());
  writer.release_definitions();
  EXPECT_EQ(read_definitions().regions.size(), 1000u);
  writer.define_region(RegionId{1000}, named("at once"));
  EXPECT_EQ(close_and_read_definitions().regions.at(1000).name, "at once");
}

TEST_F(DefinitionsTest, ARegionComesBackWithAllItsFields) {
  Region region{"m.f", "m.f(int)", "/a/m.py", "m", 12, 99, Paradigm::kUser, RegionRole::kLoop};
  create().define_region(RegionId{kMaxPayload}, region);
  const auto regions = close_and_read_definitions().regions;
  ASSERT_EQ(regions.size(), 1u);
  const Region& found = regions.at(kMaxPayload);
  EXPECT_EQ(found.name, region.name);
  EXPECT_EQ(found.canonical_name, region.canonical_name);
  EXPECT_EQ(found.file, region.file);
  EXPECT_EQ(found.group, region.group);
  EXPECT_EQ(found.first_line, 12u);
  EXPECT_EQ(found.last_line, 99u);
  EXPECT_EQ(found.paradigm, Paradigm::kUser);
  EXPECT_EQ(found.role, RegionRole::kLoop);
}

TEST_F(DefinitionsTest, ObjectsAndAddressesComeBack) {
  Writer& writer = create();
  writer.define_object(1, {"/lib/libsolver.so.2", "0badcafe"});
  writer.define_object(2, {"/opt/no build id", "", 4711, -5});
  writer.define_address(RegionId{7}, {1, 0xfedcba9876543210, "!$omp parallel"});
  writer.define_address(RegionId{8}, {2, 0x1139});
  const ProcessDefinitions found = close_and_read_definitions();
  ASSERT_EQ(found.objects.size(), 2u);
  EXPECT_EQ(found.objects.at(1).path, "/lib/libsolver.so.2");
  EXPECT_EQ(found.objects.at(1).build_id, "0badcafe");
  EXPECT_EQ(found.objects.at(1).size, 0u);
  EXPECT_EQ(found.objects.at(2).size, 4711u);
  EXPECT_EQ(found.objects.at(2).changed_ns, -5);
  ASSERT_EQ(found.addresses.size(), 2u);
  EXPECT_EQ(found.addresses.at(7).object, 1u);
  EXPECT_EQ(found.addresses.at(7).address, 0xfedcba9876543210);
  EXPECT_EQ(found.addresses.at(7).construct, "!$omp parallel");
  EXPECT_EQ(found.addresses.at(8).construct, "");
  EXPECT_EQ(stand_in_name(found.objects.at(1), 0x1139), "0x1139 in libsolver.so.2");
}

TEST_F(DefinitionsTest, TheOthersComeBack) {
  Writer& writer = create();
  writer.define_string(StringId{3}, std::string("a\0b", 3));
  writer.define_parameter(ParameterId{4}, {"n", ParameterType::kString});
  writer.define_metric(MetricId{5}, {"rss", "bytes", "resident", MetricValueType::kInt64});
  writer.define_marker(6, 700, "here");
  writer.define_property("key", "value");
  writer.define_clock_sync({1, 2, 3});
  const ProcessDefinitions found = close_and_read_definitions();
  EXPECT_EQ(found.strings.at(3), std::string("a\0b", 3));
  EXPECT_EQ(found.parameters.at(4).name, "n");
  EXPECT_EQ(found.parameters.at(4).type, ParameterType::kString);
  EXPECT_EQ(found.metrics.at(5).unit, "bytes");
  EXPECT_EQ(found.metrics.at(5).description, "resident");
  EXPECT_EQ(found.metrics.at(5).type, MetricValueType::kInt64);
  ASSERT_EQ(found.markers.size(), 1u);
  EXPECT_EQ(found.markers[0].thread, 6u);
  EXPECT_EQ(found.markers[0].ticks, 700u);
  EXPECT_EQ(found.markers[0].text, "here");
  EXPECT_EQ(found.properties.at("key"), "value");
  ASSERT_FALSE(found.clock_syncs.empty());
  EXPECT_EQ(found.clock_syncs[0].realtime_ns, 3u);
  EXPECT_EQ(found.clock_source, os::clock_source());
}

TEST_F(DefinitionsTest, AThreadKeepsItsIdWhenItIsRenamed) {
  Writer& writer = create();
  writer.define_location(2, 900, "first");
  writer.define_location(2, 0, "second");
  const auto thread = close_and_read_definitions().threads.at(2);
  EXPECT_EQ(thread.name, "second");
  EXPECT_EQ(thread.thread_id, 900u);
}

TEST_F(DefinitionsTest, AreThereAsSoonAsTheyAreMade) {
  create().define_region(RegionId{1}, named("early"));
  const Found found = read_as_if_killed();
  EXPECT_EQ(found.definitions, Lines{"region 1 early    0 0 0 0"});
}

TEST_F(DefinitionsTest, AnEndlessTextIsCutBetweenCharacters) {
  std::string text((64 << 10) - 2, 'a');
  text += "\xe2\x82\xac and more";  // a euro sign across the border
  create().define_string(StringId{0}, text);
  const std::string found = close_and_read_definitions().strings.at(0);
  EXPECT_EQ(found, std::string((64 << 10) - 2, 'a'));
}

TEST_F(DefinitionsTest, AnEndlessCommandLineIsCutAndNotLost) {
  LocationGroup process;
  process.name = "many";
  process.arguments.assign(100000, "argument");
  create().define_process(process, "12-0");
  EXPECT_EQ(writer_->error(), 0);
  const LocationGroup found = close_and_read_definitions().process;
  EXPECT_EQ(found.name, "many");
  EXPECT_EQ(found.arguments.size(), 4096u);
}

TEST_F(DefinitionsTest, ANumberOfALaterVersionBecomesUnknown) {
  Region region = named("f");
  region.paradigm = static_cast<Paradigm>(200);
  region.role = static_cast<RegionRole>(200);
  create().define_region(RegionId{0}, region);
  const Region found = close_and_read_definitions().regions.at(0);
  EXPECT_EQ(found.paradigm, Paradigm::kUnknown);
  EXPECT_EQ(found.role, RegionRole::kUnknown);
}

TEST_F(DefinitionsTest, OfManyThreadsAllArrive) {
  Writer& writer = create();
  std::vector<std::unique_ptr<os::HelperThread>> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.push_back(std::make_unique<os::HelperThread>());
    ASSERT_EQ(threads.back()->start("timeloom-test",
                                    [&writer, t] {
                                      for (std::uint32_t i = 0; i < 500; ++i) {
                                        writer.define_region(RegionId{i * 4 + t},
                                                             named(std::to_string(i * 4 + t)));
                                      }
                                    }),
              0);
  }
  for (auto& thread : threads) thread->join();
  const auto regions = close_and_read_definitions().regions;
  ASSERT_EQ(regions.size(), 2000u);
  for (const auto& [id, region] : regions) EXPECT_EQ(region.name, std::to_string(id));
}

}  // namespace
}  // namespace timeloom::spool
