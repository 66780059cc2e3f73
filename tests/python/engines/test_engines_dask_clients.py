"""A cluster of Dask that another client uses as well, which is not measured: none of its functions is recorded."""

import collections
import json
import subprocess
import sys
import time

import pytest
from streams import environment

import timeloom as package

pytest.importorskip("distributed")
pytestmark = [pytest.mark.any_python, pytest.mark.one_python, pytest.mark.engine_suite]

OTHER = """
import os, sys, time
from distributed import Client

def other_inner(n):
    return n + 1

def other_outer(n):
    return other_inner(n) + other_inner(n)

async def other_coroutine(n):
    return other_outer(n)

class OtherActor:
    def other_method(self):
        return other_inner(1)

def other_block():
    other_inner(1)
    open("blocks", "w").close()
    while not os.path.exists("released"):
        time.sleep(0.02)

if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
"""


@pytest.fixture
def start_other(tmp_path, cluster):
    """Starts a program that is not measured, with the functions above."""

    def start_other(text):
        (tmp_path / "other.py").write_text(OTHER + text)
        command = [sys.executable, "other.py", cluster]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment())

    return start_other


def end_of(program):
    told, _ = program.communicate(timeout=100)
    assert program.returncode == 0
    return told


def wait_for(path, program):
    while not path.exists():
        assert program.poll() is None
        time.sleep(0.02)


def visits_in(directory, *prefixes):
    """The calls of each function or region whose name starts so."""
    visits = collections.Counter()
    for row in package.read(directory).flat:
        name = row["name"].rpartition(".")[2]
        if name.startswith(prefixes):
            visits[name] += row["visits"]
    return visits


def keys_in(directory):
    return {task["key"] for task in package.read(directory).tasks()}


@pytest.mark.parametrize("options", [[], ["--profile"]])
def test_functions_of_another_client_are_hidden(start, start_other, lines_of, timeloom, tmp_path, options):
    program = start("own", """
        run(client, ["a", "b"])
        note("begun")
        wait_for("done")
        run(client, ["c"])
""", options=options)  # fmt: skip
    wait_for(tmp_path / "begun", program)
    other = start_other("""
        values = client.map(other_outer, range(5))
        print(sum(client.gather(values)), client.submit(other_coroutine, 1).result())
        actor = client.submit(OtherActor, actor=True).result()
        print(actor.other_method().result(), actor.other_method().result())
        open("done", "w").close()
""")  # fmt: skip
    assert end_of(other) == "30 4\n2 2\n"
    lines = lines_of(program, "8\n4\n")
    # Five tasks, a coroutine, an actor, and two calls of its method.
    assert "timeloom: 1 worker (Dask), 3 tasks, without 9 tasks of other clients" in lines
    assert visits_in(tmp_path / "own", "half", "other", "Other", "task of") == {"half": 3, "task of another client": 9}
    if not options:
        (worker,) = json.loads(timeloom("report", "--tasks", "--json", tmp_path / "own").stdout)["workers"]
        (region,) = [row for row in package.read(tmp_path / "own").flat if row["name"] == "task of another client"]
        assert worker["idle_s"]["others_s"] == pytest.approx(region["inclusive_s"]) and region["inclusive_s"] > 0
        assert " others" in timeloom("report", "--tasks", tmp_path / "own").stdout


def test_tasks_that_waited_at_the_worker(start, start_other, lines_of, tmp_path):
    other = start_other("""
        first = client.submit(other_block)
        rest = client.map(other_outer, range(3), priority=-1)
        client.gather([first, *rest])
""")  # fmt: skip
    wait_for(tmp_path / "blocks", other)
    program = start("own", """
        future = client.submit(half, 8, key="a", priority=-2)
        note("released")
        print(future.result())
""")  # fmt: skip
    lines = lines_of(program, "4\n")
    end_of(other)
    assert "timeloom: 1 worker (Dask), 1 task, without 3 tasks of other clients" in lines
    assert visits_in(tmp_path / "own", "half", "other_inner", "other_outer", "task of") == {
        "half": 1, "task of another client": 3,
    }  # fmt: skip


def test_tasks_that_tasks_ask_for(start, start_other, lines_of, tmp_path):
    functions = """
def ask(n):
    from distributed import worker_client
    with worker_client() as client:
        return client.submit(half, n, key=f"asked-{n}").result()

if __name__"""
    program = start("own", """
        print(client.submit(ask, 8, key="a").result())
        note("begun")
        wait_for("done")
        print(client.submit(ask, 6, key="b").result())
""", replaced={"if __name__": functions})  # fmt: skip
    wait_for(tmp_path / "begun", program)
    other = start_other("""
        def other_ask(n):
            from distributed import worker_client
            with worker_client() as client:
                return client.submit(other_outer, n).result()
        print(client.submit(other_ask, 1).result())
        open("done", "w").close()
""")  # fmt: skip
    assert end_of(other) == "4\n"
    lines = lines_of(program, "4\n3\n")
    assert "timeloom: 1 worker (Dask), 4 tasks, without 2 tasks of other clients" in lines
    assert keys_in(tmp_path / "own") == {"a", "b", "asked-8", "asked-6"}
    assert visits_in(tmp_path / "own", "ask", "half", "other") == {"ask": 2, "asked": 2, "half": 2}


