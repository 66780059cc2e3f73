"""Runs of pytest with Timeloom's plugin, each over a separate test file."""

import collections
import os
import re
import subprocess
import sys

import pytest
from profile_files import Profile, visits_by_region

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
        """The lines that report why a test exceeds its limits."""
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
        # Otherwise the inner pytest removes the files of earlier tests, which takes minutes.
        environment["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120,
                              env={**environment, **(variables or {})})
        return Session(done, tmp_path)

    return run


def visits_of(run):
    """{region: visits} of a run, without pytest's calls of Python's library before the test."""
    profile = Profile(run)
    visits = collections.Counter()
    for location in profile.locations:
        visits.update(visits_by_region(profile, location))
    return {name: count for name, count in visits.items() if "shop" in name}


LIMITED = """
@pytest.mark.timeloom(max_total="10min", max_visits={"shop.load": 3})
def test_good():
    shop.price(3)

@pytest.mark.timeloom(max_total=0.001, max_visits={"shop.load": 3, "shop.*": 5})
def test_bad():
    shop.price(6)
    shop.slow()
"""
