"""Ranks without a launcher, from the variables that one sets: which one creates, joins and weaves the run."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attached_programs import until
from launchers import PROGRAM, build_regions, door, names_of_ranks, summaries
from process_runs import Run
from streams import environment

pytestmark = pytest.mark.any_python

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
        "name the job in TIMELOOM_JOB [TL039]"
    ]
    assert second == ""
    assert sorted(os.listdir(work)) == ["app.py", "run.rank-0", "run.rank-1"]
    assert Run(work / "run.rank-1", timeloom_program).names == ["MPI Rank 1"]


def test_the_user_names_the_job(work, timeloom_program):
    finish([start(work, rank, 3, "-o", "run", TIMELOOM_JOB="mine") for rank in range(3)])
    assert sorted(os.listdir(work)) == ["app.py", "run"]
    assert Run(work / "run", timeloom_program).names == names_of_ranks(3)


@pytest.mark.parametrize("batch", [{}, {"PBS_JOBID": "12.server"}])
def test_two_jobs_at_once(work, timeloom_program, batch):
    (work / "app.py").write_text(MEETING)
    finish([start(work, rank, 2, TIMELOOM_JOB=job, **batch) for rank in range(2) for job in "ab"])
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


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(3)"])
def test_a_rank_that_ends_at_once_holds_up_nobody(work, timeloom_program, end):
    """The others see that it is gone, and the last of them weaves."""
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
    assert [name for name in names if name.startswith("timeloom-run")] == ["timeloom-run"]
    counts = [
        int(re.search(r"step.*?\|\s*(\d+)", (work / f"o/wall_clock-{rank}.txt").read_text())[1]) for rank in range(2)
    ]
    assert counts == [10, 11]


def weaves_of(run):
    """The number of weaves that have the run open."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            is_weave = b"weave" in (process / "cmdline").read_bytes()
            count += is_weave and any(os.readlink(link) == str(run) for link in (process / "fd").iterdir())
    return count


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
            lambda number=number: weaves_of(work / "run") == number or processes[-1].poll() is not None
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


def test_the_rank_that_was_killed_is_named_and_not_those_that_its_launcher_ended(work, timeloom_program):
    (work / "app.py").write_text(PROGRAM + "print('ready', flush=True)\nimport time\ntime.sleep(60)\n")
    command = [*door("timeloom", "-o", "run", "--quiet"), "app.py"]
    processes = [
        subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, env=of_launcher(rank, 3, TIMELOOM_JOB="a"))
        for rank in range(3)
    ]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    for rank, by in (1, signal.SIGKILL), (0, signal.SIGTERM), (2, signal.SIGTERM):
        processes[rank].send_signal(by)
        assert processes[rank].wait(100) == -by
    subprocess.run([timeloom_program, "weave", "run"], cwd=work, check=True, capture_output=True)
    cause = "MPI Rank 1 ended before the measurement could be finished"
    assert Run(work / "run", timeloom_program).ending == f"{cause}; then others were ended by SIGTERM"


def test_a_launcher_that_does_not_say_how_many_there_are(work, timeloom_program):
    """Like prterun. It is not known which rank is the last."""
    variables = {**environment(), "PMIX_NAMESPACE": "prterun-here-1@1"}
    processes = [
        subprocess.Popen([*door("timeloom", "-o", "run"), "app.py"], cwd=work, stderr=subprocess.PIPE, text=True,
                         env={**variables, "PMIX_RANK": str(rank)})
        for rank in range(2)
    ]  # fmt: skip
    assert finish(processes) == [
        "timeloom: PMIx does not tell how many ranks there are; the next command weaves their run: timeloom report run [TL244]\n",
        "",
    ]
    subprocess.run([timeloom_program, "report", "run"], cwd=work, check=True, capture_output=True)
    assert Run(work / "run", timeloom_program).names == names_of_ranks(2)
    assert sorted(os.listdir(work)) == ["app.py", "run"]


def test_ranks_without_space_leave_nothing(work):
    processes = [
        subprocess.Popen(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *door("timeloom", "-o", "run"), "app.py"], cwd=work,
                         stderr=subprocess.PIPE, text=True, env=of_launcher(rank, 2, TIMELOOM_JOB="a"))
        for rank in range(2)
    ]  # fmt: skip
    for said in finish(processes):
        assert said.startswith("timeloom: nothing is measured: ") and said.count("\n") == 1
    assert os.listdir(work) == ["app.py"]


