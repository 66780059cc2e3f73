"""Working and waiting in `timeloom view`: equal to `timeloom report`, for a run and for any part of it."""

import json
import random
import subprocess
import sys

import pytest
from converted import made_once
from task_runs import needs
from view_client import COLUMNS, EVER, Viewer

pytestmark = pytest.mark.any_python

PROGRAM = """
import threading, time
def rest(): time.sleep(0.02)
def work(n): return sum(range(n))
def both():
    work(200_000)
    rest()
    work(200_000)
def worker(event):
    event.wait()
    both()
event = threading.Event()
thread = threading.Thread(target=worker, args=(event,))
thread.start()
for _ in range(3): both()
event.set()
thread.join()
"""


TASKS = """
import asyncio
async def rest(): await asyncio.sleep(0.02)
async def both():
    sum(range(200_000))
    await rest()
async def main(): await asyncio.gather(*(both() for _ in range(3)))
asyncio.run(main())
"""


def recorded(*options):
    def make(directory):
        (directory / "program.py").write_text(TASKS if "--async-tasks" in options else PROGRAM)
        command = [sys.executable, "-m", "timeloom", "--quiet", *options, "-o", "run", "program.py"]
        subprocess.run(command, cwd=directory, check=True)

    return made_once(" ".join(["waiting", *options]), make) / "run"


def summed(viewer, description, begin, end):
    """ns of exclusive time, and ns of it waiting"""
    paths, sums = viewer.paths(), [0, 0]
    for path, (own, waiting) in viewer.waiting(begin, end).items():
        region = description["regions"][paths[path][1]]
        if (region["name"], region["file"]) == ("task", ""):  # its thread, while the task works
            continue
        unmeasured = region["suspended"] or (region["waits"] and not description["waiting"])
        sums[0] += own
        sums[1] += own if unmeasured else waiting
    return sums


def reported(timeloom, run, *arguments):
    rows = json.loads(timeloom("report", run, "--by", "file", "--json", *arguments).stdout)["rows"]
    working, waiting = (sum(round(row[key] * 1e9) for row in rows) for key in ("working_s", "waiting_s"))
    return [working + waiting, waiting]


def is_same(found, expected):
    """Exclusive time to the nanosecond. The index cuts waiting that is longer than its gap, which the report does not:
    parts of a million."""
    return found[0] == expected[0] and 0 <= expected[1] - found[1] <= expected[0] // 100_000


def ms(time):
    return f"{time // 10**6}.{time % 10**6:06}ms"


@pytest.mark.parametrize("options", [[], ["--no-waiting"], ["--async-tasks"]])
def test_waiting_is_that_of_the_report(program, timeloom, options):
    run = recorded(*options)
    with Viewer(program, run) as viewer:
        description = viewer.wait().description()
        assert description["waiting"] == ("--no-waiting" not in options)
        whole = summed(viewer, description, 0, description["length"] + 1)
        of_run = reported(timeloom, run)
        assert is_same(whole, of_run), (whole, of_run)
        assert whole == reported(timeloom, run, "--from", "0s")
        assert whole[1] > 80_000_000
        chosen = random.Random(5)
        for _ in range(6):
            begin, end = sorted(chosen.randrange(description["length"]) for _ in range(2))
            found = summed(viewer, description, begin, end)
            assert found == reported(timeloom, run, "--from", ms(begin), "--to", ms(end)), (begin, end)


def test_what_two_parts_waited_is_what_both_waited(program):
    with Viewer(program, recorded()) as viewer:
        length = viewer.wait().description()["length"]

        def waiting(begin, end):
            return sum(waiting for _, waiting in viewer.waiting(begin, end).values())

        chosen = random.Random(7)
        for _ in range(20):
            begin, middle, end = sorted(chosen.randrange(length) for _ in range(3))
            assert waiting(begin, middle) + waiting(middle, end) == waiting(begin, end)


