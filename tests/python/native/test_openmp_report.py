"""`timeloom report --omp` of real loops: an even one and an uneven one, called from Python and in a program."""

import json
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import pytest
from native_programs import NATIVE, record
from streams import environment

__all__ = ["record"]  # a fixture

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")]

LIBOMP = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "lib" / "libomp.so"

PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for loop in library.balanced, library.unbalanced:
    loop.argtypes = ctypes.c_int, ctypes.c_double

def even():
    library.balanced(2, 0.02)

def uneven():
    library.unbalanced(2, 0.02)

for _ in range(3):
    even()
    uneven()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    directory = tmp_path_factory.mktemp("balance")
    for name, flags in ("libbalance.so", ("-shared", "-fPIC")), ("balance", ()):
        words = ["gcc", "-O2", "-g", "-fopenmp", *flags, NATIVE / "balance.c", "-o", directory / name]
        subprocess.run(words, check=True)
    return directory


@pytest.fixture
def measured(built, tmp_path, timeloom_program):
    """The run of the Python program."""

    def measured(*options, **variables):
        (tmp_path / "loops.py").write_text(PROGRAM)
        command = [timeloom_program, "run", "--quiet", "--thread", "omp", "-o", "run", *options]
        command += ["loops.py", built / "libbalance.so"]
        variables = environment({"TIMELOOM_PYTHON": sys.executable, **variables})
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=variables)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return tmp_path / "run"

    return measured


# GNU's runtime ends threads of its pool when a team is smaller than the one before, and makes new ones.
TURNS = r"""
#include <unistd.h>
static void four(void) {
#pragma omp parallel num_threads(4)
  usleep(2000);
}
static void two(void) {
#pragma omp parallel num_threads(2)
  usleep(2000);
}
static void task(void) {
#pragma omp parallel num_threads(2)
#pragma omp single nowait
  {
    volatile int started = 0;
#pragma omp task shared(started)
    {
      started = 1;
      usleep(300000);
    }
    while (!started) usleep(1000);
#pragma omp taskwait
  }
}
int main(void) {
  for (int i = 0; i < 20; ++i) {
    four();
    two();
  }
  task();
  return 0;
}
"""


def function_of(name):
    """Of "!$omp parallel @…/balance.c:20", or without lines "!$omp parallel balanced"."""
    lines = NATIVE.joinpath("balance.c").read_text().splitlines()
    number = name.rpartition(":")[2]
    if not number.isdigit():
        return name.rpartition(" ")[2]
    headers = [line for line in lines[: int(number)] if "void " in line and "balanced(" in line]
    return headers[-1].partition("void ")[2].partition("(")[0]


def loops_of(timeloom, run, *options):
    facts = json.loads(timeloom("report", "--omp", "--json", *options, run).stdout)
    loops = {function_of(row["name"]): row for row in facts["regions"]}
    assert sorted(loops) == ["balanced", "unbalanced"]
    return facts, loops


def assert_told_apart(loops, calls=3):
    even, uneven = loops["balanced"], loops["unbalanced"]
    assert [(loop["calls"], loop["threads"]) for loop in (even, uneven)] == [(calls, 2)] * 2
    # One of two threads works for both: the largest over the mean is 2. A busy machine stretches the even one, too.
    assert 1 <= even["imbalance"] < uneven["imbalance"] <= 2


@pytest.mark.parametrize("mode", ["trace", "profile"])
def test_an_uneven_loop_below_python_is_told_from_an_even_one(measured, timeloom, mode):
    run = measured(*(["--profile"] if mode == "profile" else []), OMP_NUM_THREADS="2")
    facts, loops = loops_of(timeloom, run)
    assert_told_apart(loops)
    assert facts["omp_num_threads"] == "2" and facts["cores"] >= 1 and facts["threads"] == 2


def test_threads_of_a_team_lie_below_the_function_that_called_also_in_a_profile(measured, timeloom):
    run = measured("--profile")
    rows = json.loads(timeloom("report", "--json", "--tree", run).stdout)["tree"]["rows"]
    path, visits = [], {}
    for row in rows:
        path[row["depth"] :] = [row["name"]]
        if row["name"].startswith("!$omp parallel"):
            visits[function_of(row["name"]), path[-2].rpartition(".")[2]] = row["visits"]
    assert visits == {("balanced", "even"): 6, ("unbalanced", "uneven"): 6}
    assert not [row for row in rows if row["depth"] == 0 and row["name"].startswith("!$omp")]


