"""Threads of native code in traces: the wrapper library of `--thread pthread`."""

import json
import os
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from archives import DEBIAN_PYTHON
from process_runs import Run
from streams import environment

pytestmark = pytest.mark.any_python

NATIVE = Path(__file__).resolve().parents[2] / "native"

READER = """
import json, sys
import otf2
from otf2.events import *
locations = {}
with otf2.reader.open(sys.argv[1]) as trace:
    regions = {region.name: [region.source_file, str(region.paradigm), str(region.region_role)]
               for region in trace.definitions.regions if region.name.startswith("pthread_")}
    for location in trace.definitions.locations:
        locations[f"{location.group.name}/{location.name}"] = []
    for location, event in trace.events:
        name = type(event).__name__
        if name.startswith("Thread"):
            word = [name, event.sequence_count]
        elif name == "Enter" and event.region.name.startswith("pthread_"):
            word = [event.region.name, 0]
        else:
            continue
        locations[f"{location.group.name}/{location.name}"].append(word)
print(json.dumps([locations, regions]))
"""


def read(run):
    """Return for each location, by name: the creations, starts, ends and waits with their numbers, and the calls."""
    done = subprocess.run(
        [DEBIAN_PYTHON, "-c", READER, run / "traces.otf2"], capture_output=True, text=True, check=True
    )
    locations, regions = json.loads(done.stdout)
    return {name.rpartition("/")[2]: [tuple(word) for word in words] for name, words in locations.items()}, regions


def called(locations):
    return Counter(name for words in locations.values() for name, _ in words)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "threads"
    subprocess.run(["cc", NATIVE / "threads.c", "-o", path, "-pthread"], check=True)
    return path


