"""`pytest --timeloom`: real test files, run by a pytest of their own."""

import collections
import json
import os
import re
import subprocess
import sys

import pytest
from profile_files import Profile, visits_by_region

pytestmark = pytest.mark.any_python

SHOP = """
import time

def load(n):
    return n

def price(n):
    return sum(load(i) for i in range(n))

def slow():
    time.sleep(0.02)
"""


class Session:
    def __init__(self, done, directory):
        self.text, self.status = done.stdout, done.returncode
        self.errors = done.stderr
        self.counts = {word: int(number) for number, word in re.findall(
            r"(\d+) (passed|failed|skipped|xfailed|error|warning)", self.text.rpartition("\n=")[2])}
        self.directory = directory

    @property
    def runs(self):
        (found,) = self.directory.glob("timeloom-pytest-*")
        return {run.name: run for run in found.iterdir()}

    def failure(self):
        """The lines that say why a test is beyond its limits."""
        lines = self.text.splitlines()
        (begin,) = [i for i, line in enumerate(lines) if line.endswith(" is beyond its limits")
                    and line.startswith("timeloom: ")]
        end = next(i for i in range(begin, len(lines)) if lines[i].startswith("  run: "))
        return lines[begin:end + 1]


@pytest.fixture
def session(tmp_path):
    """Runs pytest over a test file."""
    def run(text, *options, before=(), variables=None):
        (tmp_path / "shop.py").write_text(SHOP)
        (tmp_path / "test_shop.py").write_text("import pytest, shop\n" + text)
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
        command = [sys.executable, *before, "-m", "pytest", "-p", "timeloom.pytest_plugin", "--strict-markers",
                   *options]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # of whatever else is installed
        # Else the inner pytest removes what earlier tests of ours have left, which takes minutes.
        environment["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120,
                              env={**environment, **(variables or {})})
        return Session(done, tmp_path)

    return run


def visits_of(run):
    """{region: visits} of a run, without what pytest calls of Python's library before the test."""
    profile = Profile(run)
    visits = collections.Counter()
    for location in profile.locations:
        visits.update(visits_by_region(profile, location))
    return {name: count for name, count in visits.items() if "shop" in name}


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
    # By their own time, to which starting and weaving a run does not belong.
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
    """Also those that are not measured, and who has started whom where a process has recorded twice."""
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


LIMITED = """
@pytest.mark.timeloom(max_total="10min", max_visits={"shop.load": 3})
def test_good():
    shop.price(3)

@pytest.mark.timeloom(max_total=0.001, max_visits={"shop.load": 3, "shop.*": 5})
def test_bad():
    shop.price(6)
    shop.slow()
"""


def test_limits_are_told_in_words(session):
    done = session(LIMITED, "--timeloom")
    assert (done.status, done.counts) == (1, {"passed": 1, "failed": 1})
    head, total, load, each, generator, run = done.failure()
    assert head == "timeloom: test_shop.py::test_bad is beyond its limits"
    assert re.fullmatch(r"  the test took \d+(\.\d+)? m?s, allowed are 0.001s", total)
    assert load == "  shop.load was visited 6 times, allowed are 3"
    assert {each, generator} == {"  shop.price.<locals>.<genexpr> was visited 7 times, allowed are 5",
                                 "  shop.load was visited 6 times, allowed are 5"}
    assert re.fullmatch(r"  run: timeloom-pytest-[\d-]+/test_shop.py-test_bad", run)


def test_without_the_option_the_marker_does_nothing(session):
    done = session(LIMITED + """
@pytest.mark.timeloom(nonsense=1)
def test_nonsense():
    pass
""", "-W", "error")
    assert (done.status, done.counts) == (0, {"passed": 3})
    assert not list(done.directory.glob("timeloom-*"))
    assert "@pytest.mark.timeloom(max_total=None, max_visits=None): " in session("", "--markers").text


def test_times_of_regions(session):
    done = session("""
@pytest.mark.timeloom(max_total={"shop.slow": "1ms", "shop.load": "10min"})
def test_slow():
    shop.load(1)
    shop.slow()
""", "--timeloom")
    head, slow, run = done.failure()
    assert re.fullmatch(r"  shop.slow took 2\d(\.\d+)? ms, allowed are 1ms", slow) or "allowed are 1ms" in slow


def test_a_region_that_is_not_entered(session):
    done = session("""
@pytest.mark.timeloom(max_visits={"shop.laod": 2})
def test_misspelt():
    shop.load(1)

@pytest.mark.timeloom(max_visits={"shop.slow": 0})
def test_never():
    shop.load(1)
""", "--timeloom")
    assert done.counts == {"passed": 1, "failed": 1}
    assert done.failure()[1] == ("  shop.laod: no region of the run has this name; did you mean "
                                 "shop.load?")


