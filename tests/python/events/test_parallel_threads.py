"""Threads that record, meet new code and use the API at once: truly in parallel on builds without a GIL."""

import pytest
from spool_reader import spools_of, stream
from streams import C_INSTRUMENTERS, assert_balanced, each_instrumenter, measure, run_python

THREADS = 6

# All threads meet every function for the first time together.
NEW_CODE = f"""
import threading, timeloom

def leaf(n):
    return n

@timeloom.region("decorated")
def decorated(n):
    return leaf(n)

def work():
    for n in range(200):
        start.wait()
        code = codes[n]
        leaf(code())
        decorated(n)
        with timeloom.region(f"region {{n % 7}}"):
            timeloom.parameter_int("n", n)
            leaf(n)

def make(n):
    names = {{"__name__": "__main__"}}
    exec(f"def new_{{n}}(): return {{n}}", names)
    return names[f"new_{{n}}"]

codes = [make(n) for n in range(200)]
start = threading.Barrier({THREADS})
threads = [threading.Thread(target=work) for _ in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def of_work(name):
    return name.startswith(("__main__.", "decorated", "region ")) and name not in ("__main__.<module>", "__main__.make")


@pytest.mark.race
@each_instrumenter
def test_threads_meet_new_code_together(instrumenter, tmp_path):
    streams, process = measure(NEW_CODE, instrumenter, tmp_path, keep=of_work)
    assert (process.returncode, process.stderr) == (0, "")
    expected = [["enter", "__main__.work"]]
    for n in range(200):
        for names in ([f"__main__.new_{n}"], ["__main__.leaf"],
                      ["decorated", "__main__.decorated", "__main__.leaf"]):
            expected += [["enter", name] for name in names]
            expected += [["leave", name] for name in reversed(names)]
        expected += [["enter", f"region {n % 7}"], ["parameter_int", "n", n], ["enter", "__main__.leaf"],
                     ["leave", "__main__.leaf"], ["leave", f"region {n % 7}"]]
    expected.append(["leave", "__main__.work"])
    assert [events for events in streams if events[0][1] == "__main__.work"] == [expected] * THREADS


# While others call, measurements start and end, and recording is switched.
SWITCHES = """
import sys, threading, timeloom

def leaf(n):
    return n

def outer(n):
    with timeloom.region("region"):
        return leaf(n)

def work():
    while not over:
        for n in range(50):
            outer(n)
        exec("def new(): return 1\\nnew()", {"__name__": "__main__"})

over = False
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for turn in range(5):
    with timeloom.Measurement(output=f"run-{turn}", instrumenter=sys.argv[1], weave=False):
        for _ in range(5):
            with timeloom.pause():
                outer(0)
            timeloom.disable_recording()
            outer(1)
            timeloom.enable_recording()
over = True
for thread in threads: thread.join()
"""


@pytest.mark.race
@each_instrumenter
def test_measurements_come_and_go_while_threads_run(instrumenter, tmp_path):
    (tmp_path / "program.py").write_text(SWITCHES)
    process = run_python(["program.py", instrumenter], tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    for turn in range(5):
        (spool,) = spools_of(tmp_path / f"run-{turn}")
        assert spool.ended and spool.lost == 0
        for location in spool.locations():
            assert_balanced(spool, location)
        # Only user regions are recorded in a pause, and nothing while recording is off.
        once = [("enter", "region"), ("leave", "region"), ("recording_off", None), ("recording_on", None)]
        assert stream(spool, 0, lambda name: name == "region") == once * 5


# All records that a program can make itself, made by all threads at once.
SAYS = """
import asyncio, threading, timeloom
import scorep.user

def leaf(n):
    return n

@timeloom.region("said decorated")
def decorated(n):
    return leaf(n)

@timeloom.region
def itself(n):
    return leaf(n)

@timeloom.region("said steps")
def steps(n):
    for i in range(n):
        yield leaf(i)

@timeloom.region("said coroutine")
async def coroutine(n):
    await asyncio.sleep(0)
    return leaf(n)

async def tasks(n):
    await asyncio.gather(coroutine(n), coroutine(n))

shared = timeloom.region("said shared")

def say(n):
    decorated(n), itself(n), list(steps(2))
    with shared, scorep.user.region(f"said {n}"):
        timeloom.parameter_int(f"int {n}", n)
        timeloom.parameter_float("float", n / 2)
        timeloom.parameter_string("string", f"text {n}")
        timeloom.counter(f"counter {n}", n)
        timeloom.marker(f"marker {n}")
    timeloom.region_begin("said begun")
    timeloom.region_end("said begun")
    timeloom.region_end("never begun")
    scorep.user.rewind_begin(f"rewind {n}")
    scorep.user.rewind_end(f"rewind {n}", False)
    asyncio.run(tasks(n))

def work():
    for n in range(10):
        start.wait()
        say(n)

start = threading.Barrier(THREADS)
threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def of_said(name):
    of_main_thread = ("__main__.<module>", "__main__.<listcomp>")  # the latter before 3.12
    return name.startswith(("__main__.", "said", "user:said", "task", "suspended")) and name not in of_main_thread


def is_same_for_all(event):
    """Metrics are sampled in regions that are not compared, too; tasks and wakes are counted for all threads."""
    counted = (["parameter_string", "awaits"], ["parameter_uint", "timeloom::wakes"], ["parameter_uint", "timeloom::woken"])
    return event[0] != "samples" and event[:2] not in counted


