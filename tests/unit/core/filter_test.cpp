#include "core/filter/filter.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/filter/filter_text.hpp"

namespace timeloom {
namespace {

bool excludes(const Filter& filter, const std::string& name, const std::string& file,
              const std::string& module = {}) {
  Region region;
  region.name = region.canonical_name = name;
  region.file = file;
  region.group = module;
  return filter.excluded(region);
}

FilterRule include(const char* pattern) { return {true, pattern}; }
FilterRule exclude(const char* pattern) { return {false, pattern}; }

TEST(Filter, WithoutRulesRecordsEverything) { EXPECT_FALSE(excludes(Filter(), "a.f", "/a.py")); }

TEST(Filter, LastMatchingRuleDecides) {
  const Filter filter({exclude("numpy.*"), include("numpy.linalg.*"), exclude("*.norm")});
  EXPECT_TRUE(excludes(filter, "numpy.array", ""));
  EXPECT_FALSE(excludes(filter, "numpy.linalg.solve", ""));
  EXPECT_TRUE(excludes(filter, "numpy.linalg.norm", ""));
  EXPECT_FALSE(excludes(filter, "app.main", ""));
}

TEST(Filter, IncludeAsFirstRuleExcludesTheRest) {
  const Filter filter({include("app.*"), exclude("app.test*")});
  EXPECT_FALSE(excludes(filter, "app.main", ""));
  EXPECT_TRUE(excludes(filter, "app.tests.f", ""));
  EXPECT_TRUE(excludes(filter, "json.loads", ""));
}

TEST(Filter, PatternWithASlashIsForTheFile) {
  const Filter filter({exclude("/usr/lib/*"), exclude("tests/*"), exclude("*/generated.py")});
  EXPECT_TRUE(excludes(filter, "a.f", "/usr/lib/python3/a.py"));
  EXPECT_FALSE(excludes(filter, "a.f", "/opt/usr/lib/a.py"));
  EXPECT_TRUE(excludes(filter, "a.f", "/home/me/tests/deep/a.py"));
  EXPECT_TRUE(excludes(filter, "a.f", "tests/a.py"));
  EXPECT_FALSE(excludes(filter, "a.f", "/home/me/mytests/a.py"));
  EXPECT_TRUE(excludes(filter, "a.f", "/x/generated.py"));
  EXPECT_FALSE(excludes(filter, "tests.f", "/x/a.py"));
}

TEST(Filter, SpecialNamesMatchLiterallyAndByPattern) {
  const Filter filter(
      {exclude("app.<module>"), exclude("*.<locals>.<lambda>"), exclude("m.f[0-3]")});
  EXPECT_TRUE(excludes(filter, "app.<module>", ""));
  EXPECT_TRUE(excludes(filter, "app.f.<locals>.<lambda>", ""));
  EXPECT_TRUE(excludes(filter, "m.f2", ""));
  EXPECT_FALSE(excludes(filter, "m.f4", ""));
}

TEST(Filter, NameOfAModuleIsAllThatIsInIt) {
  const Filter filter({exclude("numpy"), include("numpy.linalg")});
  EXPECT_TRUE(excludes(filter, "numpy.array", "", "numpy"));
  EXPECT_TRUE(excludes(filter, "numpy.fft.fft", "", "numpy.fft"));
  EXPECT_FALSE(excludes(filter, "numpy.linalg.solve", "", "numpy.linalg"));
  EXPECT_FALSE(excludes(filter, "numpyx.f", "", "numpyx"));
}

TEST(Filter, WordsStandForTheLibraryAndInstalledPackages) {
  FilterChoices choices;
  choices.rules = {exclude("stdlib")};
  choices.library_directory = "/lib/python3/";
  EXPECT_TRUE(excludes(Filter(choices), "json.loads", "/lib/python3/json/__init__.py"));
  EXPECT_TRUE(excludes(Filter(choices), "os.walk", "<frozen os>"));
  EXPECT_FALSE(excludes(Filter(choices), "x.f", "/lib/python3/site-packages/x.py"));
  EXPECT_FALSE(excludes(Filter(choices), "app.f", "<string>"));
  choices.rules = {exclude("site-packages")};
  EXPECT_TRUE(excludes(Filter(choices), "x.f", "/lib/python3/site-packages/x.py"));
  EXPECT_TRUE(excludes(Filter(choices), "x.f", "/usr/lib/python3/dist-packages/x.py"));
  EXPECT_FALSE(excludes(Filter(choices), "json.loads", "/lib/python3/json/__init__.py"));
}

TEST(Filter, OnlyMyCodeAndImportsSpeakOfWhatNoRuleMatches) {
  FilterChoices choices;
  choices.only_my_code = true;
  choices.library_directory = "/lib/python3/";
  choices.rules = {include("json")};
  EXPECT_FALSE(excludes(Filter(choices), "json.loads", "/lib/python3/json/__init__.py", "json"));
  EXPECT_TRUE(excludes(Filter(choices), "re.match", "/lib/python3/re/__init__.py", "re"));
  EXPECT_TRUE(excludes(Filter(choices), "x.f", "/site-packages/x.py", "x"));
  EXPECT_TRUE(excludes(Filter(choices), "builtins.len", "", "builtins"));
  EXPECT_FALSE(excludes(Filter(choices), "app.f", "/home/me/app.py", "app"));
  choices = {};
  choices.imports = false;
  EXPECT_TRUE(excludes(Filter(choices), "importlib._bootstrap.f", "", "importlib._bootstrap"));
  EXPECT_TRUE(
      excludes(Filter(choices), "_frozen_importlib_external.f", "", "_frozen_importlib_external"));
  EXPECT_TRUE(excludes(Filter(choices), "encodings.f", "", "encodings"));
  EXPECT_FALSE(excludes(Filter(choices), "encodingsx.f", "", "encodingsx"));
  Region region;
  region.name = "importlib.f";
  region.group = "importlib";
  EXPECT_TRUE(Filter(choices).hidden_import(region));
  choices.rules = {include("*")};
  EXPECT_FALSE(Filter(choices).hidden_import(region));
  EXPECT_FALSE(excludes(Filter(choices), "encodings.f", "", "encodings"));
}

TEST(Filter, RegionsGoByTheNamesOfScoreP) {
  Region region;
  region.group = "pkg.mod";
  const auto names = [&](const std::string& inner) {
    region.name = region.canonical_name = "pkg.mod." + inner;
    return names_in_filters(region);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("f"), (Names{"pkg.mod.f", "pkg.mod:f"}));
  EXPECT_EQ(names("C.m"), (Names{"pkg.mod.C.m", "pkg.mod:m", "pkg.mod.C:m"}));
  EXPECT_EQ(names("A.B.m"), (Names{"pkg.mod.A.B.m", "pkg.mod:m", "pkg.mod.B:m"}));
  EXPECT_EQ(names("f.<locals>.g"), (Names{"pkg.mod.f.<locals>.g", "pkg.mod:g"}));
  region.name = "pkg.mod:g";  // as Score-P would show it
  EXPECT_EQ(names_in_filters(region), (Names{"pkg.mod:g", "pkg.mod.f.<locals>.g"}));
  region = {};
  region.name = "phase";
  region.paradigm = Paradigm::kUser;
  EXPECT_EQ(names_in_filters(region), (Names{"phase", "user:phase"}));
}

TEST(Filter, FileSpeaksAfterTheRulesAndOfUserRegions) {
  FilterChoices choices;
  choices.rules = {include("*")};
  choices.file = FilterFile::parse(
      "SCOREP_REGION_NAMES_BEGIN EXCLUDE f phase SCOREP_REGION_NAMES_END "
      "SCOREP_FILE_NAMES_BEGIN EXCLUDE /a/b.py SCOREP_FILE_NAMES_END",
      "x");
  const Filter filter(choices);
  EXPECT_TRUE(excludes(filter, "f", ""));
  EXPECT_FALSE(excludes(filter, "g", "/a/c.py"));
  EXPECT_TRUE(excludes(filter, "g", "/a/x/..//./b.py"));
  Region region;
  region.name = "phase";
  EXPECT_TRUE(filter.excluded_by_file(region));
  EXPECT_FALSE(Filter({exclude("*")}).excluded_by_file(region));
}

// Compiled code: whether the function is left out, and how often its name was needed.
std::pair<bool, int> of_code(const Filter& filter, const std::string& function) {
  Region object;
  object.name = object.group = "libsolver.so.1";
  object.file = "/opt/lib/libsolver.so.1";
  int asked = 0;
  const bool excluded = filter.excluded(object, [&] {
    ++asked;
    Region region = object;
    region.name = region.canonical_name = function;
    return region;
  });
  return {excluded, asked};
}

using Asked = std::pair<bool, int>;

TEST(Filter, CompiledCodeMatchesByObjectOrFunction) {
  EXPECT_EQ(of_code(Filter({exclude("libsolver.so*")}), "step"), Asked(true, 0));
  EXPECT_EQ(of_code(Filter({exclude("*/lib/*")}), "step"), Asked(true, 0));
  EXPECT_EQ(of_code(Filter({exclude("/usr/*"), exclude("stdlib")}), "step"), Asked(false, 0));
  EXPECT_EQ(of_code(Filter({exclude("step")}), "step"), Asked(true, 1));
  EXPECT_EQ(of_code(Filter({exclude("ste"), exclude("x*")}), "step"), Asked(false, 1));
  EXPECT_EQ(of_code(Filter({include("step")}), "other"), Asked(true, 1));
  EXPECT_EQ(of_code(Filter({exclude("libsolver"), include("step")}), "step"), Asked(false, 1));
  EXPECT_EQ(of_code(Filter({exclude("step"), include("*/lib/*")}), "step"), Asked(false, 0));
}

// The function has a source file, which rules for files are compared with beside the object's path.
bool source_left_out(const Filter& filter, const std::string& source, bool by_source = true) {
  Region object;
  object.name = object.group = "libsolver.so.1";
  object.file = "/opt/lib/libsolver.so.1";
  Region function = object;
  function.name = function.canonical_name = "step";
  function.file = source;
  return filter.excluded(
      object, [&] { return function; }, by_source);
}

TEST(Filter, CompiledCodeMatchesBySourceFile) {
  const std::string source = "/home/me/solver/src/grid/step.cpp";
  EXPECT_TRUE(source_left_out(Filter({exclude("grid/*")}), source));
  EXPECT_TRUE(source_left_out(Filter({exclude("*/step.cpp")}), source));
  EXPECT_FALSE(source_left_out(Filter({exclude("*/step.cpp")}), source, false));
  EXPECT_FALSE(source_left_out(Filter({exclude("*/other.cpp")}), source));
  EXPECT_FALSE(source_left_out(Filter({include("grid/*")}), source));
  EXPECT_TRUE(source_left_out(Filter({include("grid/*")}), "/home/me/solver/src/main.cpp"));
  EXPECT_FALSE(source_left_out(Filter({exclude("grid/*"), include("step")}), source));
  EXPECT_TRUE(source_left_out(Filter({include("*/lib/*"), exclude("grid/*")}), source));
  FilterChoices choices;
  choices.file =
      FilterFile::parse("SCOREP_FILE_NAMES_BEGIN\nEXCLUDE */grid/*\nSCOREP_FILE_NAMES_END\n", "f");
  const Filter file(choices);
  EXPECT_TRUE(file.has_rules_for_files());
  EXPECT_TRUE(source_left_out(file, source));
  EXPECT_FALSE(source_left_out(file, source, false));
  EXPECT_FALSE(Filter({exclude("step")}).has_rules_for_files());
}

TEST(Filter, AFilterFileSeesBothNamesOfCompiledCode) {
  const auto filter = [](const std::string& rules) {
    FilterChoices choices;
    choices.file = FilterFile::parse(
        "SCOREP_REGION_NAMES_BEGIN " + rules + " SCOREP_REGION_NAMES_END", "a.filter");
    return Filter(choices);
  };
  EXPECT_TRUE(of_code(filter("EXCLUDE step"), "step").first);
  EXPECT_TRUE(of_code(filter("EXCLUDE libsolver.so.1"), "step").first);
  EXPECT_FALSE(of_code(filter("EXCLUDE * INCLUDE step"), "step").first);
}

TEST(Filter, ChoicesGoThroughText) {
  FilterChoices choices;
  choices.rules = {include("a b"), exclude("*"), include("x\ny")};
  choices.only_my_code = true;
  const FilterChoices read = filter_choices_in(filter_text(choices, ""));
  EXPECT_EQ(read.rules, (std::vector<FilterRule>{include("a b"), exclude("*"), include("x?y")}));
  EXPECT_TRUE(read.only_my_code && read.file.empty());
  EXPECT_TRUE(filter_choices_in("").rules.empty());
  EXPECT_TRUE(filter_choices_in("include \nexclude\nother x").rules.empty());
  EXPECT_THROW(filter_choices_in("filter-file /does/not/exist"), Error);
}

}  // namespace
}  // namespace timeloom
