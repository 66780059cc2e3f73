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
