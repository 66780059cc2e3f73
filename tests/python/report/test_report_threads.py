"""`timeloom report --threads`: how parallel programs were with a known convoy, and with none."""

import json
import sys

import pytest
from streams import run_python

WITH_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

# Each thread works for 0.1 s, however long that takes.
WORK = """
import threading, time
def work():
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        sum(range(2000))
def run(function):
    threads = [threading.Thread(target=function, name=f"worker-{i}") for i in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""

GIL = WORK + "run(work)\n"

# All threads want the lock all the time.
LOCK = WORK + """
lock = threading.Lock()
def critical():
    with lock: work()
def turns():
    for _ in range(3): critical()
run(turns)
"""


def recorded(directory, text, *options):
    path = directory / "program.py"
    path.write_text(text)
    arguments = ["-m", "timeloom", "--quiet", "-o", directory / "run", *options, path]
    process = run_python(arguments, directory)
    assert (process.returncode, process.stderr) == (0, "")
    return directory / "run"


def parallel(timeloom, run, *options):
    found = json.loads(timeloom("report", "--threads", "--json", *options, run).stdout)
    assert found["format"] == "timeloom-report-threads"
    assert sum(found["shares"]) == pytest.approx(1)
    assert sum(i * share for i, share in enumerate(found["shares"])) == pytest.approx(found["average"], abs=1e-3)
    working = sum(one["working_s"] for one in found["threads"])
    assert found["average"] * found["wall_s"] == pytest.approx(working, rel=1e-3)
    return found


def held_back(found, cause):
    (held,) = [one for one in found["held_back"] if one["cause"] == cause]
    assert sum(one["seconds"] for one in held["by"]) <= held["waiting_s"] * 1.001
    return held


@pytest.mark.skipif(not WITH_GIL, reason="this Python has no GIL")
def test_threads_that_compute_hold_each_other_back(tmp_path, timeloom):
    found = parallel(timeloom, recorded(tmp_path, GIL, "--causes"))
    assert found["has_causes"]
    assert found["average"] < 1.2
    held = held_back(found, "gil")
    assert held["waiting_s"] > 0
    assert {one["thread"] for one in held["by"]} >= {"worker-0", "worker-1", "worker-2"}
    assert {one["name"] for one in found["threads"]} == {"MainThread", "worker-0", "worker-1", "worker-2"}


def test_a_lock_that_all_threads_want(tmp_path, timeloom):
    """With and without a GIL, one thread works at a time."""
    run = recorded(tmp_path, LOCK, "--causes")
    found = parallel(timeloom, run)
    assert found["average"] < 1.2
    held = held_back(found, "lock")
    workers = [one for one in found["threads"] if one["name"].startswith("worker-")]
    assert sum(one["waiting_causes_s"]["lock"] for one in workers) > 0.3
    assert held["by"][0]["thread"].startswith("worker-")
    text = timeloom("report", "--threads", run).stdout
    assert " of 4 threads worked at once, on average over " in text
    assert "\nheld back: " in text
    assert " of waiting for locks, while these worked: worker-" in text


POOL = WORK + """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    # A thread is started for each, since all before it wait.
    barrier = threading.Barrier(4)
    list(pool.map(lambda _: barrier.wait(), range(4)))
    run(work)
    time.sleep(0.5)
"""


def test_threads_that_had_nothing_to_do_are_told_apart(tmp_path, timeloom):
    """Their waiting for the next order of a pool holds nobody back."""
    run = recorded(tmp_path, POOL, "--causes")
    found = parallel(timeloom, run)
    idle = {one["name"] for one in found["threads"] if one["idle"]}
    assert idle == {f"ThreadPoolExecutor-0_{i}" for i in range(4)}
    locks = [one["waiting_s"] for one in found["held_back"] if one["cause"] == "lock"]
    assert sum(locks) < 0.4
    text = timeloom("report", "--threads", run).stdout
    assert " of 4 threads worked at once, on average over " in text
    assert "; 4 more had nothing to do\n" in text
    below = text.partition("threads that had nothing to do:\n")[2].partition("\n\n")[0]
    assert below.count("ThreadPoolExecutor-0_") == len(below.splitlines()) == 4


def test_without_causes_a_line_tells_of_them(tmp_path, timeloom):
    run = recorded(tmp_path, GIL)
    found = parallel(timeloom, run)
    assert not found["has_causes"]
    assert "timeloom run --causes records for what threads wait" in timeloom("report", "--threads", run).stdout


# The lock is acquired by C code, of which no name tells.
CONVOY = WORK + """
lock = threading.Lock()
def turns():
    for _ in range(10):
        with lock: time.sleep(0.02)
run(turns)
"""


@pytest.mark.parametrize("options", [[], ["--causes"]])
def test_waiting_without_a_known_cause_is_told(tmp_path, timeloom, options):
    """Without --causes nearly all of it, so that a small cause is not taken for the whole."""
    run = recorded(tmp_path, CONVOY, *options)
    found = parallel(timeloom, run)
    busy = [one for one in found["threads"] if not one["idle"]]
    unknown = sum(one["waiting_causes_s"].get("unknown", 0) for one in busy)
    assert found["unknown_waiting_s"] == pytest.approx(unknown, abs=1e-6)
    lines = [line for line in timeloom("report", "--threads", run).stdout.splitlines() if "no known cause" in line]
    if options:
        assert unknown < 0.4
        assert not [line for line in lines if "--causes" in line]
    else:
        assert unknown > 0.4
        (line,) = lines
        assert line.endswith(" of waiting: no known cause; timeloom run --causes records for what threads wait")


def test_chosen_threads(tmp_path, timeloom):
    found = parallel(timeloom, recorded(tmp_path, GIL), "--thread", "worker-1")
    assert [one["name"] for one in found["threads"]] == ["worker-1"]


def test_what_does_not_go_together(tmp_path, timeloom):
    run = recorded(tmp_path, GIL, "--profile")
    assert timeloom("report", "--threads", run, status=1).stderr.endswith("report --by thread prints the sums [TL148]\n")
    assert "--slowest does not go with --threads" in timeloom("report", "--threads", "--slowest", run, status=2).stderr
    assert "[TL401]" in timeloom("report", "--threads", "--from", "1ms", run, status=2).stderr
