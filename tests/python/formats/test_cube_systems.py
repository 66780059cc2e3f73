"""Profiles of runs of the same program can be compared by CUBE's tools."""

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cube_systems import compatible, system_of
from profile_files import Profile
from streams import environment

ROOT = Path(__file__).resolve().parents[3]

# Workers with different names and threads, which start in an order that differs from run to run.
POOL = """
import concurrent.futures, multiprocessing, os, random, subprocess, sys, threading, time

def step(n):
    time.sleep(random.random() / 50)
    return os.getpid()

def with_thread():
    time.sleep(random.random() / 50)
    thread = threading.Thread(target=step, args=(1,))
    thread.start()
    thread.join()

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    others = [context.Process(target=with_thread, name=f"helper-{n}") for n in (10, 9)]
    for one in others:
        one.start()
    with context.Pool(4) as pool:
        pool.map(step, range(8), chunksize=1)
        pool.close()
        pool.join()
    for one in others:
        one.join()
"""


def measure(directory, *command):
    directory.mkdir(exist_ok=True)
    run = directory / "run"
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", run, *command], check=True, timeout=200,
                   cwd=directory, env=environment(), capture_output=True)  # fmt: skip
    return run


def machine(*threads, host="node a", name="Process"):
    """Return the system tree of processes with so many threads each."""
    groups = {(rank, f"{name} {rank}"): set(range(count)) for rank, count in enumerate(threads)}
    node = {"key": ("node", host), "nodes": [], "groups": groups}
    return {"key": ("machine", "machine Linux"), "nodes": [node], "groups": {}}


@pytest.mark.any_python
def test_the_rule():
    assert compatible(machine(1, 2), machine(1, 2))
    assert compatible(machine(1, 2), machine(1, 2, 1)) and compatible(machine(1, 2, 1), machine(1, 2))
    assert compatible(machine(1, 2), machine(2, 2)) and compatible(machine(1, 2), machine(1, 1, 1))
    assert not compatible(machine(1, 2), machine(2, 1))
    assert not compatible(machine(1, 2), machine(1, 3, 1))
    assert not compatible(machine(1), machine(1, host="node b"))
    assert not compatible(machine(1), machine(1, name="script"))


@pytest.mark.any_python
@pytest.mark.parametrize("start", ["fork", *(pytest.param(one, marks=pytest.mark.thorough) for one in ("spawn", "forkserver"))])
def test_six_runs_of_a_pool(tmp_path, start):
    runs = []
    for number in range(6):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "pool.py").write_text(POOL)
        runs.append(measure(directory, "pool.py", start))
    systems = [system_of(run / "profile.cubex") for run in runs]
    for one, other in itertools.combinations(systems, 2):
        assert compatible(one, other)
    names = [[group["timeloom::name"] for group in Profile(run).groups] for run in runs]
    workers = [name for name in names[0] if name.startswith(("helper", "Fork", "Spawn"))]
    assert len(workers) == 6 and workers == sorted(workers, key=lambda name: (name[0].islower(), len(name), name))
    assert names == [names[0]] * 6


@pytest.mark.any_python
def test_a_pair_of_the_example(tmp_path):
    runs = []
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / "examples" / "stencil.py", tmp_path / name / f"{name}.py")
        runs.append(measure(tmp_path / name, tmp_path / name / f"{name}.py", "--size", "60", "--steps", "20",
                            "--threads", "3"))  # fmt: skip
    assert compatible(*(system_of(run / "profile.cubex") for run in runs))


@pytest.mark.any_python
def test_the_name_of_a_process_is_an_attribute(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("print(1)\n")
    run = measure(tmp_path, "app.py")
    (node,) = system_of(run / "profile.cubex")["nodes"]
    assert list(node["groups"]) == [(0, "Process")]
    (run / "traces.otf2").unlink()
    shutil.rmtree(run / "traces")
    info = json.loads(timeloom("info", "--json", run).stdout)
    assert [group["name"] for group in info["groups"]] == ["app.py"]
