// Teams of threads: their events in the run, and the call paths of their members.
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
