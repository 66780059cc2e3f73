"""CPU time in threads that record nothing, compared with the kernel's numbers for the program."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from streams import environment

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")]

BURN = """
import ctypes, json, os, resource, sys, time
burn = ctypes.CDLL(os.environ["OTHER_CPU"]).burn_in_threads
burn.restype, burn.argtypes = ctypes.c_double, [ctypes.c_double]

def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime + resource.getrusage(resource.RUSAGE_SELF).ru_stime

def work():
    end = time.thread_time() + 0.1
    while time.thread_time() < end: pass

def tell(**more):
    with open("told.json", "w") as file:
        json.dump({"process": used() - before, "main": time.thread_time() - own, **more}, file)

before, own = used(), time.thread_time()
work()
other = burn(0.1)
"""
ENDINGS = {
    "tell(other=other)": 0,
    # Long enough for the recorder to read the clocks once more.
    "tell(other=other); time.sleep(1.5); os.kill(os.getpid(), 9)": -signal.SIGKILL,
    # A child's time does not belong to the program; a child has its own.
    "child = os.fork()\nif not child:\n    burn(0.1); os._exit(0)\nos.waitpid(child, 0)\ntell(other=other)": 0,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("burn") / "burn.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-pthread", "-O1", "-o", made, Path(__file__).with_name("other_cpu.c")], check=True)
    return str(made)


def recorded(directory, library, text, *options, status=0):
    (directory / "app.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "app.py"], cwd=directory, capture_output=True, text=True,
                          env=environment({"OTHER_CPU": library}))  # fmt: skip
    assert done.returncode == status, done.stderr
    return directory / "run"


ENDS, KILLED, FORKS = ENDINGS


def known(report):
    return sum(one["cpu_s"] for one in report["native_threads"])


def has_share(line, report, seconds):
    """The line rounds one sum, and JSON each part of it."""
    (percent,) = re.findall(r"of CPU time \(([0-9.]+)% of all\)", line)
    return float(percent) == pytest.approx(100 * seconds / report["cpu_s"], abs=0.11)


def assert_shown(report, run, timeloom):
    """Each part that matters is a line of every report."""
    threads = sum(one["threads"] for one in report["native_threads"])
    for words in (["report"], ["report", "--full"], ["info"]):
        lines = timeloom(*words, run).stdout.splitlines()
        native, unseen = ([line for line in lines if text in line] for text in ("native threads: ", " in threads that ended unseen"))
        for shown, seconds in ((native, known(report)), (unseen, report["unseen_cpu_s"])):
            assert len(shown) == (seconds >= 0.02 and seconds >= 0.01 * report["cpu_s"]), lines
            assert all(has_share(line, report, seconds) for line in shown)
        assert all(f"native threads: {threads}, " in line for line in native)


@pytest.mark.parametrize(("ending", "mode"), [(ENDS, []), (ENDS, ["--profile"]), (KILLED, []), (FORKS, [])], ids=["ends", "profile", "killed", "forks"])
def test_time_of_threads_that_run_no_python(tmp_path, library, timeloom, mode, ending):
    run = recorded(tmp_path, library, BURN + ending, *mode, status=ENDINGS[ending])
    told = json.loads((tmp_path / "told.json").read_text())
    report = json.loads(timeloom("report", "--json", run).stdout)
    burnt = told["other"] + (0.2 if ending == FORKS else 0)
    # The recorder and the end of the program take little; the kernel's clocks agree.
    assert burnt - 0.005 <= report["other_cpu_s"] <= burnt + 0.1
    assert report["cpu_s"] >= told["process"] - 0.01 and report["cpu_s"] - report["other_cpu_s"] >= told["main"] - 0.01
    # The threads have ended; some may have been seen before.
    assert known(report) + report["unseen_cpu_s"] == pytest.approx(report["other_cpu_s"], abs=0.005)
    assert_shown(report, run, timeloom)


POOL = BURN.replace("other = burn(0.1)", "burn_in_pool = ctypes.CDLL(os.environ['OTHER_CPU']).burn_in_pool\nburn_in_pool.argtypes = [ctypes.c_double]\nburn_in_pool(0.15)")
POOL_ENDINGS = {"": 0, "time.sleep(1.5); os.kill(os.getpid(), 9)": -signal.SIGKILL}


@pytest.mark.parametrize("ending", POOL_ENDINGS, ids=["ends", "killed"])
def test_threads_that_stay_are_known_by_their_names(tmp_path, library, timeloom, ending):
    run = recorded(tmp_path, library, POOL + ending, status=POOL_ENDINGS[ending])
    report = json.loads(timeloom("report", "--json", run).stdout)
    # Python's main thread has recorded; no row has what Timeloom's own threads take.
    found = {one["name"]: one for one in report["native_threads"]}
    assert set(found) == {"even burner", "odd burner"}
    assert [one["threads"] for one in found.values()] == [2, 2]
    # A killed process has written what it had seen up to a sixteenth of it.
    assert all(0.28 <= one["cpu_s"] <= 0.4 for one in found.values())
    # The clocks of the threads are read a little later than the clock of the process.
    assert known(report) + report["unseen_cpu_s"] == pytest.approx(report["other_cpu_s"], abs=0.005)
    assert_shown(report, run, timeloom)
    (line,) = [line for line in timeloom("report", run).stdout.splitlines() if line.startswith("+ native threads: 4, ")]
    assert "even burner " in line and "odd burner " in line


THREADS = """
import threading, time
def work():
    end = time.thread_time() + 0.1
    while time.thread_time() < end: pass
threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
work()
"""


def test_recorded_threads_are_no_others(tmp_path, library, timeloom):
    run = recorded(tmp_path, library, THREADS)
    report = json.loads(timeloom("report", "--json", run).stdout)
    assert report["cpu_s"] >= 0.4 and report["other_cpu_s"] < 0.02
    assert report["native_threads"] == []
    assert not [line for line in timeloom("report", run).stdout.splitlines() if line.startswith("+")]


def test_a_recording_of_a_part_has_the_time_of_that_part(tmp_path, library, timeloom):
    text = f"{BURN}import timeloom\nwith timeloom.Measurement(output='part'):\n    inside = burn(0.1)\ntell(other=inside)\n"
    (tmp_path / "app.py").write_text(text)
    subprocess.run([sys.executable, "app.py"], cwd=tmp_path, check=True, env=environment({"OTHER_CPU": library}), capture_output=True)
    told = json.loads((tmp_path / "told.json").read_text())
    report = json.loads(timeloom("report", "--json", tmp_path / "part").stdout)
    assert told["other"] - 0.005 <= report["other_cpu_s"] <= told["other"] + 0.05 and os.path.isdir(tmp_path / "part")


OUTSIDE = """
import time

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass

def recorded():
    spin(0.3)

recorded()
spin(0.2)
"""


def test_time_of_recorded_threads_outside_of_functions(tmp_path, timeloom):
    """What no function has worked is a line of its own, unless the report shows a part of the run."""
    (tmp_path / "app.py").write_text(OUTSIDE)
    timeloom("run", "--quiet", "--include", "__main__.recorded", "-o", "run", "app.py", cwd=tmp_path)
    lines = timeloom("report", "run", cwd=tmp_path).stdout.splitlines()
    (line,) = [line for line in lines if line.endswith(" of recorded threads outside of functions")]
    shown = re.match(r"\+ ([\d.]+) ms of CPU time \(", line)
    assert shown and 200 <= float(shown[1]) <= 300
    part = timeloom("report", "--thread", "MainThread", "run", cwd=tmp_path).stdout
    assert "outside of functions" not in part
