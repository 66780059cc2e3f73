"""`pytest --timeloom`: real test files, run by a separate pytest."""

import json
import re
import subprocess
import sys

import pytest
from profile_files import Profile
from pytest_sessions import LIMITED, session, visits_of
from streams import environment

pytestmark = pytest.mark.any_python

__all__ = ["session"]


def test_each_test_has_a_run_of_its_own(session):
    done = session("""
@pytest.fixture
def three():
    shop.load(0)
    return 3

def test_price(three):
    assert shop.price(three) == 3

class TestAll:
    @pytest.mark.parametrize("n", [1, 2])
    def test_load(self, n):
        for _ in range(n):
            shop.load(n)
""", "--timeloom-traces")
    assert (done.status, done.counts) == (0, {"passed": 3})
    assert set(done.runs) == {"test_shop.py-test_price", "test_shop.py-TestAll-test_load-1",
                              "test_shop.py-TestAll-test_load-2"}
    assert visits_of(done.runs["test_shop.py-test_price"]) == {
        "test_shop.py::test_price": 1, "test_shop.test_price": 1, "shop.price": 1,
        "shop.price.<locals>.<genexpr>": 4, "shop.load": 3}
    assert visits_of(done.runs["test_shop.py-TestAll-test_load-2"])["shop.load"] == 2
    assert not [name for name in Profile(done.runs["test_shop.py-test_price"]).regions if "_pytest." in name]
    lines = done.text.splitlines()
    (title,) = [i for i, line in enumerate(lines) if line.strip("-") == " timeloom "]
    (directory,) = done.directory.glob("timeloom-pytest-*")
    assert lines[title + 1] == "slowest tests:"
    assert lines[title + 5] == f"3 tests measured, each run in {directory.name}"
    assert lines[title + 6].startswith(f"next, of the longest: timeloom report {directory.name}/test_shop.py-")


PLAIN = """
@pytest.fixture
def three():
    shop.load(0)
    return 3

def test_price(three):
    assert shop.price(three) == 3

@pytest.mark.parametrize("n", [1, 2])
def test_load(n):
    for _ in range(n):
        shop.load(n)

def test_slow():
    shop.slow()

def test_empty():
    pass
"""


def test_all_tests_are_regions_of_one_small_run(session):
    done = session(PLAIN, "--timeloom")
    assert (done.status, done.counts) == (0, {"passed": 5})
    (directory,) = done.directory.glob("timeloom-pytest-*")
    assert {path.name for path in directory.iterdir()} == {"MANIFEST.md", "profile.cubex"}
    assert sum(path.stat().st_size for path in directory.iterdir()) < 5 * 8_000
    assert visits_of(directory) == {
        "test_shop.py::test_price": 1, "test_shop.test_price": 1, "shop.price": 1, "shop.price.<locals>.<genexpr>": 4,
        "shop.load": 6, "test_shop.py::test_load[1]": 1, "test_shop.py::test_load[2]": 1, "test_shop.test_load": 2,
        "test_shop.py::test_slow": 1, "test_shop.test_slow": 1, "shop.slow": 1,
        "test_shop.py::test_empty": 1, "test_shop.test_empty": 1}
    lines = done.text.splitlines()
    (title,) = [i for i, line in enumerate(lines) if line == "slowest tests:"]
    assert lines[title + 1].endswith("  test_shop.py::test_slow") and lines[title + 1].split()[1] in ("ms", "s")
    assert len([line for line in lines[title + 1:] if re.match(r" *[\d.]+ \S+  test_shop\.py::", line)]) == 5
    assert f"5 tests measured as regions of the run {directory.name}" in lines
    assert f"next: timeloom report {directory.name}" in lines


