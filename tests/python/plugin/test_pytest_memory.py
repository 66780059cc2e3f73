"""Limits of a test's memory, with `pytest --timeloom-memory`: `@pytest.mark.timeloom(peak=…, leaks=…)`."""

import json
import re
import subprocess
import sys

import pytest
from pytest_sessions import session

pytestmark = pytest.mark.any_python

__all__ = ["session"]

TESTS = """
KEPT = []

@pytest.mark.timeloom(peak="8MB", leaks="100kB")
def test_small():
    bytearray(4_000_000)

@pytest.mark.timeloom(peak="8MB", leaks="100kB")
def test_peak():
    bytearray(20_000_000)

@pytest.mark.timeloom(leaks=1_000_000)
def test_leak():
    bytearray(20_000_000)
    KEPT.append(bytearray(3_000_000))

def test_without_limits():
    KEPT.append(bytearray(7_000_000))
"""


def test_limits_are_held_to_what_the_test_itself_takes(session):
    done = session(TESTS, "--timeloom-memory")
    assert (done.status, done.counts) == (1, {"passed": 2, "failed": 2})
    # pytest repeats the message in its summary where CI is set.
    lines = {line for line in done.text.splitlines() if line.startswith("  the test held")}
    (peak,) = [line for line in lines if "at its peak" in line]
    (leak,) = [line for line in lines if "at its end" in line]
    assert re.fullmatch(r"  the test held 20(\.\d)? MB at its peak more than before, allowed are 8 MB", peak)
    assert re.fullmatch(r"  the test held 3(\.\d\d)? MB at its end more than before, allowed are 1 MB", leak)


def test_session_has_the_allocations_of_each_test(session, program):
    done = session(TESTS, "--timeloom-memory", "-k", "without_limits")
    (run,) = done.directory.glob("timeloom-pytest-*")
    report = subprocess.run([program, "report", "--memory", "--json", run], capture_output=True, text=True, check=True)
    paths = [path for path in json.loads(report.stdout)["paths"] if path["path"][-1].endswith(".test_without_limits")]
    assert [path["largest_bytes"] // 1000 for path in paths] == [7_000]


def test_limits_of_memory_need_the_option(session):
    done = session(TESTS, "--timeloom", "-k", "small")
    assert done.counts == {"failed": 1}
    assert "peak and leaks are limits of memory, which pytest --timeloom-memory records [TL645]" in done.text


def test_a_size_that_is_none(session):
    values = ["8 megabytes", -1, float("inf"), True, "1e9999MB", ""]
    tests = [f"inf = float('inf')\n@pytest.mark.timeloom(peak={value!r})\ndef test_{i}(): pass\n" for i, value in enumerate(values)]
    done = session("".join(tests), "--timeloom-memory")
    assert done.counts == {"failed": len(values)}
    for value in values:
        assert f"peak takes bytes, or a size such as '100MB' or '64MiB', not {value!r} [TL643]" in done.text


def test_pytest_that_a_program_calls_is_not_begun_again(session, tmp_path, monkeypatch):
    """Beginning again would do twice what the program has done before."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    session("def test_it(): pass\n")
    program = "import pytest, sys; print('once'); sys.exit(pytest.main(['-p', 'timeloom.pytest_plugin', '--timeloom-memory']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("once")) == (4, 1)
    assert 'start that with LD_PRELOAD="$(timeloom preload --print --memory)" [TL644]' in done.stderr


def test_workers_of_xdist_hold_their_tests_to_limits(session):
    pytest.importorskip("xdist")
    done = session(TESTS, "--timeloom-memory", "-p", "xdist.plugin", "-n", "2")
    assert (done.status, done.counts) == (1, {"passed": 2, "failed": 2})


def test_pytest_begins_again_once_where_the_variable_is_removed(session, tmp_path):
    """What counts is the library that the process has: a name that is gone would begin pytest again for ever."""
    (tmp_path / "sitecustomize.py").write_text("import os\nos.environ.pop('LD_PRELOAD', None)\n")
    done = session("@pytest.mark.timeloom(peak=1e6, leaks=None)\ndef test_it(): pass\n", "--timeloom-memory",
                   variables={"PYTHONPATH": str(tmp_path)})
    assert done.counts == {"passed": 1}