def test_a_name_of_a_job_may_be_long(work, timeloom_program):
    processes = [start(work, rank, 2, "-o", "run", "--quiet", TIMELOOM_JOB="a" * 100_000) for rank in range(2)]
    assert finish(processes) == ["", ""]
    assert Run(work / "run", timeloom_program).names == names_of_ranks(2)
    assert sorted(os.listdir(work)) == ["app.py", "run"]


OF_TORCHRUN = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "29500",
               "TORCHELASTIC_RUN_ID": "none"}  # fmt: skip


def native(work, timeloom_program, **variables):
    """The message of a rank of a program without Python, with N in place of seconds."""
    done = subprocess.run([timeloom_program, "run", "-o", "run", "--program", "./regions", "threads"], cwd=work,
                          env={**environment(), **variables}, capture_output=True, text=True, timeout=100, check=True)  # fmt: skip
    return re.sub(r"[\d.]+ s, .*", "N", done.stderr).splitlines()


def test_a_native_rank_that_finds_nobody_else_weaves(work, timeloom_program):
    build_regions(work, timeloom_program)
    missing = (f"timeloom: of the 2 ranks of this job not all record into {work}/run; late ones join it, the others are not "
               "measured or started in another directory [TL243]")  # fmt: skip
    summary = ["timeloom: N", "timeloom: next: timeloom report run"]
    variables = [of_launcher(rank, 2, TIMELOOM_JOB="a") for rank in range(2)]
    assert native(work, timeloom_program, **variables[0]) == [summary[0], missing, summary[1]]
    assert (work / "run" / "traces.otf2").exists()
    assert native(work, timeloom_program, **variables[1]) == summary
    assert Run(work / "run", timeloom_program).names == names_of_ranks(2)
    assert not (work / "run" / "spool").exists()


def test_native_ranks_of_unknown_number(work, timeloom_program):
    build_regions(work, timeloom_program)
    said = [native(work, timeloom_program, PMIX_NAMESPACE="prterun-here-1@1", PMIX_RANK=str(rank)) for rank in range(2)]
    assert said == [
        ["timeloom: PMIx does not tell how many ranks there are; the next command weaves their run: timeloom report run [TL244]"],
        [],
    ]
    subprocess.run([timeloom_program, "report", "run"], cwd=work, check=True, capture_output=True)
    assert Run(work / "run", timeloom_program).names == names_of_ranks(2)


def test_an_experiment_directory_is_finished_where_a_rank_is_missing(work):
    """Here rank 1 begins when rank 0, which has found nobody else, has woven the run: it weaves it again."""
    def one(rank):
        done = subprocess.run([*door("scorep"), "app.py"], cwd=work, stderr=subprocess.PIPE, text=True, timeout=100,
                              env=of_launcher(rank, 2, TIMELOOM_JOB="a", SCOREP_ENABLE_TRACING="true"))  # fmt: skip
        assert done.returncode == 0, done.stderr
        app, run = sorted(name for name in os.listdir(work) if not name.startswith("."))
        assert run.startswith("scorep-2")
        return run, len(list((work / run / "traces").glob("*.evt"))), done.stderr

    run, traces, said = one(0)
    missing = f"scorep: of the 2 ranks of this job not all record into {work / run}; "
    assert traces == 1 and [line for line in said.splitlines() if line.startswith(missing)]
    assert one(1)[:2] == (run, 2)
    assert not (work / run / "spool").exists() and not list(work.glob(".timeloom*"))


def test_ranks_of_which_one_is_not_measured(work, timeloom_program):
    """As in mpirun -np 2 timeloom run … : -np 1 ./other, on one host."""
    (work / "app.py").write_text(MEETING.replace("PMI_SIZE", "MEASURED"))
    missing = (f"timeloom: of the 3 ranks of this job not all record into {work}/run; late ones join it, the others are not "
               "measured or started in another directory [TL243]")  # fmt: skip
    processes = [start(work, rank, 3, "-o", "run", TIMELOOM_JOB="a", MEASURED="2", MPI_LOCALNRANKS="3") for rank in (0, 1)]
    said = finish(processes)
    assert sorted(one.count(missing) for one in said) == [0, 1], said
    assert sum(len(summaries(one)) for one in said) == 1
    assert (work / "run" / "traces.otf2").exists()
    for path in work.glob("begun-*"):
        path.unlink()
    assert Run(work / "run", timeloom_program).names == names_of_ranks(2)


