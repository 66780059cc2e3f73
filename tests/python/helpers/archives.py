"""Runs to report on, and helpers that read the program's output about them.

The runs are OTF2 archives written by the Python bindings of OTF2, that is by another tool, with numbers that can be
checked by hand.
"""

import json
import subprocess
from pathlib import Path

DEBIAN_PYTHON = "/usr/bin/python3"  # the one that has the bindings of OTF2
ARCHIVE_WRITER = Path(__file__).parent / "foreign" / "foreign_archive.py"

# Thread, then (time in ms, region to enter or None to leave).
MAIN = [
    (0, "main"), (1, "Solver.step"), (3, "dot"), (7, None), (10, None),
    (10, "Solver.step"), (11, "dot"), (13, None), (20, None),
    (20, "fib"), (21, "fib"), (22, "fib"), (24, None), (25, None), (30, None), (100, None),
]
WORKER = [(50, "Solver.step"), (60, None)]


def make_archive(directory, threads):
    subprocess.run([DEBIAN_PYTHON, str(ARCHIVE_WRITER), str(directory)],
                   input=json.dumps(threads), text=True, check=True)
    return directory


def milliseconds(row):
    return [row["visits"]] + [round(row[key + "_s"] * 1000, 9)
                              for key in ("inclusive", "exclusive", "mean", "min", "max")]


def one_line(done):
    """The error of a failing command: a single line and no output."""
    assert done.stdout == ""
    assert done.stderr.startswith("timeloom: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def report_json(timeloom, *arguments, **options):
    return json.loads(timeloom("report", "--json", *arguments, **options).stdout)
