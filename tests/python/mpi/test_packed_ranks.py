"""Ranks of a packed run pack their own events at their end: the trace equals the one of their records, word for word."""

import re
import shutil
import signal
import subprocess
import sys

import mpi_runs
import pytest
from launchers import door, ranks  # noqa: F401
from mpi_runs import HERE, a_library
from process_runs import Run
from streams import environment

EVERYTHING = HERE / "mpi_programs" / "everything.py"
needs_printer = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")
RANK = b"TLPK\x02\x00\x05\x00"  # the start of the section of a rank
PACKED = ["--trace-format", "packed"]
# Enough for a rank to pack its events itself.
PROGRAM = """
import os, signal, sys, threading, time
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or 0)

def step(n):
    return n + 1

def work(times):
    for n in range(times):
        step(n)

thread = threading.Thread(target=work, args=(100 + rank,))
thread.start()
thread.join()
work(10_000 + rank)
if "meet" in sys.argv:  # so that no rank ends before another one has begun
    open(f"begun-{os.environ['TIMELOOM_JOB']}-{rank}", "w").close()
    while not all(os.path.exists(f"begun-{os.environ['TIMELOOM_JOB']}-{other}") for other in range(int(os.environ["PMI_SIZE"]))):
        time.sleep(0.01)
if "kill" in sys.argv and rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def packed_files(run):
    return list(run.glob("spool/packed-*"))


def logs(run):
    """The ranks that have a log."""
    return sorted(int(path.parents[1].name.removeprefix("rank-")) for path in run.glob("spool/rank-*/*/log"))


def woven_of_records(run, timeloom):
    """Return the same run without the packed events of its ranks. REQUIRES: it has its spool, with all logs."""
    copy = run.parent / "of records" / run.name
    shutil.copytree(run, copy)
    for file in packed_files(copy):
        file.unlink()
    for name in ("traces.packed", "profile.cubex"):
        (copy / name).unlink()
    done = timeloom("weave", copy)
    assert (done.returncode, done.stderr) == (0, "")
    return copy


def events(run, timeloom):
    """The events of each location as otf2-print shows them, with names only: the order of numbers depends on threads."""
    directory = run.parent / (run.name + ".otf2")
    done = timeloom("convert", run, "--to", "otf2", "-o", directory)
    assert done.returncode == 0, done.stderr
    printed = subprocess.run(
        ["otf2-print", directory / "traces.otf2"], capture_output=True, text=True, check=True
    ).stdout
    found = {}
    for line in printed.splitlines():
        if match := re.match(r"[A-Z0-9_]+\s+(\d+)\s+\d+ ", line):
            found.setdefault(match[1], []).append(re.sub(r" <\d+>", "", line))
    return found


def assert_same(run, timeloom, least):
    """Check for equal events; at least so many ranks of `run` have packed theirs."""
    [file] = packed_files(run)
    assert file.read_bytes().count(RANK) >= least
    got, expected = (events(one, timeloom) for one in (run, woven_of_records(run, timeloom)))
    assert got.keys() == expected.keys() and len(got) >= least
    for location, lines in got.items():
        assert lines == expected[location]
        assert len(lines) > 2


class Job:
    """Ranks of a job, started without a launcher."""

    def __init__(self, directory, name, size, *words):
        (directory / "app.py").write_text(PROGRAM)
        self.run = directory / name
        self.ranks = [
            subprocess.Popen(
                [sys.executable, "-m", "timeloom", "-o", name, *PACKED, "app.py", "meet", *words],
                cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={**environment(), "PMI_RANK": str(rank), "PMI_SIZE": str(size), "TIMELOOM_JOB": name},
            )
            for rank in range(size)
        ]  # fmt: skip

    def wait(self):
        """The statuses of the ranks."""
        for rank in self.ranks:
            rank.communicate(timeout=300)
        return [rank.returncode for rank in self.ranks]


def assert_visits(run, timeloom_program, expected):
    assert Run(run, timeloom_program).visits("__main__.step") == expected


def expected_visits(size):
    return [10_000 + 100 + 2 * rank for rank in range(size)]


@needs_printer
@pytest.mark.one_python
@pytest.mark.parametrize(
    "number", [4, pytest.param(16, marks=pytest.mark.many_ranks), pytest.param(64, marks=pytest.mark.many_ranks)]
)
def test_the_trace_is_that_of_the_records(ranks, number, timeloom, timeloom_program):
    ranks.write(PROGRAM)
    done = ranks.start(number, *door("timeloom", "-o", "run", "--keep-spool", *PACKED), "app.py", timeout=800)
    run = ranks.directory / "run"
    assert logs(run) == list(range(number)), done.stderr
    assert_visits(run, timeloom_program, expected_visits(number))
    assert_same(run, timeloom, number)


OPTIONS = {
    "files and threads": ["--io", "posix", "--thread", "pthread"],
    "tasks and metrics": ["--async-tasks", "--metric-rusage", "ru_utime", "--metric-rusage-per-process", "ru_nvcsw"],
    "as Score-P": ["--layout", "scorep", "--results", "all", "--io", "posix", "--thread", "pthread"],
}


@needs_printer
@pytest.mark.one_python
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@a_library
def test_messages_files_and_tasks(mpi, options, tmp_path, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, EVERYTHING, options=["--keep-spool", *PACKED, *options], SCOREP_ENABLE_TRACING="true",
                 **mpi.quiet)  # fmt: skip
    assert_same(tmp_path / "run", timeloom, 2)


@pytest.mark.one_python
def test_two_jobs_in_one_directory(tmp_path, timeloom_program):
    jobs = [Job(tmp_path, name, 3) for name in ("one", "two")]
    for job in jobs:
        assert job.wait() == [0, 0, 0]
    for job in jobs:
        assert_visits(job.run, timeloom_program, expected_visits(3))
        assert not (job.run / "spool").exists()


@pytest.mark.one_python
def test_a_killed_rank_keeps_its_records(tmp_path, timeloom, timeloom_program):
    """The others have packed theirs; where nobody wove the run, the next command does."""
    job = Job(tmp_path, "run", 3, "kill")
    assert sorted(job.wait()) == [-signal.SIGKILL, 0, 0]
    done = timeloom("report", job.run)
    assert done.returncode == 0, done.stderr
    assert_visits(job.run, timeloom_program, expected_visits(3))
    assert (job.run / "traces.packed").exists()
