// Archives that Score-P wrote.

#include <gtest/gtest.h>

#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

const std::filesystem::path kData = TIMELOOM_TEST_DATA;

// An event in otf2-print's form, without columns and references.
std::string as_printed(const Event& one, const Definitions& all) {
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  const std::string time = " " + std::to_string(ticks(one.time)) + " ";
  switch (one.kind) {
    case EventKind::kEnter:
      return "ENTER" + time + "Region: " + quoted(all.regions.at(one.ref).name);
    case EventKind::kLeave:
      return "LEAVE" + time + "Region: " + quoted(all.regions.at(one.ref).name);
    case EventKind::kParameterInt:
      return "PARAMETER_INT64" + time + "Parameter: " + quoted(all.parameters.at(one.ref).name) +
             ", Value: " + std::to_string(one.as_int());
    case EventKind::kParameterString:
      return "PARAMETER_STRING" + time + "Parameter: " + quoted(all.parameters.at(one.ref).name) +
             ", Value: " + quoted(all.strings.at(one.string().value()));
    case EventKind::kRecordingOff: return "MEASUREMENT_ON_OFF" + time + "Mode: OFF";
    case EventKind::kRecordingOn: return "MEASUREMENT_ON_OFF" + time + "Mode: ON";
    case EventKind::kProgramBegin: {
      const LocationGroup& group = all.groups.at(one.ref);
      std::string text = "PROGRAM_BEGIN" + time + "Name: " + quoted(group.executable) + ", " +
                         std::to_string(group.arguments.size()) + " Arguments: ";
      for (const std::string& argument : group.arguments) {
        text += (&argument == &group.arguments.front() ? "" : ", ") + quoted(argument);
      }
      return text;
    }
    case EventKind::kProgramEnd:
      return "PROGRAM_END" + time + "Exit status: " +
             (one.as_int() == kUnknownExitStatus ? "UNDEFINED" : std::to_string(one.as_int()));
    default: return "?";
  }
}

// Without the references: `"name" <12>` becomes `"name"`.
std::string without_references(std::string text) {
  for (std::size_t at = text.find(" <"); at != std::string::npos; at = text.find(" <", at + 1)) {
    const std::size_t end = text.find('>', at);
    const std::string inside = text.substr(at + 2, end - at - 2);
    if (inside.find_first_not_of("0123456789") == std::string::npos) text.erase(at, end - at + 1);
  }
  return text;
}

// Lines of the form "ENTER  0  10965418742232  Region: …" of location 0.
std::vector<std::string> printed_events(const std::filesystem::path& dump) {
  std::vector<std::string> lines;
  std::ifstream file(dump);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, location, time, rest;
    words >> kind >> location >> time >> std::ws;
    std::getline(words, rest);
    if (location != "0") continue;
    lines.push_back(kind.append(" ").append(time).append(" ").append(without_references(rest)));
  }
  return lines;
}

TEST(ScoreP, EveryEventIsWhatOtf2PrintSays) {
  const Story run = read(kData / "scorep-user-regions" / "traces.otf2");
  std::vector<std::string> found;
  for (const Event& one : run.events.at(LocationId{0})) {
    found.push_back(as_printed(one, run.definitions));
  }
  const auto expected = printed_events(kData / "scorep-user-regions" / "otf2-print.txt");
  ASSERT_EQ(expected.size(), 282u);
  EXPECT_EQ(found, expected);
}

TEST(ScoreP, Definitions) {
  const Definitions all = open(kData / "scorep-user-regions" / "traces.otf2")->definitions();
  EXPECT_EQ(all.creator, "Score-P 8.4");
  EXPECT_EQ(all.machine_name, "Linux");
  EXPECT_EQ(all.clock.ticks_per_second, 2600545423u);
  EXPECT_EQ(all.clock.begin, 10965321977951u);
  EXPECT_EQ(all.clock.length, 120784116u);
  EXPECT_EQ(all.clock.realtime, std::nullopt);
  EXPECT_EQ(all.properties.at("OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE"), "true");
  ASSERT_EQ(all.groups.size(), 1u);
  EXPECT_EQ(all.groups[0].name, "Process");
  EXPECT_EQ(all.groups[0].hostname, "node1");
  EXPECT_EQ(all.groups[0].process_id, 6657u);
  EXPECT_EQ(all.groups[0].executable, "/usr/bin/python3.11");
  EXPECT_EQ(all.groups[0].arguments, (std::vector<std::string>{"-m", "scorep", "b_user.py"}));
  ASSERT_EQ(all.locations.size(), 1u);
  EXPECT_EQ(all.locations[0].name, "Master thread");
  EXPECT_EQ(all.locations[0].type, LocationType::kCpuThread);
  EXPECT_EQ(all.locations[0].event_count, 282u);
  const Region& main = all.regions.at(59);
  EXPECT_EQ(main.name, "__main__:main");
  EXPECT_EQ(main.file, "/home/user/demo/b_user.py");
  EXPECT_EQ(main.first_line, 18u);
  EXPECT_EQ(main.last_line, 0u);
  EXPECT_EQ(main.group, "__main__");
  EXPECT_EQ(main.paradigm, Paradigm::kUser);
  EXPECT_EQ(main.role, RegionRole::kFunction);
  EXPECT_EQ(all.regions.at(0).role, RegionRole::kArtificial);
  EXPECT_EQ(all.parameters.at(4).name, "iter");
  EXPECT_EQ(all.parameters.at(4).type, ParameterType::kInt64);
  EXPECT_EQ(all.parameters.at(5).type, ParameterType::kString);
}

TEST(ScoreP, CountsOfTheRecursion) {
  const Story run = read(kData / "scorep-fib" / "traces.otf2");
  std::map<std::string, int> visits;
  int leaves = 0;
  const std::vector<Event>& events = run.events.at(LocationId{0});
  for (const Event& one : events) {
    if (one.kind == EventKind::kEnter) ++visits[run.definitions.regions.at(one.ref).name];
    if (one.kind == EventKind::kLeave) ++leaves;
  }
  EXPECT_EQ(events.size(), 936u);
  EXPECT_EQ(visits, (std::map<std::string, int>{
                        {"__main__:<module>", 1}, {"__main__:main", 1}, {"__main__:fib", 465}}));
  EXPECT_EQ(leaves, 467);
  EXPECT_EQ(describe(events.front()), "10964746569228 begin 0");
  EXPECT_EQ(ticks(events.back().time), 10964878723038u);
  EXPECT_FALSE(run.definitions.properties.contains("timeloom::otf2_closed_regions"));
}

}  // namespace

}  // namespace timeloom::otf2
