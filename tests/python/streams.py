"""Runs programs under each instrumenter and returns what the spools hold."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from spool_reader import spools_of, stream

PROGRAMS = Path(__file__).parent / "programs"
INSTRUMENTERS = ["frame", "profile", "trace"]
C_INSTRUMENTERS = ["profile"]
if sys.version_info >= (3, 12):
    INSTRUMENTERS.insert(0, "monitoring")
    C_INSTRUMENTERS.insert(0, "monitoring")


def of_program(name):
    return name.startswith("__main__.")


def environment(extra=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TIMELOOM_")}
    return {**kept, "PYTHONHASHSEED": "0", **(extra or {})}


def run_python(arguments, directory, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=directory, capture_output=True, text=True, timeout=options.pop("timeout", 240),
        env=environment(options.pop("env", None)), **options,
    )  # fmt: skip


def write_program(directory, program):
    """A program is the name of a file in programs/, or the text of one."""
    if "\n" not in program:
        return PROGRAMS / program
    path = directory / "program.py"
    path.write_text(program)
    return path


def streams_of(run, keep=of_program):
    """Streams of all locations that hold something to keep, in order of location.

    That enter and leave balance is checked for whole streams, before anything is left out.
    """
    (spool,) = spools_of(run)
    assert spool.ended and spool.lost == 0
    result = []
    for location in spool.locations():
        assert_balanced(spool, location)
        events = [list(event) for event in stream(spool, location, keep)]
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


# What programs come to without Timeloom, made once for all tests of a session (conftest.py).
REFERENCES = []


def kept(name, make):
    """What make() gives, a value of JSON; made once in a session, by whichever worker needs it first."""
    (directory,) = REFERENCES
    path = directory / hashlib.sha256(name.encode()).hexdigest()
    if not path.exists():
        mine = path.with_name(f"{path.name}-{os.getpid()}")
        mine.write_text(json.dumps(make()))
        mine.replace(path)
    return json.loads(path.read_text())


def reference(program, directory):
    """The streams of one of programs/ by a profile function in Python, in a plain process."""

    def make():
        out = directory / "reference.json"
        run_python([PROGRAMS / "reference.py", out, PROGRAMS / program], directory)
        return json.loads(out.read_text())

    return kept(f"reference {program}", make)


def run_program(program, directory):
    return run_python([write_program(directory, program)], directory)


def plain(program, directory):
    """The process of a program without Timeloom, which writes no files: it runs once in a session."""

    def make():
        process = run_program(program, directory)
        return {"made in": str(directory), "returncode": process.returncode,
                "stdout": process.stdout, "stderr": process.stderr}  # fmt: skip

    found = kept(f"plain {program}", make)
    stdout, stderr = (found[name].replace(found["made in"], str(directory)) for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess([program], found["returncode"], stdout, stderr)


def difference(got, expected):
    """The first difference of two streams, to be read by people; None if there is none."""
    for index, (a, b) in enumerate(zip(got, expected)):
        if list(a) != list(b):
            return f"event {index}: got {got[max(0, index - 4) : index + 3]}, expected {expected[max(0, index - 4) : index + 3]}"
    if len(got) != len(expected):
        shorter = min(len(got), len(expected))
        return f"{len(got)} events, expected {len(expected)}; from {shorter - 3}: {got[shorter - 3 : shorter + 4]} / {expected[shorter - 3 : shorter + 4]}"
    return None


def without_closed(stream, expected, closed):
    """A stream without the visits of generators that only Timeloom sees closed: those of `closed`, in their order."""
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
    """Compares streams of threads, wherever in the order of locations they are."""
    assert len(got) == len(expected)
    order = json.dumps  # threads have no order of their own; the main thread is alone or among them
    for a, b in zip(sorted(got, key=order), sorted(expected, key=order)):
        problem = difference(a, b)
        assert problem is None, problem
