#include "profile/callpaths_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "core/error.hpp"
#include "story.hpp"

namespace timeloom::profile {
namespace {

namespace fs = std::filesystem;

CallTree sample() {
  Story story;
  story.thread("MainThread", "a +1 b +2 b +1 ) ) +1 c +4 ) )")
      .thread("worker \"1\"\n", "c +3 ) a +1 b ) )", 1)
      .thread("idle", "");
  Definitions& all = story.definitions();
  all.clock = {2'600'000'000, 100, 9, 1'700'000'000'000'000'000};
  all.creator = "Timeloom";
  all.machine_name = "Linux";
  all.properties = {{"timeloom::lost_events", "12"}};
  all.regions[1].paradigm = Paradigm::kUser;
  all.regions[1].role = RegionRole::kLoop;
  all.regions[1].group = "pkg";
  all.locations[2].type = LocationType::kMetric;
  all.locations[2].group = {};
  return story.fold({0, 3});
}

// With parameters and counters, too.
CallTree sample_with_values() {
  Story story;
  story.thread("main", "a n=1 +1 b +2 ) who:me&you +3 ) a rss#4 rss#-9 n=2 +1 ) rss#1")
      .thread("other", "a n=1 b rss#5 size#6 +1 ) )");
  story.definitions().metrics[0] = {"rss", "B", "resident", MetricValueType::kInt64};
  CallTree tree = story.fold();
  tree.locations[1].metrics[1].statistics.sum = std::numeric_limits<double>::infinity();
  return tree;
}

// Every number of the tree, also those that no report shows.
std::string everything(const CallTree& tree) { return to_json(tree) + describe(tree); }

// The error of a text; empty if it loads. What loads must be consistent.
std::string error_of(const std::string& text) {
  CallTree tree;
  try {
    tree = from_json(text, "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  for (const Totals& one : sum_locations(tree)) EXPECT_LE(one.exclusive, one.inclusive);
  EXPECT_EQ(tree.locations.size(), tree.definitions.locations.size());
  flat_profile(tree, sum_locations(tree));
  return "";
}

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << " is not in\n" << text;
  return text.replace(at, part.size(), other);
}

TEST(CallpathsFile, LoadsWhatWasSaved) {
  const fs::path file = fs::temp_directory_path() / ("callpaths-" + std::to_string(getpid()));
  const CallTree tree = sample();
  save(tree, file);
  const CallTree loaded = load(file);
  fs::remove(file);
  EXPECT_EQ(everything(loaded), everything(tree));
  EXPECT_EQ(loaded.nodes, tree.nodes);
  EXPECT_EQ(loaded.locations, tree.locations);
}

TEST(CallpathsFile, LoadsParametersAndCounters) {
  const CallTree tree = sample_with_values();
  const CallTree loaded = from_json(to_json(tree), "x");
  EXPECT_EQ(everything(loaded), everything(tree));
  EXPECT_EQ(loaded.nodes, tree.nodes);
  EXPECT_EQ(loaded.locations, tree.locations);
  EXPECT_EQ(loaded.parameter_sets, tree.parameter_sets);
  ASSERT_EQ(loaded.definitions.metrics.size(), 2u);
  EXPECT_EQ(loaded.definitions.metrics[0].unit, "B");
  EXPECT_EQ(loaded.definitions.metrics[0].type, MetricValueType::kInt64);
}

TEST(CallpathsFile, RefusesParametersAndCountersThatCannotBe) {
  const std::string text = to_json(sample_with_values());
  const auto with = [&](const std::string& part, const std::string& other) {
    return error_of(replaced(text, part, other));
  };
  EXPECT_NE(with("\"numeric\": true", "\"numeric\": 1"), "");
  EXPECT_NE(with("\"parameters\": [", "\"parameters\": [77,"), "");
  EXPECT_NE(with("\"sum\": [", "\"sum\": [true,"), "");
  EXPECT_NE(with("\"sum\": [", "\"sum\": [1,"), "");
  EXPECT_NE(with("\"metric\": [0", "\"metric\": [5"), "");
  EXPECT_NE(with("\"inf\"", "\"much\""), "");
}

TEST(CallpathsFile, LoadsAnEmptyTree) {
  const CallTree tree = from_json(to_json(CallTree{}), "x");
  EXPECT_TRUE(tree.nodes.empty());
  EXPECT_TRUE(tree.locations.empty());
}

TEST(CallpathsFile, ReplacesBytesThatAreNotUtf8) {
  Story story;
  story.thread("main", "a )").definitions().regions[0].file = "caf\xe9.py";
  const CallTree loaded = from_json(to_json(story.fold()), "x");
  EXPECT_EQ(loaded.definitions.regions[0].file, "caf\xef\xbf\xbd.py");
}

TEST(CallpathsFile, RefusesEveryTruncation) {
  for (const CallTree& tree : {sample(), sample_with_values()}) {
    const std::string text = to_json(tree);
    const std::size_t end = text.rfind('}');
    for (std::size_t size = 0; size <= end; ++size) {
      EXPECT_NE(error_of(text.substr(0, size)), "") << size;
    }
    EXPECT_EQ(error_of(text.substr(0, end + 1)), "");
  }
}

TEST(CallpathsFile, SurvivesDamageOfEveryByte) {
  const std::string text = to_json(sample());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'\0', '0', '9', '-', ',', '"', ']', '\xff'}) {
      std::string damaged = text;
      damaged[at] = byte;
      const std::string error = error_of(damaged);
      EXPECT_EQ(error.find('\n'), std::string::npos);
      if (!error.empty()) ++refused;
    }
  }
  EXPECT_GT(refused, text.size());
}

TEST(CallpathsFile, SaysWhatIsWrong) {
  const std::string text = to_json(sample());
  const std::string advice = "; delete it, and the trace beside it is read instead";
  const auto damaged = [&](const std::string& what) {
    return "x.json is damaged: " + what + advice;
  };
  const auto with = [&](const std::string& part, const std::string& other) {
    return error_of(replaced(text, part, other));
  };
  EXPECT_EQ(error_of("{\"a\": "), "x.json is damaged or cut off at byte 7" + advice);
  EXPECT_EQ(error_of("[]"), damaged("no object holds 'format'"));
  EXPECT_EQ(with("timeloom-callpaths", "other"), damaged("it is another format"));
  EXPECT_EQ(with("\"version\": 2", "\"version\": 1"),
            damaged("its version is 1, this program reads version 2"));
  EXPECT_EQ(with("\"length\": 9", "\"length\": -9"), damaged("'length' is no number in its range"));
  EXPECT_EQ(with("\"length\": 9", "\"length\": 9.5"),
            damaged("'length' is no number in its range"));
  EXPECT_EQ(with("\"length\": 9", "\"length\": 1e999"), "x.json is damaged" + advice);
  EXPECT_EQ(with("\"first_line\": 2", "\"first_line\": 4294967296"),
            damaged("'first_line' is no number in its range"));
  EXPECT_EQ(with("\"loop\"", "\"hoop\""), damaged("'role' has an unknown value"));
  EXPECT_EQ(with("\"begin\": 100, ", ""), damaged("'begin' is missing"));
  EXPECT_EQ(with("2600000000", "0"), damaged("the clock does not tick"));
  EXPECT_EQ(with("\"parent\": [null,0,1,0", "\"parent\": [null,0,1,9"),
            damaged("'parent' refers to nothing"));
  EXPECT_EQ(with("\"parent\": [null,0,1,0", "\"parent\": [null,0,0,1"),
            damaged("it has a call path twice"));
  EXPECT_EQ(with("\"parent\": [null,0,1,0,null", "\"parent\": [null,0,1,0,2"),
            damaged("its call paths are not in order"));
  EXPECT_EQ(with("\"region\": [0,1", "\"region\": [0,77"), damaged("'region' refers to nothing"));
  EXPECT_EQ(with("\"node\": [0,1,2", "\"node\": [1,0,2"),
            damaged("the call paths of a location are not in order"));
  EXPECT_EQ(with("\"visits\": [1,", "\"visits\": [0,"),
            damaged("a call path has impossible numbers"));
  EXPECT_EQ(with("\"visits\": [1,", "\"visits\": ["), damaged("a location is not complete"));
  EXPECT_EQ(with("\"last\": 109", "\"last\": 108"),
            damaged("the times of call paths do not add up"));
}

TEST(CallpathsFile, NamesAFileThatCannotBeReadOrWritten) {
  EXPECT_THROW(load("/nonexistent/callpaths.json"), Error);
  EXPECT_THROW(load("/"), Error);
  EXPECT_THROW(save(CallTree{}, "/nonexistent/callpaths.json"), Error);
  EXPECT_THROW(save(CallTree{}, "/dev/full"), Error);
}

}  // namespace
}  // namespace timeloom::profile
