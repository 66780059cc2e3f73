"""Tasks as tracks: every task has the calls it makes, and nothing else, however it is driven."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest
from spool_reader import spools_of, stream
from streams import assert_balanced, plain, run_python, write_program

INSTRUMENTERS = ["monitoring", "frame"] if sys.version_info >= (3, 12) else ["frame"]
each_instrumenter = pytest.mark.parametrize("instrumenter", INSTRUMENTERS)


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


class Recorded:
    def __init__(self, spool):
        self.spool = spool

    def lines(self, name):
        """What the one location of this name has recorded of the program, indented by depth."""
        (location,) = [index for index, known in self.spool.threads.items() if known == name]
        return self.lines_of(location)

    def all(self, end):
        """The same of every location whose name ends so, in order."""
        return [self.lines_of(i) for i, known in sorted(self.spool.threads.items()) if known.endswith(end)]

    def names(self):
        return [name for index, name in sorted(self.spool.threads.items()) if index in self.spool.owners]

    def lines_of(self, location):
        lines, depth, kept = [], 0, []
        for kind, name, *value in stream(self.spool, location):
            if kind == "leave":
                if kept.pop():
                    depth -= 1
            elif kind == "enter":
                kept.append(name.startswith("__main__.") or name in ("task", "suspended") or name.startswith("user"))
                if kept[-1]:
                    lines.append("  " * depth + name.removeprefix("__main__."))
                    depth += 1
            elif kind == "parameter_string":
                lines[-1] += f" [{value[0]}]"
        return lines


def measure(program, instrumenter, directory, *options, status=0):
    run = directory / f"run-{instrumenter}"
    path = write_program(directory, program)
    done = run_python(
        ["-m", "timeloom", "--quiet", "--no-weave", "--async-tasks", "--instrumenter", instrumenter,
         "--output", run, *options, path],
        directory,
    )  # fmt: skip
    without = plain(program, directory)
    assert (done.returncode, done.stdout, done.stderr) == (without.returncode, without.stdout, without.stderr)
    assert done.returncode == status
    (spool,) = spools_of(run)
    assert spool.ended and spool.lost == 0
    for location in spool.locations():
        if location not in spool.owners:
            assert_balanced(spool, location)
    return Recorded(spool)


CHILDREN = """
import asyncio

async def leaf(n):
    await asyncio.sleep(0.001 * n)
    step()

def step(): pass

async def child(n):
    await leaf(n)
    await leaf(n)

async def main():
    one = asyncio.create_task(child(1), name="child 1")
    two = asyncio.create_task(child(2), name="child 2")
    await asyncio.gather(one, two)
    await asyncio.create_task(last())

async def last(): pass

asyncio.run(main())
"""


@each_instrumenter
def test_functions_stay_open_while_they_are_suspended(instrumenter, tmp_path):
    found = measure(CHILDREN, instrumenter, tmp_path)
    leaf = ["  leaf", "    suspended [_asyncio.Future]", "    step"]
    for n in (1, 2):
        assert found.lines(f"child {n} (child)") == ["child"] + leaf + leaf
    (main,) = found.all(" (main)")
    assert main[:2] == ["main", "  suspended [_GatheringFuture]"]
    assert len(main) == 3 and re.fullmatch(r"  suspended \[Task-\d+ \(last\)\]", main[2])
    # A step for every time that one of them begins or goes on.
    tracks = [found.lines_of(index) for index in found.spool.owners]
    steps = sum(1 + sum("suspended" in line for line in lines) for lines in tracks)
    assert steps >= 3 * 3 + 1
    assert found.lines("MainThread") == ["<module>"] + steps * ["  task"]


@each_instrumenter
def test_who_created_which_task(instrumenter, tmp_path):
    spool = measure(CHILDREN, instrumenter, tmp_path).spool
    (main,) = [index for index, name in spool.threads.items() if name.endswith(" (main)")]
    made = [value for kind, _, value, _ in spool.events(main) if kind == "create"]
    children = [spool.numbers[i] for i, name in sorted(spool.threads.items()) if name.startswith("child ")]
    assert made[:2] == children and len(set(made)) == 3


@each_instrumenter
def test_a_cancelled_task_that_waits_once_more(instrumenter, tmp_path):
    found = measure("""
