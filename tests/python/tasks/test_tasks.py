"""Tasks as tracks: every task has its own calls, and nothing else, however it is suspended."""

import json
import re
import subprocess
import sys

import pytest
from task_runs import CHILDREN, each_instrumenter, measure


@each_instrumenter
def test_functions_stay_open_while_they_are_suspended(instrumenter, tmp_path):
    found = measure(CHILDREN, instrumenter, tmp_path)
    leaf = ["  leaf", "    suspended [_asyncio.Future]", "    step"]
    for n in (1, 2):
        assert found.lines(f"child {n} (child)") == ["child"] + leaf + leaf
    (main,) = found.all(" (main)")
    assert main[:2] == ["main", "  suspended [_GatheringFuture]"]
    assert len(main) == 3 and re.fullmatch(r"  suspended \[Task-\d+ \(last\)\]", main[2])
    # A step for every time that one of them starts or continues.
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
    """The functions that run when it continues are found, including those still open."""
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


def test_tasks_are_counted_apart_from_threads(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text(
        "import asyncio\n"
        "async def child(): await asyncio.sleep(0)\n"
        "async def main(): await asyncio.gather(*(child() for _ in range(5)))\n"
        "asyncio.run(main())\n")
    command = [sys.executable, "-m", "timeloom", "--async-tasks", "--task-layout", "locations", "-o", "run", "app.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    info = subprocess.run([timeloom_program, "info", "--json", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    names = [location["name"] for location in json.loads(info.stdout)["locations"]]
    # The ones above, and two with which asyncio.run() ends. Python's library may create some coroutines directly when
    # it is imported.
    assert sum(name.startswith("Task-") for name in names) == 8
    tasks = len(names) - 1
    assert f" events of 1 thread and {tasks} tasks, " in said
    info = subprocess.run([timeloom_program, "info", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [line.split() for line in info.stdout.splitlines()]
    assert ["threads", "1"] in lines and ["tasks", str(tasks)] in lines
    for file in ("run", "run/profile.cubex"):
        report = subprocess.run([timeloom_program, "report", "--full", file], cwd=tmp_path, capture_output=True, text=True,
                                check=True)
        assert f"1 thread and {tasks} tasks" in report.stdout.splitlines()[1]


def test_a_suspended_task_waits(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text(
        "import asyncio\n"
        "async def child(): await asyncio.sleep(0.1)\n"
        "async def main(): await asyncio.gather(*(child() for _ in range(50)))\n"
        "asyncio.run(main())\n")
    command = [sys.executable, "-m", "timeloom", "--quiet", "--async-tasks", "--task-layout", "locations", "-o", "run", "app.py"]
    subprocess.run(command, cwd=tmp_path, check=True)
    by = subprocess.run([timeloom_program, "report", "--by", "process", "--json", "run"], cwd=tmp_path, capture_output=True, check=True)
    (process,) = json.loads(by.stdout)["rows"]
    assert process["waiting_s"] > 50 * 0.1 > process["total_s"] - process["waiting_s"]
    report = subprocess.run([timeloom_program, "report", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    table = report.stdout.split("\n\n")[0].splitlines()
    assert any(line.endswith("of work") for line in table) and not any(line.split()[-1] == "suspended" for line in table)
    assert any("suspended for __main__.child" in line for line in table)  # among the waiting times
