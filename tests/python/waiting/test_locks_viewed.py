"""Locks (--locks) in the viewer: arrows from each release to the thread that goes on, waiting on source lines."""

import collections
import json
import struct

import pytest
from lock_runs import CONVOY, line_of, locks_of, made_at, record
from profile_files import Profile
from spool_reader import spools_of
from view_client import Viewer

# The consumer waits before each put.
QUEUE = """
import queue, threading, time
tasks = queue.Queue()
def consume():
    for _ in range(3): tasks.get()
def produce():
    for n in range(3):
        while not tasks.not_empty._waiters: time.sleep(0.001)
        tasks.put(n)
threads = [threading.Thread(target=f, name=f.__name__) for f in (consume, produce)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

# Of two threads that wait one gives up, before the lock is released.
GIVES_UP = """
import threading
lock, given_up = threading.RLock(), threading.Event()
def gives_up():
    assert not lock.acquire(timeout=0.05)
    given_up.set()
def goes_on():
    with lock: pass
def holds():
    with lock:
        with lock:
            threads = [threading.Thread(target=f, name=f.__name__) for f in (gives_up, goes_on)]
            for thread in threads: thread.start()
            given_up.wait()
    threads[1].join()
holds()
"""

BETWEEN_PROCESSES = """
import multiprocessing, threading
lock = multiprocessing.Lock()
def waits():
    with lock: pass
with lock:
    thread = threading.Thread(target=waits, name="waits")
    thread.start()
    thread.join(0.3)
thread.join()
"""


def ends_of(run):
    """By the number of a wakeup: (thread, innermost function, time) of each of its ends."""
    (spool,) = spools_of(run)
    ends = {"timeloom::wakes": {}, "timeloom::woken": {}}
    for location in spool.locations():
        functions = []
        for kind, name, value, *time in spool.events(location):
            if kind == "enter":
                functions.append(name)
            elif kind == "leave":
                functions.pop()
            elif name in ends:
                assert value not in ends[name]
                ends[name][value] = (spool.threads[location].rsplit(" (", 1)[0], functions[-1], time)
    return ends["timeloom::wakes"], ends["timeloom::woken"]


def arrows(run):
    wakes, woken = ends_of(run)
    assert set(woken) <= set(wakes)
    return [(wakes[number], woken[number]) for number in woken]


def between(run, *functions):
    """How often each thread has woken each but the main one, in functions with such names."""
    return collections.Counter(
        (waker[0], woken[0]) for waker, woken in arrows(run)
        if waker[1].endswith(functions) and woken[0] != "MainThread"
    )  # fmt: skip


def test_each_wait_has_the_release_that_ended_it(tmp_path, timeloom):
    run, _ = record(tmp_path, CONVOY, "--no-weave")
    ended = [(waker, woken) for waker, woken in arrows(run) if woken[1] in ("__main__.work", "__main__.audit")]
    lock = made_at(locks_of(timeloom, run), CONVOY, "lock = threading.Lock()")
    assert len(ended) == lock["waits"] > 0
    assert all(waker[0] != woken[0] for waker, woken in ended)
    waited = collections.Counter()
    for waiter in lock["waiters"]:
        waited[waiter["at"]["function"]] += waiter["waits"]
    assert collections.Counter(woken[1].removeprefix("__main__.") for _, woken in ended) == waited


def test_a_put_wakes_the_thread_that_waits_in_get(tmp_path):
    run, _ = record(tmp_path, QUEUE, "--no-weave")
    assert between(run, "notify") == {("produce", "consume"): 3}


def test_a_thread_that_gives_up_is_not_woken(tmp_path):
    run, _ = record(tmp_path, GIVES_UP, "--no-weave")
    assert between(run, "holds") == {("MainThread", "goes_on"): 1}


def test_in_a_profile_they_make_no_call_paths(tmp_path):
    run, _ = record(tmp_path, CONVOY, "--profile")
    nodes = Profile(run).nodes
    assert "__main__.audit" in [node["region"] for node in nodes]
    assert not [node for node in nodes if node["parameters"]]


# More threads than the run keeps of a lock, and all lines of the holders.
MANY = """
import threading, time
lock = threading.Lock()
def takes():
    with lock: time.sleep(0.005)
threads = [threading.Thread(target=takes) for _ in range(25)]
with lock:
    for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def locks_on_source_of(function, run, program):
    """Amounts of locks on the lines of a function, as the viewer has them: {line: amounts}."""
    with Viewer(program, run) as viewer:
        regions = viewer.wait().description()["regions"]
        (number,) = [i for i, region in enumerate(regions) if region["name"] == f"__main__.{function}"]
        found = json.loads(viewer.ask("source", struct.pack("<I", number)))["locks"]
    return {one.pop("line"): one for one in found}


def test_a_line_of_more_threads_than_the_run_keeps_has_a_lower_bound(program, tmp_path, monkeypatch):
    run, _ = record(tmp_path, MANY)
    monkeypatch.chdir(tmp_path)
    line = locks_on_source_of("takes", run, program)[line_of(MANY, "with lock: time")]
    assert line["waits"] < 25 and line["at_least"]


def test_locks_between_processes_have_none(tmp_path):
    run, _ = record(tmp_path, BETWEEN_PROCESSES, "--no-weave")
    assert [pair for pair in arrows(run) if pair[1][0] == "waits"] == []


def test_source_lines_have_the_waiting_for_locks(program, timeloom, tmp_path, monkeypatch):
    run, _ = record(tmp_path, CONVOY)
    monkeypatch.chdir(tmp_path)
    lines = locks_on_source_of("work", run, program)
    lock = made_at(locks_of(timeloom, run), CONVOY, "lock = threading.Lock()")
    expected = collections.defaultdict(collections.Counter)
    for waiter in lock["waiters"]:
        expected[waiter["at"]["line"]].update(waits=waiter["waits"], waited=waiter["waited_s"])
    for holder in lock["holders"]:
        expected[holder["at"]["line"]].update(held=holder["held_s"], blocked=holder["others_waited_s"])
    # Other lines start threads and wait for their ends, by locks of threading.
    assert {line: lines[line] for line in expected} == {line: pytest.approx(one) for line, one in expected.items()}