import asyncio

async def patient():
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        await tidy_up()
        raise

async def tidy_up():
    await asyncio.sleep(0)
    step()

def step(): pass

async def stubborn():
    await patient()

async def main():
    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled())

asyncio.run(main())
""", instrumenter, tmp_path)  # fmt: skip
    (lines,) = found.all(" (stubborn)")
    assert lines == [
        "stubborn", "  patient", "    suspended [_asyncio.Future]", "    tidy_up", "      suspended", "      step",
    ]  # fmt: skip


@each_instrumenter
def test_asynchronous_generators_yield_to_their_consumer_and_to_the_loop(instrumenter, tmp_path):
    found = measure("""
import asyncio

async def numbers():
    for i in range(2):
        await asyncio.sleep(0)
        yield i
        step()

def step(): pass

async def main():
    async for i in numbers():
        step()

asyncio.run(main())
""", instrumenter, tmp_path)  # fmt: skip
    (lines,) = found.all(" (main)")
    assert lines == [
        "main",
        "  numbers", "    suspended", "  step",
        "  numbers", "    step", "    suspended", "  step",
        "  numbers", "    step",
    ]  # fmt: skip


@each_instrumenter
def test_regions_span_awaits_and_stay_with_their_task(instrumenter, tmp_path):
    found = measure("""
import asyncio, timeloom

async def worker(n):
    with timeloom.region(f"user {n}"):
        await asyncio.sleep(0)
        step()
        await asyncio.sleep(0)

@timeloom.region("user decorated")
async def decorated():
    await asyncio.sleep(0)
    step()

@timeloom.region("user generator")
def generator():
    yield 1
    yield 2

def step(): pass

async def main():
    await asyncio.gather(worker(1), worker(2), decorated())
    for _ in generator():
        step()

asyncio.run(main())
""", instrumenter, tmp_path)  # fmt: skip
    for n, lines in enumerate(found.all(" (worker)"), 1):
        assert lines == ["worker", f"  user {n}", "    suspended", "    step", "    suspended"]
    (lines,) = found.all(" (decorated)")
    assert lines == ["user decorated", "  decorated", "    suspended", "    step"]
    (lines,) = found.all(" (main)")
    generator = ["  user generator", "    generator"]
    assert lines == ["main", "  suspended [_GatheringFuture]"] + 2 * (generator + ["  step"]) + generator


@each_instrumenter
def test_a_filter_that_excludes_coroutines_leaves_the_tasks(instrumenter, tmp_path):
    found = measure(CHILDREN, instrumenter, tmp_path, "--exclude", "__main__.child", "--exclude", "__main__.main")
    leaf = ["leaf", "  suspended [_asyncio.Future]", "  step"]
    assert found.lines("child 1 (child)") == leaf + leaf
    (main,) = found.all(" (main)")
    assert len(main) == 2 and main[0] == "suspended [_GatheringFuture]"


@each_instrumenter
def test_coroutines_that_a_program_drives_itself(instrumenter, tmp_path):
    found = measure("""
import types

@types.coroutine
def switch():
    yield

async def ping(n):
    for _ in range(n):
        await switch()
        step()

def step(): pass

def drive(coroutines):
    while coroutines:
        for one in list(coroutines):
            try:
                one.send(None)
            except StopIteration:
                coroutines.remove(one)

async def outer():
    drive([ping(1), ping(2)])   # runs others to their end without waiting
    step()

