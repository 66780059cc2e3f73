"""The ranks of a launcher share one run: which one creates, joins and weaves it; programs that do not use MPI."""

import os
import re
import subprocess
import sys
import time

import pytest
from launchers import PROGRAM, build_regions, door, names_of_ranks, ranks, summaries  # noqa: F401
from process_runs import Run

pytestmark = pytest.mark.any_python

MEASURE = door("timeloom", "-o", "run")


@pytest.mark.parametrize("number", [1, 2, 4])
def test_ranks_share_one_run(ranks, timeloom_program, number):
    done = ranks.start(number, *MEASURE, "app.py")
    assert ranks.names == ["run"], done.stderr
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.names == names_of_ranks(number)
    assert run.visits("__main__.step") == [10 + rank for rank in range(number)]
    assert not (run.directory / "spool").exists() and run.ending == ""
    (line,) = summaries(done.stderr)  # one for all of them
    assert ("in 4 processes" in line) == (number == 4)
    assert done.stderr.count("next: timeloom report run") == 1
    assert len(done.stderr.splitlines()) == 2


def test_hosts_are_nodes_and_ranks_are_ranks_in_every_file(ranks, timeloom_program):
    ranks.start(2, *MEASURE, "app.py")
    printed = subprocess.run(["otf2-print", "-G", "run/traces.otf2"], cwd=ranks.directory, capture_output=True,
                             text=True, check=True).stdout  # fmt: skip
    groups = re.findall(r'LOCATION_GROUP +(\d+) +Name: "(.*?)".*Parent: "(.*?)"', printed)
    assert [group[:2] for group in groups] == [("0", "MPI Rank 0"), ("1", "MPI Rank 1")]
    assert {group[2] for group in groups} == {"node::" + os.uname().nodename}
    cube = subprocess.run(["tar", "-xOf", "run/profile.cubex", "anchor.xml"], cwd=ranks.directory,
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert re.findall(r"<name>(MPI Rank \d)</name>\n<rank>(\d)</rank>", cube) == [
        ("MPI Rank 0", "0"), ("MPI Rank 1", "1")]  # fmt: skip


@pytest.mark.parametrize("name", ["timeloom", "scorep"])
def test_ranks_agree_on_a_name_with_a_time(ranks, name):
    ranks.start(4, *door(name), "app.py", SCOREP_ENABLE_TRACING="true")
    (run,) = ranks.names
    assert run.startswith({"timeloom": "timeloom-app-", "scorep": "scorep-2"}[name])
    assert (ranks.directory / run / "traces.otf2").exists()


def test_score_p_experiment_directories(ranks):
    variables = {"SCOREP_EXPERIMENT_DIRECTORY": "e", "SCOREP_ENABLE_TRACING": "true"}
    command = [*door("scorep"), "--mpp=mpi", "app.py"]
    ranks.start(2, *command, **variables)
    assert ranks.names == ["e"]
    experiment = ranks.directory / "e"
    # The main thread of a rank is the location of its number.
    assert sorted(file.name for file in (experiment / "traces").iterdir()) == ["0.def", "0.evt", "1.def", "1.evt"]
    assert "spool" not in (experiment / "MANIFEST.md").read_text()
    refused = ranks.start(2, *command, status=1, SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY="false", **variables)
    assert "exists and overwriting is disabled" in refused.stderr and ranks.names == ["e"]
    ranks.start(2, *command, **variables)  # another job
    old, new = ranks.names
    assert new.startswith("e-2") and old == "e"
    for run in (old, new):
        assert len(list((ranks.directory / run / "traces").iterdir())) == 4


def test_a_run_is_replaced_once(ranks):
    ranks.start(2, *MEASURE, "app.py")
    refused = ranks.start(2, *MEASURE, "app.py", status=1)
    assert "replace it with --force" in refused.stderr
    ranks.start(2, *door("timeloom", "-o", "run", "--force"), "app.py")
    assert ranks.names == ["run"]


def test_a_late_rank_joins(ranks, timeloom_program):
    """Here after rank 0 has ended."""
    ranks.write("""
        import os, subprocess, sys, time
        if (os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]) == "1":
            while not os.path.exists("ended"):
                time.sleep(0.05)
        done = subprocess.run(sys.argv[1:])
        open("ended", "w").close()
        sys.exit(done.returncode)
    """, "late.py")  # fmt: skip
    done = ranks.start(2, sys.executable, "late.py", *MEASURE, "app.py")
    assert ranks.names == ["ended", "run"]
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.names == names_of_ranks(2) and len(summaries(done.stderr)) == 2  # each weaves the records so far
    assert done.stderr.count("of the 2 ranks of this job not all record into") == 1


def test_children_of_ranks_are_no_ranks(ranks, timeloom_program):
    ranks.write(PROGRAM + """
import multiprocessing
if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=work, args=(100 + rank,), name="helper")
    child.start()
    child.join()
""")
    ranks.start(2, *MEASURE, "app.py")
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.names == ["MPI Rank 0", "helper", "MPI Rank 1", "helper"]
    assert run.visits("__main__.step") == [10, 100, 11, 101]


def test_a_child_that_measures_itself_has_a_run_of_its_own(ranks, timeloom_program):
    ranks.write(PROGRAM + """
import subprocess
subprocess.run([sys.executable, "-m", "timeloom", "-o", f"child-{rank}", "child.py"], check=True)
""")
    ranks.write("def inner(): pass\ninner()\n", "child.py")
    ranks.start(2, *MEASURE, "app.py")
    assert ranks.names == ["child-0", "child-1", "run"]
    assert Run(ranks.directory / "child-1", timeloom_program).names == ["child.py"]
    assert Run(ranks.directory / "run", timeloom_program).names == names_of_ranks(2)


def test_a_killed_rank(ranks, timeloom_program):
    """The launcher ends the other ranks, and the next command weaves the records that all have left."""
    ranks.write(PROGRAM + """
import signal, time
if rank == 1:
    while not os.path.exists("begun"):  # the other one records, too
        time.sleep(0.01)
    os.unlink("begun")
    os.kill(os.getpid(), signal.SIGKILL)
open("begun.new", "w").close()
os.rename("begun.new", "begun")
time.sleep(30)
""")
    ranks.start(2, *MEASURE, "app.py", status=1)
    # One of the ranks that the launcher ends may live a moment longer than the launcher.
    end = time.monotonic() + 60
    while ranks.names != ["run"] and time.monotonic() < end:
        subprocess.run([timeloom_program, "report", "run"], cwd=ranks.directory, check=True, capture_output=True)
    run = Run(ranks.directory / "run", timeloom_program)
    assert "MPI Rank 1" in run.names
    assert ranks.names == ["run"]


def test_two_programs_in_one_job(ranks, timeloom_program):
    """Each of them has one run, however far one rank is ahead of the other."""
    ranks.write(PROGRAM.replace("10 + rank", "20 + rank"), "other.py")
    ranks.write("""
        import os, subprocess, sys, time
        rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
        if rank == "1":
            while not os.path.exists("ahead"):
                time.sleep(0.05)
        for name in ("app", "other"):
            subprocess.run([*sys.argv[1:], "-o", name, name + ".py"], check=True)
            open("ahead", "w").close()
    """, "both.py")  # fmt: skip
    ranks.start(2, sys.executable, "both.py", *door("timeloom", "--quiet"))
    assert ranks.names == ["ahead", "app", "other"]
    assert Run(ranks.directory / "app", timeloom_program).visits("__main__.step") == [10, 11]
    assert Run(ranks.directory / "other", timeloom_program).visits("__main__.step") == [20, 21]


APART = """
    import os, subprocess, sys
    place = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
    os.mkdir(place)
    sys.exit(subprocess.run(sys.argv[1:], cwd=place).returncode)
"""


def test_ranks_of_score_p_in_different_directories(ranks):
    ranks.write(APART, "apart.py")
    done = ranks.start(2, sys.executable, "apart.py", *door("scorep"), "--mpp=none", ranks.directory / "app.py",
                       SCOREP_EXPERIMENT_DIRECTORY="run")  # fmt: skip
    assert sorted(line.partition(";")[0] for line in done.stderr.splitlines()) == [
        f"scorep: of the 2 ranks of this job not all record into {ranks.directory}/{rank}/run" for rank in range(2)
    ]


def test_ranks_in_different_directories(ranks, timeloom_program):
    ranks.write(APART, "apart.py")
    done = ranks.start(2, sys.executable, "apart.py", *MEASURE, ranks.directory / "app.py")
    assert ranks.names == ["0", "1"]
    for rank in range(2):
        directory = ranks.directory / str(rank)
        said = (
            f"timeloom: of the 2 ranks of this job not all record into {directory}/run; "
            "late ones join it, the others are not measured or started in another directory [TL243]"
        )
        assert done.stderr.splitlines().count(said) == 1
        assert (directory / "run" / "traces.otf2").exists()
        subprocess.run([timeloom_program, "report", "run"], cwd=directory, check=True, capture_output=True)
        assert Run(directory / "run", timeloom_program).names == [f"MPI Rank {rank}"]
        assert os.listdir(directory) == ["run"]


def test_a_program_without_python(ranks, timeloom_program):
    build_regions(ranks.directory, timeloom_program)
    done = ranks.start(2, timeloom_program, "run", "-o", "run", "--program", "./regions", "threads")
    assert ranks.names == ["regions", "run"]
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.names == names_of_ranks(2)
    first, second = run.visits("inner")
    assert first == second > 0
    assert done.stderr.count("next: timeloom report run") == 1


def test_options_that_each_rank_refuses(ranks):
    done = ranks.start(2, *door("timeloom", "--no-such"), "app.py", status=1)
    assert done.stderr.count("--no-such") >= 1 and ranks.names == []


def test_no_weave_leaves_it_to_the_next_command(ranks, timeloom_program):
    done = ranks.start(2, *door("timeloom", "-o", "run", "--no-weave"), "app.py")
    assert done.stderr.count("not woven yet; the next command does it") == 1
    assert ranks.names[-1] == "run" and len(ranks.names) == 2  # and the pointer to it
    subprocess.run([timeloom_program, "weave", "run"], cwd=ranks.directory, check=True, capture_output=True)
    assert ranks.names == ["run"]
    assert Run(ranks.directory / "run", timeloom_program).names == names_of_ranks(2)


def test_processes_not_measured_are_those_of_all_ranks(ranks):
    ranks.write(PROGRAM + """
import subprocess
for _ in range(1 + rank):
    subprocess.run([sys.executable, "-c", ""], check=True)
""")
    done = ranks.start(2, *MEASURE, "app.py")
    assert "timeloom: 3 Python processes not measured: --follow all [TL001]\n" in done.stderr


def test_a_size_limit_is_that_of_each_rank(ranks, timeloom_program):
    """The records of the others do not concern it."""
    ranks.write(PROGRAM.replace("work(10 + rank)", "work(20_000 if rank == 0 else 10)"))
    ranks.start(2, *door("timeloom", "-o", "run", "--max-size", "4M"), "app.py")
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.visits("__main__.step") == [20_000, 10]
