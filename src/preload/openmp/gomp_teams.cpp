#include "preload/openmp/gomp_teams.hpp"

#include <cstdio>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::openmp {
namespace {

using record::WrapperScope;

const void* code_of(Function* function) noexcept { return reinterpret_cast<const void*>(function); }

bool of_running_measurement(const Team& team) noexcept {
  return team.measurement == record::measurement_number();
}

// A thread that the runtime has made keeps its name in later measurements.
void name_thread(const Runtime& runtime) noexcept try {
  if (t_state.name[0] == '\0') {
    const std::string name = record::next_thread_name(runtime.name);
    std::snprintf(t_state.name, sizeof t_state.name, "%s", name.c_str());
  }
  record::attach_as(t_state.name);
} catch (const std::bad_alloc&) {
  return;  // it has a number as its name
}

// All regions of the team, defined once for all members. False: there is no memory.
bool define_regions(Team& team) noexcept {
  Place& place = place_of(team.code);
  const Construct inner = team.fork.inner;
  team.parallel = region_of(place, Construct::kParallel);
  team.barrier = region_of(place, Construct::kImplicitBarrier);
  team.inner = inner == Construct::kParallel ? 0 : region_of(place, inner);
  return team.parallel != 0 && team.barrier != 0;
}

Member begin_member(Team& team, unsigned index) noexcept {
  ThreadState& state = t_state;
  Member member{state.runtime, state.function, state.task, state.depth};
  state.runtime = team.runtime;
  state.function = team.code;
  state.task = 0;
  team.members.fetch_add(1, std::memory_order_relaxed);
  if (of_running_measurement(team)) {
    if (index != 0 && !record::thread_takes_part()) name_thread(*team.runtime);
    WrapperScope scope(team.code);
    member.recorded = scope.wanted();
    if (member.recorded) {
      scope.settle();
      scope.put(ExtendedKind::kTeamBegin, {team.number, index});
      if (index != 0) {
        scope.begin_below(team.path);
        scope.enter(team.parallel);
      } else {
        put_metric(scope, team.metrics.fork, clock_ns() - team.forked_ns);
      }
      if (team.inner != 0) scope.enter(team.inner);
    }
  }
  if (team.inner != 0) {
    push_open({team.runtime, member.recorded ? team.inner : 0, team.fork.inner});
  }
  return member;
}

void end_member(Team& team, unsigned index, const Member& member) noexcept {
  close_open(member.depth);
  if (member.recorded) {
    WrapperScope scope(record::kAgain, team.measurement);
    if (scope.wanted() && record::recording()) {
      scope.enter(team.barrier);
      if (index != 0) {
        scope.end_late(
            {{team.shared_from_this(), &team.end}, {team.barrier, team.parallel}, team.number});
      }
    } else if (scope.wanted() && index != 0) {
      scope.leave(team.parallel);
    }
  }
  ThreadState& state = t_state;
  state.runtime = member.runtime;
  state.function = member.function;
  state.task = member.task;
}

}  // namespace

Runtime& runtime_of(const Fork& fork, const void* caller) noexcept {
  const Place& place = place_of(code_of(fork.function));
  Runtime& runtime =
      place.runtime != nullptr ? *place.runtime : runtime_at(place_of(caller), t_state.runtime);
  pass_on_for(caller, runtime);
  return runtime;
}

std::shared_ptr<Team> begin_team(Runtime& runtime, const Fork& fork) noexcept try {
  if (!record::wrapping() || runtime.unrecorded) return nullptr;
  const TeamMetrics metrics = team_metrics();
  WrapperScope scope(code_of(fork.function));
  if (!scope.wanted()) return nullptr;
  auto team = std::make_shared<Team>();
  team->own_data = {fork.reduces ? *static_cast<const std::uintptr_t*>(fork.data) : 0, team.get()};
  team->runtime = &runtime;
  team->fork = fork;
  team->code = code_of(fork.function);
  team->number = record::next_creation_number();
  team->measurement = record::measurement_number();
  team->path = scope.call_path();
  team->metrics = metrics;
  team->forked_ns = clock_ns();
  if (!define_regions(*team)) return nullptr;
  scope.enter(team->parallel);
  scope.put(ExtendedKind::kTeamFork, {team->number, fork.threads});
  return team;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// In a child that the thread has forked meanwhile, the regions are open, and the team is not known.
void end_team(Team& team) noexcept {
  team.end.store(os::now(), std::memory_order_release);
  WrapperScope scope(record::kAgain);
  scope.leave(team.barrier);
  if (of_running_measurement(team)) {
    put_metric(scope, team.metrics.size, team.members.load(std::memory_order_relaxed));
    scope.put(ExtendedKind::kTeamEnd, {team.number});
    scope.put(ExtendedKind::kTeamJoin, {team.number});
  }
  scope.leave(team.parallel);
}

// The first thread of a team is the one that has made it.
void run_member(void* data) {
  Team& team = *static_cast<TeamData*>(data)->team;
  const unsigned index = team.runtime->thread_number();
  const Member member = begin_member(team, index);
  team.fork.function(team.fork.data);
  end_member(team, index, member);
}

void begin_first(Runtime& runtime, std::shared_ptr<Team> team) noexcept {
  Team* const one = team.get();
  push_open({&runtime, 0, Construct::kParallel, one});
  if (one == nullptr) return;
  one->held = std::move(team);
  one->first = begin_member(*one, 0);
}

void end_parallel(const void* caller) noexcept {
  const OpenConstruct open = pop_open(Construct::kParallel);
  Team* const team = open.team;
  if (team != nullptr) end_member(*team, 0, team->first);
  GompCall(caller, open).real<void()>(Gomp::k_parallel_end)();
  if (team == nullptr) return;
  end_team(*team);
  team->held.reset();
}

}  // namespace timeloom::openmp