def test_a_program_without_python_has_its_surroundings_in_words(record, built, tmp_path, timeloom):
    assert record(built / "balance", options=("--quiet", "--thread", "omp"), OMP_NUM_THREADS="7") == "done\n"
    facts, loops = loops_of(timeloom, tmp_path / "run")
    assert_told_apart(loops)
    assert facts["omp_num_threads"] == "7" and facts["cores"] >= 1
    text = timeloom("report", "--omp", tmp_path / "run").stdout
    assert "OMP_NUM_THREADS is 7; the program may use " in text


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
def test_a_team_is_as_large_as_it_was_whatever_threads_it_had(record, tmp_path, timeloom, options):
    (tmp_path / "turns.c").write_text(TURNS)
    subprocess.run(["gcc", "-O0", "-g", "-fopenmp", "turns.c", "-o", "turns"], cwd=tmp_path, check=True)
    record(tmp_path / "turns", options=("--quiet", "--thread", "omp", *options))
    facts = json.loads(timeloom("report", "--omp", "--json", tmp_path / "run").stdout)
    four, two, task = sorted(facts["regions"], key=lambda row: (-row["calls"], -row["threads"]))
    assert facts["threads"] == 4
    assert [(row["calls"], row["threads"]) for row in (four, two, task)] == [(20, 4), (20, 2), (1, 2)]
    assert all(1 <= row["imbalance"] <= row["threads"] for row in (four, two, task))
    # One thread waits in taskwait, the other one runs the task.
    assert task["waiting_s"] > 0.25 and task["imbalance"] > 1.4


