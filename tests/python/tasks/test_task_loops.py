"""Drivers of tasks: event loops of threads, eager tasks, trio and anyio, many at once; their records in a trace."""

import json
import subprocess
import sys

import pytest
from profile_files import Profile, visits_by_region
from streams import run_python, write_program
from task_runs import CHILDREN, each_instrumenter, measure, needs


@each_instrumenter
def test_tasks_of_several_threads(instrumenter, tmp_path):
    found = measure("""
import asyncio, threading

async def main(n):
    for _ in range(n):
        await asyncio.sleep(0)

threads = [threading.Thread(target=lambda n=n: asyncio.run(main(n))) for n in range(1, 5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""", instrumenter, tmp_path)  # fmt: skip
    assert sorted(len(lines) for lines in found.all(" (main)")) == [2, 3, 4, 5]
    owners = {found.spool.owners[i] for i, name in found.spool.threads.items() if name.endswith(" (main)")}
    assert len(owners) == 4


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with 3.12")
@each_instrumenter
def test_eager_tasks_begin_inside_another(instrumenter, tmp_path):
    found = measure("""
import asyncio

async def quick():
    step()

async def slow():
    step()
    await asyncio.sleep(0)
    step()

def step(): pass

async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    await asyncio.gather(quick(), slow())
    step()

asyncio.run(main())
""", instrumenter, tmp_path)  # fmt: skip
    assert found.all(" (quick)") == [["quick", "  step"]]
    assert found.all(" (slow)") == [["slow", "  step", "  suspended", "  step"]]
    (main,) = found.all(" (main)")
    assert main == ["main", "  task", "  task", "  suspended [_GatheringFuture]", "  step"]


@needs("trio")
@each_instrumenter
def test_trio(instrumenter, tmp_path):
    found = measure("""
import trio

async def child(n):
    for _ in range(n):
        await trio.sleep(0)
        step()

def step(): pass

async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child, 1)
        nursery.start_soon(child, 2)

trio.run(main)
""", instrumenter, tmp_path)  # fmt: skip
    children = sorted(found.all("__main__.child"), key=len)
    step = ["  suspended", "  step"]
    assert children == [["child"] + step, ["child"] + step + step]
    assert found.lines("__main__.main")[0] == "main"


@needs("anyio")
@needs("trio")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@each_instrumenter
def test_anyio(instrumenter, backend, tmp_path):
    found = measure(f"""
import anyio

async def child(n):
    await anyio.sleep(0)
    step()

def step(): pass

async def main():
    async with anyio.create_task_group() as group:
        for n in range(3):
            group.start_soon(child, n)

anyio.run(main, backend={backend!r})
""", instrumenter, tmp_path)  # fmt: skip
    children = [found.lines_of(index) for index in found.spool.owners if found.spool.threads[index].startswith("__main__.child")]
    assert children == 3 * [["child", "  suspended", "  step"]]


@each_instrumenter
def test_a_thousand_tasks_at_once(instrumenter, tmp_path):
    """Each counts how often it was suspended."""
    found = measure("""
import asyncio, random

random.seed(5)

async def worker(n):
    for _ in range(n):
        await pause()

async def pause():
    await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(worker(n % 7) for n in range(1000)))

asyncio.run(main())
""", instrumenter, tmp_path)  # fmt: skip
    workers = found.all(" (worker)")
    assert workers == [["worker"] + (n % 7) * ["  pause", "    suspended"] for n in range(1000)]


@pytest.mark.parametrize("instrumenter", ["profile", "trace", "dummy"])
def test_instrumenters_that_cannot(instrumenter, tmp_path):
    done = run_python(
        ["-m", "timeloom", "--async-tasks", "--instrumenter", instrumenter, "-c", "print('runs')"], tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f'timeloom: --async-tasks: the instrumenter "{instrumenter}" cannot tell tasks apart; use ')


@each_instrumenter
def test_the_trace_has_tasks_as_locations(instrumenter, tmp_path, timeloom_program):
    path = write_program(tmp_path, CHILDREN)
    run = tmp_path / "run"
    run_python(["-m", "timeloom", "--quiet", "--async-tasks", "--task-layout", "locations", "--instrumenter", instrumenter,
                "-o", run, path], tmp_path)
    done = subprocess.run([timeloom_program, "info", "--json", run], capture_output=True, text=True, check=True)
    names = [location["name"] for location in json.loads(done.stdout)["locations"]]
    assert names[0] == "MainThread" and {"child 1 (child)", "child 2 (child)"} <= set(names)
    profile = Profile(run)
    visits = {one["name"]: visits_by_region(profile, one).get("suspended", 0) for one in profile.locations}
    assert (visits["child 1 (child)"], visits["child 2 (child)"], visits["MainThread"]) == (2, 2, 0)
