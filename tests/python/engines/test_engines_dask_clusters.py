"""A cluster of Dask that runs already: workers that come later, other programs, and a program that was killed."""

import collections
import re
import subprocess
import time

import pytest
from process_runs import Run

import timeloom as package

pytest.importorskip("distributed")
pytestmark = [pytest.mark.any_python, pytest.mark.one_python, pytest.mark.engine_suite]

def tasks_by_worker(directory):
    tasks = package.read(directory).tasks()
    return collections.Counter(task["worker"] for task in tasks), {task["key"] for task in tasks}


def test_an_unchanged_program_by_the_variables_of_the_site(start, lines_of, timeloom_program, tmp_path):
    printed = subprocess.run([timeloom_program, "preload", "--print", "--dask"], capture_output=True, text=True, check=True)
    variables = dict(line.split("=") for line in printed.stdout.splitlines())
    replaced = {"import timeloom.dask\n": "", "timeloom.dask.measure(client)": "pass"}
    lines = lines_of(start("plain", """
        run(client, ["a", "b"])
""", variables, replaced), "8\n")  # fmt: skip
    assert "timeloom: 1 worker (Dask), 2 tasks" in lines
    assert tasks_by_worker(tmp_path / "plain")[1] == set("ab")


def test_a_worker_comes_later(start, lines_of, tmp_path):
    lines = lines_of(start("grown", """
        run(client, ["a", "b"])
        first = set(client.ncores())
        note("grow")
        client.wait_for_workers(2)
        (new,) = set(client.ncores()) - first
        while not client.run(records, workers=[new])[new]:
            time.sleep(0.02)
        run(client, ["c", "d", "e"], workers=[new])
"""), "8\n12\n")  # fmt: skip
    assert "timeloom: 2 workers (Dask), 5 tasks" in lines and not any("TL" in line for line in lines)
    workers, keys = tasks_by_worker(tmp_path / "grown")
    assert sorted(workers.values()) == [2, 3] and keys == set("abcde")


def test_looks_that_fail_are_told_once(start, lines_of):
    lines = lines_of(start("failing", """
        run(client, ["a"])
        looks = 0
        async def fails():
            global looks
            looks += 1
            raise OSError("no answer")
        client.scheduler.ncores = fails
        while looks < 3: time.sleep(0.02)
"""), "4\n")  # fmt: skip
    assert [line.endswith(": no answer [TL146]") for line in lines if "TL146" in line] == [True]


def test_another_program_measures_the_worker(start, lines_of, tmp_path):
    first = start("first", """
        run(client, ["a"])
        note("begun")
        wait_for("done")
        run(client, ["b"])
""")  # fmt: skip
    while not (tmp_path / "begun").exists():
        assert first.poll() is None
        time.sleep(0.02)
    second = start("second", """
        run(client, ["c"])
""")  # fmt: skip
    lines = lines_of(second, "4\n")
    (tmp_path / "done").touch()
    told = r"timeloom: 1 worker of Dask is not measured \(tcp://[\d.:]+\): another program measures them \[TL452\]"
    assert re.fullmatch(told, lines[0]) and len([line for line in lines if "TL" in line]) == 1
    lines = lines_of(first, "4\n4\n")
    assert "timeloom: 1 worker (Dask), 2 tasks, without 1 task of other clients" in lines
    assert not any("TL" in line for line in lines)
    assert tasks_by_worker(tmp_path / "first")[1] == set("ab") and tasks_by_worker(tmp_path / "second")[1] == set()


def test_the_program_before_was_killed(start, lines_of, tmp_path, timeloom_program):
    killed = start("killed", """
        run(client, ["a"])
        os.kill(os.getpid(), 9)
""")  # fmt: skip
    killed.communicate(timeout=100)
    lines = lines_of(start("next", """
        run(client, ["b", "c"])
"""), "8\n")  # fmt: skip
    assert "timeloom: 1 worker (Dask), 2 tasks" in lines and not any("TL" in line for line in lines)
    workers, keys = tasks_by_worker(tmp_path / "next")
    assert keys == {"b", "c"} and all(re.fullmatch(r"0 tcp://127\.0\.0\.1:\d+", name) for name in workers)
    assert [name.startswith("Dask worker 0 tcp:") for name in Run(tmp_path / "next", timeloom_program).names] == [False, True]