# The runtime calls the program's pthread_create(): each fork takes a second and a half, in which no thread works.
SLOW_FORK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*start)(void*), void* data) {
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  usleep(1500000);
  return real(made, attributes, start, data);
}
int main(void) {
#pragma omp parallel num_threads(2)
  usleep(1000);
  return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
def test_the_fork_of_a_team_is_not_work(record, tmp_path, timeloom, options):
    (tmp_path / "slow.c").write_text(SLOW_FORK)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-rdynamic", "slow.c", "-o", "slow"], cwd=tmp_path, check=True)
    record(tmp_path / "slow", options=("--quiet", "--thread", "omp", *options))
    (region,) = json.loads(timeloom("report", "--omp", "--json", tmp_path / "run").stdout)["regions"]
    assert region["time_s"] >= 1.5 and region["working_s"] < 1.5


DIFFERENT = r"""
static int g_sum;
__attribute__((noinline)) static void team(int threads) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp atomic
    ++g_sum;
  }
}
int main(void) {
  for (int i = 0; i < 6; ++i) team(2 + i % 3);
  return g_sum - 18;
}
"""


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
def test_teams_of_different_sizes_are_shown_as_a_range(record, tmp_path, timeloom, options):
    (tmp_path / "different.c").write_text(DIFFERENT)
    subprocess.run(["gcc", "-O1", "-fopenmp", "different.c", "-o", "different"], cwd=tmp_path, check=True)
    record(tmp_path / "different", options=("--quiet", "--thread", "omp", *options))
    (region,) = json.loads(timeloom("report", "--omp", "--json", tmp_path / "run").stdout)["regions"]
    assert (region["calls"], region["fewest_threads"], region["threads"]) == (6, 2, 4)
    text = timeloom("report", "--omp", tmp_path / "run").stdout
    assert " 6   2 to 4 " in text and "teams of up to 4 threads" in text


# Threads in which nothing else is recorded fork a team each, one after the other.
THREADS = r"""
#include <pthread.h>
#include <unistd.h>
static void* team(void* data) {
#pragma omp parallel num_threads(2)
  usleep(2000);
  return data;
}
void make_teams(int threads) {
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, team, 0);
    pthread_join(thread, 0);
  }
}
int main(void) {
  make_teams(5);
  return 0;
}
"""

needs_libomp = pytest.mark.skipif(not LIBOMP.exists(), reason="cmeel-libomp is not installed")


@pytest.fixture(params=["libgomp", pytest.param("libomp", marks=needs_libomp)])
def threads(request, tmp_path):
    """A program, and a library of the same code, with GNU's runtime or LLVM's in its place."""
    (tmp_path / "threads.c").write_text(THREADS)
    llvm = [LIBOMP, f"-Wl,-rpath,{LIBOMP.parent}"]
    runtime = llvm if request.param == "libomp" else ["-fopenmp"]
    for command in (
        ["gcc", "-g", "-O1", "-fopenmp", "-fPIC", "-c", "threads.c"],
        ["gcc", "threads.o", *runtime, "-pthread", "-o", "threads"],
        ["gcc", "-shared", "threads.o", *runtime, "-pthread", "-o", "libthreads.so"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path / "threads"


def assert_five_teams(timeloom, run):
    facts = json.loads(timeloom("report", "--omp", "--json", run).stdout)
    (region,) = facts["regions"]
    assert (region["calls"], region["fewest_threads"], region["threads"]) == (5, 2, 2)
    assert 1 <= region["imbalance"] <= 2
    # Each team sleeps two milliseconds; its threads do not live at the same time as the others.
    assert region["time_s"] == pytest.approx(facts["parallel_s"]) and facts["parallel_s"] > 0.009
    assert (facts["threads"], facts["teams"]) == (2, 1)


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
def test_threads_with_nothing_but_a_team_have_forked_it(threads, record, tmp_path, timeloom, options):
    record(threads, options=("--quiet", "--thread", "omp", *options))
    assert_five_teams(timeloom, tmp_path / "run")


def test_so_do_threads_that_a_library_makes_below_python(threads, tmp_path, timeloom, timeloom_program):
    (tmp_path / "below.py").write_text("import ctypes, sys\nctypes.CDLL(sys.argv[1]).make_teams(5)\n")
    command = [timeloom_program, "run", "--quiet", "--thread", "omp", "-o", "run", "below.py"]
    command.append(tmp_path / "libthreads.so")
    variables = environment({"TIMELOOM_PYTHON": sys.executable})
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert_five_teams(timeloom, tmp_path / "run")


# The second thread comes to the block while the first one holds it, for at least 0.4 seconds.
CRITICAL = r"""
#include <omp.h>
#include <unistd.h>
static volatile int g_inside, g_coming;
int main(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      while (!g_inside) usleep(1000);
      g_coming = 1;
    }
#pragma omp critical
    if (omp_get_thread_num() == 0) {
      g_inside = 1;
      while (!g_coming) usleep(1000);
      usleep(500000);
    }
  }
  return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
def test_the_wait_for_a_critical_block_is_waiting_for_a_lock(record, tmp_path, timeloom, options):
    (tmp_path / "critical.c").write_text(CRITICAL)
    subprocess.run(["gcc", "-O1", "-fopenmp", "critical.c", "-o", "critical"], cwd=tmp_path, check=True)
    record(tmp_path / "critical", options=("--quiet", "--thread", "omp", *options))
    (region,) = json.loads(timeloom("report", "--omp", "--json", tmp_path / "run").stdout)["regions"]
    assert region["waiting_s"] > 0.4
    report = json.loads(timeloom("report", "--json", tmp_path / "run").stdout)
    rows = [row for row in report["flat"]["rows"] if "critical" in row["name"]]
    waiting = {row["name"]: (row["visits"], row["waiting_s"]) for row in rows}
    visits, seconds = waiting["!$omp critical main"]
    assert visits == 2 and seconds > 0.4 and waiting["!$omp critical sblock main"] == (2, 0)
    assert report["waiting_causes_s"]["lock"] > 0.4


# The second thread comes to the lock while the first one holds it, for at least 0.4 seconds.
LOCK = r"""
#include <omp.h>
#include <unistd.h>
static volatile int g_inside, g_coming;
int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      while (!g_inside) usleep(1000);
      g_coming = 1;
    }
    omp_set_lock(&lock);
    if (omp_get_thread_num() == 0) {
      g_inside = 1;
      while (!g_coming) usleep(1000);
      usleep(500000);
    }
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  return 0;
}
"""


@needs_libomp
@pytest.mark.parametrize("policy", ["active", "passive"])
def test_the_wait_for_a_lock_is_waiting_and_not_work(record, tmp_path, timeloom, policy):
    """LLVM's runtime, which tells of locks."""
    (tmp_path / "lock.c").write_text(LOCK)
    for command in (
        ["gcc", "-g", "-O1", "-fopenmp", "-c", "lock.c"],
        ["gcc", "lock.o", LIBOMP, f"-Wl,-rpath,{LIBOMP.parent}", "-pthread", "-o", "lock"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    record(tmp_path / "lock", options=("--quiet", "--thread", "omp"), OMP_WAIT_POLICY=policy)
    (region,) = json.loads(timeloom("report", "--omp", "--json", tmp_path / "run").stdout)["regions"]
    assert region["waiting_s"] > 0.4
    report = json.loads(timeloom("report", "--json", tmp_path / "run").stdout)
    (row,) = [row for row in report["flat"]["rows"] if row["name"].startswith("omp_set_lock")]
    assert row["visits"] == 2 and row["working_s"] == 0 and row["waiting_s"] > 0.4
    assert report["waiting_causes_s"]["lock"] > 0.4


POOL = """
import ctypes, sys, threading
from concurrent.futures import ThreadPoolExecutor
library = ctypes.CDLL(sys.argv[1])
library.balanced.argtypes = ctypes.c_int, ctypes.c_double
together = threading.Barrier(3)

def task(number):
    together.wait()
    library.balanced(2, 0.001)
    together.wait()

with ThreadPoolExecutor(3) as pool:
    list(pool.map(task, range(3)))
"""


def test_threads_of_teams_are_not_workers_and_their_teams_add_up(built, tmp_path, timeloom, timeloom_program):
    (tmp_path / "pool.py").write_text(POOL)
    command = [timeloom_program, "run", "--quiet", "--thread", "omp", "-o", "run", "pool.py", built / "libbalance.so"]
    variables = environment({"TIMELOOM_PYTHON": sys.executable})
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    run = tmp_path / "run"
    assert " 3 workers (concurrent.futures)" in timeloom("report", run).stdout
    facts = json.loads(timeloom("report", "--omp", "--json", run).stdout)
    assert (facts["threads"], facts["teams"], facts["processes"]) == (2, 3, 1)
    assert facts["oversubscribed"] == (facts["cores"] < 6)
    if facts["oversubscribed"]:
        text = timeloom("report", "--omp", run).stdout
        assert "3 threads with a team of 2 threads each, 6 threads in all, on " in text


AFTER_ANOTHER = """
import ctypes, os, subprocess, sys
library = ctypes.CDLL(sys.argv[1])
library.balanced.argtypes = ctypes.c_int, ctypes.c_double
library.balanced(2, 0.001)
for _ in range(int(sys.argv[2])):
    words = [sys.executable, __file__, sys.argv[1], "0"]
    subprocess.run(words, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
"""


def test_processes_one_after_another_share_the_cores(built, tmp_path, timeloom, timeloom_program):
    """Their variables are not the program's, either."""
    (tmp_path / "after.py").write_text(AFTER_ANOTHER)
    options = ["--quiet", "--thread", "omp", "--follow=all", "-o", "run"]
    command = [timeloom_program, "run", *options, "after.py", built / "libbalance.so", "3"]
    variables = environment({"TIMELOOM_PYTHON": sys.executable})
    variables.pop("OMP_NUM_THREADS", None)
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120, env=variables)
    facts = json.loads(timeloom("report", "--omp", "--json", tmp_path / "run").stdout)
    assert sum(region["calls"] for region in facts["regions"]) == 4
    assert (facts["threads_at_once"], facts["teams"], facts["processes"]) == (2, 1, 1)
    assert facts["oversubscribed"] == (facts["cores"] < 2)
    assert facts["omp_num_threads"] is None


def test_a_part_of_the_run_has_the_loops_of_that_part(measured, timeloom):
    run = measured()
    whole, _ = loops_of(timeloom, run)
    facts, loops = loops_of(timeloom, run, "--from", "0s")
    assert_told_apart(loops)
    assert facts["parallel_s"] == pytest.approx(whole["parallel_s"])
    visits = json.loads(timeloom("report", "--slowest", "--function", "__main__.uneven", "--json", run).stdout)["visits"]
    begins = sorted(visit["begin_s"] for visit in visits)
    assert len(begins) == 3
    _, part = loops_of(timeloom, run, "--from", f"{begins[1]}s")
    assert [part[loop]["calls"] for loop in ("balanced", "unbalanced")] == [1, 2]


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")
def test_the_archive_has_the_events_of_teams(record, built, tmp_path):
    record(built / "balance", options=("--quiet", "--thread", "omp"))
    done = subprocess.run(["otf2-print", tmp_path / "run" / "traces.otf2"], capture_output=True, text=True, check=True)
    kinds = Counter(line.split()[0] for line in done.stdout.splitlines() if line.startswith("THREAD_"))
    # Three calls of two loops, in teams of two threads.
    assert kinds == {"THREAD_FORK": 6, "THREAD_JOIN": 6, "THREAD_TEAM_BEGIN": 12, "THREAD_TEAM_END": 12}


def test_the_estimate_takes_constructs_for_openmp_and_leaves_them_in(record, built, tmp_path, timeloom):
    record(built / "balance", options=("--quiet", "--thread", "omp", "--profile"))
    lines = [line.split() for line in timeloom("score", "-r", "run", cwd=tmp_path).stdout.splitlines()]
    types = {line[0] for line in lines if "!$omp" in line}
    assert types == {"OMP"}
    (total,) = [line for line in lines if line[:1] == ["OMP"] and line[-1] == "OMP"]
    assert int(total[2].replace(",", "")) > 0
    timeloom("score", "-g", "type=both,visits=0,timepervisit=1000000000,bufferpercent=0,all", "run", cwd=tmp_path)
    assert "!$omp" not in (tmp_path / "max_scorep.filter").read_text()