def test_tests_with_limits_have_runs_of_their_own(session):
    done = session(PLAIN + LIMITED, "--timeloom")
    assert (done.status, done.counts) == (1, {"passed": 6, "failed": 1})
    (directory,) = done.directory.glob("timeloom-pytest-*")
    assert visits_of(directory)["shop.load"] == 6
    assert visits_of(directory / "test_shop.py-test_good")["shop.load"] == 3
    # By their own time, without starting and weaving a run.
    lines = done.text.splitlines()
    first = lines.index("slowest tests:") + 1
    assert sorted(line.split("::")[1] for line in lines[first : first + 2]) == ["test_bad", "test_slow"]
    assert "5 tests measured as regions of the run" in done.text


def test_the_workers_of_xdist_make_one_run(session, timeloom):
    pytest.importorskip("xdist")
    done = session(PLAIN, "--timeloom", "-p", "xdist", "-n", "2")
    assert (done.status, done.counts) == (0, {"passed": 5})
    (directory,) = done.directory.glob("timeloom-pytest-*")
    assert visits_of(directory)["shop.load"] == 6
    assert visits_of(directory)["test_shop.py::test_slow"] == 1
    assert not (directory / "spool").exists()
    groups = json.loads(timeloom("info", "--json", directory).stdout)["groups"]
    assert sorted(group["name"] for group in groups) == ["gw0", "gw1"]
    assert [group["arguments"] for group in groups] == [["-m", "pytest"]] * 2
    assert "slowest tests:" in done.text and "5 tests measured as regions of the run" in done.text


BESIDE = """
import os, pathlib, subprocess, sys, time

inner = "INNER" in os.environ
begun, over = pathlib.Path("begun"), pathlib.Path("over")

def wait_for(mark):
    end = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < end:
        time.sleep(0.01)

def pytest_collection_finish():  # no session has recorded anything yet
    if not inner:
        global other
        other = subprocess.Popen(sys.orig_argv, env={**os.environ, "INNER": "1"}, stdout=subprocess.DEVNULL)
        wait_for(begun)

def pytest_unconfigure():
    if not inner:
        over.touch()
        assert other.wait(60) == 0
"""


def test_sessions_of_one_output_have_directories_of_their_own(session, tmp_path):
    """The first one ends while the test of another is measured."""
    (tmp_path / "conftest.py").write_text(BESIDE)
    done = session("""
import conftest

def test_it():
    if conftest.inner:
        conftest.begun.touch()
        conftest.wait_for(conftest.over)
    else:
        shop.load(1)
    shop.load(2)
""", "--timeloom", variables={"TIMELOOM_OUTPUT": "mine"})
    assert (done.status, done.counts) == (0, {"passed": 1})
    assert visits_of(tmp_path / "mine")["shop.load"] == 2
    assert visits_of(tmp_path / "mine-2")["shop.load"] == 1


def test_a_session_that_records_nothing_leaves_no_directory(session, tmp_path):
    (tmp_path / "mine").mkdir()
    for options in (["--collect-only"], ["--help"], ["-k", "nothing"]):
        session(PLAIN, "--timeloom", *options, variables={"TIMELOOM_OUTPUT": "mine"})
        assert [path.name for path in tmp_path.glob("mine*")] == ["mine"], options


def test_processes_of_tests_are_processes_of_the_run(session, timeloom):
    """Including those that are not measured, and the parents of processes that have recorded twice."""
    done = session("""
import multiprocessing, subprocess, sys

def start():
    process = multiprocessing.get_context("spawn").Process(target=shop.load, args=(1,))
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", ""])

def test_first():
    start()

@pytest.mark.timeloom(max_total="10min")
def test_limited():
    pass

def test_second():
    start()
""", "--timeloom")
    assert (done.status, done.counts) == (0, {"passed": 3})
    (directory,) = done.directory.glob("timeloom-pytest-*")
    info = json.loads(timeloom("info", "--json", directory).stdout)
    assert sorted(group["creator"] is None for group in info["groups"]) == [False, False, True, True]
    assert info["properties"]["timeloom::unmeasured_processes"] == "2"


