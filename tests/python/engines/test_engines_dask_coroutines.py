"""Coroutines of Dask's workers, which are tasks and transfers, and versions that are not known."""

import csv
import io
import json
import re
import subprocess
import sys

import pytest
from dask_programs import calls, measure, program, rows_by  # noqa: F401
from streams import environment

import timeloom as package

pytest.importorskip("distributed")
pytestmark = [pytest.mark.any_python, pytest.mark.one_python, pytest.mark.engine_suite]


@pytest.mark.parametrize("processes", [True, False])
@pytest.mark.parametrize("options", [[], ["--async-tasks"]], ids=["lanes", "tracks"])
def test_coroutines(measure, timeloom, calls, processes, options):
    """Tasks that are coroutines: two of them wait for each other on one worker, one fails, and others take values."""
    run, output = measure(program(f"""
        import asyncio

        async def fetch(n):
            note("fetch")
            await asyncio.sleep(0.05)
            return half(2 * n)

        async def meet(name, other):
            note("meet")
            first_time(name)
            while not os.path.exists(os.path.join(HERE, other)):
                await asyncio.sleep(0.01)
            return half(2)

        async def fail(n):
            note("fail")
            raise ValueError(await fetch(n))

        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=2, processes={processes}) as workers, Client(workers) as client:
                one, two = client.scheduler_info()["workers"]
                client.gather([client.submit(meet, "a", "b", workers=[one]), client.submit(meet, "b", "a", workers=[one])])
                fetched = client.map(fetch, range(10), workers=[two])
                futures = [*fetched, client.submit(total, fetched, workers=[two]), client.submit(half, 4, workers=[one])]
                client.gather(futures)
                print(json.dumps([future.key for future in futures]), client.submit(fail, 3).exception())
        """), *options)  # fmt: skip
    keys, failed = output.rsplit(" ", 1)
    assert failed == "3\n"
    counted = calls()
    assert counted == {"meet": 2, "fetch": 11, "total": 1, "fail": 1, "half": 14}
    rows = json.loads(timeloom("report", "--by", "task", "--json", run.directory).stdout)["rows"]
    assert {row["name"]: row["tasks"] for row in rows} == {"meet": 2, "fetch": 10, "total": 1, "fail": 1, "half": 1}
    assert sum(run.visits("__main__.half")) == counted["half"]
    waited = {row["name"]: row["waiting_s"] for row in rows}
    assert waited["fetch"] > 10 * 0.04 and waited["fail"] > 0.04
    tasks = {task["key"]: task for task in package.read(run.directory).tasks()}
    assert len(tasks) == 15 and {*json.loads(keys)} < {*tasks}
    assert all(task["queued_s"] is not None for task in tasks.values())
    (summed,) = (task for task in tasks.values() if task["prefix"] == "total")
    assert sorted(summed["needs"]) == sorted(json.loads(keys)[:10])
    if processes or not options:  # within the program, tracks of tasks have no name of a worker
        assert sorted(rows_by(timeloom, run, "worker").values()) in ([3, 12], [4, 11])
    graph = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)
    length = graph["end_s"] - graph["start_s"]
    for row in graph["workers"]:  # at most two at once
        assert row["threads"] <= 2
        assert row["in_tasks_s"] + sum(row["idle_s"].values()) == pytest.approx(row["threads"] * length)


@pytest.mark.parametrize("processes", [True, False])
def test_transfers(measure, timeloom, calls, processes):
    """One worker fetches the values of the other; the program counts the keys and the bytes as well.

    A transfer fetches no value, and comes again, if the other worker is busy.
    """
    run, output = measure(program(f"""
        import functools
        import distributed.worker

        known = distributed.worker.Worker.gather_dep

        async def gather_dep(self, peer, keys, size, *, stimulus_id):
            note(f"{{len(keys)}}/{{size}}")
            return await known(self, peer, keys, size, stimulus_id=stimulus_id)

        # Timeloom looks at the innermost function.
        distributed.worker.Worker.gather_dep = functools.update_wrapper(gather_dep, known.__wrapped__)

        def make(n): return bytes(n)

        def size(*parts): return sum(len(part) for part in parts)

        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=1, processes={processes}) as workers, Client(workers) as client:
                one, two = client.scheduler_info()["workers"]
                parts = client.map(make, range(1000, 1010), workers=[one])
                distributed.wait(parts)
                bytes_made = sum(client.run_on_scheduler(lambda dask_scheduler: [
                    task.nbytes for task in dask_scheduler.tasks.values()]))
                total = client.submit(size, *parts, workers=[two]).result()
                print(json.dumps([total, bytes_made, one]))
        """))  # fmt: skip
    total, bytes_made, source = json.loads(output)
    assert total == sum(range(1000, 1010))
    noted = [tuple(int(number) for number in text.split("/")) for text in calls().elements()]
    fetched, keys, size = len(noted), *(sum(numbers) for numbers in zip(*noted))
    assert keys >= 10 and size >= bytes_made
    (row,) = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)["transfers"]
    assert (row["transfers"], row["keys"], row["bytes"]) == (fetched, keys, size)
    assert 0 < row["longest_s"] <= row["in_transfers_s"] <= row["total_s"]
    workers = json.loads(timeloom("report", "--by", "worker", "--json", run.directory).stdout)["rows"]
    known = {one["name"]: (one["tasks"], one["transfers"], one["transfers_total_s"]) for one in workers}
    assert known[row["worker"]] == (1, fetched, pytest.approx(row["total_s"]))
    assert sorted(known.values())[1][:2] == (10, 0) and len(known) == 2
    told = [event for event in package.read(run.directory).events() if event["event"] == "parameter"]
    assert [event["text"] for event in told if event["name"] == "transfer peer"] == fetched * [source]
    assert " transfer" in timeloom("report", "--by", "worker", run.directory).stdout.splitlines()[0]
    assert "to worker" in timeloom("report", "--tasks", run.directory).stdout
    lanes = [location for location in run.info["locations"] if "-Dask-Transfers-" in location["name"]]
    assert (run.info["tasks"], run.info["task_lanes"]) == (0, len(lanes)) and lanes
    assert run.info["threads"] + len(lanes) == len(run.info["locations"])
    rows = csv.DictReader(io.StringIO(timeloom("report", "--csv", run.directory).stdout))
    told = {(row["thread"], row["task"]) for row in rows}
    assert {pair for pair in told if "-Dask-Transfers-" in "".join(pair)} == {("", lane["name"]) for lane in lanes}


