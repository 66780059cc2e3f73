"""Calls that the interpreter hides from a frame hook: early patch releases of 3.11 hide __getitem__."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from spool_reader import spools_of, stream
from streams import INSTRUMENTERS, environment

import timeloom

PROGRAM = """
class Table:
    def __getitem__(self, key): return key
class Other:
    @property
    def value(self): return 1
    def method(self): return 2
def function(a, b=1): return a
def generate(count):
    for i in range(count): yield i
def run(table, other):
    for i in generate(500):
        table[i]; other.value; other.method(); function(i)
run(Table(), Other())
"""
VISITS = {"Table.__getitem__": 500, "Other.value": 500, "Other.method": 500, "function": 500, "generate": 501, "run": 1}


def visits(python, directory, *options):
    """(visits of the functions, lines on stderr)."""
    (directory / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [python, "-m", "timeloom", "--quiet", "--no-weave", *options, "-o", "run", "program.py"],
        cwd=directory, capture_output=True, text=True, timeout=60,
        env=environment({"PYTHONPATH": str(Path(timeloom.__file__).parents[1])}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (spool,) = spools_of(directory / "run")
    entered = [name.removeprefix("__main__.") for kind, name, *_ in stream(spool, 0) if kind == "enter"]
    return {name: entered.count(name) for name in VISITS}, done.stderr.splitlines()


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_every_call_is_recorded(tmp_path, instrumenter):
    assert visits(sys.executable, tmp_path, "--instrumenter", instrumenter) == (VISITS, [])


def asks_hook_too_rarely():
    """A Python of the same version as this one, of an early patch release."""
    places = [*os.environ["PATH"].split(os.pathsep), "/usr/bin"]
    for place in places if sys.version_info[:2] == (3, 11) else []:
        python = shutil.which("python3.11", path=place)
        if python is None:
            continue
        done = subprocess.run([python, "-c", "import sys; print(sys.version_info[2])"], capture_output=True, text=True)
        if done.returncode == 0 and int(done.stdout) <= 2:
            return python
    return None


@pytest.mark.skipif(asks_hook_too_rarely() is None, reason="there is no 3.11.0, 3.11.1 or 3.11.2 here")
@pytest.mark.parametrize(
    "options, line",
    [
        ((), "--instrumenter profile is used, which takes longer [TL015]"),
        (("--instrumenter", "frame"), "calls are missing (--instrumenter profile records all) [TL016]"),
        (("--async-tasks",), "calls are missing (--instrumenter profile records all) [TL016]"),
        (("--c-functions",), None),
        (("--instrumenter", "profile"), None),
    ],
)
def test_calls_that_the_hook_would_miss(tmp_path, options, line):
    found, lines = visits(asks_hook_too_rarely(), tmp_path, *options)
    start = "timeloom: this Python calls __getitem__ without asking the frame hook: "
    assert lines == ([start + line] if line else [])
    assert {**found, "Table.__getitem__": 500} == VISITS
    assert (found["Table.__getitem__"] < 500) == (line is not None and line.startswith("calls are missing"))


@pytest.mark.skipif(asks_hook_too_rarely() is None, reason="there is no 3.11.0, 3.11.1 or 3.11.2 here")
@pytest.mark.parametrize(
    "options",
    [("--instrumenter", "frame"), ("--async-tasks",), ("--overhead", "5%"), ("--profile",), ("--c-functions",)],
)
def test_the_run_keeps_that_calls_are_missing(tmp_path, timeloom, options):
    visits(asks_hook_too_rarely(), tmp_path, *options)
    missing = options not in (("--profile",), ("--c-functions",))
    line = "! calls of __getitem__ missing, for which this Python does not ask the frame hook: --instrumenter profile [TL016]"
    lost = [found for found in timeloom("report", "run", cwd=tmp_path).stdout.splitlines() if found.startswith("! calls")]
    assert lost == ([line] if missing else [])
    timeloom("check", "run", "visits(__main__.Table.__getitem__) <= 499", status=4 if missing else 1, cwd=tmp_path)
