"""Each rank converts its own events at its end: the run equals the one that a single weave makes of all records."""

import itertools
import re
import shutil
import subprocess

import mpi_runs
import pytest
from cube_files import sums_by_region
from mpi_runs import HERE, a_library, archive

pytestmark = pytest.mark.one_python
needs_printer = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")

EVERYTHING = HERE / "mpi_programs" / "everything.py"
SMALL = "from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n"


def conversions(run):
    """The results by rank."""
    found = run.glob("spool/rank-*/*/converted/result")
    return {int(path.parents[2].name.removeprefix("rank-")): path for path in found}


def events(run, location):
    """Yield the lines of otf2-print for events, one by one, since there may be a million."""
    with subprocess.Popen(["otf2-print", "-L", str(location), run / "traces.otf2"], stdout=subprocess.PIPE, text=True) as printer:
        yield from (line for line in printer.stdout if line[:2].isupper())
    assert printer.returncode == 0


def facts(line):
    """(kind, time, everything else): with names, because numbers of strings depend on the order of the ranks."""
    kind, time, rest = re.fullmatch(r"([A-Z0-9_]+)\s+\d+\s+(\d+) *(.*)\n", line).groups()
    return kind, int(time), re.sub(r"(Value|File): (.*) <\d+>", r"\1: \2", rest)


def definitions(run):
    printed = subprocess.run(["otf2-print", "-G", run / "traces.otf2"], capture_output=True, text=True, check=True).stdout
    return [line for line in printed.splitlines() if line.startswith(("LOCATION", "REGION ", "COMM", "GROUP", "METRIC", "PARAM", "IO_HANDLE"))]


def locations(run):
    return [int(line.split()[1]) for line in definitions(run) if line.startswith("LOCATION ")]


def woven_of_records(run, timeloom):
    """Return the same run without the ranks' conversions."""
    copy = run.parent / "of records" / run.name
    shutil.copytree(run, copy)
    for path in copy.glob("spool/rank-*/*/converted"):
        shutil.rmtree(path)
    for name in ("traces.otf2", "traces.def", "profile.cubex"):
        (copy / name).unlink()
    shutil.rmtree(copy / "traces")
    done = timeloom("weave", copy)
    assert (done.returncode, done.stderr) == (0, "")
    return copy


def assert_same(run, other, least):
    """Check for equal events (at least so many) and profiles; the run's events come from the ranks' conversions."""
    traces = {file.stat().st_ino for file in (run / "traces").iterdir()}
    for result in conversions(run).values():
        files = list((result.parent / "events").iterdir())
        assert files and all(file.suffix == ".evt" for file in files)
        assert {file.stat().st_ino for file in files} <= traces
    assert definitions(run) == definitions(other)
    count = 0
    for location in locations(run):
        for got, expected in itertools.zip_longest(events(run, location), events(other, location)):
            count += 1
            if got == expected:
                continue
            (kind, time, rest), (other_kind, other_time, other_rest) = facts(got), facts(expected)
            assert (kind, rest) == (other_kind, other_rest) and abs(time - other_time) <= 2
    assert count > least
    profiles = [directory / "profile.cubex" for directory in (run, other)]
    for metric in ("visits", "bytes_sent", "bytes_received"):
        assert len({str(sorted(sums_by_region(profile, metric).items())) for profile in profiles}) == 1
    assert sums_by_region(profiles[0], "time") == pytest.approx(sums_by_region(profiles[1], "time"), rel=1e-4, abs=1e-6)


OPTIONS = {
    "files and threads": ["--io", "posix", "--thread", "pthread"],
    "tasks and metrics": ["--async-tasks", "--metric-rusage", "ru_utime", "--metric-rusage-per-process", "ru_nvcsw"],
    "as Score-P": ["--layout", "scorep", "--results", "all", "--io", "posix", "--thread", "pthread"],
}


@needs_printer
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@a_library
def test_the_run_is_that_of_the_records(mpi, options, tmp_path, timeloom):
    run = tmp_path / "run"
    mpi_runs.run(mpi, 2, tmp_path, EVERYTHING, options=["--keep-spool", *options], SCOREP_ENABLE_TRACING="true",
                 **mpi.quiet)  # fmt: skip
    assert sorted(conversions(run)) == [0, 1]
    assert_same(run, woven_of_records(run, timeloom), 20_000)
    mpi_runs.assert_matched(archive(run))


@a_library
def test_a_rank_that_has_recorded_little_leaves_it_to_the_last(mpi, tmp_path):
    (tmp_path / "app.py").write_text(SMALL)
    mpi_runs.run(mpi, 2, tmp_path, "app.py", options=["--keep-spool"])
    assert conversions(tmp_path / "run") == {} and (tmp_path / "run" / "traces.otf2").exists()


@a_library
def test_what_is_not_to_be_woven_is_not_converted(mpi, tmp_path, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, EVERYTHING, options=["--no-weave"])
    assert conversions(tmp_path / "run") == {}
    assert timeloom("weave", tmp_path / "run").returncode == 0


@needs_printer
def test_a_program_in_c(tmp_path, timeloom, timeloom_program):
    program = mpi_runs.compiled(EVERYTHING.with_name("many.c"), "mpicc.openmpi", tmp_path)
    mpi_runs.run_native(mpi_runs.library_of("mpicc.openmpi"), 2, tmp_path, timeloom_program, program, options=["--keep-spool"])
    assert sorted(conversions(tmp_path / "run")) == [0, 1]
    assert_same(tmp_path / "run", woven_of_records(tmp_path / "run", timeloom), 2 * 3000 * 4)