def test_settings_count(session):
    done = session("def test_it():\n    shop.load(1)\n", "--timeloom-traces",
                   variables={"TIMELOOM_OUTPUT": "mine", "TIMELOOM_PROFILE": "1", "TIMELOOM_EXCLUDE": "shop.*"})
    run = done.directory / "mine" / "test_shop.py-test_it"
    assert not (run / "traces.otf2").exists()
    assert visits_of(run) == {"test_shop.py::test_it": 1, "test_shop.test_it": 1}
    again = session("def test_it():\n    pass\n", "--timeloom-traces", variables={"TIMELOOM_OUTPUT": "mine"})
    assert again.counts == {"passed": 1}
    assert {one.name for one in (done.directory / "mine").iterdir()} == {
        "test_shop.py-test_it", "test_shop.py-test_it-2"}
    wrong = session("def test_it():\n    pass\n", "--timeloom", variables={"TIMELOOM_INSTRUMENTER": "none"})
    assert wrong.status == 4 and "TIMELOOM_INSTRUMENTER" in wrong.errors


def test_a_test_that_cannot_be_measured_runs(session):
    text = """
import timeloom

@pytest.fixture(autouse=True)
def other():
    with timeloom.region("before"):
        yield

def test_it(tmp_path, monkeypatch):
    pass

@pytest.mark.timeloom(max_total="2s")
def test_limited():
    pass
"""
    done = session(text, "--timeloom", variables={"TIMELOOM_OUTPUT": "/proc/none"})
    assert done.counts == {"passed": 1, "failed": 1, "warning": 1}
    assert "test_it is not measured: " in done.text
    assert "timeloom: the limits of the test cannot be checked: " in done.text


DIES = """
import os, signal, sys

def test_first():
    shop.load(1)
    shop.load(2)

def test_dies():
    shop.load(3)
    {how}
"""


@pytest.mark.parametrize("how, loads", [
    ("os._exit(3)", 3),
    ("os.kill(os.getpid(), signal.SIGKILL)", 3),
    ("os.execv('/bin/true', ['true'])", 3),
])
def test_a_session_that_dies_leaves_a_run(session, timeloom, tmp_path, how, loads):
    """Every command opens it, even without a name if there is an older one."""
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "older", "-c", "pass"], cwd=tmp_path, env=environment(), check=True)
    session(DIES.format(how=how), "--timeloom", variables={"TIMELOOM_OUTPUT": "newer"})
    done = timeloom("report", "--json", cwd=tmp_path)
    assert "newer was unfinished, woven now" in done.stderr
    assert visits_of(tmp_path / "newer")["shop.load"] == loads
    assert not (tmp_path / "newer" / "spool").exists()
    timeloom("info", "newer", cwd=tmp_path)


def test_the_workers_of_a_controller_that_is_killed_leave_a_run(session, timeloom, tmp_path):
    pytest.importorskip("xdist")
    done = session("""
import os, signal, time

def test_first():
    shop.load(1)

def test_kills():
    shop.load(2)
    controller = os.getppid()
    os.kill(controller, signal.SIGKILL)
    while os.getppid() == controller:
        time.sleep(0.01)
""", "--timeloom", "-p", "xdist", "-n", "1", variables={"TIMELOOM_OUTPUT": "mine"})
    assert done.status == -9
    timeloom("weave", "mine", cwd=tmp_path)
    assert visits_of(tmp_path / "mine")["shop.load"] == 2


def test_the_newest_run_is_one_of_a_session_of_traces(session, timeloom, tmp_path):
    session("def test_it():\n    shop.load(0)\n", "--timeloom", variables={"TIMELOOM_OUTPUT": "older"})
    done = session("def test_it():\n    shop.load(0)\n", "--timeloom-traces")
    directory = done.runs["test_shop.py-test_it"].parent.name
    run = f"{directory}/test_shop.py-test_it"
    assert json.loads(timeloom("report", "--json", cwd=tmp_path).stdout)["run"] == run
    refused = timeloom("info", directory, status=1, cwd=tmp_path)
    assert refused.stderr == (
        f"timeloom: {directory} contains runs, but is not a run; name one of them, such as {run} [TL204]\n")
