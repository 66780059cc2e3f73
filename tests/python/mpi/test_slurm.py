"""Ranks started by Slurm on two hosts (slurm_cluster.py): by srun, with and without MPI, in jobs of sbatch, cancelled
ones."""

import json
import os
import re
import time
from pathlib import Path

import mpi_runs
import pytest
import slurm_cluster
from launchers import PROGRAM
from mpi_runs import PATTERNS
from process_runs import Run
from test_mpi import check_known
from two_hosts import ON_TWO_HOSTS, RANKS, fall_silent, hosts, nodes  # noqa: F401

pytestmark = [pytest.mark.one_python, pytest.mark.many_ranks]

EXAMPLE = Path(__file__).parents[3] / "examples" / "slurm.sh"
FOUR = ["--nodes=2", "--ntasks-per-node=2"]
HEAD = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=2\n"
WITH_RANK = PROGRAM.replace('or os.environ.get("PMI_RANK")', 'or os.environ["SLURM_PROCID"]')


@pytest.fixture(scope="module")
def cluster(hosts, tmp_path_factory, timeloom_program):
    if slurm_cluster.missing():
        pytest.skip(slurm_cluster.missing())
    with slurm_cluster.Cluster(hosts, tmp_path_factory.mktemp("slurm"), Path(timeloom_program).parent) as made:
        yield made


@pytest.fixture
def work(tmp_path):
    (tmp_path / "app.py").write_text(WITH_RANK)
    return tmp_path


def names(work):
    return sorted(name for name in os.listdir(work) if not name.endswith((".py", ".sh")))


def summaries(text):
    return re.findall(r"^timeloom: [\d.]+ s, .*", text, re.MULTILINE)


def assert_one_run(run, timeloom_program):
    assert not (run / "spool").exists()
    assert nodes(run) == ON_TWO_HOSTS
    assert Run(run, timeloom_program).visits("__main__.step") == [10, 11, 12, 13]


def implementation(name):
    found = [one for one in mpi_runs.implementations() if one.name == name]
    if not found:
        pytest.skip(f"mpi4py and {name} are not installed")
    return found[0]


def assert_known(text, directory):
    said = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    check_known({one["rank"]: one for one in said}, 4, directory)
    assert nodes(directory / "run") == ON_TWO_HOSTS


def test_ranks_of_srun_share_one_run(cluster, work, timeloom_program):
    """Also if the ranks of one host have ended before the ranks of the other start."""
    done = cluster.run(work, "srun", *FOUR, "timeloom", "run", "-o", "run", "app.py")
    assert names(work) == ["run"]
    assert len(summaries(done.stderr)) == 1
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert_one_run(work / "run", timeloom_program)


# The ring is not for MPICH before 4.2: over UCX it waits for ever in MPI_Finalize in half of the tries, with and without
# Timeloom, where some ranks have exchanged nothing (https://github.com/pmodels/mpich/pull/6596).
@pytest.mark.parametrize(("name", "way", "pattern"), [("Open MPI", "pmix", "ring"), ("MPICH", "pmi2", "collectives")])
def test_messages_of_ranks_that_srun_has_started(cluster, work, name, way, pattern):
    mpi = implementation(name)
    tried = cluster.run(work, "srun", f"--mpi={way}", "true", status=None)
    if tried.returncode != 0:
        pytest.skip(f"Slurm has no {way} here: {tried.stderr.splitlines()[0]}")
    done = cluster.run(work, "srun", f"--mpi={way}", *FOUR, "timeloom", "run", "-o", "run", PATTERNS, pattern,
                       **{**mpi.variables, "OMPI_MCA_btl": "self,vader,tcp"})  # fmt: skip
    assert_known(done.stdout, work)


def batch(cluster, work, *words, status=0, **variables):
    """The output of a job that runs to its end."""
    cluster.run(work, "sbatch", "--wait", "--output=said", *words, status=status, **variables)
    return (work / "said").read_text()


def test_mpirun_in_a_job(cluster, work):
    mpi = implementation("Open MPI")
    (work / "job.sh").write_text(f"{HEAD}mpirun.openmpi timeloom run -o run {PATTERNS} ring\n")
    said = batch(cluster, work, "job.sh", **{**mpi.variables, "OMPI_MCA_btl": "self,vader,tcp"})
    assert_known(said, work)


def test_each_step_of_a_job_has_a_run(cluster, work, timeloom_program):
    (work / "job.sh").write_text(f"{HEAD}for name in first second first; do srun timeloom run -o $name app.py; done\n")
    said = batch(cluster, work, "job.sh", status=2)
    assert names(work) == ["first", "said", "second"]
    assert len(summaries(said)) == 2
    assert said.count("replace it with --force") == 4
    for name in ("first", "second"):
        assert_one_run(work / name, timeloom_program)


def test_the_example(cluster, work, timeloom_program):
    said = batch(cluster, work, *FOUR, EXAMPLE, "app.py")
    (run,) = work.glob("run-*")
    assert_one_run(run, timeloom_program)
    assert "where the time went" in said


# Each rank reports its start, and stays.
STAYS = WITH_RANK + """
import signal, time
{before}
open(f"begun-{{rank}}.new", "w").close()
os.rename(f"begun-{{rank}}.new", f"begun-{{rank}}")
time.sleep(300)
"""


def begin(cluster, work, before):
    """The number of a job of the example whose ranks have begun."""
    (work / "app.py").write_text(STAYS.format(before=before))
    job = cluster.run(work, "sbatch", "--parsable", "--output=said", *FOUR, EXAMPLE, "app.py").stdout.strip()
    while not all((work / f"begun-{rank}").exists() for rank in range(4)):
        time.sleep(0.05)
    return job


def end(cluster, work, job, *options):
    cluster.run(work, "scancel", *options, job)
    while cluster.run(work, "squeue", "--noheader").stdout:
        time.sleep(0.1)
    (run,) = work.glob("run-*")
    return run


def endings(run, timeloom_program):
    return [group["ending"] for group in Run(run, timeloom_program).info["groups"]]


def test_the_example_goes_on_when_its_ranks_are_told_to_end(cluster, work, timeloom, timeloom_program):
    """As a minute before the time limit. It weaves on one host records that the other may still be writing."""
    run = end(cluster, work, begin(cluster, work, ""), "--signal=TERM")
    said = (work / "said").read_text()
    assert "was unfinished, woven now" in said
    assert "where the time went" in said
    fall_silent(run)
    timeloom("info", run)
    assert_one_run(run, timeloom_program)
    assert endings(run, timeloom_program) == ["ended by SIGTERM"] * 4


@pytest.mark.parametrize("before", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"], ids=["SIGTERM", "SIGKILL"])
def test_a_job_that_is_cancelled_leaves_what_was_recorded(cluster, work, timeloom, timeloom_program, before):
    run = end(cluster, work, begin(cluster, work, before))
    fall_silent(run)
    timeloom("info", run)
    assert_one_run(run, timeloom_program)
    how = "ended before the measurement could be finished" if before else "ended by SIGTERM"
    assert endings(run, timeloom_program) == [how] * 4
    assert [group["name"] for group in Run(run, timeloom_program).info["groups"]] == RANKS
