// Rows of reports: their order, their numbers, and the forms that variables select.
#include "doors/omnitrace/format/call_rows.hpp"

#include <cstdio>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "doors/omnitrace/format/json_report.hpp"
#include "profile/story.hpp"
#include "support/bytes.hpp"

namespace timeloom::omnitrace {
namespace {

using nlohmann::ordered_json;
using profile::Story;

class StorySource : public RunSource {
 public:
  explicit StorySource(Story& story) : story_(story) {}
  const Definitions& definitions() const override { return story_.definitions(); }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    for (RunSink* sink : sinks) {
      sink->begin(definitions());
      story_.replay(*sink);
    }
  }

 private:
  Story& story_;
};

std::vector<const Metric*> metrics(const std::vector<std::string>& names) {
  std::vector<const Metric*> found;
  for (const std::string& name : names) found.push_back(find_metric(name));
  return found;
}

struct Style {
  bool flat = false;
  bool timeline = false;
  bool collapse = false;
  std::vector<LocationGroupId> processes{LocationGroupId{0}};
};

// One line for each row: the cell of its label, count, sum, smallest, largest, variance and % self
// in ns.
std::string rows(Story& story, const std::string& metric = "wall_clock", Style style = {}) {
  StorySource source(story);
  CallOptions options{metrics({metric}), style.flat, style.timeline};
  const Calls calls = aggregate_calls(source, options, 1);
  ReportStyle shown;
  shown.time = shown.memory = {"", 1};
  std::string text;
  const Merge merge = style.collapse ? Merge::kThreads : Merge::kNothing;
  const Rows ordered = rows_of(calls, style.processes, merge, style.flat, style.timeline);
  const MetricRows seen(calls, ordered, 0, shown, style.collapse);
  for (std::size_t i = 0; i < ordered.rows.size(); ++i) {
    const TextRow row = seen.text_row(i);
    text += row.label + " " + std::to_string(row.count);
    for (std::size_t v = 0; v < seen.metric().values(); ++v) {
      const Numbers& n = row.values[v];
      for (const double one : {n.sum, n.min, n.max, n.variance, n.self}) {
        std::array<char, 40> number{};
        std::snprintf(number.data(), number.size(), " %.6g", one);
        text += number.data();
      }
    }
    text += "\n";
  }
  return text;
}

Story two_threads() {
  Story story;
  story.thread("MainThread", "run +5 fib +2 ) +1 fib +4 ) +3 ) +10 spawn +40 ) run +1 ) +100")
      .thread("worker", "+2 run +1 fib +1 ) ) +40 run +2 )")
      .thread("late", "+35 fib +3 ) fib +5 )");
  return story;
}

TEST(CallRows, PutWorkersWhereTheFirstThreadStood) {
  Story story = two_threads();
  EXPECT_EQ(rows(story),
            "|0>>> run 2 16 1 15 98 37.5\n"
            "|1>>> |_run 2 4 2 2 0 75\n"
            "|1>>>   |_fib 1 1 1 1 0 100\n"
            "|0>>> |_fib 2 6 2 4 2 100\n"
            "|0>>> spawn 1 40 40 40 0 80\n"
            "|2>>> |_fib 2 8 3 5 2 100\n");
}

TEST(CallRows, CollapseThreads) {
  Story story = two_threads();
  EXPECT_EQ(rows(story, "wall_clock", {.collapse = true}),
            ">>> run 2 16 1 15 98 37.5\n"
            ">>> |_run 2 4 2 2 0 75\n"
            ">>>   |_fib 1 1 1 1 0 100\n"
            ">>> |_fib 2 6 2 4 2 100\n"
            ">>> spawn 1 40 40 40 0 80\n"
            ">>> |_fib 2 8 3 5 2 100\n");
}

TEST(CallRows, OfEqualPathsBecomeOneWhenCollapsed) {
  Story story;
  story.thread("MainThread", "f +2 ) +50").thread("worker", "+10 f +4 g +1 ) )");
  EXPECT_EQ(rows(story, "wall_clock", {.collapse = true}),
            ">>> f 2 7 2 5 4.5 85.7143\n>>> |_g 1 1 1 1 0 100\n");
}

TEST(CallRows, OfAFlatProfileAreMergedOverCallers) {
  Story story = two_threads();
  EXPECT_EQ(rows(story, "wall_clock", {.flat = true}),
            "|0>>> run 2 16 1 15 98 100\n"
            "|1>>> run 2 4 2 2 0 100\n"
            "|1>>> fib 1 1 1 1 0 100\n"
            "|0>>> fib 2 6 2 4 2 100\n"
            "|0>>> spawn 1 40 40 40 0 100\n"
            "|2>>> fib 2 8 3 5 2 100\n");
}

TEST(CallRows, OfATimelineAreCalls) {
  Story story;
  story.thread("MainThread", "run +5 fib +2 ) +1 fib +4 ) +3 ) +1 run +1 )");
  EXPECT_EQ(rows(story, "wall_clock", {.timeline = true}),
            "|0>>> run 1 15 15 15 0 60\n"
            "|0>>> |_fib 1 2 2 2 0 100\n"
            "|0>>> |_fib 1 4 4 4 0 100\n"
            "|0>>> run 1 1 1 1 0 100\n");
  EXPECT_EQ(rows(story, "wall_clock", {.flat = true, .timeline = true}),
            "|0>>> run 1 15 15 15 0 100\n"
            "|0>>> fib 1 2 2 2 0 100\n"
            "|0>>> fib 1 4 4 4 0 100\n"
            "|0>>> run 1 1 1 1 0 100\n");
}

TEST(CallRows, CountVisitsWithoutTimes) {
  Story story = two_threads();
  EXPECT_EQ(rows(story, "trip_count").substr(0, 36), "|0>>> run 2 2 0 0 0 0\n|1>>> |_run 2 ");
}

TEST(CallRows, LeaveOutRegionsOfTheMeasurement) {
  Story story;
  story.thread("MainThread", "program +1 f +2 ) ) +1 f +1 )");
  story.definitions().regions[0].role = RegionRole::kArtificial;
  EXPECT_EQ(rows(story), "|0>>> f 2 3 1 2 0.5 100\n");
}

TEST(CallRows, AreOfOneProcess) {
  Story story;
  story.thread("MainThread", "f +2 )").thread("MainThread", "g +2 )", 1);
  EXPECT_EQ(rows(story), "|0>>> f 1 2 2 2 0 100\n");
}

TEST(CallRows, OfSeveralProcessesAreOne) {
  Story story;
  story.thread("MainThread", "run +2 f +1 ) ) +90").thread("worker", "+1 f +4 )");
  story.thread("MainThread", "run +3 f +5 ) +1 g +1 ) )", 1).thread("worker", "+4 f +2 )", 1);
  const std::vector<LocationGroupId> both = {LocationGroupId{0}, LocationGroupId{1}};
  EXPECT_EQ(rows(story, "wall_clock", {.processes = both}),
            "|0>>> run 2 13 3 10 24.5 15.3846\n"
            "|1>>> |_f 1 4 4 4 0 100\n"
            "|0>>> |_f 2 6 1 5 8 66.6667\n"
            "|1>>>   |_f 1 2 2 2 0 100\n"
            "|0>>> |_g 1 1 1 1 0 100\n");
  EXPECT_EQ(rows(story, "wall_clock", {.collapse = true, .processes = both}),
            ">>> run 2 13 3 10 24.5 15.3846\n"
            ">>> |_f 3 10 1 5 4.33333 80\n"
            ">>>   |_f 1 2 2 2 0 100\n"
            ">>> |_g 1 1 1 1 0 100\n");
}

TEST(CallRows, HaveThreadsOfSeveralDigits) {
  Story story;
  for (int i = 0; i < 12; ++i) story.thread("thread", "+" + std::to_string(i) + " f +20 )");
  const std::string text = rows(story, "wall_clock", {.flat = true});
  EXPECT_EQ(text.substr(0, 12), "|00>>> f 1 2");
  EXPECT_NE(text.find("\n|11>>> f 1"), std::string::npos);
}

Story counted() {
  Story story;
  story.thread(
      "MainThread",
      "ru_utime#1000 ru_stime#0 ru_maxrss#10 f +4000000 ru_utime#2000 ru_stime#500 ru_maxrss#12 g "
      "+1000000 ru_utime#2500 ru_stime#500 ru_maxrss#20 ) ru_utime#2500 ru_stime#1000 ru_maxrss#20 "
      ")");
  for (timeloom::Metric& metric : story.definitions().metrics) {
    metric.set = "rusage";
    const bool time = metric.name != "ru_maxrss";
    metric.unit = time ? "s" : "Bytes";
    metric.binary = !time;
    metric.exponent = time ? -6 : 10;
  }
  return story;
}

TEST(CallRows, HaveTheIncreaseOfCounters) {
  Story story = counted();
  EXPECT_EQ(rows(story, "thread_cpu_clock"),
            "|0>>> f 1 2.5e+06 2.5e+06 2.5e+06 0 80\n|0>>> |_g 1 500000 500000 500000 0 100\n");
  EXPECT_EQ(rows(story, "kernel_mode_time"),
            "|0>>> f 1 1e+06 1e+06 1e+06 0 100\n|0>>> |_g 1 0 0 0 0 0\n");
  EXPECT_EQ(rows(story, "thread_cpu_util"),
            "|0>>> f 1 50 50 50 0 80\n|0>>> |_g 1 50 50 50 0 100\n");
  EXPECT_EQ(rows(story, "peak_rss"),
            "|0>>> f 1 10240 10240 10240 0 20\n|0>>> |_g 1 8192 8192 8192 0 100\n");
  EXPECT_EQ(rows(story, "current_peak_rss"),
            "|0>>> f 1 10240 10240 10240 0 0 20480 20480 20480 0 0\n"
            "|0>>> |_g 1 12288 12288 12288 0 100 20480 20480 20480 0 100\n");
}

TEST(CallRows, HaveNoShareAboveTheWhole) {
  Story story;
  story.thread("MainThread", "ru_utime#0 ru_stime#0 f +1000 ru_utime#8 ru_stime#0 )");
  for (timeloom::Metric& metric : story.definitions().metrics) {
    metric.set = "rusage";
    metric.unit = "s";
    metric.exponent = -6;
  }
  EXPECT_EQ(rows(story, "thread_cpu_util"), "|0>>> f 1 100 100 100 0 100\n");
}

TEST(CallRows, SayWhichMetricsARunLacks) {
  Story story = counted();
  const auto missing =
      missing_metrics(metrics({"wall_clock", "user_mode_time", "num_io_in"}), story.definitions());
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0]->id, "num_io_in");
}

