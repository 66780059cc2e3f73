"""A secret of the command line is in no file of a run, wherever the program repeats it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

COMMAND = Path(sys.executable).with_name("timeloom")
SECRET = "hunter-22-x"

PROGRAM = """
import multiprocessing, subprocess, sys, threading
import timeloom

def login(password):
    timeloom.marker("login " + password)
    timeloom.parameter_string("with", password)

def work():
    pass

if __name__ == "__main__":
    secret = sys.argv[2]
    login(secret)
    with timeloom.region(f"session of {secret}"):
        pass
    thread = threading.Thread(target=work, name="for " + secret)
    thread.start()
    thread.join()
    child = multiprocessing.get_context("fork").Process(target=login, args=(secret,), name="child " + secret)
    child.start()
    child.join()
    subprocess.run([sys.executable, "child.py", secret], check=True)
"""


def texts(run):
    """All that lies in the run, and what converting it gives."""
    files = [path.read_bytes() for path in run.rglob("*") if path.is_file()]
    made = run.with_name(f"{run.name}.json")
    subprocess.run([COMMAND, "convert", "--to", "chrome", "-o", made, run], check=True, capture_output=True)
    for words in (["info", "--all"], ["report", "--flat", "--all"]):
        done = subprocess.run([COMMAND, *words, run], capture_output=True)
        files.append(done.stdout + done.stderr)
    return b"\n".join([*files, made.read_bytes()])


def test_a_secret_is_nowhere_in_a_run(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    (tmp_path / "child.py").write_text("import sys\ndef child(text): pass\nchild(sys.argv[1])\n")
    options = ["--quiet", "--follow=all", "--label=args", "--keep-spool", "--record-arguments"]
    counts = {}
    for which in ("masked", "all"):
        done = subprocess.run([COMMAND, "run", *options, which, "-o", which, "app.py", "--password", SECRET], cwd=tmp_path,
                              env={**os.environ, "PYTHONWARNINGS": "ignore"}, capture_output=True, text=True)  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        found = texts(tmp_path / which)
        counts[which] = found.count(SECRET.encode())
        assert (b"session of ***" in found) == (b"for ***" in found) == (b"child ***" in found) == (which == "masked")
    assert counts["masked"] == 0 and counts["all"] > 10