def test_a_call_and_the_picture_say_how_long_it_waited(program):
    with Viewer(program, recorded()) as viewer:
        description = viewer.wait().description()
        names = [region["name"] for region in description["regions"]]
        track = next(i for i, one in enumerate(description["tracks"]) if one["name"] == "MainThread")
        begin, end, _, _, depth = next(call for call in viewer.calls(track) if names[call[3]] == "__main__.both")
        both = viewer.call(track, depth, begin)["call"]
        assert both["own_waiting"] <= both["own"] and 19_000_000 < both["waiting"] <= end - begin
        table = viewer.waiting(begin, end, (track,)).values()
        assert sum(waiting for _, waiting in table) == both["waiting"]
        level = 9  # columns of 262 us
        width = 4**level
        first, last = begin // width // COLUMNS, end // width // COLUMNS
        parts = [part for index in range(first, last + 1) for part in viewer.tile(track, level, index, rows=1).waiting]
        inside = parts[begin // width - first * COLUMNS + 1 : end // width - first * COLUMNS]
        assert abs(sum(inside) * width / 255 - both["waiting"]) < 2 * width + len(inside) * width / 255
        assert max(inside) > 0


CAUSES = ("unknown", "processor", "gil", "lock", "thread", "message", "io", "time")


def causes_in(viewer, begin=0, end=EVER, tracks=()):
    """ns of waiting by cause"""
    sums = zip(*viewer.causes(begin, end, tracks).values(), strict=True)
    return [sum(row) for row in sums] or [0] * len(CAUSES)


def reported_causes(timeloom, run, *arguments):
    causes = json.loads(timeloom("report", run, "--json", *arguments).stdout)["waiting_causes_s"]
    return [round(causes[cause] * 1e9) for cause in CAUSES]


def test_causes_are_those_of_the_report(program, timeloom):
    run = recorded("--causes")
    with Viewer(program, run) as viewer:
        description = viewer.wait().description()
        assert description["causes"]
        whole, length = causes_in(viewer), description["length"]
        assert whole == reported_causes(timeloom, run, "--from", "0s")
        assert whole[CAUSES.index("time")] > 0 and whole[CAUSES.index("lock")] > 0
        chosen = random.Random(9)
        for _ in range(6):
            begin, end = sorted(chosen.randrange(length) for _ in range(2))
            found = causes_in(viewer, begin, end)
            assert found == reported_causes(timeloom, run, "--from", ms(begin), "--to", ms(end)), (begin, end)
            parts = [causes_in(viewer, 0, begin), found, causes_in(viewer, end)]
            assert [sum(one) for one in zip(*parts, strict=True)] == whole


def test_causes_of_a_call_path_are_parts_of_its_time(program):
    with Viewer(program, recorded("--causes")) as viewer:
        length = viewer.wait().description()["length"]
        chosen = random.Random(11)
        for width in (1, 2, 7, 1000, length // 50):
            for begin in (chosen.randrange(length - width) for _ in range(20)):
                causes, table = viewer.causes(begin, begin + width), viewer.waiting(begin, begin + width)
                for path, (own, waiting) in table.items():
                    assert sum(causes[path]) == waiting <= own and min(causes[path]) >= 0


def test_a_call_and_the_picture_have_the_cause(program):
    with Viewer(program, recorded("--causes")) as viewer:
        description = viewer.wait().description()
        regions = description["regions"]
        assert {one["name"]: one["cause"] for one in regions}["threading.Event.wait"] == "lock"
        names = [region["name"] for region in regions]
        track = next(i for i, one in enumerate(description["tracks"]) if one["name"] == "MainThread")
        times = 0
        for begin, end, _, _, depth in [call for call in viewer.calls(track) if names[call[3]] == "__main__.both"]:
            both = viewer.call(track, depth, begin)["call"]
            assert sum(both["causes"]) == both["waiting"] and sum(both["own_causes"]) == both["own_waiting"]
            assert causes_in(viewer, begin, end, (track,)) == both["causes"]
            times += both["causes"][CAUSES.index("time")] > 0
        assert times > 0  # a busy machine may look late at one or another
        level = 9
        width, index = 4**level, begin // 4**level // COLUMNS
        tile = viewer.tile(track, level, index, rows=1)
        waits = [column for column, part in enumerate(tile.waiting) if part > 0]
        assert len(waits) > 10
        for column in waits:
            at = (index * COLUMNS + column) * width
            causes = causes_in(viewer, at, at + width, (track,))
            assert tile.cause[column] == causes.index(max(causes)), column


def test_a_run_without_causes_has_none(program, timeloom):
    with Viewer(program, recorded()) as viewer:
        description = viewer.wait().description()
        assert not description["causes"]
        assert all(row[1:] == () for row in viewer.causes().values())
        assert viewer.tile(0, 9, 0, rows=1).cause == ()
    assert "waiting for:" not in timeloom("view", "--text", recorded()).stdout


TRIO = """
import sys, trio
async def nap(): await trio.sleep(0.1)
async def child(): await trio.run_process([sys.executable, "-S", "-c", "import time; time.sleep(0.1)"])
async def main():
    async with trio.open_nursery() as nursery:
        for _ in range(3): nursery.start_soon(nap)
        nursery.start_soon(child)
trio.run(main)
"""


def of_trio():
    def make(directory):
        (directory / "program.py").write_text(TRIO)
        command = [sys.executable, "-m", "timeloom", "--quiet", "--async-tasks", "--causes", "-o", "run", "program.py"]
        subprocess.run(command, cwd=directory, check=True)

    return made_once("waiting of trio", make) / "run"


@needs("trio")
def test_suspended_tasks_of_trio_have_the_cause_that_its_functions_tell(program, timeloom):
    with Viewer(program, of_trio()) as viewer:
        description, level = viewer.wait().description(), 9
        regions = {region["name"]: region for region in description["regions"]}
        assert regions["trio._timeouts.sleep"]["suspends"] == "time" and regions["trio._timeouts.sleep"]["loop"]
        assert not regions["__main__.nap"]["loop"]
        while COLUMNS * 4**level < description["length"]:
            level += 1
        found = {}
        for number, track in enumerate(description["tracks"]):
            tile = viewer.mixture((number,), level - 2, track["begin"] // 4 ** (level - 2) // COLUMNS)
            causes = {CAUSES[tile.cause[i]] for i, part in enumerate(tile.waiting) if part == 255 and tile.cause}
            found.setdefault(track["name"].rpartition("(")[2], set()).update(causes)
        assert found["nap)"] == {"time"}
        assert "thread" in found["child)"] and "unknown" not in found["child)"]
    text = timeloom("view", "--text", of_trio()).stdout
    line = next(line for line in text.splitlines() if line.startswith("waiting for:"))
    assert " s time" in line and " t thread or process" in line


def test_text_names_the_causes(timeloom):
    text = timeloom("view", "--text", recorded("--causes")).stdout
    line = next(line for line in text.splitlines() if line.startswith("waiting for:"))
    assert " s time " in line and " l lock " in line
    main = next(line for line in text.splitlines() if line.startswith("MainThread"))
    assert "s" in main.removeprefix("MainThread")
