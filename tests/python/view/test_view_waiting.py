"""Working and waiting in `timeloom view`: equal to `timeloom report`, for a run and for any part of it."""

import json
import random
import subprocess
import sys

import pytest
from converted import made_once
from view_client import COLUMNS, Viewer

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