drive([outer()])
""", instrumenter, tmp_path)  # fmt: skip
    step = ["  switch", "    suspended", "  step"]
    assert found.all("ping") == [["ping"] + step, ["ping"] + step + step]
    assert found.lines("outer") == ["outer", "  drive"] + 5 * ["    task"] + ["  step"]


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


@each_instrumenter
def test_tasks_that_are_never_finished(instrumenter, tmp_path):
    found = measure("""
import asyncio, os

async def forever():
    await asyncio.Event().wait()

async def main():
    global task
    task = asyncio.create_task(forever())
    await asyncio.sleep(0)
    os._exit(7)

asyncio.run(main())
""", instrumenter, tmp_path, status=7)  # fmt: skip
    (lines,) = found.all(" (forever)")
    assert lines[0] == "forever" and "suspended" in lines[-1]


@pytest.mark.parametrize("off, on", [("stop", "start"), ("pause", "resume")])
@each_instrumenter
def test_recording_that_is_off_for_a_while(instrumenter, off, on, tmp_path):
    """What runs when it goes on is found, with the functions that are still open."""
    found = measure(f"""
import asyncio, timeloom

async def worker():
    for i in range(4):
        await inner(i)

async def inner(i):
    await asyncio.sleep(0)
    if i == 0: timeloom.{off}()
    if i == 2: timeloom.{on}()
    await asyncio.sleep(0)
    step()

def step(): pass

asyncio.run(worker())
""", instrumenter, tmp_path)  # fmt: skip
    (lines,) = found.all(" (worker)")
    assert lines[:3] == ["worker", "  inner", "    suspended"]
    assert lines[-4:] == ["  inner", "    suspended", "    suspended", "    step"]


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
    """Each knows how often it was suspended."""
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
    assert done.stderr.startswith(f'timeloom: the instrumenter "{instrumenter}" cannot tell tasks apart; use ')


@each_instrumenter
def test_the_trace_has_tasks_as_locations(instrumenter, tmp_path, timeloom_program):
    path = write_program(tmp_path, CHILDREN)
    run = tmp_path / "run"
    run_python(["-m", "timeloom", "--quiet", "--async-tasks", "--instrumenter", instrumenter, "-o", run, path], tmp_path)
    done = subprocess.run([timeloom_program, "info", "--json", run], capture_output=True, text=True, check=True)
    names = [location["name"] for location in json.loads(done.stdout)["locations"]]
    assert names[0] == "MainThread" and {"child 1 (child)", "child 2 (child)"} <= set(names)
    file = json.loads((run / "callpaths.json").read_text())
    suspended = [i for i, region in enumerate(file["regions"]) if region["name"] == "suspended"]
    nodes = {i for i, of in enumerate(file["nodes"]["region"]) if of in suspended}
    visits = {
        location["name"]: sum(v for node, v in zip(location["node"], location["visits"]) if node in nodes)
        for location in file["locations"]
    }
    assert (visits["child 1 (child)"], visits["child 2 (child)"], visits["MainThread"]) == (2, 2, 0)


def test_tasks_are_counted_apart_from_threads(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text(
        "import asyncio\n"
        "async def child(): await asyncio.sleep(0)\n"
        "async def main(): await asyncio.gather(*(child() for _ in range(5)))\n"
        "asyncio.run(main())\n")
    command = [sys.executable, "-m", "timeloom", "--async-tasks", "-o", "run", "app.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    # Those above, and two with which asyncio.run() ends.
    assert " events of 1 thread and 8 tasks, " in said
    info = subprocess.run([timeloom_program, "info", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [line.split() for line in info.stdout.splitlines()]
    assert ["threads", "1"] in lines and ["tasks", "8"] in lines
    for file in ("run", "run/profile.cubex"):
        report = subprocess.run([timeloom_program, "report", file], cwd=tmp_path, capture_output=True, text=True,
                                check=True)
        assert "1 thread and 8 tasks" in report.stdout.splitlines()[1]
