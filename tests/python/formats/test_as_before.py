"""Runs made by an earlier version, and the output of each command for them, which must stay the same byte by byte.

The runs are in tests/data/before: `run` is woven and has an index of the viewer, `unwoven` has raw records. To change
the output of a command on purpose, set TIMELOOM_WRITE_BEFORE=1, run this module and read the difference.
"""

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

DATA = Path(__file__).parents[2] / "data" / "before"
WRITES = os.environ.get("TIMELOOM_WRITE_BEFORE") == "1"
FORMATS = ("perfetto", "chrome", "speedscope", "collapsed", "pprof", "pstats", "csv", "json", "arrow", "callgrind", "firefox")

COMMANDS = {
    "report": ["report", "run"],
    "report-full": ["report", "--full", "run"],
    "report-tree": ["report", "--tree", "run"],
    "report-flat": ["report", "--flat", "run"],
    "report-csv": ["report", "--csv", "run"],
    "report-json": ["report", "--json", "run"],
    "report-by-module": ["report", "--by", "module", "run"],
    "report-by-thread": ["report", "--by", "thread", "run"],
    "report-by-process": ["report", "--by", "process", "--json", "run"],
    "report-function": ["report", "--function", "__main__.recursive", "run"],
    "report-function-json": ["report", "--function", "*marked*", "--json", "run"],
    "report-slowest": ["report", "--slowest", "run"],
    "report-io": ["report", "--io", "run"],
    "report-mpi": ["report", "--mpi", "run"],
    "report-from": ["report", "--from", "100ms", "--to", "200ms", "run"],
    "report-unwoven": ["report", "unwoven"],
    "info": ["info", "run"],
    "info-json": ["info", "--json", "run"],
    "check": ["check", "run", "visits(__main__.recursive) <= 300", "total(__main__.leaf) < 1s"],
    "check-json": ["check", "--json", "run", "visits(__main__.marked) == 41"],
    "check-failed": ["check", "run", "visits(__main__.leaf) < 2"],
    "diff": ["diff", "run", "unwoven"],
    "diff-json": ["diff", "--json", "run", "unwoven"],
    "score": ["score", "run"],
    "score-regions": ["score", "-r", "run"],
    "view-text": ["view", "--text", "run"],
    "no-run": ["report", "nothing-here"],
    "wrong-option": ["report", "--flatt", "run"],
} | {f"convert-{name}": ["convert", "--to", name, "-o", f"converted.{name}", "run"] for name in FORMATS}


@pytest.fixture
def runs(tmp_path):
    for name in ("run", "unwoven"):
        with tarfile.open(DATA / f"{name}.tar.xz") as archive:
            archive.extractall(tmp_path, filter="data")
    return tmp_path


def said(program, words, directory) -> bytes:
    """Return everything that a command prints and writes, with its status."""
    variables = {"PATH": os.environ["PATH"], "TZ": "UTC", "COLUMNS": "100", "LANG": "C.UTF-8"}
    done = subprocess.run([program, *words], cwd=directory, env=variables, capture_output=True)
    text = done.stdout + b"--- stderr\n" + done.stderr + b"--- status %d\n" % done.returncode
    if words[0] != "convert":
        return text
    made = (directory / words[4]).read_bytes()
    return text + b"--- sha256 %s\n" % hashlib.sha256(made).hexdigest().encode()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_it_did(program, runs, name):
    text = said(program, COMMANDS[name], runs)
    expected = DATA / f"{name}.txt"
    if WRITES:
        expected.write_bytes(text)
    assert text == expected.read_bytes()