def said_by(threads, instrumenter, tmp_path, *options):
    directory = tmp_path / f"{threads}-threads"
    directory.mkdir()
    program = SAYS.replace("THREADS", str(threads))
    streams, process = measure(program, instrumenter, directory, *options, keep=of_said)
    assert (process.returncode, process.stderr) == (0, "")
    said = ([*filter(is_same_for_all, events)] for events in streams)
    # Before 3.12 the main thread imports types, which runs coroutines of its own.
    return sorted(events for events in said if any(event[1] != "task" for event in events))


@pytest.mark.race
@each_instrumenter
def test_threads_say_everything_together(instrumenter, tmp_path):
    one = said_by(1, instrumenter, tmp_path)
    assert [events[0] for events in one] == [["enter", "__main__.work"]]
    assert said_by(THREADS, instrumenter, tmp_path) == one * THREADS


OPTIONS = [
    *((name, "--c-functions") for name in C_INSTRUMENTERS),
    ("frame", "--async-tasks", "--task-layout", "locations"),  # lanes depend on the order of arrival
    ("auto", "--exclude", "*leaf*", "--max-depth", "6"),
    ("auto", "--metric-rusage", "all", "--metric-rusage-per-process", "all"),
]


@pytest.mark.race
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_threads_say_everything_with_options(options, tmp_path):
    one = said_by(1, *options[:1], tmp_path, *options[1:])
    several = said_by(THREADS, *options[:1], tmp_path, *options[1:])
    assert several == sorted(one * THREADS)


# Two threads that switch may find the state that the other is about to change.
SWITCHES_TOGETHER = """
import threading, timeloom

def leaf(n):
    return n

def outer(n):
    with timeloom.region("region"):
        return leaf(n)

def work():
    while not over:
        outer(0)

def switch():
    start.wait()
    for n in range(20):
        with timeloom.pause():
            outer(n)
        timeloom.disable_recording()
        timeloom.enable_recording()

def last():
    pass

over = False
start = threading.Barrier(3)
worker = threading.Thread(target=work)
threads = [threading.Thread(target=switch) for _ in range(3)]
for thread in [worker, *threads]: thread.start()
for thread in threads: thread.join()
over = True
worker.join()
timeloom.start()
timeloom.enable_recording()
last()
"""


@pytest.mark.race
@each_instrumenter
def test_threads_switch_together(instrumenter, tmp_path):
    streams, process = measure(SWITCHES_TOGETHER, instrumenter, tmp_path, keep=lambda name: name == "__main__.last")
    assert (process.returncode, process.stderr) == (0, "")
    last = [event for events in streams for event in events if event[0] in ("enter", "leave")]
    assert last == [["enter", "__main__.last"], ["leave", "__main__.last"]]


MEASURES_TOGETHER = """
import sys, threading, timeloom

def leaf(n):
    return n

def measure(k):
    start.wait()
    for turn in range(5):
        try:
            with timeloom.Measurement(output=f"run-{k}-{turn}", instrumenter=sys.argv[1], weave=False):
                leaf(turn)
        except timeloom.Error as error:
            refusals.add(str(error))

refusals = set()
start = threading.Barrier(3)
threads = [threading.Thread(target=measure, args=(k,)) for k in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*refusals, end="")
"""


@pytest.mark.race
@each_instrumenter
def test_threads_measure_in_turns(instrumenter, tmp_path):
    (tmp_path / "program.py").write_text(MEASURES_TOGETHER)
    process = run_python(["program.py", instrumenter], tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout in ("", "a measurement is already running in this process; finish it first [TL051]")
    runs = sorted(tmp_path.glob("run-*"))
    assert runs
    for run in runs:
        (spool,) = spools_of(run)
        assert spool.ended and spool.lost == 0
        recorded = [event for location in spool.locations()
                    for event in stream(spool, location, lambda name: name == "__main__.leaf")]  # fmt: skip
        assert recorded == [("enter", "__main__.leaf"), ("leave", "__main__.leaf")]


# A child does not have the threads that its parent was waiting for.
FORKS = """
import os, sys, threading, timeloom

def leaf():
    pass

def fork():
    for _ in range(10):
        child = os.fork()
        if child == 0:
            leaf()
            os._exit(0)
        statuses.append(os.waitpid(child, 0)[1])

statuses = []
thread = threading.Thread(target=fork)
thread.start()
turn = 0
while thread.is_alive():
    with timeloom.Measurement(output=f"run-{turn}", instrumenter=sys.argv[1], weave=False):
        threading.Thread(target=leaf).start()
    turn += 1
thread.join()
print(statuses)
"""


@pytest.mark.race
@each_instrumenter
def test_forks_while_measurements_come_and_go(instrumenter, tmp_path):
    (tmp_path / "program.py").write_text(FORKS)
    # Later versions warn of a fork in a process with threads, whichever thread forks.
    process = run_python(["-W", "ignore::DeprecationWarning", "program.py", instrumenter], tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, f"{[0] * 10}\n", "")


# A window that any thread opens and closes for all.
WINDOWS = """
import threading

def leaf():
    pass

def asked():
    leaf()

def work():
    start.wait()
    for _ in range(50):
        leaf()
        asked()

start = threading.Barrier(4)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.race
@each_instrumenter
def test_threads_open_and_close_windows(instrumenter, tmp_path):
    window = ["--from", "__main__.asked", "--until", "__main__.asked"]
    streams, process = measure(WINDOWS, instrumenter, tmp_path, *window, keep=lambda name: name == "__main__.asked")
    assert (process.returncode, process.stderr) == (0, "")
    calls = [event for events in streams for event in events if event[0] == "enter"]
    assert 0 < len(calls) <= 200
