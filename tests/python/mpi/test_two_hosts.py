"""Ranks on two hosts, which share files but see nothing else of each other (two_hosts.py): one run, in time."""

import json
import os
import subprocess
import sys

import mpi_runs
import pytest
from mpi_runs import PATTERNS, archive, assert_matched, messages
from process_runs import Run
from test_conversions import EVERYTHING, assert_same, conversions, woven_of_records
from test_mpi import SEND, check_known
from two_hosts import ON_TWO_HOSTS, RANKS, fall_silent, hosts, nodes  # noqa: F401

pytestmark = [pytest.mark.one_python, pytest.mark.many_ranks]

@pytest.fixture
def open_mpi():
    found = [one for one in mpi_runs.implementations() if one.name == "Open MPI"]
    if not found:
        pytest.skip("mpi4py and Open MPI are not installed")
    return found[0]


def start(mpi, directory, *words, **variables):
    done = subprocess.run(
        [*mpi.command(4), *map(str, words)], cwd=directory, capture_output=True, text=True, timeout=200,
        env={**mpi_runs.environment(), **mpi.variables, **variables}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    # The launcher may complain on a busy machine: its child has set its group of processes before it.
    return {one["rank"]: one for one in said}, [line for line in done.stderr.splitlines() if "timeloom" in line]


@pytest.mark.parametrize("clocks", ["", "on"], ids=["time of day", "compared"])
@pytest.mark.parametrize("pattern", ["ring", "halo"])
def test_ranks_of_two_hosts_share_one_run(hosts, open_mpi, tmp_path, timeloom, timeloom_program, pattern, clocks):
    mpi = hosts.mpi(open_mpi, tmp_path, "TIMELOOM_COMPARE_CLOCKS")
    known, said = start(mpi, tmp_path, timeloom_program, "run", "-o", "run", PATTERNS, pattern,
                        TIMELOOM_COMPARE_CLOCKS=clocks)  # fmt: skip
    assert len(said) == 2
    assert "in 4 processes" in said[0]
    assert os.listdir(tmp_path) == ["run"]
    assert not (tmp_path / "run" / "spool").exists()
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    most = mpi_runs.MOST_BACKWARDS if clocks else 0
    read = check_known(known, 4, tmp_path, most)
    assert nodes(tmp_path / "run") == ON_TWO_HOSTS
    assert facts["unmatched"] == 0 and facts["backwards"] == assert_matched(read, most)


@pytest.mark.parametrize("clocks", ["", "on"], ids=["time of day", "compared"])
def test_each_rank_converts_its_own_events(hosts, open_mpi, tmp_path, timeloom, timeloom_program, clocks):
    """With the clock of its own host; the times of the run are nevertheless on one clock."""
    mpi = hosts.mpi(open_mpi, tmp_path, "TIMELOOM_COMPARE_CLOCKS")
    start(mpi, tmp_path, timeloom_program, "run", "--keep-spool", "-o", "run", EVERYTHING, TIMELOOM_COMPARE_CLOCKS=clocks)
    run = tmp_path / "run"
    assert sorted(conversions(run)) == [0, 1, 2, 3]
    assert_same(run, woven_of_records(run, timeloom), 40_000)
    assert nodes(run) == {**ON_TWO_HOSTS, "ForkProcess-1": "a"}


def test_the_bindings_of_score_p_on_two_hosts(hosts, open_mpi, tmp_path):
    variables = {"SCOREP_ENABLE_TRACING": "true", "SCOREP_EXPERIMENT_DIRECTORY": "e"}
    mpi = hosts.mpi(open_mpi, tmp_path, *variables)
    known, _ = start(mpi, tmp_path, sys.executable, "-m", "scorep", "--mpp=mpi", PATTERNS, "ring", **variables)
    assert os.listdir(tmp_path) == ["e"]
    (tmp_path / "e").rename(tmp_path / "run")
    check_known(known, 4, tmp_path)
    assert nodes(tmp_path / "run") == ON_TWO_HOSTS


def endings(run, timeloom_program):
    return [group["ending"] for group in Run(run, timeloom_program).info["groups"]]


def assert_left_by_all(run):
    """The records of the ranks before the last of them was killed."""
    assert os.listdir(run.parent) == ["run"]
    assert not (run / "spool").exists()
    read = archive(run)
    assert sorted(read["processes"]) == [0, 1, 2, 3]
    assert messages(read, 3, *SEND) == [[0, 0, 80]]
    assert_matched(read)


def test_a_rank_that_is_killed_on_the_other_host(hosts, open_mpi, tmp_path, timeloom, timeloom_program):
    """From here its end is not visible: it counts as running, and its records are kept, until it has been silent for
    long."""
    mpi = hosts.mpi(open_mpi, tmp_path)
    run = tmp_path / "run"
    mpi_runs.run(mpi, 4, tmp_path, PATTERNS, "killed", status=None)
    timeloom("info", run)
    assert endings(run, timeloom_program)[3] == "still running"
    assert (run / "spool").exists()
    fall_silent(run)
    timeloom("info", run)
    assert "still running" not in endings(run, timeloom_program)
    assert_left_by_all(run)


def test_its_own_host_sees_that_a_rank_is_gone(hosts, open_mpi, tmp_path, timeloom_program):
    mpi = hosts.mpi(open_mpi, tmp_path)
    run = tmp_path / "run"
    mpi_runs.run(mpi, 4, tmp_path, PATTERNS, "killed", status=None)
    info = hosts.b.command(tmp_path, timeloom_program, "info", "--json", run)
    done = subprocess.run(info, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["groups"][3]["ending"] == "ended before the measurement could be finished"
    fall_silent(run)  # the ranks of the other host
    subprocess.run(info, check=True, capture_output=True)
    assert_left_by_all(run)