def test_tests_that_fail_or_are_skipped_keep_their_reasons(session):
    done = session("""
pytestmark = pytest.mark.timeloom(max_visits={"shop.load": 0})

def test_fails():
    shop.load(1)
    assert 1 == 2

def test_skips():
    shop.load(1)
    pytest.skip("not today")

@pytest.mark.skip
def test_skipped():
    pass

@pytest.mark.xfail(strict=True)
def test_expected_to_be_beyond():
    shop.load(1)

@pytest.fixture
def broken():
    raise OSError("no shop")

def test_without_fixture(broken):
    pass
""", "--timeloom")
    assert done.counts == {"failed": 1, "skipped": 2, "xfailed": 1, "error": 1}
    assert "is beyond its limits" not in done.text and "assert 1 == 2" in done.text
    assert set(done.runs) == {"test_shop.py-test_fails", "test_shop.py-test_skips",
                              "test_shop.py-test_expected_to_be_beyond"}


@pytest.mark.parametrize("marker, what", [
    ("max_total='soon'", "max_total takes seconds, or a time such as '300ms', not 'soon'"),
    ("max_total=-1", "max_total takes seconds, or a time such as '300ms', not -1"),
    ("max_total=True", "max_total takes seconds, or a time such as '300ms', not True"),
    ("max_visits=3", 'max_visits takes regions and numbers, such as {"shop.load": 3}'),
    ("max_visits={'shop.load': 1.5}", "max_visits takes whole numbers, not 1.5"),
    ("max_visits={3: 1}", "a limit is for a region by its name, not for 3"),
    ("max_calls=3", "the marker takes max_total and max_visits, by their names"),
    ("'2s'", "the marker takes max_total and max_visits, by their names"),
])
def test_wrong_limits_fail_the_test(session, marker, what):
    done = session(f"@pytest.mark.timeloom({marker})\ndef test_it():\n    pass\n", "--timeloom")
    assert done.counts == {"failed": 1} and f"timeloom: {what}" in done.text
    assert "During handling" not in done.text


def test_names_of_tests_are_taken_as_they_are(session):
    done = session("""
@pytest.mark.timeloom(max_total="10min")
@pytest.mark.parametrize("text", ["a/b", 'say "[x]*"', "back\\\\\\\\slash)", "\u00e4", "a b"])
def test_it(text):
    pass
""", "--timeloom")
    assert (done.status, done.counts) == (0, {"passed": 5})
    assert len(done.runs) == 5


def test_unittest_and_threads(session):
    done = session("""
import threading, unittest

class Case(unittest.TestCase):
    def setUp(self):
        shop.load(0)

    @pytest.mark.timeloom(max_visits={"shop.load": 5})
    def test_threads(self):
        workers = [threading.Thread(target=shop.load, args=(n,)) for n in range(5)]
        for one in workers: one.start()
        for one in workers: one.join()
""", "--timeloom")
    assert done.counts == {"failed": 1}
    assert done.failure()[1] == "  shop.load was visited 6 times, allowed are 5"


def test_with_xdist(session):
    pytest.importorskip("xdist")
    done = session(LIMITED, "--timeloom", "-p", "xdist", "-n", "2")
    assert (done.status, done.counts) == (1, {"passed": 1, "failed": 1})
    assert done.failure()[2] == "  shop.load was visited 6 times, allowed are 3"
    assert set(done.runs) == {"test_shop.py-test_good", "test_shop.py-test_bad"}
    assert "2 tests measured, each run in timeloom-pytest-" in done.text


def test_under_timeloom_run(session):
    done = session(LIMITED, "--timeloom", before=["-m", "timeloom", "--quiet", "-o", "whole"])
    assert (done.status, done.counts, done.errors) == (0, {"passed": 2}, "")
    visits = visits_of(done.directory / "whole")
    assert visits["test_shop.py::test_good"] == visits["test_shop.py::test_bad"] == 1
    assert visits["shop.load"] == 9
    assert "2 tests measured as regions of the run whole" in done.text
    assert "! the limits of 2 tests were not checked: " in done.text
    assert not list(done.directory.glob("timeloom-pytest-*"))


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
    """Which every command opens, also by no name where there is an older one."""
    older = session("def test_it():\n    shop.load(0)\n", "--timeloom", variables={"TIMELOOM_OUTPUT": "older"})
    assert older.status == 0
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
        f"timeloom: {directory} holds runs and is none; name one of them, such as {run}\n")
