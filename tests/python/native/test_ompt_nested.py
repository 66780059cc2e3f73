"""Teams inside teams (OpenMP with LLVM's runtime, by OMPT): all their parts, on the threads that made them."""

import json

import pytest
from native_programs import output, record
from ompt_runs import OPTIONS, RUNTIMES, config, counted, linked, needs_runtime, wrapper
from spool_reader import spools_of

__all__ = ["config", "record", "wrapper"]  # fixtures

pytestmark = [pytest.mark.any_python, needs_runtime]

NESTED = r"""
#include <omp.h>
#include <stdio.h>
static int forks, parts;
int main(void) {
  omp_set_max_active_levels(3);
  for (int round = 0; round < 100; ++round) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
      ++forks;
#pragma omp parallel num_threads(2)
#pragma omp atomic
      ++parts;
    }
  }
  printf("%d %d\n", forks, parts);
  return 0;
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_teams_inside_teams_have_all_their_parts(record, wrapper, tmp_path, runtime):
    (tmp_path / "nested.c").write_text(NESTED)
    program = linked("gcc", RUNTIMES[runtime], tmp_path / "nested.c")
    text = record(program, options=OPTIONS, LD_PRELOAD=wrapper)
    assert text == "600 1200\n"
    (spool,) = spools_of(tmp_path / "run")
    met = counted(spool)
    assert spool.lost == 0
    assert met["team fork"] == met["team join"] == 100 + 200 + 600
    assert met["team begin"] == met["team end"] == met["!$omp parallel"] == 200 + 600 + 1200


# A runtime that does what LLVM's does at times: when it tells the end of a team, the team's memory is a team of
# another thread already.
REUSED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
typedef union { unsigned long value; void* pointer; } Word;
typedef void Call(void);
typedef struct { int (*initialize)(Call* (*lookup)(const char*), int, Word*); void (*finalize)(Word*); Word tool; } Tool;
static Call* g_calls[64];
static int set_call(int event, Call* call) { return g_calls[event] = call, 5; }
static Call* look_up(const char* name) { return (Call*)set_call; }
static Word g_first, g_second;
static pthread_barrier_t g_turn;
static void fork_team(Word* team) {
  const void* code = (const char*)fork_team + 1;
  ((void (*)(void*, void*, Word*, unsigned, int, const void*))g_calls[3])(0, 0, team, 2, 1, code);
}
static void end_team(Word* team) { ((void (*)(Word*, void*, int, const void*))g_calls[4])(team, 0, 1, 0); }
static void take_part(Word* team, unsigned place) {
  Word task = {0};
  void (*call)(int, Word*, Word*, unsigned, unsigned, int) = (void (*)(int, Word*, Word*, unsigned, unsigned, int))g_calls[7];
  call(1, team, &task, 2, place, 2);
  call(2, 0, &task, 2, place, 2);
}
static void* run_other(void* data) { return take_part(&g_second, 1), data; }
static void* make_second(void* data) {
  pthread_t other;
  fork_team(&g_second);
  pthread_barrier_wait(&g_turn);
  pthread_barrier_wait(&g_turn);
  take_part(&g_second, 0);
  pthread_create(&other, 0, run_other, 0);
  pthread_join(other, 0);
  end_team(&g_second);
  return data;
}
int main(void) {
  pthread_t maker;
  Tool* (*start)(unsigned, const char*) = (Tool* (*)(unsigned, const char*))dlsym(RTLD_DEFAULT, "ompt_start_tool");
  Tool* tool = start(201611, "reused");
  if (tool == 0 || !tool->initialize(look_up, 0, &tool->tool)) return 1;
  pthread_barrier_init(&g_turn, 0, 2);
  fork_team(&g_first);
  take_part(&g_first, 0);
  pthread_create(&maker, 0, make_second, 0);
  pthread_barrier_wait(&g_turn);
  end_team(&g_second); /* it means the first one */
  pthread_barrier_wait(&g_turn);
  pthread_join(maker, 0);
  return 0;
}
"""


def test_a_team_ends_on_the_thread_that_forked_it(record, wrapper, tmp_path):
    (tmp_path / "reused.c").write_text(REUSED)
    output("cc", "-g", "-O1", tmp_path / "reused.c", "-pthread", "-ldl", "-o", tmp_path / "reused")
    record(tmp_path / "reused", options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    met = counted(spool)
    assert met["team fork"] == met["team join"] == 2
    assert met["team begin"] == met["team end"] == met["!$omp parallel"] == 3


# Threads of one team fork teams of their own in one round and join another thread's in the next.
CHANGING = r"""
#include <omp.h>
#include <stdio.h>
static int forks;
int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 30; ++round) {
#pragma omp atomic
    ++forks;
#pragma omp parallel num_threads(2 + round % 3)
    __asm__ volatile("");
  }
  printf("%d\n", forks);
  return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
@pytest.mark.parametrize("source", ["nested", "changing"])
def test_the_report_counts_the_forks_of_teams_inside_teams(record, tmp_path, timeloom_program, source, options):
    (tmp_path / f"{source}.c").write_text({"nested": NESTED, "changing": CHANGING}[source])
    program = linked("gcc", RUNTIMES["PyPI"], tmp_path / f"{source}.c")
    own = record(program, options=("--quiet", "--thread", "omp", *options)).split()
    regions = json.loads(output(timeloom_program, "report", "--omp", "--json", tmp_path / "run"))["regions"]
    calls = sorted((row["calls"], row["fewest_threads"], row["threads"]) for row in regions)
    assert calls == {"nested": [(100, 2, 2), (200, 3, 3), (600, 2, 2)], "changing": [(1, 3, 3), (90, 2, 4)]}[source]
    assert int(own[0]) == calls[-1][0]
    assert all(1 <= row["imbalance"] <= row["threads"] for row in regions)
