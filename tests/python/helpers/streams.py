"""Runs programs under each instrumenter and returns the contents of the spools."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from spool_reader import spools_of, stream

# The interpreter collects garbage by the number of objects, Timeloom's included; streams are compared whole.
NO_COLLECTIONS = {"TIMELOOM_GC": "off"}
PROGRAMS = Path(__file__).parents[1] / "programs"
INSTRUMENTERS = ["frame", "profile", "trace"]
C_INSTRUMENTERS = ["profile"]
if sys.version_info >= (3, 12):
    INSTRUMENTERS.insert(0, "monitoring")
    C_INSTRUMENTERS.insert(0, "monitoring")
each_instrumenter = pytest.mark.parametrize("instrumenter", INSTRUMENTERS)


def said_of_hook(instrumenter, *setters):
    """Return the line of a program that has set the function through which the instrumenter observes, or nothing."""
    setter = {"trace": "sys.settrace", "profile": "sys.setprofile"}.get(instrumenter)
    line = f"timeloom: the program has used {setter}, which observes it; calls in that time are not in the run"
    return f"{line} (--instrumenter frame records them) [TL069]\n" if setter in setters else ""


def of_program(name):
    return name.startswith("__main__.")


def environment(extra=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TIMELOOM_")}
    return {**kept, "PYTHONHASHSEED": "0", **NO_COLLECTIONS, **(extra or {})}


def run_python(arguments, directory, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=directory, capture_output=True, text=True, timeout=options.pop("timeout", 240),
        env=environment(options.pop("env", None)), **options,
    )  # fmt: skip


def write_program(directory, program):
    """A program is the name of a file in programs/, or a program text."""
    if "\n" not in program:
        return PROGRAMS / program
    path = directory / "program.py"
    path.write_text(program)
    return path


def streams_of(run, keep=of_program):
    """Return the streams of all locations with events to keep, in order of location.

    The balance of enters and leaves is checked for whole streams, before anything is left out.
    """
    (spool,) = spools_of(run)
    assert spool.ended and spool.lost == 0
    result = []
    for location in spool.locations():
        assert_balanced(spool, location)
        # Tasks of pools are Timeloom's own regions, and no function of the program.
        events = [list(event) for event in stream(spool, location, keep) if not str(event[1]).startswith("timeloom::")]
        if events:
            result.append(events)
    return result


def assert_balanced(spool, location):
    open_regions = []
    for kind, name, *_ in spool.events(location):
        if kind == "enter":
            open_regions.append(name)
        elif kind == "leave":
            assert open_regions and open_regions.pop() == name
    assert open_regions == [], f"left open at the end: {open_regions}"


def measure(program, instrumenter, directory, *options, keep=of_program, env=None):
    """(streams, process) of a program under Timeloom."""
    run = directory / f"run-{instrumenter}"
    process = run_python(
        ["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "--output", run,
         *options, write_program(directory, program)],
        directory, env=env,
    )  # fmt: skip
    return streams_of(run, keep), process


# The results of programs without Timeloom, computed once for all tests of a session (conftest.py).
REFERENCES = []


def kept(name, make):
    """Return the result of make(), a JSON value; computed once per session, by the first worker that needs it."""
    (directory,) = REFERENCES
    path = directory / hashlib.sha256(name.encode()).hexdigest()
    if not path.exists():
        mine = path.with_name(f"{path.name}-{os.getpid()}")
        mine.write_text(json.dumps(make()))
        mine.replace(path)
    return json.loads(path.read_text())


def reference(program, directory):
    """Return the streams of a program in programs/, from a profile function in Python in a plain process."""

    def make():
        out = directory / "reference.json"
        run_python([PROGRAMS / "reference.py", out, PROGRAMS / program], directory)
        return json.loads(out.read_text())

    return kept(f"reference {program}", make)


def run_program(program, directory):
    return run_python([write_program(directory, program)], directory)


def plain(program, directory):
    """Run a program without Timeloom, which writes no files: once per session."""

    def make():
        process = run_program(program, directory)
        return {"made in": str(directory), "returncode": process.returncode,
                "stdout": process.stdout, "stderr": process.stderr}  # fmt: skip

    found = kept(f"plain {program}", make)
    stdout, stderr = (found[name].replace(found["made in"], str(directory)) for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess([program], found["returncode"], stdout, stderr)


def difference(got, expected):
    """Describe the first difference of two streams; None if there is none."""
    for index, (a, b) in enumerate(zip(got, expected)):
        if list(a) != list(b):
            return f"event {index}: got {got[max(0, index - 4) : index + 3]}, expected {expected[max(0, index - 4) : index + 3]}"
    if len(got) != len(expected):
        shorter = min(len(got), len(expected))
        return f"{len(got)} events, expected {len(expected)}; from {shorter - 3}: {got[shorter - 3 : shorter + 4]} / {expected[shorter - 3 : shorter + 4]}"
    return None


def without_closed(stream, expected, closed):
    """Return a stream without the visits of generators that only Timeloom sees closed: those of `closed`, in their
    order."""
    rest, left = [], list(closed)
    for event in stream:
        place = len(rest)
        if left and event[1] == left[0] and (place >= len(expected) or list(event) != list(expected[place])):
            if event[0] == "leave":
                left.pop(0)
            continue
        rest.append(event)
    assert left == []
    return rest


def assert_same(got, expected):
    """Compare the streams of threads, in any order of locations."""
    assert len(got) == len(expected)
    order = json.dumps  # threads are unordered; the main thread is alone or among them
    for a, b in zip(sorted(got, key=order), sorted(expected, key=order)):
        problem = difference(a, b)
        assert problem is None, problem