TEST(CallRows, HaveALimit) {
  Story story = two_threads();
  StorySource source(story);
  CallOptions options{metrics({"wall_clock"})};
  options.max_rows = 5;
  EXPECT_THROW(aggregate_calls(source, options, 1), Error);
}

// ---- JSON

ordered_json json_of(Story& story, const std::string& metric, ReportStyle style = {}) {
  StorySource source(story);
  const Calls calls = aggregate_calls(source, {metrics({metric})}, 1);
  const Rows flat = rows_of(calls, {LocationGroupId{0}}, Merge::kNothing, false, false);
  const Rows tree = rows_of(calls, {LocationGroupId{0}}, Merge::kThreads, false, false);
  std::string text;
  write_json_report({calls, flat, 0, style, false}, {calls, tree, 0, style, true}, style, {{42}, 0},
                    [&](std::string_view piece) { text += piece; });
  return ordered_json::parse(text)["timemory"][metric];
}

// The keys of a value and of nested ones; for a list, the keys of its first two members.
std::string shape(const ordered_json& value) {
  if (value.is_string()) return "s";
  if (value.is_boolean()) return "b";
  if (value.is_number_float()) return "f";
  if (!value.is_structured()) return "i";
  std::string text = value.is_array() ? "[" : "{";
  std::size_t members = 0;
  for (const auto& [key, one] : value.items()) {
    if (value.is_array() && ++members > 2) break;
    text += (value.is_array() ? "" : key + ":") + shape(one) + " ";
  }
  return text + (value.is_array() ? "]" : "}");
}

