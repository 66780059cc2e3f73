"""OpenMP by the wrappers of GNU's runtime: teams, constructs and tasks, compared with counts of the program."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from native_programs import NATIVE, record  # noqa: F401
from spool_reader import spools_of
from streams import environment

pytestmark = pytest.mark.any_python

OPTIONS = ("--no-weave", "--quiet", "--thread", "omp")
PARALLEL, BARRIER = "!$omp parallel", "!$omp implicit barrier"


@pytest.fixture(scope="module")
def openmp(tmp_path_factory):
    path = tmp_path_factory.mktemp("openmp") / "openmp"
    subprocess.run(["gcc", "-fopenmp", "-O2", NATIVE / "openmp.c", "-o", path], check=True)
    return path


def threads_of(spool):
    """The events of each location, by name, without times."""
    return {
        spool.threads[location]: [event[:3] for event in spool.events(location) if event[0] != "metric"]
        for location in spool.locations()
    }


def visits(spool):
    """Visits of each region; every region of a location is left in the order of a stack."""
    counts = Counter()
    for location in spool.locations():
        stack = []
        for kind, name, _, _ in spool.events(location):
            if kind == "enter":
                stack.append(name)
                counts[name] += 1
            elif kind == "leave":
                assert stack.pop() == name
        assert stack == []
    return counts


def of_kind(spool, kind):
    return [event for location in spool.locations() for event in spool.events(location) if event[0] == kind]


def waits(spool):
    """For each team: the ends of the waits of its members at its last barrier."""
    ends = {}
    for location in spool.locations():
        teams, last = [], None
        for kind, name, value, ticks in spool.events(location):
            if kind == "team begin":
                teams.append(value)
            elif (kind, name) == ("leave", BARRIER):
                last = ticks
            elif kind == "team end":
                assert teams.pop() == value
                ends.setdefault(value, []).append(last)
        assert teams == []
    return ends


def test_every_thread_of_a_team(record, openmp, tmp_path):
    by_index = [int(word) for word in record(openmp, "regions", options=OPTIONS).split()]
    (spool,) = spools_of(tmp_path / "run")
    threads = threads_of(spool)
    main = threads.pop("Master thread")
    assert sorted(threads) == ["libgomp thread 1", "libgomp thread 2", "libgomp thread 3"]
    forks = [(value, requested) for kind, requested, value in main if kind == "team fork"]
    assert [requested for _, requested in forks] == [2] * 5 + [4] * 3 + [1]
    expected = []
    for number, requested in forks:
        expected += [("enter", PARALLEL, None), ("team fork", requested, number), ("team begin", 0, number),
                     ("enter", BARRIER, None), ("leave", BARRIER, None), ("team end", None, number),
                     ("team join", None, number), ("leave", PARALLEL, None)]  # fmt: skip
    assert main == expected
    sizes = [value for _, name, value, _ in of_kind(spool, "metric") if name == ("openmp_team", "threads")]
    assert sizes == [2] * 5 + [4] * 3 + [1]
    assert sum(1 for _, name, _, _ in of_kind(spool, "metric") if name == ("openmp_fork", "ns")) == len(sizes)
    begins = Counter(index for _, index, _, _ in of_kind(spool, "team begin"))
    assert [begins[index] for index in range(4)] == by_index
    for events in threads.values():
        begun = [(index, value) for kind, index, value in events if kind == "team begin"]
        expected = []
        for index, number in begun:
            expected += [("team begin", index, number), ("enter", PARALLEL, None), ("enter", BARRIER, None),
                         ("leave", BARRIER, None), ("leave", PARALLEL, None), ("team end", None, number)]  # fmt: skip
        assert events == expected and begun
    # All members wait until the thread that made the team goes on.
    for ends in waits(spool).values():
        first, others = ends[0], ends[1:]
        assert len(set(others)) <= 1 and all(end <= first for end in others)


def test_loops(record, openmp, tmp_path):
    assert record(openmp, "loops", options=OPTIONS) == "10035"
    (spool,) = spools_of(tmp_path / "run")
    # Two threads run four loops whose schedules call the runtime; the static one ends with a barrier.
    assert visits(spool) == {PARALLEL: 4, "!$omp for": 8, "!$omp barrier": 2, BARRIER: 8}
    roles = {region["name"]: (region["group"], region["role"]) for region in spool.regions.values()}
    assert roles["!$omp for"] == ("OMP", 3)


def test_blocks(record, openmp, tmp_path):
    blocks, named, ordered, single, copied, sections = map(int, record(openmp, "blocks", options=OPTIONS).split())
    assert (blocks, named, ordered, single, copied, sections) == (12, 12, 6, 1, 21, 2)
    (spool,) = spools_of(tmp_path / "run")
    counts = visits(spool)
    assert counts["!$omp critical"] == counts["!$omp critical sblock"] == blocks + named
    assert counts["!$omp ordered"] == counts["!$omp ordered sblock"] == ordered
    assert counts["!$omp single"] == 2  # threads that run a block, of two constructs
    assert counts["!$omp sections"] == 3 and counts["!$omp for"] == 3


def test_tasks_and_the_threads_that_run_them(record, openmp, tmp_path):
    runs = [int(word) for word in record(openmp, "tasks", options=OPTIONS).split()]
    assert runs[2:] == [0, 120, 190] and sum(runs[:2]) == 22
    (spool,) = spools_of(tmp_path / "run")
    counts = visits(spool)
    assert counts["!$omp create task"] == 22 and counts["!$omp taskloop"] == 1
    assert counts["!$omp task"] == 22 + 4
    assert counts["!$omp taskwait"] == 2 and counts["!$omp taskgroup"] == 1
    created = [value for _, _, value, _ in of_kind(spool, "task create")]
    completed = [value for _, _, value, _ in of_kind(spool, "task complete")]
    assert len(set(created)) == 26 and sorted(completed) == sorted(created)
    by_index = Counter()
    for location in spool.locations():
        index, running = None, [0]
        for kind, name, value, _ in spool.events(location):
            if kind == "team begin":
                index = name
            elif kind == "task switch" and value in running:  # back to the task that it interrupted
                assert running.pop() != 0 and running[-1] == value
            elif kind == "task switch":
                running.append(value)
            elif kind == "task complete":
                assert running[-1] == value
                by_index[index] += 1
        assert running == [0]
    # Besides, four parts of the loop ran somewhere.
    assert all(runs[index] <= by_index[index] <= runs[index] + 4 for index in range(2))


def test_nested_teams(record, openmp, tmp_path):
    assert record(openmp, "nested", options=OPTIONS) == "12"
    (spool,) = spools_of(tmp_path / "run")
    assert visits(spool) == {PARALLEL: 2 * 2 + 4 * 3, BARRIER: 2 * 2 + 4 * 3}
    ends = waits(spool)
    assert sorted(map(len, ends.values())) == [2, 2, 3, 3, 3, 3]
    assert len(of_kind(spool, "team join")) == 6


@pytest.mark.parametrize("on", ["true", "false"])
def test_a_cancelled_team(record, openmp, tmp_path, on):
    assert record(openmp, "cancelled", options=OPTIONS, OMP_CANCELLATION=on) in ("1 1", "1 2", "0 2")
    (spool,) = spools_of(tmp_path / "run")
    counts = visits(spool)
    assert counts[PARALLEL] == counts["!$omp for"] == 2


def test_a_team_of_a_forked_child(record, openmp, tmp_path):
    assert record(openmp, "forked", options=OPTIONS) == "1 1 0"
    spools = spools_of(tmp_path / "run")
    assert [visits(spool)[PARALLEL] for spool in spools] == [2, 2]
    assert [sorted(spool.threads.values())[-1] for spool in spools] == ["libgomp thread 1"] * 2


def test_a_profile_has_the_regions(record, openmp, tmp_path, timeloom):
    record(openmp, "regions", options=("--quiet", "--thread", "omp", "--profile"))
    rows = json.loads(timeloom("report", "--json", tmp_path / "run").stdout)["tree"]["rows"]
    counts = {kind: sum(row["visits"] for row in rows if row["name"].startswith(kind)) for kind in (PARALLEL, BARRIER)}
    assert counts == {PARALLEL: 5 * 2 + 3 * 4 + 1, BARRIER: 5 * 2 + 3 * 4 + 1}


LIBRARY = r"""
#include <omp.h>
int NAME(int threads) {
  int members = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp critical
    members += omp_get_num_threads() == threads && omp_get_thread_num() < threads;
#pragma omp barrier
  }
  return members;
}
/* The call of the runtime is the last one: a jump. */
int g_jumps;
void NAME_jumps(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    ++g_jumps;
#pragma omp barrier
  }
}
"""

TWO = """
import ctypes, threading
libraries = [ctypes.CDLL(f"./lib{name}.so") for name in ("first", "second")]
for _ in range(3):
    assert (libraries[0].first(2), libraries[1].second(3)) == (2, 3)