def test_tasks_that_coroutines_ask_for(start, start_other, lines_of, tmp_path):
    functions = """
def leave(name):
    note(name)

async def ask(name):
    from distributed import fire_and_forget, get_client
    client = await get_client()
    fire_and_forget(client.submit(leave, name, key=name))

if __name__"""
    program = start("own", """
        client.submit(ask, "asked", key="a").result()
        wait_for("asked")
        note("begun")
        wait_for("done")
""", replaced={"if __name__": functions})  # fmt: skip
    wait_for(tmp_path / "begun", program)
    other = start_other("""
        def other_leave():
            open("other", "w").close()
        async def other_ask():
            from distributed import fire_and_forget, get_client
            client = await get_client()
            fire_and_forget(client.submit(other_leave))
        client.submit(other_ask).result()
        while not os.path.exists("other"):
            time.sleep(0.02)
        client.submit(other_inner, 1).result()  # the task before has ended
        open("done", "w").close()
""")  # fmt: skip
    end_of(other)
    lines = lines_of(program, "")
    assert "timeloom: 1 worker (Dask), 2 tasks, without 3 tasks of other clients" in lines
    assert keys_in(tmp_path / "own") == {"a", "asked"}
    assert visits_in(tmp_path / "own", "leave", "other") == {"leave": 1}


def test_tasks_that_another_process_of_the_program_asks_for(start, lines_of, tmp_path):
    functions = """
import multiprocessing

def in_child(address):
    with Client(address) as client:
        assert client.submit(abs, -4, key="b").result() == 4

if __name__"""
    lines = lines_of(start("own", """
        run(client, ["a"])
        child = multiprocessing.get_context("spawn").Process(target=in_child, args=sys.argv[1:])
        child.start()
        child.join()
        print(child.exitcode)
""", replaced={"if __name__": functions}), "4\n0\n")  # fmt: skip
    assert "timeloom: 1 worker (Dask), 2 tasks" in lines
    assert keys_in(tmp_path / "own") == {"a", "b"}


def test_tasks_that_wait_when_the_measurement_begins(start, lines_of, tmp_path):
    functions = """
def block():
    note("blocks")
    wait_for("go")

if __name__"""
    lines = lines_of(start("own", """
        first = client.submit(block)
        wait_for("blocks")
        rest = [client.submit(half, 8, key=key) for key in "ab"]
        timeloom.dask.measure(client)
        note("go")
        print(sum(client.gather(rest)))
""", replaced={"if __name__": functions, "        timeloom.dask.measure(client)\n": ""}), "8\n")  # fmt: skip
    assert "timeloom: 1 worker (Dask), 2 tasks" in lines
    assert keys_in(tmp_path / "own") == set("ab")


def test_tasks_that_tasks_of_a_worker_left_out_ask_for(start, lines_of, tmp_path):
    functions = """
def ask(n, worker):
    from distributed import worker_client
    with worker_client() as client:
        return client.submit(half, n, key="asked", workers=[worker]).result()

if __name__"""
    measured = """        note("grow")
        client.wait_for_workers(2)
        timeloom.dask.measure(client)
"""
    lines = lines_of(start("own", """
        first, second = sorted(client.scheduler_info()["workers"])
        print(client.submit(ask, 8, first, workers=[second]).result())
""", replaced={"if __name__": functions, "        timeloom.dask.measure(client)\n": measured},
    options=["--workers", "1"]), "4\n")  # fmt: skip
    assert "timeloom: 1 worker (Dask), 1 task" in lines
    assert keys_in(tmp_path / "own") == {"asked"}


def test_all_clients_of_the_program_are_its_own(start, lines_of, tmp_path):
    lines = lines_of(start("own", """
        run(client, ["a"])
        with Client(sys.argv[1], set_as_default=False) as second:
            run(second, ["b", "c"])
"""), "4\n8\n")  # fmt: skip
    assert "timeloom: 1 worker (Dask), 3 tasks" in lines
    assert keys_in(tmp_path / "own") == set("abc")


def all_tasks_recorded(program, start_other, lines_of, tmp_path):
    """Run a task of another client beside the two of the program; return why all three are recorded, as lines tell it."""
    wait_for(tmp_path / "begun", program)
    other = start_other("""
        print(client.submit(other_outer, 1).result())
        open("done", "w").close()
""")  # fmt: skip
    assert end_of(other) == "4\n"
    lines = lines_of(program, "8\n")
    assert "timeloom: 1 worker (Dask), 3 tasks" in lines
    assert visits_in(tmp_path / "own", "half", "other_inner") == {"half": 2, "other_inner": 2}
    told = "timeloom: tasks of all clients of Dask's workers are recorded: "
    warnings = [line for line in lines if "[TL" in line]
    assert all(line.startswith(told) for line in warnings)
    return [line.removeprefix(told) for line in warnings]


def test_a_version_that_is_not_known(start, start_other, lines_of, tmp_path):
    """Its clients ask for tasks by another function."""
    changed = """
from distributed import Client
send_tasks = Client._graph_to_futures
Client._graph_to_futures = lambda self, *arguments, **named: send_tasks(self, *arguments, **named)
"""
    program = start("own", """
        run(client, ["a", "b"])
        note("begun")
        wait_for("done")
""", replaced={"from distributed import Client\n": changed})  # fmt: skip
    told = all_tasks_recorded(program, start_other, lines_of, tmp_path)
    assert [line.startswith("Timeloom does not know distributed ") for line in told] == [True]


def test_a_scheduler_that_drops_annotations(start, start_other, lines_of, tmp_path):
    (tmp_path / "drop").touch()
    program = start("own", """
        run(client, ["a", "b"])
        note("begun")
        wait_for("done")
""")  # fmt: skip
    told = all_tasks_recorded(program, start_other, lines_of, tmp_path)
    assert told == ["their scheduler does not hand annotations of tasks on [TL454]"]
