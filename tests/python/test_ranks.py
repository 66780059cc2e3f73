"""The ranks of a job have one run: who makes it, joins it, weaves it; programs that do not use MPI."""

import fcntl
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attached_programs import until
from launchers import PROGRAM, door, ranks  # noqa: F401
from process_runs import Run
from streams import environment

pytestmark = pytest.mark.any_python

MEASURE = door("timeloom", "-o", "run")


def names_of_ranks(number):
    return [f"MPI Rank {rank}" for rank in range(number)]


def summaries(text):
    return re.findall(r"timeloom: [\d.]+ s, .*", text)


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
    assert run.names == names_of_ranks(2) and len(summaries(done.stderr)) == 1


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
    """The launcher ends the other ranks, and the next command weaves what all have left."""
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
    # Of the ranks that the launcher ends, one may live a moment longer than the launcher.
    end = time.monotonic() + 60
    while ranks.names != ["run"] and time.monotonic() < end:
        subprocess.run([timeloom_program, "report", "run"], cwd=ranks.directory, check=True, capture_output=True)
    run = Run(ranks.directory / "run", timeloom_program)
    assert "MPI Rank 1" in run.names
    assert ranks.names == ["run"]


# ---- Without a launcher, by its variables

# Each rank ends when the others have begun.
MEETING = (
    PROGRAM
    + """
import time
begun = "begun-" + os.environ["TIMELOOM_JOB"]
open(f"{begun}-{rank}", "w").close()
while not all(os.path.exists(f"{begun}-{other}") for other in range(int(os.environ["PMI_SIZE"]))):
    time.sleep(0.01)
"""
)


def of_launcher(rank, size, **variables):
    """The environment of a rank of MPICH's launcher, as on several hosts."""
    return {**environment(), "PMI_RANK": str(rank), "PMI_SIZE": str(size), "MPI_LOCALNRANKS": "1", **variables}


def start(directory, rank, size, *words, **variables):
    return subprocess.Popen([*door("timeloom", *words), "app.py"], cwd=directory, stderr=subprocess.PIPE, text=True,
                            env=of_launcher(rank, size, **variables))  # fmt: skip


def finish(processes):
    return [process.communicate(timeout=100)[1] for process in processes if not process.wait(100)]