ordered_json real(const std::string& metric) {
  const std::string path =
      std::string(TIMELOOM_TEST_DATA) + "/omnitrace-reports/" + metric + ".json";
  return ordered_json::parse(test::read_bytes(path))["timemory"][metric];
}

TEST(JsonReport, HasTheShapeOfTimemorys) {
  Story story = two_threads();
  for (const char* metric : {"trip_count", "wall_clock"}) {
    ordered_json ours = json_of(story, metric), theirs = real(metric);
    for (const char* key :
         {"properties", "type", "description", "unit_value", "unit_repr", "thread_scope_only"}) {
      EXPECT_EQ(ours[key], theirs[key]) << metric << " " << key;
    }
    // The lengths of lists of children differ.
    for (ordered_json* one : {&ours, &theirs}) {
      (*one)["graph"][0][0]["children"][0]["children"].clear();
      (*one)["graph"][0][0]["children"][1] = (*one)["graph"][0][0]["children"][0];
      for (const char* tid : {"tid"}) (*one)["graph"][0][0]["children"][0]["node"].erase(tid);
      for (const char* tid : {"tid"}) (*one)["graph"][0][0]["children"][1]["node"].erase(tid);
    }
    EXPECT_EQ(shape(ours), shape(theirs)) << metric;
  }
}

