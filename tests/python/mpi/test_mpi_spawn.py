"""Spawned processes join the run of the processes that spawned them, and messages between two groups match one to
one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_runs import compiled, implementations
from streams import environment

pytestmark = pytest.mark.one_python

HERE = Path(__file__).resolve().parents[1]
SPAWNING, POOL = HERE / "mpi_programs" / "spawning.py", HERE / "mpi_programs" / "pool.py"
SELF_TO_OTHERS = {"OMPI_MCA_btl": "self,vader,tcp"}  # Open MPI reaches another job by TCP only
ROOT_IS_SELF, ROOT_IN_GROUP = 2**32 - 2, 2**32 - 3


def with_spawn(function):
    """Open MPI: Debian's MPICH fails to spawn, also without Timeloom."""
    known = [pytest.param(one, id=one.name) for one in implementations() if one.name.startswith("Open MPI")]
    missing = pytest.param(None, id="none", marks=pytest.mark.skip(reason="mpi4py and Open MPI are not installed"))
    return pytest.mark.parametrize("mpi", known or [missing])(function)


def each_library(function):
    known = [pytest.param(one, id=one.name) for one in implementations()]
    missing = pytest.param(None, id="none", marks=pytest.mark.skip(reason="mpi4py, Open MPI and MPICH are not installed"))
    return pytest.mark.parametrize("mpi", known or [missing])(function)


OF_PYTHON = (sys.executable, "-m", "timeloom", "--quiet")


def run(mpi, ranks, directory, *words, status=0, options=(), door=OF_PYTHON):
    """Return the processes' output, by group and rank."""
    command = [*mpi.command(ranks), *door, *options, "-o", str(directory / "run"), *map(str, words)]
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=200, check=False,
        env={**environment(), **mpi.variables, **SELF_TO_OTHERS},
    )  # fmt: skip
    assert status is None or done.returncode == status, (done.stdout, done.stderr)
    return {name_of(one["group"], one["rank"]): one for one in objects_in(done.stdout)}, done


def objects_in(text):
    """A launcher may put the output of two processes into one line."""
    at = text.find("{")
    while at >= 0:
        one, end = json.JSONDecoder().raw_decode(text, at)
        yield one
        at = text.find("{", end)


def name_of(group, rank):
    return f"MPI Rank {rank}" if group == "job" else f"MPI Rank {rank} of {group}"


