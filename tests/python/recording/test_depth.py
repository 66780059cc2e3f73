"""--max-depth: calls that lie deeper are not recorded."""

import subprocess
import sys

import pytest
from profile_files import Profile
from streams import INSTRUMENTERS, assert_same, each_instrumenter, environment, run_python
from test_filters import record, work  # noqa: F401

DEEP = """
import _thread, timeloom
def down(n):
    timeloom.parameter_int("n", n)
    if n: down(n - 1)
    else: leaf()
def leaf(): pass
def generator(n):
    leaf()
    if n: yield from generator(n - 1)
    yield n
def raiser(n):
    if n: raiser(n - 1)
    leaf(); raise ValueError
def regions():
    with timeloom.region("phase"):
        with timeloom.region("phase2"): down(2)
        timeloom.region_begin("phase3"); leaf()
def all():
    down(0); down(1); down(7); list(generator(3)); regions(); leaf()
    try: raiser(4)
    except ValueError: down(1)
def work(done):
    all(); done.release()
all()
done = _thread.allocate_lock(); done.acquire()
_thread.start_new_thread(work, (done,)); done.acquire()  # which calls threading's start() makes depends on who is first
"""


def up_to(events, depth):
    result, level = [], 0
    for event in events:
        level += event[0] == "enter"
        # A parameter belongs to the region around it.
        if level <= depth:
            result.append(event)
        level -= event[0] == "leave"
    return result


@each_instrumenter
def test_depth(instrumenter, work):
    (work / "deep.py").write_text(DEEP)
    everything = record(work, instrumenter, program="deep.py", keep=lambda name: True)
    assert len(everything) == 2
    for depth in (1, 2, 3, 5, 8, 100):
        got = record(work, instrumenter, f"--max-depth={depth}", program="deep.py", keep=lambda name: True)
        assert_same(got, [up_to(events, depth) for events in everything])


def depth_of(profile):
    """Return the visits of the call paths below the threads."""
    return max(len(node["path"]) for node in profile.nodes)


def test_depth_of_a_profile(work):
    (work / "deep.py").write_text(DEEP)
    visits = {}
    for options in ([], ["--max-depth=3"]):
        done = run_python(["-m", "timeloom", "--quiet", "--profile", "--force", "-o", "run", *options, "deep.py"], work)
        assert (done.returncode, done.stderr) == (0, "")
        visits[len(options)] = Profile(work / "run")
    assert depth_of(visits[0]) > 10 and depth_of(visits[1]) == 3


@pytest.mark.parametrize("layout", ["lanes", "locations"])
@pytest.mark.parametrize("instrumenter", [i for i in INSTRUMENTERS if i in ("monitoring", "frame")])
def test_depth_with_tasks(instrumenter, layout, work):
    """Each task counts for itself; streams are balanced even if very little is recorded."""
    (work / "tasks.py").write_text("""
import asyncio
async def main():
    await asyncio.gather(*(outer(n) for n in range(3)))
async def outer(n): await inner(n); leaf()
async def inner(n): leaf(); await asyncio.sleep(0); leaf()
def leaf(): pass
asyncio.run(main())
""")
    options = ["--async-tasks", "--task-layout", layout]
    of_tasks = lambda events: any(event[1] in ("outer", "__main__.outer") for event in events)
    keep = lambda name: True
    everything = record(work, instrumenter, *options, program="tasks.py", keep=keep)
    for depth in (1, 2, 3, 9):
        got = record(work, instrumenter, *options, f"--max-depth={depth}", program="tasks.py", keep=keep)
        assert_same([e for e in got if of_tasks(e)], [up_to(e, depth) for e in everything if of_tasks(e)])


def test_depth_of_nothing_is_refused(work):
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--max-depth=0", "app.py"],
        cwd=work, capture_output=True, text=True, env=environment(), timeout=60,
    )  # fmt: skip
    line = "timeloom: --max-depth: '0' is not accepted; write a value from 1 to 1000000000 [TL101]\n"
    assert (done.returncode, done.stderr) == (2, line)