@pytest.fixture
def work(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    return tmp_path


def test_without_a_job_each_rank_has_its_run(work, timeloom_program):
    first, second = finish([start(work, rank, 2, "-o", "run", "--quiet") for rank in range(2)])
    assert first.splitlines() == [
        "timeloom: nothing tells the job of the ranks that MPICH has started, so each has a run of its own; "
        "name the job in TIMELOOM_JOB"
    ]
    assert second == ""
    assert sorted(os.listdir(work)) == ["app.py", "run.rank-0", "run.rank-1"]
    assert Run(work / "run.rank-1", timeloom_program).names == ["MPI Rank 1"]


def test_the_user_names_the_job(work, timeloom_program):
    finish([start(work, rank, 3, "-o", "run", TIMELOOM_JOB="mine") for rank in range(3)])
    assert sorted(os.listdir(work)) == ["app.py", "run"]
    assert Run(work / "run", timeloom_program).names == names_of_ranks(3)


def test_two_jobs_at_once(work, timeloom_program):
    (work / "app.py").write_text(MEETING)
    finish([start(work, rank, 2, TIMELOOM_JOB=job) for rank in range(2) for job in "ab"])
    runs = [name for name in os.listdir(work) if "timeloom-" in name]
    assert len(runs) == 2
    assert [Run(work / run, timeloom_program).names for run in runs] == [names_of_ranks(2)] * 2


def test_the_second_programs_of_ranks_share_a_run(work, timeloom_program):
    """Here rank 0 goes ahead, and the run of the first programs is woven before rank 1 begins its second."""
    for rank in (0, 0, 1, 1):
        assert finish([start(work, rank, 2, "-o", "run", "--quiet", TIMELOOM_JOB="a")]) == [""]
    assert sorted(os.listdir(work)) == ["app.py", "run", "run.program-2"]
    for name in ("run", "run.program-2"):
        run = Run(work / name, timeloom_program)
        assert run.names == names_of_ranks(2) and run.visits("__main__.step") == [10, 11]


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


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(3)"])
def test_a_rank_that_ends_at_once_holds_up_nobody(work, timeloom_program, end):
    """The others see that it is gone: the last of them weaves."""
    until = "while not os.path.exists('gone'):\n    time.sleep(0.01)\n"
    (work / "app.py").write_text(MEETING + f"if rank == 1:\n    {end}\n{until}")
    processes = [start(work, rank, 4, "-o", "run", TIMELOOM_JOB="a") for rank in range(4)]
    assert processes[1].wait(100) != 0
    (work / "gone").touch()
    said = [process.communicate(timeout=100)[1] for process in processes]
    assert sum(len(summaries(one)) for one in said) == 1, said
    for path in work.glob("begun-*"):
        path.unlink()
    (work / "gone").unlink()
    run = Run(work / "run", timeloom_program)
    assert run.names == names_of_ranks(4)
    assert sorted(os.listdir(work)) == ["app.py", "run"]
    assert not (work / "run" / "spool").exists()


def test_a_measured_part_of_each_rank_is_a_run(work, timeloom_program):
    (work / "app.py").write_text(PROGRAM + "import timeloom\nwith timeloom.Measurement(output='part'):\n    work(3)\n")
    processes = [
        subprocess.Popen([sys.executable, "app.py"], cwd=work, env=of_launcher(rank, 2, TIMELOOM_JOB="a"))
        for rank in range(2)
    ]
    assert [process.wait(100) for process in processes] == [0, 0]
    assert sorted(os.listdir(work)) == ["app.py", "part.rank-0", "part.rank-1"]
    assert Run(work / "part.rank-1", timeloom_program).visits("__main__.step") == [3]


def test_omnitrace_has_files_of_each_rank(work):
    variables = {"OMNITRACE_OUTPUT_PATH": "o", "OMNITRACE_TIME_OUTPUT": "OFF", "OMNITRACE_PROFILE": "ON"}
    command = [*door("omnitrace"), "--", "app.py"]
    processes = [
        subprocess.Popen(command, cwd=work, stderr=subprocess.DEVNULL,
                         env=of_launcher(rank, 2, TIMELOOM_JOB="a", **variables))
        for rank in range(2)
    ]  # fmt: skip
    assert [process.wait(100) for process in processes] == [0, 0]
    names = {path.name for path in (work / "o").iterdir()}
    assert {"wall_clock-0.txt", "wall_clock-1.txt"} <= names
    counts = [
        int(re.search(r"step.*?\|\s*(\d+)", (work / f"o/wall_clock-{rank}.txt").read_text())[1]) for rank in range(2)
    ]
    assert counts == [10, 11]


def waiting_for_locks():
    """Commands of processes that wait for flock(2)."""
    waiting = re.findall(r"-> FLOCK +ADVISORY +WRITE (\d+)", Path("/proc/locks").read_text())
    return [Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0") for process in waiting]


def test_ranks_that_weave_at_once(work, timeloom_program):
    """Rank 0 ends before rank 1 has begun, as on another host, and its weave goes on when that has ended."""
    wait = "while rank == 0 and not os.path.exists('locked'):\n    time.sleep(0.01)\n"
    (work / "app.py").write_text(PROGRAM + f"import time\nopen(f'begun-{{rank}}', 'w').close()\n{wait}")
    processes = [start(work, 0, 2, "-o", "run", TIMELOOM_JOB="a")]
    until((work / "begun-0").exists)
    lock = os.open(work / "run", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # a weave that has just begun
    (work / "locked").touch()
    for number in (1, 2):
        until(
            lambda number=number: sum("weave" in words for words in waiting_for_locks()) == number
            or processes[-1].poll() is not None
        )
        if number == 1:
            processes.append(start(work, 1, 2, "-o", "run", TIMELOOM_JOB="a"))
    os.close(lock)
    said = "".join(finish(processes))
    assert "not woven" not in said, said
    assert sorted(os.listdir(work)) == ["app.py", "begun-0", "begun-1", "locked", "run"]
    assert not (work / "run" / "spool").exists()
    run = Run(work / "run", timeloom_program)
    assert run.names == names_of_ranks(2) and run.visits("__main__.step") == [10, 11]


def test_only_the_rank_that_ends_last_says_anything(work):
    (work / "app.py").write_text(MEETING)
    said = finish([start(work, rank, 3, "-o", "run", TIMELOOM_JOB="a") for rank in range(3)])
    assert sorted(map(len, map(summaries, said))) == [0, 0, 1]
    assert sorted(map(len, said))[:2] == [0, 0]


def test_ranks_in_different_directories(ranks, timeloom_program):
    ranks.write("""
        import os, subprocess, sys
        place = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
        os.mkdir(place)
        sys.exit(subprocess.run(sys.argv[1:], cwd=place).returncode)
    """, "apart.py")  # fmt: skip
    done = ranks.start(2, sys.executable, "apart.py", *MEASURE, ranks.directory / "app.py")
    assert ranks.names == ["0", "1"]
    for rank in range(2):
        directory = ranks.directory / str(rank)
        said = (
            f"timeloom: of the 2 ranks of this job not all record into {directory}/run; "
            "those that started in another directory have runs of their own"
        )
        assert done.stderr.splitlines().count(said) == 1
        assert (directory / "run" / "traces.otf2").exists()
        subprocess.run([timeloom_program, "report", "run"], cwd=directory, check=True, capture_output=True)
        assert Run(directory / "run", timeloom_program).names == [f"MPI Rank {rank}"]
        assert os.listdir(directory) == ["run"]


def build_regions(directory, timeloom_program):
    def config(option):
        words = [str(Path(timeloom_program).with_name("timeloom-config")), option]
        return shlex.split(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    source = Path(__file__).parents[1] / "native" / "regions.c"
    subprocess.run(["cc", *config("--cflags"), source, "-o", "regions", "-pthread", *config("--libs")],
                   cwd=directory, check=True)  # fmt: skip


def test_a_rank_whose_program_cannot_start_leaves_the_others_theirs(work, timeloom_program):
    build_regions(work, timeloom_program)
    (work / "broken").write_bytes(b"\0 no program")
    (work / "broken").chmod(0o755)
    statuses = [
        subprocess.run([timeloom_program, "run", "-o", "run", "--quiet", "--program", program], cwd=work,
                       env=of_launcher(rank, 2, TIMELOOM_JOB="a"), capture_output=True, check=False).returncode
        for rank, program in enumerate(["./regions", "./broken"])
    ]  # fmt: skip
    assert statuses[0] == 0 and statuses[1] != 0
    run = Run(work / "run", timeloom_program)
    assert run.names == ["MPI Rank 0"]
    assert run.visits("inner")[0] > 0


def test_a_program_without_python(ranks, timeloom_program):
    build_regions(ranks.directory, timeloom_program)
    done = ranks.start(2, timeloom_program, "run", "-o", "run", "--program", "./regions", "threads")
    assert ranks.names == ["regions", "run"]
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.names == names_of_ranks(2)
    first, second = run.visits("inner")
    assert first == second > 0
    assert done.stderr.count("next: timeloom report run") == 1


def test_interrupted_ranks_leave_their_records(work, timeloom_program):
    (work / "app.py").write_text(PROGRAM + "print('ready', flush=True)\nimport time\ntime.sleep(60)\n")
    command = [*door("timeloom", "-o", "run", "--quiet"), "app.py"]
    processes = [
        subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, env=of_launcher(rank, 2, TIMELOOM_JOB="a"))
        for rank in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
    assert [process.wait(100) for process in processes] == [-signal.SIGTERM] * 2
    subprocess.run([timeloom_program, "weave", "run"], cwd=work, check=True, capture_output=True)
    run = Run(work / "run", timeloom_program)
    assert run.names == names_of_ranks(2) and run.visits("__main__.step") == [10, 11]
    assert run.ending == "ended by SIGTERM"
    assert sorted(os.listdir(work)) == ["app.py", "run"]


def test_a_launcher_that_does_not_say_how_many_there_are(work, timeloom_program):
    """As prterun. Nobody knows who is last."""
    variables = {**environment(), "PMIX_NAMESPACE": "prterun-here-1@1"}
    processes = [
        subprocess.Popen([*door("timeloom", "-o", "run"), "app.py"], cwd=work, stderr=subprocess.PIPE, text=True,
                         env={**variables, "PMIX_RANK": str(rank)})
        for rank in range(2)
    ]  # fmt: skip
    assert finish(processes) == [
        "timeloom: PMIx does not say how many ranks there are; the next command weaves their run: timeloom report run\n",
        "",
    ]
    subprocess.run([timeloom_program, "report", "run"], cwd=work, check=True, capture_output=True)
    assert Run(work / "run", timeloom_program).names == names_of_ranks(2)
    assert sorted(os.listdir(work)) == ["app.py", "run"]


def test_a_rank_that_cannot_write_there_has_its_own(work, timeloom_program):
    """The others have made the place for its spools already."""
    (first,) = finish([start(work, 0, 3, "-o", "run", "--quiet", TIMELOOM_JOB="a")])
    assert first == ""
    (work / "run" / "spool" / "rank-1").write_text("")  # no directory can be made there
    (said,) = finish([start(work, 1, 3, "-o", "run", "--quiet", TIMELOOM_JOB="a")])
    assert said.startswith(f"timeloom: rank 1 has a run of its own, {work}/run.rank-1: ")
    assert said.count("\n") == 1
    assert Run(work / "run.rank-1", timeloom_program).names == ["MPI Rank 1"]


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
    assert "timeloom: 3 Python processes not measured: --follow all\n" in done.stderr


def test_a_size_limit_is_that_of_each_rank(ranks, timeloom_program):
    """What the others have recorded is none of its business."""
    ranks.write(PROGRAM.replace("work(10 + rank)", "work(20_000 if rank == 0 else 10)"))
    ranks.start(2, *door("timeloom", "-o", "run", "--max-size", "4M"), "app.py")
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.visits("__main__.step") == [20_000, 10]
