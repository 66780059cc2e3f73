// Teams of threads: their events in the run, and the call paths of their members.
#include "../profile/story.hpp"
#include "teams_fixture.hpp"

namespace timeloom::weave {
namespace {

TEST_F(TeamsTest, EventsOfTeamsAndTasksReachTheRun) {
  spool::Writer& writer = team_spool();
  writer.define_location(1, 2, "worker");
  spool::Pen main(writer, 0), worker(writer, 1);
  main.enter(at(0), kF);
  forking(main, 5, 2, 10, 40, 90);
  main.leave(at(100), kF);
  team(worker, at(11), ExtendedKind::kTeamBegin, {5, 1});
  team(worker, at(12), ExtendedKind::kTaskCreate, {6});
  team(worker, at(13), ExtendedKind::kTaskSwitch, {6});
  team(worker, at(14), ExtendedKind::kTaskComplete, {6});
  team(worker, at(14), ExtendedKind::kTaskSwitch, {0});
  team(worker, at(90), ExtendedKind::kTeamEnd, {5});
  main.retire();
  worker.retire();
  end(writer);
  SpoolSource source = this->source();
  const auto lines = collect(source)->lines;
  EXPECT_EQ(lines.at("main"),
            in_program({"enter f", "enter !$omp parallel @a.c:3", "fork 5 2", "team 5 0",
                        "enter work", "leave work", "enter !$omp implicit barrier @a.c:3",
                        "leave !$omp implicit barrier @a.c:3", "team end 5", "join 5",
                        "leave !$omp parallel @a.c:3", "leave f"}));
  EXPECT_EQ(lines.at("worker"),
            (Lines{"team 5 1", "task create 6", "task 6", "task done 6", "task 0", "team end 5"}));
  EXPECT_EQ(source.dropped_events(), 0u);
}

// A sink with teams; the same after the archive was written and read again.
class WithTeams : public Collector {
 public:
  bool wants_teams() const override { return true; }
};

struct Damaged {
  Lines woven, read;
  std::uint64_t dropped;
};

// Weaves the only thread of the run, and reads its archive.
Damaged woven_and_read(SpoolSource source, const fs::path& directory) {
  fs::create_directory(directory);
  WithTeams woven;
  const auto trace = otf2::create(directory);
  const std::array<RunSink*, 2> sinks = {&woven, trace.get()};
  source.replay(sinks, 1);
  WithTeams again;
  const std::array<RunSink*, 1> one = {&again};
  otf2::open(directory / "traces.otf2")->replay(one, 1);
  return {woven.lines.at("main"), again.lines.at("main"), source.dropped_events()};
}

// Each line of the archive as it was woven, but for the numbers, which it does not have.
Lines without_numbers(Lines lines) {
  for (std::string& line : lines) {
    if (const auto digit = line.find_first_of("0123456789"); line.find('@') == std::string::npos) {
      line.resize(std::min(digit, line.size()));
    }
  }
  return lines;
}

TEST_F(TeamsTest, EventsThatNoTeamHasAreLeftOutAndCounted) {
  spool::Writer& writer = team_spool();
  spool::Pen main(writer, 0);
  main.enter(at(0), kF);
  team(main, at(1), ExtendedKind::kTeamJoin, {5});     // not forked yet: counted
  team(main, at(2), ExtendedKind::kTaskSwitch, {0});   // outside of teams
  team(main, at(3), ExtendedKind::kTeamFork, {4, 2});  // begun by nobody
  team(main, at(3), ExtendedKind::kTeamJoin, {4});     // the same
  team(main, at(4), ExtendedKind::kTeamFork, {5, 2});  // another team begins next: counted
  forking(main, 6, 2, 10, 40, 90);
  team(main, at(91), ExtendedKind::kTeamFork, {6, 2});  // repeated: counted
  team(main, at(92), ExtendedKind::kTeamBegin, {5, 3});
  team(main, at(93), ExtendedKind::kTeamBegin, {7, 0});
  team(main, at(94), ExtendedKind::kTaskSwitch, {99});  // created by nobody: counted
  team(main, at(95), ExtendedKind::kTeamEnd, {6});      // ended before: counted
  team(main, at(96), ExtendedKind::kTeamEnd, {5});      // ends 7, too
  team(main, at(97), ExtendedKind::kTaskCreate, {std::uint64_t{1} << 63});  // outside of teams
  main.leave(at(100), kF);
  main.retire();
  end(writer);
  const Damaged result = woven_and_read(source(), run().parent_path() / "archive");
  EXPECT_EQ(result.woven,
            in_program({"enter f", "enter !$omp parallel @a.c:3", "fork 6 2", "team 6 0",
                        "enter work", "leave work", "enter !$omp implicit barrier @a.c:3",
                        "leave !$omp implicit barrier @a.c:3", "team end 6", "join 6",
                        "leave !$omp parallel @a.c:3", "team 5 3", "team 7 0", "team end 7",
                        "team end 5", "leave f"}));
  EXPECT_EQ(result.dropped, 5u);
  EXPECT_EQ(without_numbers(result.read), without_numbers(result.woven));
}

// The run has dropped its oldest events, among them where teams 5 and 6 were forked and begun.
TEST_F(TeamsTest, EventsOfTeamsWhoseStartWasDroppedCountAsOlder) {
  keeps_newest_ = true;
  spool::Writer& writer = team_spool();
  spool::Pen main(writer, 0);
  const auto many_calls = [&](std::uint64_t from) {
    for (std::uint64_t i = from; i < from + 40'000; ++i) {
      main.enter(at(i), kF);
      main.leave(at(i), kF);
    }
  };
  team(main, at(1), ExtendedKind::kTeamFork, {5, 2});
  team(main, at(1), ExtendedKind::kTeamBegin, {5, 0});
  team(main, at(1), ExtendedKind::kTeamFork, {6, 2});
  team(main, at(1), ExtendedKind::kTeamBegin, {6, 0});
  many_calls(2);
  team(main, at(50'000), ExtendedKind::kTaskCreate, {7});
  team(main, at(50'000), ExtendedKind::kTeamEnd, {6});
  team(main, at(50'000), ExtendedKind::kTeamJoin, {6});
  forking(main, 8, 2, 50'000, 50'001, 50'002);
  team(main, at(50'003), ExtendedKind::kTeamEnd, {5});
  team(main, at(50'003), ExtendedKind::kTeamJoin, {5});
  team(main, at(50'004), ExtendedKind::kTaskSwitch, {0});  // outside of teams
  team(main, at(50'005), ExtendedKind::kTeamEnd, {5});     // repeated: damage, in no run
  team(main, at(50'005), ExtendedKind::kTeamEnd, {8});     // repeated: damage
  main.retire();
  end(writer);
  SpoolSource source = this->source();
  const std::uint64_t older = source.older_events();
  EXPECT_GT(older, 0u);
  WithTeams woven;
  const std::array<RunSink*, 1> sinks = {&woven};
  source.replay(sinks, 1);
  EXPECT_EQ(source.older_events() - older, 5u);
  EXPECT_EQ(source.dropped_events(), 1u);
  Lines lines = woven.lines.at("main");
  std::erase_if(lines, [](const std::string& line) { return line.ends_with(" f"); });
  EXPECT_EQ(lines, in_program({"enter !$omp parallel @a.c:3", "fork 8 2", "team 8 0", "enter work",
                               "leave work", "enter !$omp implicit barrier @a.c:3",
                               "leave !$omp implicit barrier @a.c:3", "team end 8", "join 8",
                               "leave !$omp parallel @a.c:3"}));
}

// Only processes whose events were dropped have teams without a start.
TEST_F(TeamsTest, EventsOfTeamsCountAsOlderByProcess) {
  keeps_newest_ = true;
  for (const char* name : {"p", "q"}) {
    spool::Writer& writer = team_spool(name);
    spool::Pen main(writer, 0);
    const std::uint64_t calls = name[0] == 'p' ? 40'000 : 1;
    for (std::uint64_t i = 0; i < calls; ++i) {
      main.enter(at(i), kF);
      main.leave(at(i), kF);
    }
    team(main, at(49'999), ExtendedKind::kTeamEnd, {5});  // in q: damage
    forking(main, 5, 1, 50'000, 50'001, 50'002);
    main.retire();
    end(writer);
  }
  SpoolSource source = this->source();
  const std::uint64_t older = source.older_events();
  EXPECT_GT(older, 0u);
  WithTeams woven;
  const std::array<RunSink*, 1> sinks = {&woven};
  source.replay(sinks, 1);
  EXPECT_EQ(source.older_events() - older, 1u);  // of p
  EXPECT_EQ(source.dropped_events(), 1u);        // of q
}

// A filter may leave the regions out: their teams have no place in the run then.
TEST_F(TeamsTest, TeamsOfARunWithoutParallelRegionsAreLeftOut) {
  spool::Writer& writer = spool("p", {"f", "g"});
  start_ = os::now();
  spool::Pen main(writer, 0);
  main.enter(at(0), kF);
  team(main, at(1), ExtendedKind::kTeamFork, {5, 2});
  team(main, at(2), ExtendedKind::kTeamBegin, {5, 0});
  team(main, at(3), ExtendedKind::kTeamEnd, {5});
  team(main, at(4), ExtendedKind::kTeamJoin, {5});
  main.leave(at(100), kF);
  main.retire();
  end(writer);
  const Damaged result = woven_and_read(source(), run().parent_path() / "archive");
  EXPECT_EQ(result.woven, in_program({"enter f", "leave f"}));
  EXPECT_EQ(result.dropped, 0u);
  EXPECT_EQ(result.read, result.woven);
}

profile::CallTree aggregated(RunSource& source) {
  profile::CallTreeSink sink;
  const std::array<RunSink*, 1> sinks = {&sink};
  source.replay(sinks, 2);
  return sink.take();
}

// The worker runs a function of its own around two teams, which were forked in f and in g.
TEST_F(TeamsTest, RegionsOfOtherThreadsLieBelowTheFork) {
  spool::Writer& writer = team_spool();
  writer.define_location(1, 2, "worker");
  spool::Pen main(writer, 0), worker(writer, 1);
  main.enter(at(0), kF);
  forking(main, 5, 2, 1010, 1040, 1090);
  main.enter(at(1095), kG);
  forking(main, 6, 2, 1100, 1140, 1150);
  main.leave(at(1160), kG);
  main.leave(at(1200), kF);
  worker.enter(at(1000), kWork);
  member(worker, 5, 1, 1011, 1080, 1090, true);
  member(worker, 6, 1, 1102, 1140, 1150, true);
  worker.leave(at(1155), kWork);
  main.retire();
  worker.retire();
  end(writer);
  SpoolSource source = this->source();
  const profile::CallTree tree = aggregated(source);
  const auto parts = [&](const std::string& name) {
    std::map<std::string, std::uint64_t> visits;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      std::string path;
      for (profile::NodeId at{static_cast<std::uint32_t>(i)}; at.defined();
           at = tree.nodes[at.value()].parent) {
        path = "/" + profile::name_of(tree, tree.nodes[at.value()].region) + path;
      }
      for (std::size_t k = 0; k < tree.locations.size(); ++k) {
        if (tree.definitions.locations[k].name != name) continue;
        for (const profile::Cell& cell : tree.locations[k].cells) {
          if (cell.node.value() == i) visits[path] = cell.statistics.visits;
        }
      }
    }
    return visits;
  };
  const std::string of_f = "/f/!$omp parallel @a.c:3", of_g = "/f/g/!$omp parallel @a.c:3";
  const std::string barrier = "/!$omp implicit barrier @a.c:3";
  EXPECT_EQ(parts("worker"), (std::map<std::string, std::uint64_t>{{"/work", 1},
                                                                   {"/f", 0},
                                                                   {of_f, 1},
                                                                   {of_f + "/work", 1},
                                                                   {of_f + barrier, 1},
                                                                   {"/f/g", 0},
                                                                   {of_g, 1},
                                                                   {of_g + "/work", 1},
                                                                   {of_g + barrier, 1}}));
  EXPECT_EQ(parts("main").at(of_f), 1u);
}

TEST_F(TeamsTest, NumbersOfTwoProcessesDiffer) {
  for (const char* name : {"p", "q"}) {
    spool::Writer& writer = team_spool(name);
    spool::Pen main(writer, 0);
    main.enter(at(0), kF);
    forking(main, 5, 1, 10, 40, 90);
    main.leave(at(100), kF);
    main.retire();
    end(writer);
  }
  SpoolSource source = this->source();
  std::set<std::uint64_t> numbers;
  const auto run = collect(source);
  for (const auto& [location, events] : run->events) {
    for (const Event& event : events) {
      if (event.kind == EventKind::kTeamFork) numbers.insert(event.value);
    }
  }
  EXPECT_EQ(numbers.size(), 2u);
}

}  // namespace
}  // namespace timeloom::weave
