"""The findings of timeloom report: three programs with a planted fault, and programs without one."""

import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

QUADRATIC = """\
def remember(items, item):
    if item not in items:
        items.append(item)

def orders(seen):
    for number in range(3000):
        remember(seen, ("order", number))

def bills(seen):
    for number in range(3000):
        remember(seen, ("bill", number))

orders([])
bills([])
"""

SLOW_WORKER = """\
import multiprocessing

def simulate(steps):
    total = 0
    for step in range(steps):
        total += step * step
    return total

def worker(number):
    for _ in range(10):
        simulate(800_000 if number == 2 else 200_000)

if __name__ == "__main__":
    workers = [multiprocessing.Process(target=worker, args=(n,), name=f"sim-{n}") for n in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
"""

CONVOY = """\
import threading

LOCK = threading.Lock()

def post():
    with LOCK:
        audit()

def audit():
    total = 0
    for n in range(100_000):
        total += n * n

def clerk():
    for _ in range(20):
        post()

clerks = [threading.Thread(target=clerk) for _ in range(6)]
for one in clerks:
    one.start()
for one in clerks:
    one.join()
"""

HELD_LOOP = """\
import asyncio
import time

async def tick():
    for _ in range(40):
        await asyncio.sleep(0.001)

async def handler():
    for _ in range(5):
        await asyncio.sleep(0.001)
        read()

def read():
    time.sleep(0.4)

async def main():
    await asyncio.gather(tick(), tick(), handler())

asyncio.run(main())
"""

SMALL_TASKS = """\
from concurrent.futures import ProcessPoolExecutor

def square(number):
    return number * number

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        assert sum(pool.map(square, range(600))) == sum(n * n for n in range(600))
"""

COLLECTIONS = """\
def build(nodes):
    for number in range(600_000):
        nodes.append([number])

import gc
gc.set_threshold(1000, 2, 2)
build([])
"""

WRITES = """\
def log(file):
    for number in range(200_000):
        file.write(b"%d" % number)

with open("log", "wb", buffering=0) as file:
    log(file)
"""

ORDINARY = {
    "recursion": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\nfor n in range(22):\n    fib(n)\n",
    "sleepers": (
        "import threading, time\n\ndef fetch():\n    time.sleep(0.1)\n\n"
        "threads = [threading.Thread(target=fetch) for _ in range(6)]\n"
        "for one in threads:\n    one.start()\nfor one in threads:\n    one.join()\n"
    ),
    "sqlite": (
        "import sqlite3\n\ndb = sqlite3.connect(':memory:')\ndb.execute('create table t (a integer primary key, b)')\n\n"
        "def insert(n):\n    db.execute('insert into t (b) values (?)', (str(n),))\n\n"
        "for n in range(5000):\n    insert(n)\n"
    ),
}

# Nobody is behind: one thread runs all tasks, however long each one is suspended.
TASKS = """\
import asyncio

async def fetch(seconds):
    await asyncio.sleep(seconds)

async def main():
    await asyncio.gather(*[fetch(0.6 if n == 3 else 0.1) for n in range(8)])

asyncio.run(main())
"""


def findings(timeloom, tmp_path: Path, source: str, *options: str) -> list[dict]:
    """Record a program and return the findings of its report."""
    (tmp_path / "program.py").write_text(source)
    timeloom("run", "--quiet", "-o", "run", *options, "program.py", cwd=tmp_path)
    return json.loads(timeloom("report", "--json", "run", cwd=tmp_path).stdout)["findings"]


def test_a_quadratic_helper_is_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, QUADRATIC)[0]
    assert first["rule"] == "growing-calls" and "__main__.remember from 2 functions" in first["text"]
    assert first["command"] == "timeloom report --function __main__.remember run"
    assert first["evidence"]["visits"] == 6000 and first["evidence"]["late_s"] > 4 * first["evidence"]["early_s"]
    answer = timeloom("report", "run", cwd=tmp_path, COLUMNS="80").stdout.splitlines()
    assert answer[1].startswith("> calls of __main__.remember from 2 functions grow from ")
    assert max(len(line) for line in answer[1:4]) <= 80
    part = timeloom("report", "--json", "--thread", "MainThread", "run", cwd=tmp_path).stdout
    assert json.loads(part)["findings"] == []


def test_a_slow_worker_is_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, SLOW_WORKER)[0]
    assert first["rule"] == "imbalance" and first["text"].startswith("sim-2 has ")
    # Of the module that a started process calls __mp_main__, where processes are not forked.
    assert re.search(r"the other 3, in __(mp_)?main__\.simulate", first["text"])
    assert first["command"] == "timeloom report --group sim-2 run"


def test_a_lock_convoy_is_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, CONVOY)[0]
    assert first["rule"] == "lock-convoy" and "6 threads wait" in first["text"]
    assert "for a lock in __main__.post (program.py:6), while __main__.audit works" in first["text"]


def test_a_coroutine_that_blocks_the_event_loop_is_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, HELD_LOOP)[0]
    assert first["rule"] == "held-loop" and first["text"].startswith("__main__.handler holds the event loop ")
    evidence = first["evidence"]
    assert evidence["steps"] == 6 and evidence["waiting_s"] + evidence["working_s"] == pytest.approx(first["at_stake_s"])
    assert evidence["longest_s"] <= first["at_stake_s"]


def test_tasks_that_are_too_small_are_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, SMALL_TASKS)[0]
    assert first["rule"] == "small-tasks" and first["text"].startswith("600 tasks of concurrent.futures work ")
    assert first["evidence"]["tasks"] == 600


def test_collections_of_garbage_are_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, COLLECTIONS, "--gc")[0]
    assert first["rule"] == "garbage-collection" and first["text"].endswith("most of it in __main__.build")


def test_small_writes_are_the_first_finding(timeloom, tmp_path):
    first = findings(timeloom, tmp_path, WRITES, "--io", "posix")[0]
    assert first["rule"] == "small-transfers"
    assert first["text"].startswith("200,000 writes of 5 B on average in __main__.log take ")
    assert first["evidence"]["calls"] == 200_000 and first["evidence"]["bytes"] == 1_088_890


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_programs_have_none(timeloom, tmp_path, name):
    assert findings(timeloom, tmp_path, ORDINARY[name]) == []


@pytest.mark.parametrize("layout", ["lanes", "locations"])
def test_tasks_that_are_suspended_are_not_slow_workers(timeloom, tmp_path, layout):
    assert findings(timeloom, tmp_path, TASKS, "--async-tasks", "--task-layout", layout) == []


@pytest.mark.parametrize("seconds", [1.2, 0])
def test_the_summary_has_the_first_finding_of_a_run_of_a_second(timeloom, tmp_path, seconds):
    (tmp_path / "program.py").write_text(f"import time\ntime.sleep({seconds})\n{QUADRATIC}")
    done = timeloom("run", "-o", "run", "program.py", cwd=tmp_path)
    report = json.loads(timeloom("report", "--json", "run", cwd=tmp_path).stdout)
    said = [line for line in done.stderr.splitlines() if line.startswith("timeloom: finding: ")]
    # On a busy machine the short one may take a second, too.
    long = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["wall_s"] >= 1
    assert long >= (seconds > 1) and report["findings"]
    assert said == [f"timeloom: finding: {one['text']}" for one in report["findings"][:long]]
