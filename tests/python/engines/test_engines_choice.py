"""The setting workers: the first workers, workers by name, or none. The others work, and nothing of them is in the run."""

import json
import os
import subprocess
import sys

import pytest
from process_runs import Run, measure  # noqa: F401
from streams import environment

import timeloom_follow

pytestmark = pytest.mark.any_python

# Every task returns the modules of Timeloom in its process, and the name of this process.
PROGRAM = """
import json, multiprocessing, threading

def task(barrier):
    barrier.wait(60)  # each worker has one task
    for _ in range(3):
        step()
    mine = [name for name in sys.modules if name.startswith("timeloom")]
    return multiprocessing.current_process().name, mine, "TIMELOOM_PARENT" in os.environ

def run(method):
    context = multiprocessing.get_context(method)
    with context.Manager() as manager:
        barrier = manager.Barrier(3)
        with context.Pool(3) as pool:
            print(json.dumps(pool.map(task, [barrier] * 3, chunksize=1)))
            pool.close()
            pool.join()
"""
START = 'if __name__ == "__main__": run("{}")'


def workers_in(run):
    return [name for name in run.names if "PoolWorker-" in name]


def steps_in(run):
    """Visits of the function in each process that has called it; a process that is spawned has it in another module."""
    visits = zip(run.visits("__main__.step"), run.visits("__mp_main__.step"), strict=True)
    return sorted(sum(both) for both in visits if any(both))


def left_out(run):
    return int(run.info["properties"].get("timeloom::workers_left_out", 0))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_none(measure, method):
    run, output = measure(PROGRAM + START.format(method), "--workers", "none")
    results = json.loads(output)
    assert len({name for name, _, _ in results}) == 3
    if method == "spawn":
        assert [mine for _, mine, _ in results] == [[]] * 3
    assert not any(parent for _, _, parent in results)
    assert len(run.names) == 1 and steps_in(run) == []
    assert left_out(run) == 4  # with the process of the manager


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_the_first(measure, timeloom, method):
    """The process of the manager starts first."""
    run, output = measure(PROGRAM + START.format(method), "--workers", "2")
    results = json.loads(output)
    assert len(results) == 3 and len(run.names) == 3 and left_out(run) == 2
    assert len(workers_in(run)) == 1 and steps_in(run) == [3]
    if method == "spawn":
        assert sorted(len(mine) > 0 for _, mine, _ in results) == [False, False, True]
    assert "2 workers left out: --workers [TL478]" in timeloom("report", run.directory).stdout


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_is_killed(measure, method):
    """Nobody can ask it then whether its name matches; a task would have decided it."""
    run, _ = measure("""
import multiprocessing
def die():
    step()
    os.kill(os.getpid(), 9)
if __name__ == "__main__":
    multiprocessing.set_start_method("METHOD")
    for name, function in (("dies", die), ("wanted-1", die), ("wanted-2", step), ("lives", step)):
        process = multiprocessing.Process(target=function, name=name)
        process.start()
        process.join()
""".replace("METHOD", method), "--workers", "wanted-*")  # fmt: skip
    assert sorted(run.names[1:]) == ["wanted-1", "wanted-2"]
    assert steps_in(run) == [1, 1] and left_out(run) == 2


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_name(measure, method):
    kind = {"fork": "Fork", "spawn": "Spawn", "forkserver": "ForkServer"}[method]
    run, output = measure(PROGRAM + START.format(method), "--workers", f"{kind}PoolWorker-[34]")
    names = {name for name, _, _ in json.loads(output)}
    chosen = sorted(name for name in names if name[-1] in "34")
    assert sorted(workers_in(run)) == chosen and len(chosen) in (1, 2, 3)
    assert steps_in(run) == [3] * len(chosen)


def test_all_is_the_default(measure):
    run, _ = measure(PROGRAM + START.format("fork"), "--workers", "all")
    assert len(workers_in(run)) == 3 and left_out(run) == 0


