"""Runs programs of several processes, and shows the run as its users see it."""

import collections
import json
import subprocess
import sys
import textwrap

import pytest
from profile_files import Profile, visits_by_region
from streams import environment

# Starts processes in the way that a test requires.
COMMON = """
import os, signal, sys, time

def work(n):
    for _ in range(n):
        step()

def step():
    pass
"""


class Run:
    """A woven run as its users see it: `timeloom info --json` and profile.cubex."""

    def __init__(self, directory, program):
        self.directory = directory
        done = subprocess.run(
            [program, "info", "--json", directory], capture_output=True, text=True, check=True
        )
        self.info = json.loads(done.stdout)
        self.groups = self.info["groups"]
        self.names = [group["name"] for group in self.groups]
        self._read = None

    def visits(self, region):
        """Visits of a region in each process."""
        when = (self.directory / "profile.cubex").stat().st_mtime_ns
        if self._read != when:
            self._read, self._visits = when, self._read_visits()
        return [visits[region] for visits in self._visits]

    def _read_visits(self):
        profile = Profile(self.directory)
        visits = [collections.Counter() for _ in self.groups]
        for location in profile.locations:
            visits[location["group"]].update(visits_by_region(profile, location))
        return visits

    @property
    def ending(self):
        return self.info["properties"].get("timeloom::ending", "")


@pytest.fixture
def measure(tmp_path, timeloom_program):
    def measure(text, *options, arguments=(), status=0, before=None):
        program = tmp_path / "program.py"
        program.write_text(COMMON + textwrap.dedent(text))
        run = tmp_path / "run"
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", run, *options, program, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(),
            preexec_fn=before,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (status, "")
        return Run(run, timeloom_program), done.stdout

    return measure
