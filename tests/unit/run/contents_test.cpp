// The table of contents of a run, the layouts and the names of profiles.
#include "run/contents.hpp"

#include <gtest/gtest.h>

#include <set>

#include "run/experiment_directory.hpp"
#include "run/manifest.hpp"
#include "run/profile_name.hpp"
#include "run/run_layout.hpp"

namespace timeloom::run {
namespace {

TEST(Contents, NamesAreDifferentAndHaveOneComponent) {
  std::set<std::string_view> names;
  for (const Entry& entry : kContents) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.name.empty());
    EXPECT_EQ(entry.name.find('/'), std::string_view::npos) << entry.name;
    EXPECT_EQ(name_of(entry.item), entry.name);
  }
}

TEST(Contents, TheAnchorIsPutInPlaceLastAndItsEventsFirst) {
  EXPECT_EQ(kResults.front(), Item::kTraceEvents);
  EXPECT_EQ(kResults.back(), Item::kAnchor);
}

TEST(Contents, AFileOfAnotherToolIsKnownByItsExtension) {
  EXPECT_EQ(find_entry("traces.otf2", Kind::kFile)->item, Item::kAnchor);
  EXPECT_EQ(find_entry("app.otf2", Kind::kFile)->item, Item::kAnchor);
  EXPECT_EQ(find_entry("app.def", Kind::kFile)->item, Item::kTraceDefinitions);
  EXPECT_EQ(find_entry("summary.cubex", Kind::kFile)->item, Item::kProfile);
  EXPECT_EQ(find_entry("traces", Kind::kDirectory)->item, Item::kTraceEvents);
  for (const char* unknown : {"notes", "other.json", "README.md", "running", "traces", ""}) {
    EXPECT_EQ(find_entry(unknown, Kind::kFile), nullptr) << unknown;
  }
  EXPECT_EQ(find_entry("app.otf2", Kind::kDirectory), nullptr);
}

TEST(Manifest, ListsWhatThereIs) {
  EXPECT_EQ(manifest_text(
                {Item::kSpool, Item::kAnchor, Item::kTraceMarkers, Item::kManifest, Item::kWorking},
                Stage::kWoven),
            "# A run measured by Timeloom\n\n| file | what it is |\n|---|---|\n"
            "| traces.otf2 | anchor of the OTF2 trace; open it with `timeloom report`, Vampir or "
            "otf2-print |\n"
            "| traces.marker | markers of the trace |\n"
            "| spool | the raw records; `timeloom weave` makes the trace of them |\n");
}

TEST(Manifest, SaysWhatToDoWithARunThatIsNotWoven) {
  const std::string recorded = manifest_text({Item::kSettings, Item::kSpool}, Stage::kRecorded);
  EXPECT_NE(recorded.find("\n    timeloom weave .\n\n| file | what it is |\n"), std::string::npos);
  EXPECT_NE(recorded.find("| spool |"), std::string::npos);
  EXPECT_NE(manifest_text({Item::kSpool}, Stage::kRunning).find("had not ended"),
            std::string::npos);
}

TEST(Manifest, OfAnExperimentDirectoryNamesTheProfileAsTheUserDoes) {
  ExperimentOptions options;
  options.profile = true;
  options.profile_name = ProfileName::of("a-name-that-is-longer-than-the-column");
  options.filter = "rules";
  options.variables = {"SCOREP_VERBOSE"};
  const std::string text = experiment_manifest_text(options);
  for (const char* line :
       {"      * `MANIFEST.md`           This manifest file.\n",
        "      * `scorep.filter`         Copy of the applied filter file.\n",
        "        * `a-name-that-is-longer-than-the-column.cubex` CUBE4 result file of the",
        "\n    SCOREP_VERBOSE\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("Tracing"), std::string::npos);
}

TEST(Layout, IsFoundByThePropertyOfTheRun) {
  EXPECT_EQ(&layout_of({}), &kTimeloomLayout);
  EXPECT_EQ(&layout_of({{"timeloom::layout", "timeloom"}}), &kTimeloomLayout);
  EXPECT_EQ(&layout_of({{"timeloom::layout", "scorep"}}), &kScorepLayout);
  EXPECT_EQ(&layout_of({{"timeloom::layout", "of a later version"}}), &kTimeloomLayout);
}

TEST(Layout, SaysWhichResultsAWeaveMayReplace) {
  for (const Item item : kResults) EXPECT_TRUE(kTimeloomLayout.weaves(item));
  EXPECT_TRUE(kScorepLayout.weaves(Item::kAnchor));
  EXPECT_FALSE(kScorepLayout.weaves(Item::kManifest));
  for (const Item item : {Item::kSpool, Item::kSettings, Item::kFilter}) {
    EXPECT_FALSE(kTimeloomLayout.weaves(item));
  }
}

TEST(ProfileName, IsThatOfAVisibleFileOfTheRun) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(ProfileName::of("summary")->file(), "summary.cubex");
  EXPECT_EQ(ProfileName::of("a b.c")->file(), "a b.c.cubex");
  EXPECT_EQ(ProfileName::of("\u00e4")->file(), "\u00e4.cubex");
  EXPECT_TRUE(ProfileName::of(std::string(249, 'a')));
  for (const std::string_view bad :
       {""sv, "."sv, ".."sv, ".hidden"sv, "a/b"sv, "/etc/passwd"sv, "../x"sv, "a\0b"sv, "a/"sv,
        "a\nb"sv, "\x1b[31m"sv, "a\x7f"sv}) {
    EXPECT_FALSE(ProfileName::of(bad)) << bad;
  }
  EXPECT_FALSE(ProfileName::of(std::string(250, 'a')));
}

}  // namespace
}  // namespace timeloom::run