def archive(directory):
    done = subprocess.run(["/usr/bin/python3", HERE / "helpers" / "foreign" / "mpi_groups_reader.py", directory / "run" / "traces.otf2"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_send(kind):
    return "send" in kind.lower()


def assert_matched(read):
    """Check that each send has its receive, with the same bytes and not before; by communicator, sender, receiver and
    tag."""
    ends = {True: {}, False: {}}
    for kind, time, communicator, own, peer, tag, size in read["messages"]:
        sent = is_send(kind)
        key = (communicator, own if sent else peer, peer if sent else own, tag)
        ends[sent].setdefault(key, []).append((time, size))
    assert ends[True].keys() == ends[False].keys()
    for key, sent in ends[True].items():
        received = ends[False][key]
        assert [size for _, size in sorted(sent)] == [size for _, size in sorted(received)], key
        assert all(begin <= end for (begin, _), (end, _) in zip(sorted(sent), sorted(received), strict=True)), key


def check(known, directory):
    """The archive has the messages that the program printed, and no others."""
    read = archive(directory)
    assert sorted(read["processes"]) == sorted(known)
    assert_matched(read)
    for process, one in known.items():
        for key, sent in (("sent", True), ("received", False)):
            found = [[peer, tag, size] for kind, _, _, own, peer, tag, size in read["messages"]
                     if own == process and is_send(kind) == sent]  # fmt: skip
            assert sorted(found) == sorted([name_of(group, peer), tag, size] for group, peer, tag, size in one[key])
    return read


def reported(timeloom, directory):
    facts = json.loads(timeloom("report", "--mpi", "--json", directory / "run").stdout)
    names = facts["processes"]
    return facts, {(names[one["from"]], names[one["to"]]): (one["messages"], one["bytes"]) for one in facts["messages"]}


def two_groups(processes=2):
    return [[name_of(group, rank) for rank in range(processes)] for group in ("job", "spawn 1")]


@with_spawn
def test_parents_and_children_talk(mpi, tmp_path, timeloom):
    known, _ = run(mpi, 2, tmp_path, SPAWNING, "parents")
    assert_talked(known, tmp_path, timeloom)


@with_spawn
@pytest.mark.parametrize("way", ["once", pytest.param("multiple", marks=pytest.mark.many_ranks)])
def test_a_program_in_c(mpi, way, tmp_path, timeloom, timeloom_program):
    program = compiled(SPAWNING.with_suffix(".c"), "mpicc.openmpi", tmp_path)
    known, done = run(mpi, 2, tmp_path, "--program", program, way, door=(timeloom_program, "run", "--quiet"))
    assert done.stderr == ""
    program.unlink()
    assert_talked(known, tmp_path, timeloom)


def assert_talked(known, tmp_path, timeloom):
    """Two parents and two children, from the only spawn of the run, have exchanged the known messages, and nothing
    else."""
    parents, children = two_groups()
    assert sorted(known) == sorted(parents + children)
    read = check(known, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert not (tmp_path / "run" / "spool").exists()  # the last of all has woven it
    between = {ref: one for ref, one in read["communicators"].items() if len(one["groups"]) == 2}
    (ref,) = between
    assert between[ref] == {"name": "spawn 1", "groups": [parents, children]}
    worlds = {one["name"] for one in read["communicators"].values() if "WORLD" in one["name"]}
    assert worlds == {"MPI_COMM_WORLD", "MPI_COMM_WORLD of spawn 1"}
    assert sorted(words[2:] for words in read["collectives"] if words[:2] == ["BCAST", int(ref)]) == sorted([
        [parents[0], ROOT_IS_SELF, 64, 0], [parents[1], ROOT_IN_GROUP, 0, 0], *([child, 0, 0, 32] for child in children)
    ])  # fmt: skip
    facts, matrix = reported(timeloom, tmp_path)
    assert facts["unmatched"] == facts["backwards"] == 0
    assert matrix == {
        **{(parents[rank], children[rank]): (1, 80) for rank in range(2)},
        **{(children[rank], parents[rank]): (1, 160) for rank in range(2)},
    }  # fmt: skip


@pytest.mark.many_ranks
@with_spawn
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("program", ["parents", "merging", "connected"])
def test_programs_that_spawn(mpi, ranks, program, tmp_path):
    known, _ = run(mpi, ranks, tmp_path, SPAWNING, program)
    assert len(known) == ranks + 2
    read = check(known, tmp_path)
    if program == "merging":
        sums = [words for words in read["collectives"] if words[0] == "ALLREDUCE"]
        assert len({words[1] for words in sums}) == 1
        assert sorted(words[2] for words in sums) == sorted(known)
        (merged,) = {str(words[1]) for words in sums}
        assert sorted(read["communicators"][merged]["groups"][0]) == sorted(known)


@pytest.mark.many_ranks
@with_spawn
def test_two_spawns_are_told_apart(mpi, tmp_path):
    known, _ = run(mpi, 2, tmp_path, SPAWNING, "twice")
    read = check(known, tmp_path)
    assert {one["name"] for one in read["communicators"].values() if len(one["groups"]) == 2} == {"spawn 1", "spawn 2"}


@pytest.mark.many_ranks
@with_spawn
def test_a_spawned_process_that_is_killed(mpi, tmp_path, timeloom):
    """The program ends as usual, and the next command weaves the rest."""
    parents, children = two_groups()
    run(mpi, 2, tmp_path, SPAWNING, "dying", status=None)
    timeloom("info", tmp_path / "run")
    read = archive(tmp_path)
    assert sorted(read["processes"]) == sorted([*parents, *children])
    assert_matched(read)


@pytest.mark.many_ranks
@with_spawn
def test_children_that_are_not_followed(mpi, tmp_path):
    known, _ = run(mpi, 2, tmp_path, SPAWNING, "parents", options=["--follow", "none"])
    assert len(known) == 4
    read = archive(tmp_path)
    assert read["processes"] == two_groups()[0]
    assert read["messages"] == []  # of an unknown group


@pytest.mark.many_ranks
@with_spawn
def test_a_pool_of_mpi4py(mpi, tmp_path, timeloom):
    _, done = run(mpi, 1, tmp_path, POOL)
    assert done.stdout == "squares\n"
    read = archive(tmp_path)
    assert sorted(read["processes"]) == ["MPI Rank 0", *two_groups()[1]]
    assert_matched(read)
    facts, _ = reported(timeloom, tmp_path)
    assert facts["unmatched"] == facts["backwards"] == 0
    assert facts["matched"] >= 16  # calls and their results


@pytest.mark.many_ranks
@with_spawn
def test_the_directory_of_score_p(mpi, tmp_path):
    """The process that ends last gives the directory its name."""
    command = [*mpi.command(2), sys.executable, "-m", "scorep", "--mpp=mpi", str(SPAWNING), "parents"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False,
        env={**environment(), **mpi.variables, **SELF_TO_OTHERS, "SCOREP_EXPERIMENT_DIRECTORY": "run",
             "SCOREP_ENABLE_TRACING": "true"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert_matched(archive(tmp_path))


@pytest.mark.many_ranks
@each_library
@pytest.mark.parametrize("ranks", [2, 4, 5])
def test_messages_between_two_halves(mpi, ranks, tmp_path):
    known, _ = run(mpi, ranks, tmp_path, SPAWNING, "halves")
    assert len(known) == ranks
    read = check(known, tmp_path)
    between = [one["groups"] for one in read["communicators"].values() if len(one["groups"]) == 2]
    halves = [[name_of("job", rank) for rank in range(first, ranks, 2)] for first in (0, 1)]
    assert [sorted(groups) for groups in between] == [sorted(halves)] * 2  # and its duplicate


THROUGH_A_LINK = """
import os
import sys

from mpi4py import MPI

os.symlink(sys.argv[1], sys.argv[2] + "/spool/spawned")
child = "from mpi4py import MPI; MPI.Comm.Get_parent().Disconnect()"
MPI.COMM_WORLD.Spawn(sys.executable, args=["-c", child], maxprocs=2).Disconnect()
"""


@pytest.mark.many_ranks
@with_spawn
def test_no_link_in_the_run_leads_out_of_it(mpi, tmp_path):
    (tmp_path / "program.py").write_text(THROUGH_A_LINK)
    (tmp_path / "outside").mkdir()
    run(mpi, 1, tmp_path, tmp_path / "program.py", tmp_path / "outside", tmp_path / "run")
    assert list((tmp_path / "outside").iterdir()) == []