for library in libraries:
    (library.first_jumps if library is libraries[0] else library.second_jumps)()
    assert ctypes.c_int.in_dll(library, "g_jumps").value == 2
threads = [threading.Thread(target=libraries[0].first, args=(2,), name=f"python {k}") for k in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def copy_of_libgomp(directory):
    """A copy under another name, as wheels have it; a library that is linked with it finds no other."""
    words = ["gcc", "-print-file-name=libgomp.so"]
    found = Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()).resolve()
    copy = directory / "libgomp.so.9"
    copy.write_bytes(found.read_bytes().replace(b"libgomp.so.1\0", b"libgomp.so.9\0"))
    return copy


def test_two_runtimes_in_one_python(tmp_path, timeloom_program):
    copy = copy_of_libgomp(tmp_path)
    for name, runtime in ("first", ["-fopenmp"]), ("second", [copy, "-Wl,-rpath,$ORIGIN"]):
        (tmp_path / "library.c").write_text(LIBRARY.replace("NAME", name))
        words = ["gcc", "-O2", "-fPIC", "-fopenmp", "-c", "library.c", "-o", "library.o"]
        subprocess.run(words, cwd=tmp_path, check=True)
        words = ["gcc", "-shared", "library.o", *runtime, "-o", f"lib{name}.so"]
        subprocess.run(words, cwd=tmp_path, check=True)
    (tmp_path / "two.py").write_text(TWO)
    command = [timeloom_program, "run", *OPTIONS, "-o", "run", "two.py"]
    variables = {"TIMELOOM_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(variables))
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    counts = visits(spool)
    assert counts[PARALLEL] == 3 * (2 + 3) + 2 * 2 + 2 * 2
    assert counts["!$omp critical"] == 3 * (2 + 3) + 2 * 2
    assert counts["!$omp barrier"] == counts[PARALLEL]
    names = set(spool.threads.values())
    assert {"MainThread", "python 0", "python 1"} < names
    assert {name for name in names if name.startswith("libgomp")} == {f"libgomp thread {k}" for k in range(1, 6)}
