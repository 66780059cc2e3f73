"""Starts ranks as MPI's launchers do: mpirun of Open MPI, mpiexec of MPICH."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from streams import environment

_COMMANDS = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpiexec.hydra"]}
LAUNCHERS = list(_COMMANDS)

_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# The rank and the work of a program that does not use MPI.
PROGRAM = """
import os, sys
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or 0)

def step():
    pass

def work(times):
    for _ in range(times):
        step()

work(10 + rank)
"""


def door(name, *options):
    """The words that measure a program through a door."""
    return [sys.executable, "-m", name, *options]


def names_of_ranks(number, kind="MPI Rank"):
    return [f"{kind} {rank}" for rank in range(number)]


def summaries(text):
    return re.findall(r"timeloom: [\d.]+ s, .*", text)


def build_regions(directory, timeloom_program):
    def config(option):
        words = [str(Path(timeloom_program).with_name("timeloom-config")), option]
        return shlex.split(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    source = Path(__file__).parents[2] / "native" / "regions.c"
    subprocess.run(["cc", *config("--cflags"), source, "-o", "regions", "-pthread", *config("--libs")],
                   cwd=directory, check=True)  # fmt: skip


class Ranks:
    """A directory with a program, and the way to start it as ranks there."""

    def __init__(self, directory, launcher):
        if shutil.which(_COMMANDS[launcher][0]) is None:
            pytest.skip(f"{launcher} is not installed; scripts/install_deps.sh does that")
        self.directory = directory
        self.launcher = launcher
        self.write(PROGRAM)

    def write(self, text, name="app.py"):
        (self.directory / name).write_text(textwrap.dedent(text))

    def start(self, number, *command, status=0, timeout=200, **variables):
        # A separate one, because two jobs of Open MPI that create the shared one at once fail.
        with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
            done = subprocess.run(
                [*_COMMANDS[self.launcher], "-n", str(number), *map(str, command)],
                cwd=self.directory, capture_output=True, text=True, timeout=timeout,
                env={**environment(), **_AS_ROOT, "TMPDIR": temporary, **variables}, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        assert status is None or (done.returncode != 0) == (status != 0), (done.stdout, done.stderr)
        return done

    @property
    def names(self):
        """Everything in the directory except the programs."""
        return sorted(name for name in os.listdir(self.directory) if not name.endswith(".py"))


@pytest.fixture(params=LAUNCHERS)
def ranks(request, tmp_path):
    return Ranks(tmp_path, request.param)
