"""Locks that blocks of a program, tests and cells of a notebook record."""

import subprocess
import sys

import pytest
from lock_runs import locks_of
from streams import environment

MEASURED = """
import threading, time, timeloom
lock = threading.Lock()
def test_lock():
    with lock:
        time.sleep(0.01)
def measured():
    with timeloom.Measurement(output="run", locks=True):
        test_lock()
if __name__ == "__main__":
    measured()
"""


@pytest.mark.parametrize(
    "words", [["program.py"], ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeloom", "program.py"]], ids=["block", "pytest"]
)
def test_locks_of_a_block_and_of_tests(timeloom, tmp_path, words):
    """Settings of the other doors, by keyword and by variable."""
    (tmp_path / "program.py").write_text(MEASURED)
    variables = {"TIMELOOM_LOCKS": "1", "TIMELOOM_OUTPUT": "run"} if "pytest" in words else {}
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment() | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    locks = locks_of(timeloom, tmp_path / "run")["locks"]
    (lock,) = [one for one in locks if "test_lock" in {holder["at"]["function"] for holder in one["holders"]}]
    assert lock["taken"] == 1 and lock["held_s"] >= 0.01


def test_locks_of_a_cell():
    arguments = pytest.importorskip("timeloom._notebook._arguments")
    assert arguments.of_timeloom("--locks").settings["locks"] is True