TEST(JsonReport, HasTheNumbersOfTheTable) {
  Story story = two_threads();
  const ordered_json json = json_of(story, "wall_clock");
  const ordered_json& rows = json["ranks"][0]["graph"];
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(json["ranks"][0]["graph_size"], 6);
  EXPECT_EQ(json["thread_count"], 3);
  EXPECT_EQ(rows[2]["prefix"], "|1>>>   |_fib");
  EXPECT_EQ(rows[2]["depth"], 2);
  EXPECT_EQ(rows[0]["entry"]["laps"], 2);
  EXPECT_EQ(rows[0]["entry"]["value"], 16);
  EXPECT_EQ(rows[0]["entry"]["repr_data"], 16e-9);
  EXPECT_EQ(rows[0]["stats"]["min"], 1e-9);
  EXPECT_EQ(rows[0]["stats"]["max"], 15e-9);
  EXPECT_DOUBLE_EQ(rows[0]["stats"]["sqr"], 226e-18);
  EXPECT_EQ(rows[0]["hash"], rows[0]["rolling_hash"]);
  EXPECT_EQ(rows[0]["hash"].get<std::uint64_t>() + rows[1]["hash"].get<std::uint64_t>(),
            rows[1]["rolling_hash"].get<std::uint64_t>());
}

TEST(JsonReport, HasATreeOfAllThreads) {
  Story story = two_threads();
  const ordered_json root = json_of(story, "wall_clock")["graph"][0][0];
  EXPECT_EQ(root["node"]["hash"], 0);
  EXPECT_EQ(root["node"]["exclusive"]["entry"]["value"], -56);
  ASSERT_EQ(root["children"].size(), 2u);
  const ordered_json run = root["children"][0];
  EXPECT_EQ(run["node"]["prefix"], "run");
  EXPECT_EQ(run["node"]["depth"], 1);
  EXPECT_EQ(run["node"]["tid"], ordered_json({0}));
  EXPECT_EQ(run["node"]["pid"], ordered_json({42}));
  EXPECT_EQ(run["node"]["exclusive"]["entry"]["value"], 6);
  ASSERT_EQ(run["children"].size(), 2u);
  EXPECT_EQ(run["children"][0]["node"]["tid"], ordered_json({1}));
}

TEST(JsonReport, LeavesOutWhatTheVariablesSwitchOff) {
  Story story = two_threads();
  ReportStyle style;
  style.tree_json = false;
  style.max_depth = 1;
  ordered_json json = json_of(story, "trip_count", style);
  EXPECT_FALSE(json.contains("graph"));
  EXPECT_EQ(json["ranks"][0]["graph"].size(), 2u);
  style.tree_json = true;
  style.flat_json = false;
  json = json_of(story, "trip_count", style);
  EXPECT_FALSE(json.contains("ranks"));
  EXPECT_EQ(json["graph"][0][0]["children"][0]["children"].size(), 0u);
  EXPECT_EQ(json["graph"][0][0]["children"].size(), 2u);
}

TEST(JsonReport, HasPairsForMetricsOfTwoValues) {
  Story story = counted();
  const ordered_json json = json_of(story, "current_peak_rss");
  EXPECT_EQ(json["type"], ordered_json({"start peak rss", " stop peak rss"}));
  EXPECT_EQ(json["ranks"][0]["graph"][1]["entry"]["value"],
            ordered_json({{"first", 12288}, {"second", 20480}}));
}

}  // namespace
}  // namespace timeloom::omnitrace
