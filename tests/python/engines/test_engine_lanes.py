"""Lanes of coroutines of engines: each is a region on a lane of its thread, in the measurement in which it began."""

import pytest
from spool_reader import spools_of
from streams import assert_balanced, run_python, write_program

import timeloom as package

# An engine's coroutine that is suspended at each number.
COMMON = """
import threading, types

import timeloom
from timeloom import _core

@types.coroutine
def pause():
    yield

async def pauses(n):
    for _ in range(n):
        await pause()

def task(name, n):
    return _core.task_steps("Dask", name, True, "lane", [], pauses(n))

def finish(steps):
    for _ in steps: pass

def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
"""


def measure(tmp_path, text, *options):
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", tmp_path / "run", *options,
                       write_program(tmp_path, COMMON + text)], tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    for location in spool.locations():
        assert_balanced(spool, location)
    return spool


def lanes(spool):
    return sorted(spool.threads[location] for location in spool.owners)


def test_coroutines_that_overlap_have_lanes_of_their_own(tmp_path):
    spool = measure(tmp_path, """
one, two = task("one", 2), task("two", 1)
next(one), next(two)
finish(two), finish(one), finish(task("three", 1))
""")
    assert lanes(spool) == ["lane-1", "lane-2"]


def test_a_coroutine_that_another_thread_destroys_ends_before_the_next_step(tmp_path):
    spool = measure(tmp_path, """
left = [task("one", 2)]
next(left[0])
in_thread(left.clear)
finish(task("two", 1))
""")
    assert lanes(spool) == ["lane-1"]


@pytest.mark.parametrize("before", ["timeloom.Measurement(output='first', async_tasks=True)", "contextlib.nullcontext()"])
def test_a_coroutine_that_began_before_the_measurement_is_not_in_it(tmp_path, before):
    """The user is not blamed for a region that is left without an enter."""
    path = write_program(tmp_path, COMMON + f"""
import contextlib

steps = task("one", 3)
with {before}:
    next(steps)
with timeloom.Measurement(output="run", async_tasks=True) as run:
    next(steps)
    finish(steps)
    finish(task("two", 1))
print(run.totals["unmatched_leaves"])
""")  # fmt: skip
    done = run_python([path], tmp_path)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert {row["name"] for row in package.read(tmp_path / "run").flat} & {"one", "two"} == {"two"}