@pytest.fixture
def record(tmp_path, timeloom_program):
    def record(*words, options=("--thread", "pthread"), **variables):
        done = subprocess.run(
            [timeloom_program, "run", "--quiet", "-o", tmp_path / "run", *options, *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(variables),
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return tmp_path / "run"

    return record


def test_creation_begin_end_and_join(record, program):
    locations, regions = read(record("--program", program, "create"))
    threads = [f"threads thread {k}" for k in range(1, 6)]
    assert sorted(locations) == sorted(["Master thread", *threads])
    numbers = {name: [number for _, number in locations[name]] for name in threads}
    begun = [locations[name] for name in threads]
    (exited,) = (words for words in begun if ("pthread_exit", 0) in words)
    assert [name for name, _ in exited] == ["ThreadBegin", "pthread_exit", "ThreadEnd"]
    assert all([name for name, _ in words] == ["ThreadBegin", "ThreadEnd"] for words in begun if words != exited)
    first = [numbers[name][0] for name in threads]
    assert first == sorted(set(first))
    join = [("pthread_create", 0), ("ThreadCreate", 0), ("pthread_join", 0), ("ThreadWait", 0)]
    expected = [(name, number if name.startswith("Thread") else 0) for number in first[:4] for name, _ in join]
    assert locations["Master thread"] == [
        *expected, ("pthread_create", 0), ("ThreadCreate", first[4]), ("pthread_detach", 0)]  # fmt: skip
    assert regions["pthread_create"][0] == "PTHREAD"
    assert [word.rpartition(".")[2] for word in regions["pthread_create"][1:]] == ["PTHREAD", "THREAD_CREATE"]
    assert [word.rpartition(".")[2] for word in regions["pthread_join"][1:]] == ["PTHREAD", "THREAD_WAIT"]
    assert [word.rpartition(".")[2] for word in regions["pthread_detach"][1:]] == ["PTHREAD", "WRAPPER"]


def test_locks_are_recorded_where_somebody_asks(record, program):
    assert called(read(record("--program", program, "locks"))[0]) == {}


def test_all_locks(record, program):
    options = ("--thread", "pthread", "--thread-locks", "0")
    locations, _ = read(record("--program", program, "locks", options=options))
    assert called(locations) == {
        "pthread_mutex_init": 1, "pthread_mutex_destroy": 1, "pthread_mutex_lock": 11, "pthread_mutex_unlock": 11,
        "pthread_mutex_trylock": 1, "pthread_cond_init": 1, "pthread_cond_destroy": 1, "pthread_cond_signal": 2,
        "pthread_cond_broadcast": 1, "pthread_cond_timedwait": 1,
    }  # fmt: skip


def test_locks_that_take_long(record, program):
    options = ("--thread", "pthread", "--thread-locks", "400000")
    locations, _ = read(record("--program", program, "locks", options=options))
    assert locations["Master thread"] == [("pthread_mutex_lock", 0)]


def test_locks_without_threads_are_refused(tmp_path, timeloom_program):
    done = subprocess.run([timeloom_program, "run", "--thread-locks", "5", "x.py"], cwd=tmp_path, capture_output=True,
                          text=True, check=False, env=environment())  # fmt: skip
    assert done.returncode != 0
    assert "--thread-locks: locks are recorded with threads of native code" in done.stderr


def test_a_thread_that_is_cancelled_in_a_wrapper(record, program):
    """Its stack is unwound through the wrappers of both libraries."""
    options = ("--thread", "pthread", "--io", "posix", "--thread-locks", "0")
    locations, _ = read(record("--program", program, "cancel", options=options))
    counts = called(locations)
    assert (counts["ThreadBegin"], counts["ThreadEnd"], counts["pthread_cancel"], counts["ThreadWait"]) == (1, 1, 1, 1)


def test_a_forked_child_has_threads_of_its_own(record, program, timeloom_program):
    run = Run(record("--program", program, "fork"), timeloom_program)
    assert run.visits("pthread_create") == [1, 1]
    assert run.visits("pthread_join") == [1, 1]


FIXED = r"""
#include <pthread.h>
#include <stdlib.h>
static void* work(void* argument) { return argument; }
int main(void) {
  void* (*volatile allocate)(size_t) = malloc;
  pthread_t thread;
  if (allocate == 0 || pthread_create(&thread, 0, work, 0) != 0) return 1;
  return pthread_join(thread, 0);
}
"""


def test_a_program_at_a_fixed_address_that_takes_the_address_of_malloc(record, tmp_path):
    """Like Debian's interpreters: their entry stands for the function, which they do not define."""
    (tmp_path / "fixed.c").write_text(FIXED)
    words = ["cc", "-O0", "-fno-pic", "-no-pie", "fixed.c", "-o", "fixed", "-pthread"]
    subprocess.run(words, cwd=tmp_path, check=True)
    locations, _ = read(record("--program", tmp_path / "fixed"))
    assert called(locations) == {"pthread_create": 1, "ThreadCreate": 1, "ThreadBegin": 1, "ThreadEnd": 1,
                                 "pthread_join": 1, "ThreadWait": 1}  # fmt: skip


LOCKS = r"""
#include <pthread.h>
void take(int count) {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, 0);
  for (int i = 0; i < count; ++i) {
    pthread_mutex_trylock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}
"""

POOL = r"""
#include <pthread.h>
static void* work(void* argument) { return argument; }
void begin(int count) {
  pthread_t threads[16];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], 0);
}
"""

PYTHON = '''
import ctypes
import threading


def in_library():
    ctypes.CDLL("./libpool-0123abcd.so").begin(3)


def work():
    pass


def in_python():
    thread = threading.Thread(target=work, name="named")
    thread.start()
    thread.join()


in_library()
in_python()
'''


@pytest.fixture
def pool(tmp_path):
    (tmp_path / "pool.c").write_text(POOL)
    subprocess.run(["cc", "-shared", "-fPIC", "pool.c", "-o", "libpool-0123abcd.so", "-pthread"], cwd=tmp_path, check=True)
    (tmp_path / "program.py").write_text(textwrap.dedent(PYTHON))
    return tmp_path / "program.py"


def test_threads_of_a_library_of_python(record, pool):
    locations, _ = read(record(pool))
    assert sorted(locations) == ["MainThread", *(f"libpool thread {k}" for k in range(1, 4)), "named"]
    counts = called(locations)
    # threading knows which thread creates Python's own and waits for it.
    assert [counts[f"Thread{what}"] for what in ("Create", "Begin", "End", "Wait")] == [4] * 4
    assert [[name for name, _ in locations[name]] for name in locations if name != "MainThread"] == [["ThreadBegin", "ThreadEnd"]] * 4
    assert counts["pthread_create"] == 4


def test_every_lock_of_the_interpreter(record, pool):
    """Also where Python's threads begin, before they have names."""
    locations, _ = read(record(pool, options=("--thread", "pthread", "--thread-locks", "0")))
    assert sorted(locations) == ["MainThread", *(f"libpool thread {k}" for k in range(1, 4)), "named"]
    assert called(locations)["ThreadBegin"] == 4


def test_calls_lie_below_the_function_that_caused_them(record, pool, timeloom_program):
    run = record(pool, options=("--thread", "pthread", "--profile"))
    done = subprocess.run([timeloom_program, "report", "--json", run], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["tree"]["rows"]
    (above,) = (row["id"] for row in rows if row["name"] == "__main__.in_library")
    below = {row["name"]: row["visits"] for row in rows if row["parent"] == above and row["name"].startswith("pthread_")}
    assert below == {"pthread_create": 3, "pthread_join": 3}


def test_the_layout_of_score_p(pool, tmp_path):
    command = [sys.executable, "-m", "scorep", "--thread=pthread", pool]
    variables = {"SCOREP_ENABLE_TRACING": "true", "SCOREP_EXPERIMENT_DIRECTORY": "e"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment(variables))
    assert (done.returncode, done.stderr) == (0, "")
    locations, _ = read(tmp_path / "e")
    assert sorted(locations) == ["Master thread", *(f"Pthread thread {k}" for k in range(1, 5))]


@pytest.mark.parametrize("options, variables, recorded", [
    (["--mutex=pthread"], {}, True),
    (["--thread=pthread", "--mutex=pthread:wrap"], {}, True),
    (["--thread=pthread", "--mutex=pthread"], {"TIMELOOM_THREAD_LOCKS": "400000"}, False),
    (["--mutex=pthread", "--thread=none"], {}, False),
    (["--thread=pthread", "--mutex=none"], {}, False),
])  # fmt: skip
def test_mutexes_in_the_door_of_score_p(tmp_path, options, variables, recorded):
    (tmp_path / "locks.c").write_text(LOCKS)
    subprocess.run(["cc", "-shared", "-fPIC", "locks.c", "-o", "liblocks.so", "-pthread"], cwd=tmp_path, check=True)
    (tmp_path / "app.py").write_text("import ctypes\nctypes.CDLL('./liblocks.so').take(5)\n")
    command = [sys.executable, "-m", "scorep", *options, "app.py"]
    variables = {"SCOREP_ENABLE_TRACING": "true", "SCOREP_EXPERIMENT_DIRECTORY": "e", **variables}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment(variables))
    assert (done.returncode, done.stderr) == (0, "")
    counts = called(read(tmp_path / "e")[0])
    # The interpreter has mutexes of its own.
    assert (counts["pthread_mutex_trylock"] == 5 and counts["pthread_mutex_unlock"] >= 5) if recorded else counts == {}


def test_threads_of_numpy(record, tmp_path):
    pytest.importorskip("numpy")
    (tmp_path / "program.py").write_text("import numpy\nnumpy.ones((300, 300)) @ numpy.ones((300, 300))\n")
    locations, _ = read(record(tmp_path / "program.py", OPENBLAS_NUM_THREADS="2"))
    created = [name for name in locations if "blas" in name]
    assert len(created) == min(2, len(os.sched_getaffinity(0))) - 1


OPENMP = r"""
int sum(int most) {
  int sums = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sums)
  for (int i = 1; i <= most; ++i) sums += i;
  return sums;
}
"""

TEAMS = """
import ctypes


def in_teams():
    library = ctypes.CDLL("./sums.so")
    assert (library.sum(100), library.sum(1000)) == (5050, 500500)


in_teams()
"""


def test_the_pool_of_openmp(record, tmp_path, timeloom_program):
    """Its threads are created by the first team, and stay for later ones."""
    (tmp_path / "sums.c").write_text(OPENMP)
    subprocess.run(["cc", "-fopenmp", "-shared", "-fPIC", "sums.c", "-o", "sums.so"], cwd=tmp_path, check=True)
    (tmp_path / "program.py").write_text(TEAMS)
    run = record(tmp_path / "program.py")
    locations, _ = read(run)
    pool = [f"libgomp thread {k}" for k in range(1, 4)]
    assert sorted(locations) == ["MainThread", *pool]
    created = [number for name, number in locations["MainThread"] if name == "ThreadCreate"]
    assert created == [locations[name][0][1] for name in pool]
    assert [locations[name][0][0] for name in pool] == ["ThreadBegin"] * 3
    done = subprocess.run([timeloom_program, "report", "--json", run], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["tree"]["rows"]
    (above,) = (row["id"] for row in rows if row["name"] == "__main__.in_teams")
    assert [row["visits"] for row in rows if row["parent"] == above and row["name"] == "pthread_create"] == [3]


def test_children_do_not_inherit_the_wrapper(record, tmp_path):
    (tmp_path / "program.py").write_text('import os\nassert "LD_PRELOAD" not in os.environ\n')
    record(tmp_path / "program.py")


@pytest.mark.parametrize("options", [["--thread=pthread"], ["--thread", "pthread"]])
def test_preload(timeloom_program, options):
    command = [timeloom_program, "scorep-preload-init" if "=" in options[0] else "preload"]
    value = "--value-only" if "=" in options[0] else "--print"
    done = subprocess.run([*command, *options, value], capture_output=True, text=True, check=True)
    assert os.path.basename(done.stdout) == "libtimeloom_wrap_thread.so\n"
