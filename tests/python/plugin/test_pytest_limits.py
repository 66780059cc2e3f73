"""Limits of tests, with `pytest --timeloom`: `@pytest.mark.timeloom(max_total=…, max_visits=…)`."""

import re

import pytest
from pytest_sessions import LIMITED, session, visits_of

pytestmark = pytest.mark.any_python

__all__ = ["session"]


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
    assert "@pytest.mark.timeloom(max_total=None, max_visits=None, peak=None, leaks=None): " in session("", "--markers").text


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


WRONG = {
    "max_total='soon'": "max_total takes seconds, or a time such as '300ms', not 'soon'",
    "max_total=-1": "max_total takes seconds, or a time such as '300ms', not -1",
    "max_total=True": "max_total takes seconds, or a time such as '300ms', not True",
    "max_visits=3": 'max_visits takes regions and numbers, such as {"shop.load": 3}',
    "max_visits={'shop.load': 1.5}": "max_visits takes whole numbers, not 1.5",
    "max_visits={3: 1}": "a limit is for a region by its name, not for 3",
    "max_calls=3": "the marker takes max_total, max_visits, peak and leaks, by their names",
    "'2s'": "the marker takes max_total, max_visits, peak and leaks, by their names",
}


def test_wrong_limits_fail_the_test(session):
    tests = [f"@pytest.mark.timeloom({marker})\ndef test_{number}():\n    pass\n" for number, marker in enumerate(WRONG)]
    done = session("\n".join(tests), "--timeloom")
    assert done.counts == {"failed": len(WRONG)}
    sections = re.split(r"^_+ test_(\d+) _+$", done.text, flags=re.MULTILINE)[1:]
    said = [re.findall("^timeloom: (.*)$", section.partition("short test summary")[0], re.MULTILINE) for section in sections[1::2]]
    assert (sections[::2], said) == ([str(number) for number in range(len(WRONG))], [[f"{what} [TL643]"] for what in WRONG.values()])
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
