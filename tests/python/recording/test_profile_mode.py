"""Profile mode: calls folded while the program runs give the same counts as a trace of the same program."""

import os
import subprocess

import pytest
from profile_files import Profile
from spool_reader import spools_of
from streams import INSTRUMENTERS, run_python, write_program

each_instrumenter = pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
MODES = ([], ["--profile"])


def call_paths(run):
    """{process and thread: {call path: visits}} of the profile."""
    profile = Profile(run)
    return {
        (location["group"], location["name"]): {
            profile.nodes[node]["path"]: visits for node, (visits, *_) in location["cells"].items()
        }
        for location in profile.locations
    }


def measure(program, instrumenter, directory, *options, status=0):
    path = write_program(directory, program)
    run = directory / f"run-{instrumenter}{''.join(options)}"
    done = run_python(
        ["-m", "timeloom", "--quiet", "--instrumenter", instrumenter, "-o", run, *options, path], directory
    )
    assert (done.returncode, done.stderr) == (status, ""), done.stderr
    return run


def of_program(paths):
    """Return the visits without the effects of a first import, which a second run does not repeat."""
    return {
        thread: {path: visits for path, visits in found.items() if path[0].startswith("__main__.")}
        for thread, found in paths.items()
    }


@pytest.mark.parametrize("program", ["recursion.py", "generators.py", "coroutines.py", "exceptions.py"])
@each_instrumenter
def test_visits_of_every_call_path_are_those_of_a_trace(program, instrumenter, tmp_path):
    found = [of_program(call_paths(measure(program, instrumenter, tmp_path, *mode))) for mode in MODES]
    assert found[0] == found[1] and any(found[0].values())


THREADS = """
import threading

def work(n):
    for _ in range(n): step(n)

def step(n):
    if n > 1: step(n - 1)

threads = []
for n in range(1, 9):
    threads.append(threading.Thread(target=work, args=(n,), name=f"worker {n}"))
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@each_instrumenter
def test_every_thread_has_a_profile(instrumenter, tmp_path):
    found = call_paths(measure(THREADS, instrumenter, tmp_path, "--profile"))
    for n in range(1, 9):
        paths = found[0, f"worker {n}"]
        assert [visits for path, visits in paths.items() if path[-1] == "__main__.step"] == [n] * n


def test_there_is_no_trace_and_the_directory_says_so(tmp_path, timeloom_program):
    run = measure(THREADS, "auto", tmp_path, "--profile")
    assert sorted(os.listdir(run)) == ["MANIFEST.md", "profile.cubex", "scorep.cfg"]
    done = subprocess.run([timeloom_program, "report", "--min-percent", "0", run], capture_output=True, text=True, check=True)
    assert "__main__.step" in done.stdout
    again = subprocess.run([timeloom_program, "weave", run], capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "") and "is woven already" in again.stdout


def test_times_are_those_of_a_trace(tmp_path):
    """Sleeping takes as long in both, and no longer than the program measures itself."""
    program = """
import time
def outer():
    inner()
    time.sleep(0.2)
def inner():
    time.sleep(0.1)
begin = time.perf_counter_ns()
for _ in range(2): outer()
end = time.perf_counter_ns()
open("elapsed", "w").write(str(end - begin))
"""
    for mode in MODES:
        profile = Profile(measure(program, "auto", tmp_path, *mode))
        (location,) = profile.locations
        times = {profile.nodes[node]["region"]: time for node, (_, time, *_) in location["cells"].items()}
        elapsed = int((tmp_path / "elapsed").read_text())
        assert 0.6e9 <= times["__main__.outer"] <= elapsed * 1.001
        assert 0.2e9 <= times["__main__.inner"] <= times["__main__.outer"] - 0.4e9


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(3)", "os.abort()"])
def test_a_profile_survives_the_death_of_the_program(end, tmp_path, timeloom_program):
    program = f"""
import os
def outer():
    for _ in range(1000): step()
    deepest()
def step(): pass
def deepest():
    {end}
outer()
"""
    run = tmp_path / "run"
    path = write_program(tmp_path, program)
    done = run_python(["-m", "timeloom", "--quiet", "--profile", "-o", run, path], tmp_path)
    assert done.returncode != 0
    if not (run / "profile.cubex").exists():
        subprocess.run([timeloom_program, "weave", run], capture_output=True, check=True)
    (paths,) = call_paths(run).values()
    visits = {path[-1]: n for path, n in paths.items()}
    assert (visits["__main__.outer"], visits["__main__.step"], visits["__main__.deepest"]) == (1, 1000, 1)


def test_children_have_profiles_in_the_same_run(tmp_path):
    program = """
import multiprocessing as mp
def work(n):
    for _ in range(n): step()
def step(): pass
if __name__ == "__main__":
    for n in (3, 5):
        child = mp.get_context("fork").Process(target=work, args=(n,))
        child.start()
        child.join()
"""
    run = measure(program, "auto", tmp_path, "--profile")
    steps = {}
    for (group, _), paths in call_paths(run).items():
        steps[group] = steps.get(group, 0) + sum(n for path, n in paths.items() if path[-1] == "__main__.step")
    assert steps == {0: 0, 1: 3, 2: 5}


def test_user_regions_and_pauses(tmp_path):
    program = """
import timeloom
def step(): pass
with timeloom.region("mine"):
    step()
    with timeloom.pause():
        step()
    with timeloom.stop():
        step()
        with timeloom.region("unseen"): pass
    step()
"""
    found = [of_program(call_paths(measure(program, "auto", tmp_path, *mode))) for mode in MODES]
    assert found[0] == found[1]
    ((_, paths),) = found[0].items()
    assert {tuple(path): n for path, n in paths.items()}["__main__.<module>", "mine", "__main__.step"] == 2


def test_memory_of_a_long_run_is_that_of_a_short_one(tmp_path):
    sizes = []
    for calls in (1_000, 300_000):
        run = tmp_path / f"run{calls}"
        path = write_program(tmp_path, f"def f(): pass\nfor _ in range({calls}): f()\n")
        done = run_python(["-m", "timeloom", "--quiet", "--no-weave", "--profile", "-o", run, path], tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        (spool,) = spools_of(run)
        sizes.append(sum(file.stat().st_size for file in run.rglob("*") if file.is_file()) - spool.sync_bytes)
    assert abs(sizes[0] - sizes[1]) < 100


def test_tasks_need_a_trace(tmp_path):
    done = run_python(["-m", "timeloom", "--profile", "--async-tasks", "-c", "print(1)"], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("timeloom: --async-tasks: tasks are told apart in a trace only; ")
