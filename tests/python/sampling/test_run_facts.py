"""What summary, report, info and score tell of runs with samples."""

import json
import subprocess
import sys

import pytest
from interpreter_runs import COMMON
from streams import environment

needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")

POOL = """
import multiprocessing

def square(n):
    return sum(i * i for i in range(n))

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(square, [200_000] * 6)
"""
EXEC = """
import os, sys, time
if len(sys.argv) == 1:
    while time.thread_time() < 0.5: sum(range(1000))
    os.execv("/bin/true", ["true"])
"""
SUB_INTERPRETER = COMMON + """
BURN = "import time\\nwhile time.thread_time() < 0.4: sum(range(1000))"
def before(): in_other(BURN)
before()
"""


@pytest.fixture
def record(tmp_path):
    def record(text, *options):
        (tmp_path / "app.py").write_text(text)
        command = [sys.executable, "-m", "timeloom", "-o", "run", *options, "app.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment())
        assert done.returncode == 0, done.stderr
        return done.stderr

    return record


@needs_monitoring
def test_summary_of_a_pool(record):
    """How many tasks there were is not known; the samples have their size."""
    told = record(POOL, "--sampling")
    assert "timeloom: 2 workers (multiprocessing)\n" in told
    assert ", 0 B" not in told.splitlines()[0] and " tasks" not in told


@pytest.mark.parametrize("options", [(), ("--sample", "1ms")])
def test_cpu_time_of_a_process_that_became_another_program(record, timeloom, tmp_path, options):
    record(EXEC, *options)
    report = json.loads(timeloom("report", "--json", tmp_path / "run").stdout)
    assert report["cpu_s"] >= 0.45


@needs_monitoring
def test_score_of_samples(record, timeloom, tmp_path):
    record(POOL, "--sampling")
    text = timeloom("score", "-r", tmp_path / "run").stdout
    assert text.startswith("\nThe calls of this run are made of samples (--sampling): ")
    assert " samples " in text and "visit" not in text and "max_buf" not in text
    refused = timeloom("score", "-g", tmp_path / "run", status=1)
    assert refused.stderr.endswith(" record it without --sampling [TL154]\n")


@needs_monitoring
def test_sub_interpreters_are_counted_and_their_time_is(record, timeloom, tmp_path):
    assert "timeloom: 1 sub-interpreter not recorded [TL002]\n" in record(SUB_INTERPRETER, "--sampling")
    lines = timeloom("report", tmp_path / "run").stdout.splitlines()
    assert "! 1 sub-interpreter not recorded [TL002]" in lines
    (outside,) = [line for line in lines if line.endswith(" of recorded threads outside of functions")]
    report = json.loads(timeloom("report", "--native", "--json", tmp_path / "run").stdout)
    callers = [one for function in report["functions"] for one in function["callers"]]
    # Its samples are there, and count for no function.
    assert sum(one["seconds"] for one in callers if not one["function"]) > 0.25, outside
