"""Threads that record, meet new code and use the API at once: on builds without a GIL really so."""

import pytest
from spool_reader import spools_of, stream
from streams import assert_balanced, measure, run_python
from test_streams_programs import each_instrumenter

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


# While others call, the measurements come and go, and recording is switched.
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
