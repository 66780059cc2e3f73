// Regions that are known by an address: names while weaving, one region for all processes, and the
// remains where no symbols are found.
#include "weave/code_naming.hpp"

#include <dlfcn.h>

#include "core/regions/forked_region.hpp"
#include "core/run_properties.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/line_reader.hpp"
#include "weave_fixture.hpp"

extern "C" int function_of_the_code_test(int n) { return n + 1; }

namespace timeloom::weave {
namespace {

class CodeNamingTest : public WeaveTest {
 protected:
  static constexpr char kName[] = "function_of_the_code_test";

  // This program.
  static CodeObject program() {
    const std::string path = fs::read_symlink("/proc/self/exe");
    const auto file = symbols::ElfFile::open(path);
    EXPECT_TRUE(file);
    CodeObject object{path, file->build_id()};
    if (object.build_id.empty()) {
      object.size = file->size();
      object.changed_ns = file->changed_ns();
    }
    return object;
  }
  static std::uint64_t address() {
    Dl_info info{};
    const auto function = reinterpret_cast<std::uint64_t>(&function_of_the_code_test);
    EXPECT_NE(::dladdr(reinterpret_cast<void*>(function), &info), 0);
    return function - reinterpret_cast<std::uint64_t>(info.dli_fbase);
  }
  // Defines a region with an address as the recorder does.
  static void define(spool::Writer& writer, std::uint32_t id, const CodeAddress& code,
                     const std::string& name, RegionRole role = RegionRole::kFunction) {
    Region region;
    region.name = region.canonical_name = name;
    region.group = "group";
    region.role = role;
    region.paradigm = Paradigm::kCompiler;
    writer.define_region(RegionId{id}, region);
    writer.define_address(RegionId{id}, code);
  }
  static void enter_and_leave(spool::Writer& writer, std::uint32_t id) {
    spool::Pen pen(writer, 0);
    pen.enter(os::now(), id);
    pen.leave(os::now(), id);
  }
  SpoolSource source_with(symbols::CodeNames& names) {
    std::vector<spool::SpoolDirectory> spools;
    for (const auto& entry : fs::directory_iterator(run() / "spool"))
      spools.emplace_back(entry.path());
    return SpoolSource(spools, SpoolSource::RankResults::kCompared, &names);
  }
};

TEST_F(CodeNamingTest, AFunctionOfSeveralProcessesIsOneRegion) {
  for (const std::uint32_t process : {0u, 1u}) {
    spool::Writer& writer = spool("p" + std::to_string(process), {});
    writer.define_object(process, program());
    define(writer, 7 + process, {process, address() + process}, "stand-in");
    enter_and_leave(writer, 7 + process);
    end(writer);
  }
  symbols::CodeNames names;
  SpoolSource source = source_with(names);
  collect(source);
  const Definitions& all = source.definitions();
  ASSERT_EQ(all.regions.size(), 1u);
  EXPECT_EQ(all.regions[0].name, kName);
  EXPECT_EQ(all.regions[0].canonical_name, kName);
  EXPECT_EQ(all.regions[0].group, "group");
  EXPECT_FALSE(all.properties.contains(kUnnamedCode));
}

TEST_F(CodeNamingTest, ConstructsAndForkedRegionsAreNamedAfterTheFunction) {
  spool::ProcessDefinitions process;
  process.objects[0] = program();
  process.addresses[1] = {0, address(), "!$omp parallel"};
  process.addresses[2] = {0, address(), ""};
  process.addresses[3] = {9, address(), ""};  // an object without a definition
  process.addresses[4] = {0, address(), ""};  // a region without a definition
  process.regions[1].name = "!$omp parallel";
  process.regions[1].role = RegionRole::kParallel;
  process.regions[2].name = "0x1 in weave_test";
  process.regions[2] = forked_region(process.regions[2]);
  process.regions[3].name = "0x1 in lost";
  symbols::CodeNames names;
  CodeRegions code(&names);
  const auto regions = code.named(process);
  ASSERT_EQ(regions.size(), 3u);
  const Region& parallel = regions.at(1);
  if (parallel.first_line == 0) {
    EXPECT_EQ(parallel.name, std::string("!$omp parallel ") + kName);
  } else {
    EXPECT_EQ(parallel.name,
              "!$omp parallel @code_naming_test.cpp:" + std::to_string(parallel.first_line));
  }
  EXPECT_EQ(parallel.role, RegionRole::kParallel);
  EXPECT_EQ(regions.at(2).name, std::string(kName) + std::string(kForked));
  EXPECT_TRUE(is_forked(regions.at(2)));
  EXPECT_EQ(regions.at(3).name, "0x1 in lost");
  EXPECT_EQ(code.unnamed(), 0u);
}

TEST_F(CodeNamingTest, WithoutSymbolsTheObjectAndTheAddressStay) {
  for (const std::string name : {"p", "q"}) {
    spool::Writer& writer = spool(name, {});
    writer.define_object(0, {"/not/there/libsolver.so", "0badcafe"});
    writer.define_object(1, {"/nor/there/libsolver.so", "0badcaff"});
    define(writer, 0, {0, 0x1139}, "0x1139 in libsolver.so");
    define(writer, 1, {1, 0x1139}, "0x1139 in libsolver.so");
    define(writer, 2, {0, 0x1139, "!$omp for"}, "!$omp for", RegionRole::kLoop);
    define(writer, 3, {0, 0x1140, "!$omp for"}, "!$omp for", RegionRole::kLoop);
    end(writer);
  }
  symbols::CodeNames names;
  SpoolSource source = source_with(names);
  collect(source);
  const Definitions& all = source.definitions();
  Lines seen;
  for (const Region& region : all.regions) {
    seen.push_back(region.name + " | " + region.canonical_name);
  }
  EXPECT_EQ(seen,
            (Lines{"0x1139 in libsolver.so | 0x1139 in /not/there/libsolver.so (build id 0badcafe)",
                   "0x1139 in libsolver.so | 0x1139 in /nor/there/libsolver.so (build id 0badcaff)",
                   "!$omp for @0x1139 in libsolver.so | !$omp for @0x1139 in "
                   "/not/there/libsolver.so (build id 0badcafe)",
                   "!$omp for @0x1140 in libsolver.so | !$omp for @0x1140 in "
                   "/not/there/libsolver.so (build id 0badcafe)"}));
  EXPECT_EQ(all.properties.at(kUnnamedCode), "4");
  EXPECT_EQ(all.properties.at(kUnnamedObjects),
            "/nor/there/libsolver.so (build id 0badcaff), /not/there/libsolver.so (build id "
            "0badcafe)");
}

// The run comes from another machine, where the program lay elsewhere.
TEST_F(CodeNamingTest, AKeptSpoolIsWovenAgainWithSymbols) {
  CodeObject object = program();
  const std::string path = object.path;
  object.path = "/elsewhere/" + fs::path(path).filename().string();
  spool::Writer& writer = spool("p", {});
  writer.define_object(0, object);
  define(writer, 0, {0, address()}, "stand-in");
  enter_and_leave(writer, 0);
  end(writer);
  WeaveOptions options;
  options.keep_spool = true;
  EXPECT_EQ(weave(run(), options).unnamed_code, 1u);
  const auto lines = lines_of_trace(trace_of(run()));
  EXPECT_EQ(lines.begin()->second.at(1), "enter " + stand_in_name(object, address()));
  EXPECT_FALSE(unfinished(run()));
  EXPECT_TRUE(has_spools(run()));
  options = {};
  options.symbols = {fs::path(path).parent_path()};
  EXPECT_EQ(weave(run(), options).unnamed_code, 0u);
  EXPECT_EQ(lines_of_trace(trace_of(run())).begin()->second.at(1), std::string("enter ") + kName);
  EXPECT_FALSE(has_spools(run()));
}

}  // namespace
}  // namespace timeloom::weave