@pytest.mark.parametrize("kind", ["timeloom", "native", "layout of Score-P"])
def test_workers_that_torchrun_starts_anew(work, kind, timeloom_program):
    """Nothing overwrites the earlier run. The ranks end together."""
    (work / "app.py").write_text("""if True:
        import os, time
        open("begun-" + os.environ["RANK"] + os.environ["TORCHELASTIC_RESTART_COUNT"], "w").close()
        while not all(os.path.exists(f"begun-{rank}" + os.environ["TORCHELASTIC_RESTART_COUNT"]) for rank in range(2)):
            time.sleep(0.01)
    """)
    command = [*door("timeloom", "-o", "run", "--quiet", *(("--layout", "scorep") if "layout" in kind else ())), "app.py"]
    if kind == "native":
        build_regions(work, timeloom_program)
        command = [timeloom_program, "run", "-o", "run", "--quiet", "--program", "./regions", "threads"]
    for restarts in range(3):
        processes = [
            subprocess.Popen(command, cwd=work, stderr=subprocess.PIPE, text=True,
                             env={**environment(), **OF_TORCHRUN, "RANK": str(rank), "LOCAL_RANK": str(rank),
                                  "TORCHELASTIC_RESTART_COUNT": str(restarts)})
            for rank in range(2)
        ]  # fmt: skip
        assert finish(processes) == ["", ""]
    for run in ("run", "run.restart-1", "run.restart-2"):
        assert Run(work / run, timeloom_program).names == names_of_ranks(2, "Rank")


@pytest.mark.parametrize("kind", ["timeloom", "native"])
def test_ranks_of_a_batch_job_that_slurm_queues_again(work, kind, timeloom_program):
    """Rank 1 of the first attempt never started; the ranks of the second do not join the remains."""
    command = [*door("timeloom", "-o", "run", "--quiet"), "app.py"]
    if kind == "native":
        build_regions(work, timeloom_program)
        command = [timeloom_program, "run", "-o", "run", "--quiet", "--program", "./regions", "threads"]

    def attempt(number, *ranks):
        return finish([
            subprocess.Popen(command, cwd=work, stderr=subprocess.PIPE, text=True,
                             env={**environment(), "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank),
                                  "SLURM_STEP_NUM_TASKS": "2", **({"SLURM_RESTART_COUNT": str(number)} if number else {})})
            for rank in ranks
        ])  # fmt: skip

    assert len(attempt(0, 0)) == 1
    assert attempt(1, 0, 1) == ["", ""]
    subprocess.run([timeloom_program, "report", "run"], cwd=work, check=True, capture_output=True)
    assert Run(work / "run", timeloom_program).names == ["MPI Rank 0"]
    assert Run(work / "run.requeue-1", timeloom_program).names == names_of_ranks(2)


def test_where_no_rank_can_write_a_line_says_so(work):
    (work / "file").write_text("")
    (said,) = finish([start(work, 1, 2, "-o", "file/run", "--quiet", TIMELOOM_JOB="a")])
    assert said.startswith("timeloom: nothing is measured: ") and said.count("\n") == 1
    assert said.count("rank-1") == 1
    assert (work / "file").read_text() == ""


def test_a_rank_that_cannot_write_there_has_its_own(work, timeloom_program):
    """The others have created the directory for its spools already."""
    (first,) = finish([start(work, 0, 3, "-o", "run", "--quiet", TIMELOOM_JOB="a")])
    assert first == ""
    (work / "run" / "spool" / "rank-1").write_text("")  # no directory can be made there
    (said,) = finish([start(work, 1, 3, "-o", "run", "--quiet", TIMELOOM_JOB="a")])
    assert said.startswith(f"timeloom: rank 1 has a run of its own, {work}/run.rank-1: ")
    assert said.count("\n") == 1
    assert Run(work / "run.rank-1", timeloom_program).names == ["MPI Rank 1"]
