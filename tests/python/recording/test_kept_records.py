"""Records that stay: while their results are not on the disk, and records of other runs among them."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest
from streams import environment

pytestmark = pytest.mark.any_python

STEPS = """
def step():
    pass

for _ in range(1000):
    step()
"""


@pytest.fixture
def record(tmp_path, program):
    def record(name, *options):
        (tmp_path / "steps.py").write_text(STEPS)
        words = [program, "run", "--quiet", "--no-weave", "-o", name, *options, "steps.py"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment())
        assert (done.returncode, done.stderr) == (0, "")
        return tmp_path / name

    return record


def log_of(run):
    return next((run / "spool").glob("*/log"))


def visits(timeloom, run):
    done = timeloom("report", "--json", run)
    rows = {row["name"]: row["visits"] for row in json.loads(done.stdout)["flat"]["rows"]}
    return rows["__main__.step"]


@pytest.mark.parametrize("how", ["a file of its own", "behind"])
def test_records_of_another_run_are_left_out_and_stay(record, timeloom, how):
    run, other = record("run"), record("other")
    if how == "behind":
        log_of(run).write_bytes(log_of(run).read_bytes() + log_of(other).read_bytes())
    else:
        shutil.copy(log_of(other), log_of(run).with_name("log-3"))
    files = {path: path.read_bytes() for path in log_of(run).parent.iterdir()}
    woven = timeloom("weave", run)
    assert "1 part of other recordings left out; the recording is kept in spool/" in woven.stdout
    assert "damaged" not in woven.stdout
    assert visits(timeloom, run) == 1000
    line = "1 part of other recordings lay in the files of the recording and was left out [TL492]"
    assert json.loads(timeloom("info", "--json", run).stdout)["losses"] == [line]
    assert {path: path.read_bytes() for path in log_of(run).parent.iterdir()} == files


def can_trace():
    probe = ["strace", "-qq", "-o", os.devnull, "-e", "trace=fsync", "true"]
    return shutil.which("strace") is not None and subprocess.run(probe, capture_output=True).returncode == 0


traced = pytest.mark.skipif(not can_trace(), reason="no strace, or tracing is not allowed here")


def begin_earlier(run, seconds=3600):
    then = time.time() - seconds
    os.utime(run / "scorep.cfg", (then, then))


def weave(program, run, *options):
    words = ["strace", "-f", "-y", "-o", run.parent / "calls", *options, program, "weave", run]
    return subprocess.run(words, capture_output=True, text=True, timeout=100)


@traced
@pytest.mark.parametrize("form", ["otf2", "packed"])
def test_results_are_on_the_disk_before_the_records_go(record, program, form):
    run = record("run", "--trace-format", form)
    begin_earlier(run)
    assert weave(program, run, "-e", "trace=fsync,rename,renameat,renameat2").returncode == 0
    assert not (run / "spool").exists()
    calls = (run.parent / "calls").read_text().splitlines()
    gone = next(i for i, call in enumerate(calls) if "rename" in call and re.search(r'"spool".*"\.woven"', call))
    synced = [re.search(r"<(.*)>\)? ", call)[1] for call in calls[:gone] if " fsync(" in call]
    names = {os.path.relpath(path, run).replace(".weaving/", "") for path in synced}
    results = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file() or path.name == "traces"}
    assert results - {"scorep.cfg"} <= names and {".", ".weaving"} <= names


@traced
def test_records_stay_where_the_disk_fails(record, program, timeloom):
    run = record("run")
    begin_earlier(run)
    done = weave(program, run, "-e", "trace=fsync", "-e", "inject=fsync:error=EIO")
    assert done.returncode == 1
    assert "nothing recorded was lost, weave again" in done.stderr and done.stderr.count("[TL214]") == 1
    assert (run / "spool").exists() and not (run / "traces.otf2").exists()
    assert visits(timeloom, run) == 1000
    assert not (run / "spool").exists()


@traced
def test_a_run_that_began_just_now_does_not_wait_for_the_disk(record, program):
    run = record("run")
    begin_earlier(run, 0)
    assert weave(program, run, "-e", "trace=fsync,fdatasync,syncfs").returncode == 0
    assert not (run / "spool").exists()
    assert "sync" not in (run.parent / "calls").read_text()
