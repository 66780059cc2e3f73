"""Threads that never record again: their waiting does not count as work."""

import json
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from spool_reader import Spool
from streams import environment

pytestmark = pytest.mark.any_python

SYNC = 36  # bytes of a record of that kind

KILLED = """
import os, signal, sys, threading, time

def serve(): threading.Event().wait(30)

def idle(): threading.Event().wait(30)

def epoch():
    pid = os.fork()
    if pid == 0:
        threading.Thread(target=idle).start()
        serve()
    time.sleep(1.4)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)

epoch()
"""

LIVES = """
import sys, threading
def idle(): threading.Event().wait()
threading.Thread(target=idle, daemon=True).start()
print("begun", flush=True)
sys.stdin.read()
"""


def command(tmp_path, text, *options):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    return [sys.executable, "-m", "timeloom", "--quiet", "-o", tmp_path / "run", *options, program]


def rows_by(timeloom, run, word):
    rows = json.loads(timeloom("report", "--json", "--by", word, run).stdout)["rows"]
    return {row["name"]: row for row in rows}


def parts_of(row):
    assert row["total_s"] == pytest.approx(row["working_s"] + row["waiting_s"] + row["unmeasured_s"])
    return row["working_s"], row["waiting_s"], row["unmeasured_s"]


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=" ".join)
def test_a_killed_child_has_waited(tmp_path, timeloom, options):
    """Last looked at when it was about a second old: the time of its process ends there."""
    subprocess.run(command(tmp_path, KILLED, *options), cwd=tmp_path, env=environment(), check=True, timeout=60)
    run = tmp_path / "run"
    rows = rows_by(timeloom, run, "thread")
    child = [row for name, row in rows.items() if "(fork)" in name]
    assert len(child) == 2
    for row in child:
        working, waiting, unmeasured = parts_of(row)
        assert waiting + unmeasured > 10 * working, row
        assert waiting > 0.9, row
    facts = json.loads(timeloom("report", "--json", "--function", "threading.Condition.wait", run).stdout)
    assert facts["own_s"] - facts["waiting_s"] - facts["unmeasured_s"] < 0.1
    assert "unmeasured" not in rows_by(timeloom, run, "module")


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=" ".join)
def test_a_run_that_is_opened_while_it_lives(tmp_path, timeloom, options):
    process = subprocess.Popen(
        command(tmp_path, LIVES, *options), cwd=tmp_path, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.stdout.readline()
        (spool,) = (path.parent for path in (tmp_path / "run").glob("spool/*/defs"))
        while Spool(spool).sync_bytes < 4 * SYNC:  # the fourth comparison of the clocks is a second late
            time.sleep(0.05)
        rows = rows_by(timeloom, tmp_path / "run", "thread")
    finally:
        process.communicate(timeout=60)
    assert process.returncode == 0
    working, waiting, unmeasured = parts_of(next(row for name, row in rows.items() if name.startswith("Thread-1")))
    assert waiting > 0.9 and working < 0.1, rows


def test_daemon_threads_at_the_end(tmp_path, timeloom):
    text = LIVES.replace("sys.stdin.read()", "import time; time.sleep(0.5)")
    subprocess.run(command(tmp_path, text), cwd=tmp_path, env=environment(), check=True, timeout=60)
    working, waiting, unmeasured = parts_of(
        next(row for name, row in rows_by(timeloom, tmp_path / "run", "thread").items() if name.startswith("Thread-1"))
    )
    assert waiting > 0.4 and working < 0.1 and unmeasured == 0


def test_a_spool_without_looks_is_unmeasured(tmp_path, timeloom):
    """Like rings of earlier versions, which contain no clocks."""
    text = "import os, signal, time\ndef f(): time.sleep(1.3); os.kill(os.getpid(), signal.SIGKILL)\nf()\n"
    done = subprocess.run(command(tmp_path, text), cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == -signal.SIGKILL
    (spool,) = (path.parent for path in (tmp_path / "run").glob("spool/*/defs"))
    with open(spool / "ring", "r+b") as ring:
        ring.seek(64)
        ring.write(bytes(65536 - 64))
    run = tmp_path / "run"
    ((working, waiting, unmeasured),) = map(parts_of, rows_by(timeloom, run, "process").values())
    assert unmeasured > 0.9 and working < 0.3 and waiting < 0.1
    text = timeloom("report", run).stdout
    assert " unmeasured: " in text
    (head,) = [line for line in timeloom("report", "--by", "module", run).stdout.splitlines() if line.startswith(" share")]
    assert "unmeasured" in head
    for exported in ("collapsed", "speedscope", "chrome"):
        assert "unmeasured" in timeloom("convert", "--to", exported, "-o", "-", run).stdout
