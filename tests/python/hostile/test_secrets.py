"""No file of a run contains a secret of the command line, wherever the program repeats it."""

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
    timeloom.parameter_int("number of " + password, 1)
    timeloom.counter("count of " + password, 1)

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
    for way in ("fork", "forkserver"):
        child = multiprocessing.get_context(way).Process(target=login, args=(secret,), name=f"{way} {secret}")
        child.start()
        child.join()
        assert child.exitcode == 0
    subprocess.run([sys.executable, "child.py", secret], check=True)
    subprocess.run([sys.executable, "between.py"], input=secret, text=True, check=True)
"""


def texts(run):
    """Everything in the run, and the output of converting it."""
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
    # The grandchild has neither the secret of its own command line nor its parent's.
    (tmp_path / "between.py").write_text("import subprocess, sys\nsubprocess.run([sys.executable, 'below.py'], check=True)\n")
    (tmp_path / "below.py").write_text("import timeloom\nwith timeloom.region('below ' + input()): pass\n")
    options = ["--quiet", "--follow=all", "--label=args", "--keep-spool", "--record-arguments"]
    counts = {}
    for which in ("masked", "all"):
        done = subprocess.run([COMMAND, "run", *options, which, "-o", which, "app.py", "--password", SECRET], cwd=tmp_path,
                              env={**os.environ, "PYTHONWARNINGS": "ignore"}, capture_output=True, text=True)  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        found = texts(tmp_path / which)
        counts[which] = found.count(SECRET.encode())
        for text in (b"session of ***", b"for ***", b"fork ***", b"forkserver ***", b"below ***",
                     b"number of ***", b"count of ***"):
            assert (text in found) == (which == "masked"), text
    assert counts["masked"] == 0 and counts["all"] > 10
