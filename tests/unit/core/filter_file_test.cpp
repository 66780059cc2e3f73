#include "core/filter/filter_file.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"

namespace timeloom {
namespace {

FilterFile parse(const std::string& text) { return FilterFile::parse(text, "a.filter"); }

FilterFile regions(const std::string& rules) {
  return parse("SCOREP_REGION_NAMES_BEGIN\n" + rules + "\nSCOREP_REGION_NAMES_END\n");
}

FilterFile files(const std::string& rules) {
  return parse("SCOREP_FILE_NAMES_BEGIN\n" + rules + "\nSCOREP_FILE_NAMES_END\n");
}

// By name, for a region without a file or another name.
bool excludes(const FilterFile& filter, const std::string& name) {
  return filter.excluded("", name, "");
}

std::string complaint(const std::string& text) {
  try {
    parse(text);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(FilterFile, ExcludesNothingWithoutRules) {
  EXPECT_TRUE(parse("").empty());
  EXPECT_FALSE(parse("").excluded("a.c", "f", "_f"));
  EXPECT_TRUE(parse("SCOREP_FILE_NAMES_BEGIN EXCLUDE SCOREP_FILE_NAMES_END # nothing").empty());
}

TEST(FilterFile, LetsTheLastRuleThatAppliesDecide) {
  const FilterFile filter = regions("EXCLUDE a* INCLUDE ab* EXCLUDE abc*");
  EXPECT_TRUE(excludes(filter, "a"));
  EXPECT_FALSE(excludes(filter, "ab"));
  EXPECT_TRUE(excludes(filter, "abcd"));
  EXPECT_FALSE(excludes(filter, "b"));
}

TEST(FilterFile, DoesNothingWhenItOnlyIncludes) {
  EXPECT_FALSE(excludes(regions("INCLUDE main"), "other"));
  const FilterFile white = regions("EXCLUDE *\nINCLUDE main solver*");
  EXPECT_TRUE(excludes(white, "other"));
  EXPECT_FALSE(excludes(white, "main"));
  EXPECT_FALSE(excludes(white, "solver.step"));
}

TEST(FilterFile, TakesPatternsOverManyLines) {
  const FilterFile filter = regions("EXCLUDE\n  a\n\tb  c\n\n  # nothing\nd");
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(excludes(filter, name)) << name;
  EXPECT_FALSE(excludes(filter, "e"));
}

TEST(FilterFile, AppendsTheRulesOfSeveralBlocks) {
  const FilterFile filter = parse(
      "SCOREP_REGION_NAMES_BEGIN EXCLUDE f* SCOREP_REGION_NAMES_END\n"
      "SCOREP_FILE_NAMES_BEGIN EXCLUDE */x.c SCOREP_FILE_NAMES_END "
      "SCOREP_REGION_NAMES_BEGIN INCLUDE fa SCOREP_REGION_NAMES_END");
  EXPECT_FALSE(filter.excluded("/a.c", "fa", ""));
  EXPECT_TRUE(filter.excluded("/a.c", "fb", ""));
  EXPECT_TRUE(filter.excluded("/x.c", "fa", ""));
}

TEST(FilterFile, NeverTakesBackWhatAFileExcludes) {
  const FilterFile filter = parse(
      "SCOREP_FILE_NAMES_BEGIN EXCLUDE *.c INCLUDE */good.c SCOREP_FILE_NAMES_END\n"
      "SCOREP_REGION_NAMES_BEGIN INCLUDE f SCOREP_REGION_NAMES_END");
  EXPECT_TRUE(filter.excluded("/a/b.c", "f", ""));
  EXPECT_FALSE(filter.excluded("/a/good.c", "f", ""));
  EXPECT_FALSE(filter.excluded("", "f", ""));
}

TEST(FilterFile, MatchesAsFnmatchDoes) {
  EXPECT_TRUE(files("EXCLUDE *.py").excluded("/home/.me/a.py", "f", ""));
  EXPECT_FALSE(files("EXCLUDE a.py").excluded("/home/a.py", "f", ""));
  const FilterFile filter = regions("EXCLUDE ?bc [x-z]1 [!a]2 q\\*");
  EXPECT_TRUE(excludes(filter, "abc"));
  EXPECT_FALSE(excludes(filter, "ABC"));
  EXPECT_FALSE(excludes(filter, "aabc"));
  EXPECT_TRUE(excludes(filter, "y1"));
  EXPECT_TRUE(excludes(filter, "b2"));
  EXPECT_FALSE(excludes(filter, "a2"));
  EXPECT_TRUE(excludes(filter, "q*"));
  EXPECT_FALSE(excludes(filter, "qa"));
}

TEST(FilterFile, LooksAtTheMangledNameWhenARuleSaysSo) {
  const FilterFile filter = regions("EXCLUDE MANGLED _Z1* DEMANGLED f EXCLUDE g");
  EXPECT_TRUE(filter.excluded("", "foo()", "_Z1foo"));
  EXPECT_TRUE(filter.excluded("", "_Z1bar", ""));  // it has no mangled name
  EXPECT_FALSE(filter.excluded("", "_Z1bar", "other"));
  EXPECT_TRUE(filter.excluded("", "f", "_F"));
  EXPECT_FALSE(filter.excluded("", "x", "f"));
  EXPECT_TRUE(filter.excluded("", "g", "x"));
  const FilterFile reset = regions("EXCLUDE MANGLED m EXCLUDE d");
  EXPECT_FALSE(reset.excluded("", "x", "d"));
}

TEST(FilterFile, NeverExcludesWithoutANameByName) {
  EXPECT_FALSE(regions("EXCLUDE *").excluded("a.c", "", ""));
  EXPECT_FALSE(files("EXCLUDE *").excluded("", "f", ""));
}

TEST(FilterFile, KeepsBackslashesForThePattern) {
  const FilterFile filter = regions("EXCLUDE with\\ blank hash\\#tag\r\n other#tag rest");
  EXPECT_TRUE(excludes(filter, "with blank"));
  EXPECT_FALSE(excludes(filter, "with"));
  EXPECT_TRUE(excludes(filter, "hash#tag"));
  EXPECT_TRUE(excludes(filter, "other"));
  EXPECT_FALSE(excludes(filter, "rest"));
}

TEST(FilterFile, SaysWhatIsWrong) {
  EXPECT_EQ(complaint("\nfoo"), "a.filter, line 2: Unexpected token 'foo' [TL119]");
  const std::string regions_begin = "SCOREP_REGION_NAMES_BEGIN ";
  const std::string files_begin = "SCOREP_FILE_NAMES_BEGIN ";
  const auto unexpected = [](const std::string& text) {
    const std::string what = complaint(text);
    const std::string head = "a.filter, line 1: Unexpected token '";
    const std::string tail = "' [TL119]";
    EXPECT_TRUE(what.starts_with(head) && what.ends_with(tail)) << what;
    return what.size() > head.size() + tail.size()
               ? what.substr(head.size(), what.size() - head.size() - tail.size())
               : "";
  };
  EXPECT_EQ(unexpected(regions_begin + "foo"), "foo");
  EXPECT_EQ(unexpected(regions_begin + "MANGLED foo"), "MANGLED");
  EXPECT_EQ(unexpected(regions_begin + regions_begin), "SCOREP_REGION_NAMES_BEGIN");
  EXPECT_EQ(unexpected(regions_begin + "EXCLUDE a " + files_begin), "SCOREP_FILE_NAMES_BEGIN");
  EXPECT_EQ(unexpected(regions_begin + "SCOREP_FILE_NAMES_END"), "SCOREP_FILE_NAMES_END");
  EXPECT_EQ(unexpected("SCOREP_REGION_NAMES_END"), "SCOREP_REGION_NAMES_END");
  EXPECT_EQ(unexpected("EXCLUDE a"), "EXCLUDE");
  EXPECT_EQ(unexpected(files_begin + "EXCLUDE MANGLED a"), "MANGLED");
  EXPECT_EQ(unexpected(files_begin + "EXCLUDE DEMANGLED a"), "DEMANGLED");
  EXPECT_EQ(unexpected(files_begin + "a"), "a");
  EXPECT_EQ(unexpected(regions_begin + "exclude a"), "exclude");
  EXPECT_NE(complaint(regions_begin + "EXCLUDE a \\\nb").find("line 1: a line cannot be continued"),
            std::string::npos);
  EXPECT_EQ(complaint(regions_begin + "EXCLUDE a \\# \\ b \n"), "");
}

TEST(FilterFile, DoesNotMissTheLastEnd) {
  EXPECT_TRUE(excludes(parse("SCOREP_REGION_NAMES_BEGIN EXCLUDE a"), "a"));
}

TEST(FilterFile, AppliesARuleThatMatchesAnyOfTheNames) {
  const FilterFile filter = regions("EXCLUDE a* INCLUDE *:f EXCLUDE m[12]");
  const auto excludes = [&](std::vector<std::string> names) {
    return filter.excluded("", names, names);
  };
  EXPECT_TRUE(excludes({"x", "ab"}));
  EXPECT_FALSE(excludes({"ab", "m:f"}));
  EXPECT_TRUE(excludes({"m1", "ab", "m:f"}));
  EXPECT_FALSE(excludes({"x", "y"}));
  EXPECT_FALSE(excludes({}));
}

// The result is the same as of applying one rule after the other.
TEST(FilterFile, AnswersAsOneRuleAfterTheOtherWould) {
  const std::vector<std::string> patterns = {"a",  "ab",  "a*",  "*b",   "*",     "a*b",   "?b",
                                             "**", "[a]", "\\*", "a\\b", "*a*b*", "ba*ab", "b*"};
  const std::vector<std::string> names = {"a", "b", "ab", "ba", "aab", "aba", "*", "bab", "baab"};
  for (std::size_t seed = 0; seed < 500; ++seed) {
    std::size_t state = seed * 2654435761u + 1;
    const auto draw = [&](std::size_t below) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return (state >> 33) % below;
    };
    std::string text;
    std::vector<std::pair<bool, std::string>> rules;
    for (std::size_t i = 0; i < 6; ++i) {
      rules.emplace_back(draw(2) == 0, patterns[draw(patterns.size())]);
      text += (rules.back().first ? " INCLUDE " : " EXCLUDE ") + rules.back().second;
    }
    const FilterFile filter = regions(text);
    for (const std::string& name : names) {
      bool excluded = false;
      for (const auto& [include, pattern] : rules) {
        if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) excluded = !include;
      }
      EXPECT_EQ(excludes(filter, name), excluded) << text << " / " << name;
    }
  }
}

TEST(FilterFile, IsReadFromAFile) {
  const test::TempDirectory directory;
  EXPECT_THROW(FilterFile::load(directory.path() / "none"), Error);
  EXPECT_THROW(FilterFile::load(directory.path()), Error);
}

}  // namespace
}  // namespace timeloom