def test_transfers_of_an_unknown_version(measure, timeloom):
    """The worker fetches values as ever, and the report tells that the transfers are not recorded."""
    run, output = measure(program("""
        import distributed.worker

        known = distributed.worker.Worker.gather_dep

        async def gather_dep(self, peer, *arguments, **named):
            return await known(self, peer, *arguments, **named)

        distributed.worker.Worker.gather_dep = gather_dep

        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=1, processes=False) as workers, Client(workers) as client:
                one, two = client.scheduler_info()["workers"]
                print(client.submit(total, [client.submit(inc, 3, workers=[one])], workers=[two]).result())
        """))  # fmt: skip
    assert output == "4\n" and rows_by(timeloom, run, "task") == {"inc": 1, "total": 1}
    told = timeloom("report", run.directory).stdout
    assert re.search(r"transfers of distributed [0-9.]+ are not recognised: .* \[TL060\]", told)
    assert json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)["transfers"] == []
    rows = json.loads(timeloom("report", "--by", "worker", "--json", run.directory).stdout)["rows"]
    assert len(rows) == 2 and not any("transfers" in row for row in rows)


def test_coroutines_of_an_unknown_version(measure, timeloom, calls):
    """They run as ever, and the report tells that they lack regions; other tasks have some."""
    run, output = measure(program("""
        import distributed.worker

        known = distributed.worker._run_task_async

        async def run_task(task, values, delay):
            return await known(task, values, delay)

        distributed.worker._run_task_async = run_task

        async def fetch(n):
            note("fetch")
            return half(2 * n)

        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=1, processes=False) as workers, Client(workers) as client:
                print(client.submit(inc, client.submit(fetch, 3)).result())
        """))  # fmt: skip
    assert output == "4\n" and calls() == {"fetch": 1, "inc": 1, "half": 2}
    assert rows_by(timeloom, run, "task") == {"inc": 1}
    assert sum(run.visits("__main__.fetch")) == 1
    told = timeloom("report", run.directory).stdout
    assert re.search(r"tasks of distributed [0-9.]+ that are coroutines are not recognised: .* \[TL060\]", told)


def test_several_unknown_parts(tmp_path, timeloom):
    """The reports of both measurements of a process tell of all of them."""
    (tmp_path / "program.py").write_text(program("""
        import distributed.worker
        import timeloom

        async def run_task(task, *values):
            return task(*values)

        async def gather_dep(self, peer, *arguments, **named):
            raise OSError

        distributed.worker._run_task_async = run_task
        distributed.worker.Worker.gather_dep = gather_dep

        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=1, processes=False) as workers, Client(workers) as client:
                for name in ("first", "second"):
                    with timeloom.Measurement(output=name):
                        print(client.submit(inc, len(name)).result())
        """))  # fmt: skip
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200,
                          env=environment())  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "6\n7\n"), done.stderr
    version = "distributed [0-9.]+"
    text = f"tasks of {version} that are coroutines, transfers of {version} are not recognised: "
    for name in ("first", "second"):
        assert re.search(text, timeloom("report", tmp_path / name).stdout)


def test_unknown_version(measure, tmp_path, timeloom):
    """A module stands in for a version that runs tasks by other functions."""
    (tmp_path / "worker.py").write_text("""
import sys, types
class Worker:
    name, address = 1, "tcp://127.0.0.1:34567"
one = Worker()
Worker._instances = [one]
for name, names in {"distributed": {"__version__": "2099.1.0"}, "distributed.worker": {"Worker": Worker}}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(names)
def after(): pass
after()
""")
    run, _ = measure('import subprocess, sys; subprocess.run([sys.executable, "worker.py"])', "--follow", "all")
    assert "tasks of distributed 2099.1.0 are not recognised" in timeloom("report", run.directory).stdout
