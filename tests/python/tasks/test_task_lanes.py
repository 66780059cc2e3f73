"""Lanes: tasks that do not overlap share a location, each is a region with its name as a parameter."""

import json
import subprocess
import sys

from profile_files import Profile, visits_by_region
from spool_reader import stream
from task_runs import CHILDREN, each_instrumenter, measure, needs

# Four at a time, of two functions.
MANY = """
import asyncio

async def one():
    await pause()

async def two():
    await asyncio.sleep(0)
    step()

async def pause():
    await asyncio.sleep(0)

def step(): pass

async def worker(n):
    for i in range(n):
        await asyncio.create_task(one() if i % 2 else two(), name=f"number {i}")

async def main():
    await asyncio.gather(*(worker(50) for _ in range(4)))

asyncio.run(main())
"""


def tasks_of(spool, location):
    """The regions and names of the tasks of a lane, in order; every event lies in one of them."""
    tasks, depth = [], 0
    for kind, name, *value in stream(spool, location):
        if kind == "enter":
            depth += 1
            if depth == 1:
                tasks.append([name, None])
        elif kind == "leave":
            depth -= 1
        elif kind == "parameter_string" and name == "timeloom::task":
            assert depth == 1
            tasks[-1][1] = value[0]
    return tasks


@each_instrumenter
def test_tasks_that_do_not_overlap_share_a_lane(instrumenter, tmp_path):
    spool = measure(MANY, instrumenter, tmp_path, layout="lanes").spool
    # main, four workers, and the task for which each of these waits.
    assert [spool.threads[lane] for lane in sorted(spool.owners)] == [f"tasks {n}" for n in range(1, 10)]
    found = [task for lane in spool.owners for task in tasks_of(spool, lane)]
    assert sum(name.startswith("number ") for _, name in found) == 200
    for i in range(50):
        assert found.count(["one" if i % 2 else "two", f"number {i}"]) == 4
    assert [name for region, name in found if region == "worker"] == [f"Task-{n}" for n in range(2, 6)]
    regions = [region for region in spool.regions.values() if region["group"] == "tasks"]
    assert {region["name"] for region in regions} >= {"main", "worker", "one", "two"}
    assert all(region["file"].endswith(".py") and region["first"] > 0 for region in regions)


@each_instrumenter
def test_what_tasks_call_lies_in_their_region(instrumenter, tmp_path):
    found = measure(CHILDREN, instrumenter, tmp_path, layout="lanes")
    leaf = ["  leaf", "    suspended [_asyncio.Future]", "    step"]
    lanes = [found.lines_of(lane) for lane in sorted(found.spool.owners)]
    # last() starts when both children have ended, on the lane of one of them.
    assert sorted(lanes, key=len)[-1][:7] == ["child"] + leaf + leaf
    main = ["main", "  suspended [_GatheringFuture]", "  suspended [last]"]
    assert any(lane[:3] == main for lane in lanes) and len(lanes) == 3


@each_instrumenter
def test_recording_that_is_off_while_a_task_ends(instrumenter, tmp_path):
    """Its lane is not free then, as its end is not known."""
    found = measure("""
import asyncio, timeloom

async def unseen():
    timeloom.stop()

async def seen():
    await asyncio.sleep(0)

async def main():
    await asyncio.create_task(unseen())
    timeloom.start()
    for _ in range(3):
        await asyncio.create_task(seen())

asyncio.run(main())
""", instrumenter, tmp_path, layout="lanes")  # fmt: skip
    # Importing asyncio may run coroutines of these names by hand.
    tasks = [[task for task in tasks_of(found.spool, lane) if task[0] not in ("_c", "_ag")]
             for lane in sorted(found.spool.owners)]
    assert tasks[0][0][0] == "main" and [region for region, _ in tasks[1]] == ["unseen"]
    assert [region for region, _ in tasks[2]][:3] == 3 * ["seen"]


@needs("greenlet")
@each_instrumenter
def test_greenlets_share_lanes(instrumenter, tmp_path):
    found = measure("""
import greenlet

def job(n):
    step()
    main.switch()
    step()

def step(): pass

main = greenlet.getcurrent()
for n in range(20):
    one = greenlet.greenlet(job)
    one.name = f"number {n}"
    one.switch(n)
    step()
    one.switch()
""", instrumenter, tmp_path, layout="lanes")  # fmt: skip
    assert len(found.spool.owners) == 1
    (lane,) = found.spool.owners
    assert tasks_of(found.spool, lane) == [["greenlet", f"number {n}"] for n in range(20)]
    assert found.lines_of(lane) == 20 * ["job", "  step", "  step"]


def test_tables_count_tasks_as_tasks(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text(MANY)
    command = [sys.executable, "-m", "timeloom", "--async-tasks", "-o", "run", "app.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr

    def tell(*arguments):
        done = subprocess.run([timeloom_program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    info = json.loads(tell("info", "--json", "run"))
    tasks = info["tasks"]
    # Python may create some coroutines directly when asyncio is imported or ends.
    assert info["threads"] == 1 and info["task_lanes"] == 9 and 205 <= tasks <= 209
    assert len(info["locations"]) == 10
    assert f" events of 1 thread and {tasks} tasks, " in said
    lines = [line.split() for line in tell("info", "run").splitlines()]
    assert ["tasks", str(tasks)] in lines and ["lanes", "9"] in lines
    for file in ("run", "run/profile.cubex"):
        report = tell("report", "--flat", "--min-percent", "0", file)
        assert f"1 thread and {tasks} tasks on 9 lanes" in report.splitlines()[1]
        assert f" in 1 thread and {tasks} tasks on 9 lanes" in report
    # The name of a task does not split call paths: 100 visits of one region, in the profile and from the trace.
    profile = Profile(tmp_path / "run")
    assert sum(visits_by_region(profile, lane).get("two", 0) for lane in profile.locations) == 100
    (tmp_path / "run" / "profile.cubex").unlink()
    report = json.loads(tell("report", "--json", "run"))
    assert "timeloom::task" not in {p["name"] for row in report["tree"]["rows"] for p in row["parameters"]}
    assert "on 9 lanes" in tell("report", "--full", "run").splitlines()[1]


def test_one_layout_or_the_other(tmp_path):
    command = [sys.executable, "-m", "timeloom", "--task-layout", "files", "-c", "print(1)"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "lanes, locations" in done.stderr