def test_children_of_workers(measure):
    """A forked child of a worker that is left out is left out, and a command that forks is not a worker."""
    run, output = measure("""
        import subprocess
        def fork(work, then=None):
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                work(5)
                if then: then()
                os._exit(0)
            os.waitpid(pid, 0)
        subprocess.run([sys.executable, "-c", "print(1)"], preexec_fn=lambda: None, check=True)
        fork(work, lambda: fork(work))
        fork(work)
        work(1)
        print(2)
        """, "--workers", "1")  # fmt: skip
    assert output == "1\n2\n"
    # The first fork and its child: the child asks for a place, and there is none.
    assert steps_in(run) == [1, 5] and left_out(run) == 2


@pytest.mark.parametrize(("setting", "measured"), [("1", 1), ("none", 0), ("Ray worker*", 0)])
def test_an_actor_that_answers_for_its_host(measure, setting, measured):
    """Of a cluster of Ray, its process is recorded in any case, and takes no place of a worker."""
    run, _ = measure("""
        import pathlib, subprocess
        script = pathlib.Path.cwd() / "ray/_private/workers/default_worker.py"
        script.parent.mkdir(parents=True)
        script.write_text("def step(): pass\\nstep()")
        for variables in ({"TIMELOOM_ANSWERS": "1"}, {}, {}):
            subprocess.run([sys.executable, script], env={**os.environ, **variables}, check=True)
        """, "--workers", setting)  # fmt: skip
    assert steps_in(run) == [1] * (1 + measured) and left_out(run) == 2 - measured


def test_places_that_somebody_else_has_made(tmp_path, timeloom_program):
    """A link in the place of the file by which workers are counted is not followed; the program works."""
    (tmp_path / "mine").write_text("")
    (tmp_path / "program.py").write_text("""
import os, pathlib, sys
spool = pathlib.Path(os.environ["TIMELOOM_PARENT"]).parent
(spool / "workers").symlink_to(spool.parent.parent / "mine")
if os.fork() == 0:
    os._exit(0)
os.wait()
print("works")
""")
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--workers", "1", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "works\n", "")
    assert (tmp_path / "mine").read_text() == ""
    run = Run(tmp_path / "run", timeloom_program)
    assert len(run.names) == 1 and left_out(run) == 1


# A server outlives its run, and another run has the path of the first one when it forks.
SERVER = """
import os, pathlib, sys
import timeloom_follow

def fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()

def run_id(run):
    status = os.stat(run)
    boot = int(pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", ""), 16)
    return "-".join(f"{part:x}" for part in (status.st_dev, status.st_ino, boot >> 64, boot & (1 << 64) - 1))

run = pathlib.Path("run")
spool = run / "spool" / "host-1-2-0"
spool.mkdir(parents=True)
os.environ.update(TIMELOOM_PARENT=str(spool), TIMELOOM_RUN_ID=run_id(run))
(run / "spool" / "settings").write_bytes(b"TIMELOOM_WORKERS=none\\0")
sys.orig_argv[1:] = ["-c", "from multiprocessing.forkserver import main; main()"]
timeloom_follow.follow()
assert "TIMELOOM_PARENT" not in os.environ and "timeloom._core" not in sys.modules
fork()
run.rename("first")
spool.mkdir(parents=True)
fork()
"""


def test_a_server_marks_its_own_run_only(tmp_path):
    package = os.path.dirname(timeloom_follow.__file__)
    variables = {**environment(), "PYTHONPATH": package}
    subprocess.run([sys.executable, "-c", SERVER], cwd=tmp_path, env=variables, check=True, timeout=60)
    assert (tmp_path / "first" / "spool" / "unmeasured").read_bytes() == b"w"
    assert os.listdir(tmp_path / "run" / "spool") == ["host-1-2-0"]


def test_wrong_values_and_the_line(tmp_path):
    (tmp_path / "program.py").write_text("import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n")
    run = [sys.executable, "-m", "timeloom", "-o", "run", "program.py"]
    wrong = subprocess.run([*run[:-1], "--workers=-2", run[-1]], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr.count("[TL477]")) == (2, 1)
    variables = {**environment(), "TIMELOOM_WORKERS": "0"}
    done = subprocess.run(run, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "TL478" in line] == ["timeloom: 1 worker left out: --workers [TL478]"]
    assert os.path.exists(tmp_path / "run" / "profile.cubex")
