"""A run with a size limit: the events that are kept, and the report on the others."""

import json
import os
import subprocess
import sys

import pytest
from spool_reader import spools_of
from streams import environment

MEGA = 1 << 20
CALLS = """
def step():
    pass

def work(n):
    for _ in range(n):
        step()

def outer(n):
    work(n)
"""


class Run:
    def __init__(self, directory, program, said):
        self.directory, self.said, self.program = directory, said, program
        info = subprocess.run([program, "info", "--json", directory], capture_output=True, text=True, check=True)
        self.info = json.loads(info.stdout)
        report = subprocess.run([program, "report", "--json", directory], capture_output=True, text=True, check=True)
        self.rows = {row["name"]: row for row in json.loads(report.stdout)["flat"]["rows"]}
        self.losses = self.info["losses"]


def spool_bytes(run):
    return sum(
        path.stat().st_size
        for path in (run / "spool").glob("*/*")
        if path.name == "ring" or path.name.startswith("log")
    )


@pytest.fixture
def measure(tmp_path, timeloom_program):
    def measure(text, *options):
        program = tmp_path / "program.py"
        program.write_text(CALLS + text)
        run = tmp_path / "run"
        done = subprocess.run(
            [sys.executable, "-m", "timeloom", "--keep-spool", "--no-pack-early", "-o", run, *options, program],
            cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return Run(run, timeloom_program, done.stderr)

    return measure


def test_recording_ends_at_the_limit(measure):
    run = measure("""
import time
def rest():
    outer(1_000_000)
    time.sleep(1)
rest()
""", "--max-size", "4M")
    assert spool_bytes(run.directory) <= 4 * MEGA
    (spool,) = spools_of(run.directory)
    recorded = sum(1 for _ in spool.events(0))
    lost = spool.lost
    assert recorded > 400_000
    # The module, rest, outer and work beside the steps; each is entered and left.
    assert recorded + lost >= 2_000_008
    assert f"recording ended at the size limit (--max-size): {lost:,} events not recorded [TL005]\n" in run.said
    assert run.losses[0] == f"{lost:,} events could not be recorded: the run had reached its size limit [TL003]"
    # Regions open then have no time after it.
    assert run.rows["__main__.rest"]["inclusive_s"] < run.info["wall_s"] - 1


@pytest.mark.any_python
def test_the_newest_events_are_kept(measure):
    run = measure(
        "outer(1_000_000)\ndef last(): pass\nfor _ in range(100): last()\n",
        "--max-size", "4M", "--at-max-size", "ring",
    )  # fmt: skip
    assert spool_bytes(run.directory) <= 4 * MEGA
    (spool,) = spools_of(run.directory)
    events = list(spool.events(0))
    names = [name for _, name, *_ in events]
    start = names.index("__main__.step")
    assert names[start - 2 : start] == ["__main__.outer", "__main__.work"]
    assert all(kind == "enter" for kind, *_ in events[:start])
    open_regions = []
    for kind, name, *_ in events:
        open_regions.append(name) if kind == "enter" else None
        assert kind == "enter" or open_regions.pop() == name
    assert open_regions == []
    assert run.rows["__main__.last"]["visits"] == 100
    assert 300_000 < 2 * run.rows["__main__.step"]["visits"] < 530_000
    assert f"{spool.dropped:,} older events dropped at the size limit (--max-size) [TL006]\n" in run.said
    assert run.losses == [f"{spool.dropped:,} older events dropped at the size limit of the run [TL006]"]


@pytest.mark.any_python
def test_the_newest_events_of_many_threads_are_kept(measure):
    """Each has a segment of the buffer, which counts; most of the space is for the log."""
    run = measure(
        "import threading\n"
        "threads = [threading.Thread(target=outer, args=(100_000,)) for _ in range(8)]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n",
        "--max-size", "4M", "--at-max-size", "ring",
    )  # fmt: skip
    assert 2 * MEGA < spool_bytes(run.directory) <= 4 * MEGA
    (spool,) = spools_of(run.directory)
    kept = sum(1 for location in spool.locations() for kind, *_ in spool.events(location) if kind in ("enter", "leave"))
    assert kept > 250_000
    again = kept + spool.dropped - 2 * 8 * (100_000 + 2)  # regions entered again, and calls of threading
    assert 0 < again < 2000


TASKS = """
import asyncio
async def inner(n):
    work(n)
    await asyncio.sleep(0)
    work(n)
async def task(n):
    for _ in range(150): await inner(n)
async def main():
    await asyncio.gather(*(task(1000 + n) for n in range(8)))
asyncio.run(main())
"""


@pytest.mark.parametrize("instrumenter", ["monitoring", "frame"] if sys.version_info >= (3, 12) else ["frame"])
def test_tasks_go_on_where_their_beginning_was_dropped(measure, instrumenter):
    """The open regions of a suspended task are recorded again in every segment in which it continues."""
    run = measure(
        TASKS, "--max-size", "4M", "--at-max-size", "ring", "--async-tasks", "--task-layout", "locations",
        "--instrumenter", instrumenter,
    )  # fmt: skip
    (spool,) = spools_of(run.directory)
    assert spool.dropped > 1_000_000
    assert run.losses == [f"{spool.dropped:,} older events dropped at the size limit of the run [TL006]"]
    assert set(spool.owners.values()) == {0}
    paths = set()
    for location in spool.locations():
        open_regions = []
        for kind, name, *_ in spool.events(location):
            if kind == "enter":
                open_regions.append(name.removeprefix("__main__."))
                paths.add((location in spool.owners, *open_regions))
            elif kind == "leave":
                assert open_regions.pop() == name.removeprefix("__main__.")
        assert open_regions == []
    steps = {path for path in paths if path[-1] == "step"}
    assert steps == {(True, "task", "inner", "work", "step")}
    assert {path[:3] for path in paths if not path[0]} >= {(False, "<module>", "asyncio.runners.run")}


@pytest.mark.any_python
@pytest.mark.parametrize("policy", ["stop", "ring"])
def test_the_limit_is_that_of_all_processes(measure, policy):
    run = measure(
        """
import os
children = []
for n in range(4):
    children.append(os.fork())
    if children[-1] == 0:
        outer(300_000)
        os._exit(0)
for child in children: assert os.waitpid(child, 0)[1] == 0
def last(): pass
for _ in range(100): last()
""",
        "--max-size", "8M", "--at-max-size", policy,
    )  # fmt: skip
    assert spool_bytes(run.directory) <= 8 * MEGA
    spools = spools_of(run.directory)
    assert len(spools) == 5
    steps = [sum(1 for _, name, *_ in spool.events(0) if name.endswith("step")) for spool in spools]
    missing = sum(spool.lost + spool.dropped for spool in spools)
    assert abs(sum(steps) + missing - 4 * 600_000) < 100
    if policy == "ring":
        assert run.rows["__main__.last"]["visits"] == 100


STEPS = """
import os, threading
children = []
for n in range(3):
    children.append(os.fork())
    if children[-1] == 0:
        outer(200_000)
        os._exit(0)
for child in children: assert os.waitpid(child, 0)[1] == 0
def rest():
    outer(400_000)
    late = threading.Thread(target=outer, args=(7,), name="late")
    late.start(); late.join()
    outer(5)
rest()
"""


@pytest.mark.any_python
def test_the_oldest_go_while_files_are_recorded(measure):
    """The writer searches for files of a process that is gone: none of that belongs to the program."""
    run = measure("""
import os, signal
pid = os.fork()
if pid == 0:
    work(500_000)
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
work(500_000)
""", "--io", "posix", "--max-size", "4M", "--at-max-size", "ring")  # fmt: skip
    assert run.info["threads"] == 2 and run.rows["__main__.step"]["visits"] > 10_000
    assert not [name for name in run.rows if name in ("open", "openat", "open64", "read", "pread")]


def test_what_comes_after_the_limit_is_in_the_profile(measure):
    run = measure(STEPS, "--max-size", "4M", "--at-max-size", "profile")
    assert spool_bytes(run.directory) <= 4 * MEGA
    spools = spools_of(run.directory)
    assert len(spools) == 4 and all(spool.lost == 0 for spool in spools)
    in_trace = sum(sum(1 for kind, name, *_ in spool.events(0) if (kind, name) == ("enter", "__main__.step"))
                   for spool in spools)  # fmt: skip
    assert 200_000 < in_trace < 270_000
    assert run.rows["__main__.step"]["visits"] == 3 * 200_000 + 400_000 + 7 + 5
    assert (run.rows["__main__.rest"]["visits"], run.rows["__main__.outer"]["visits"]) == (1, 6)
    (loss,) = [one for one in run.losses if "profile" in one]
    folded = int(loss.split()[0].replace(",", ""))
    assert loss == f"{folded:,} events after the size limit of the run, in the profile only [TL007]"
    recorded = sum(sum(1 for _ in spool.events(index)) for spool in spools for index in (0, 1) if index in spool.threads)
    assert 0 <= folded + recorded - 2 * (3 * 200_000 + 400_012) < 10_000  # and what Python itself calls
    assert "timeloom: from the size limit (--max-size) on " in run.said and "not recorded" not in run.said
    # The region open at the limit was visited once, for as long as both parts together.
    rest = run.rows["__main__.rest"]
    assert rest["inclusive_s"] == rest["min_s"] == rest["max_s"] > 0
    report = subprocess.run([run.program, "report", "--json", "--min-percent", "0", run.directory / "profile.cubex"],
                            capture_output=True, text=True, check=True)  # fmt: skip
    rows = {row["name"]: row["visits"] for row in json.loads(report.stdout)["flat"]["rows"]}
    assert rows["__main__.step"] == run.rows["__main__.step"]["visits"]


THREADS = """
import threading, time
all_there = threading.Barrier(3)
def rest(n):
    all_there.wait()
    outer(n)
    time.sleep(0.3)
threads = [threading.Thread(target=rest, args=(300_000 + i,), name=f"thread {i}") for i in range(3)]
for one in threads: one.start()
for one in threads: one.join()
"""


@pytest.mark.any_python
@pytest.mark.parametrize("policy", ["stop", "profile"])
def test_threads_that_end_after_the_limit(measure, policy):
    """Their open regions end at the limit in the trace, not at the end of the thread."""
    run = measure(THREADS, "--max-size", "4M", "--at-max-size", policy)
    (spool,) = spools_of(run.directory)
    report = subprocess.run([run.program, "report", "--json", run.directory], capture_output=True, text=True, check=True)
    assert report.stderr == ""
    assert run.rows["__main__.rest"]["visits"] == 3
    if policy == "stop":
        assert spool.lost > 0
        # All of them slept long after it.
        assert run.rows["__main__.rest"]["max_s"] < run.info["wall_s"] - 0.3
    else:
        assert run.rows["__main__.step"]["visits"] == 3 * 300_000 + 3
        assert run.rows["__main__.rest"]["min_s"] >= 0.3
        assert run.rows["__main__.rest"]["inclusive_s"] <= 3 * run.info["wall_s"]


@pytest.mark.any_python
def test_a_profile_is_not_limited_and_takes_no_larger_ring(measure):
    sizes = []
    for options in ([], ["--max-size", "64M", "--force"]):
        run = measure("outer(100_000)", "--profile", *options)
        sizes.append([path.stat().st_size for path in (run.directory / "spool").glob("*/profile-*")])
        assert run.rows["__main__.step"]["visits"] == 100_000 and "limit" not in run.said
    assert sizes[0] == sizes[1]


@pytest.mark.any_python
def test_a_run_that_stays_below_is_as_without(measure):
    run = measure("outer(1000)", "--max-size", "1G", "--at-max-size", "ring")
    assert run.rows["__main__.step"]["visits"] == 1000
    assert run.losses == [] and "limit" not in run.said
    assert [path.name for path in (run.directory / "spool").glob("*/log*")] == ["log"]


@pytest.mark.any_python
def test_tasks_need_room_for_events(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--max-size", "4M", "--at-max-size", "profile", "--async-tasks", "-c", "print('ran')"],
        capture_output=True, text=True, env=environment(), cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("timeloom: --async-tasks: tasks are told apart") and "--at-max-size=profile" in done.stderr


@pytest.mark.any_python
@pytest.mark.parametrize(
    "options, said",
    [
        (["--max-size", "1M"], "--max-size: '1M' is not accepted; write a value of at least 4M [TL101]\n"),
        (["--max-size", "much"], "--max-size: 'much' is not accepted; write a size"),
        (["--max-size", "4M", "--at-max-size", "drop"], "'drop' is not accepted; write one of stop, ring, profile"),
    ],
)
def test_wrong_values(options, said):
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", *options, "-c", "print('ran')"], capture_output=True, text=True, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


@pytest.mark.any_python
def test_variable_key_and_block(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.timeloom]\nmax-size = "4M"\npack-early = false\n')
    text = CALLS + """
import timeloom
with timeloom.Measurement(output="run", at_max_size="ring") as measurement:
    outer(500_000)
totals = measurement.totals
print(totals["dropped_events"] > 0, totals["at_limit"], totals["lost_events"])
"""
    for variables, said in (({}, "True False 0\n"), ({"TIMELOOM_MAX_SIZE": "1G"}, "False False 0\n")):
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True,
            env=environment(variables),
        )  # fmt: skip
        assert (done.stdout, done.stderr) == (said, "")
        os.rename(tmp_path / "run", tmp_path / f"run{len(variables)}")
