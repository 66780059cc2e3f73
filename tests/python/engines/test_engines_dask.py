"""Workers of Dask as they are: each run of a task is a region with its key, and is counted by the program as well."""

import collections
import csv
import io
import json
import re
import subprocess
import sys
import textwrap

import pytest
from process_runs import Run
from streams import environment
from task_arrows import arrows_in_chrome, arrows_in_perfetto, arrows_in_viewer, assert_same_arrows, wanted_arrows

import timeloom as package

pytest.importorskip("distributed")
pytestmark = [pytest.mark.any_python, pytest.mark.one_python]

# Every function that runs in a task writes its name; the program prints the keys.
FUNCTIONS = """
import json, os
import dask
from distributed import Client, LocalCluster

dask.config.set({"distributed.admin.tick.limit": "1h"})
HERE = os.getcwd()

def note(name):
    with open(os.path.join(HERE, "calls"), "a") as file:
        file.write(name + "\\n")

def first_time(name):
    try:
        os.close(os.open(os.path.join(HERE, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

def inc(n):
    note("inc")
    return half(2 * n) + 1

def half(n):
    note("half")
    return n // 2

def total(numbers):
    note("total")
    return sum(numbers)

def fail_once(n):
    note("fail_once")
    if first_time("failed"):
        raise ValueError(n)
    return n

def die_once(n):
    note("die_once")
    if first_time("died"):
        os.kill(os.getpid(), 9)
    return half(n)

def cluster(**how):
    where = {} if how.get("processes") is False else {"host": "127.0.0.1"}
    return LocalCluster(dashboard_address=None, silence_logs=60, **where, **how)

def run_all(client, *more):
    parts = client.map(inc, range(20))
    futures = [*parts, client.submit(total, parts), client.submit(fail_once, 1, retries=2), *more]
    client.gather(futures)
    print(json.dumps([future.key for future in futures]))
"""


def program(text):
    return FUNCTIONS + textwrap.dedent(text)


@pytest.fixture
def measure(tmp_path, timeloom_program):
    """Dask prints lines of its own on a busy machine; Timeloom is to print none."""

    def measure(text, *options):
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "program.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment())
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stderr.splitlines() if line.startswith("timeloom")] == []
        return Run(tmp_path / "run", timeloom_program), done.stdout

    return measure


@pytest.fixture
def calls(tmp_path):
    """The calls that the program has counted, by function."""
    return lambda: collections.Counter((tmp_path / "calls").read_text().split())


def rows_by(timeloom, run, key):
    rows = json.loads(timeloom("report", "--by", key, "--json", run.directory).stdout)["rows"]
    return {row["name"]: row["tasks"] for row in rows}


def functions_in(run, *prefixes):
    return [row["name"] for row in package.read(run.directory).flat if row["name"].startswith(prefixes)]


def test_processes(measure, timeloom, calls):
    """One task fails once, another one ends its worker, which the nanny starts again before all others run."""
    run, output = measure(program("""
        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=2) as workers, Client(workers) as client:
                dies = client.submit(die_once, 4)
                dies.result()
                run_all(client, dies)
        """))  # fmt: skip
    counted = calls()
    tasks = {name: counted[name] for name in ("inc", "total", "fail_once", "die_once")}
    assert tasks["fail_once"] == tasks["die_once"] == 2
    assert rows_by(timeloom, run, "task") == tasks
    assert {name: sum(run.visits(f"__main__.{name}")) for name in counted} == counted
    workers = rows_by(timeloom, run, "worker")
    assert (len(workers), sum(workers.values())) == (2, sum(tasks.values()))
    assert sorted(group["ending"] for group in run.groups if group["name"].startswith("Dask"))[-1] == "ended by SIGKILL"
    known = collections.Counter(task["key"] for task in package.read(run.directory).tasks())
    assert set(known) == set(json.loads(output)) and known.total() == sum(tasks.values())
    assert functions_in(run, "distributed.", "tornado.", "asyncio.") == []


def test_threads(measure, timeloom, calls):
    """Two workers that share the process of the program, whose functions of the engine are recorded."""
    run, _ = measure(program("""
        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=1, processes=False) as workers, Client(workers) as client:
                run_all(client)
        """), "--engine-functions")  # fmt: skip
    counted = calls()
    tasks = {name: counted[name] for name in ("inc", "total", "fail_once")}
    assert rows_by(timeloom, run, "task") == tasks
    assert sum(run.visits("distributed.worker._run_task")) == sum(tasks.values())
    workers = rows_by(timeloom, run, "worker")
    assert (len(workers), sum(workers.values())) == (2, sum(tasks.values()))
    assert {task["worker"] for task in package.read(run.directory).tasks()} == set(workers)


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


@pytest.mark.parametrize("options", [[], ["--engine-functions"]], ids=["left out", "recorded"])
def test_scheduler(measure, timeloom, options):
    """Its work is one region for each call from outside: each graph and each end of a task is one, or a part of one."""
    run, output = measure(program("""
        from distributed.scheduler import Scheduler

        calls = depth = 0

        def count(name):
            known = getattr(Scheduler, name)

            def counted(*arguments, **named):
                global calls, depth
                calls += depth == 0
                depth += 1
                try:
                    return known(*arguments, **named)
                finally:
                    depth -= 1

            setattr(Scheduler, name, counted)

        for name in ("transitions", "_transitions", "handle_task_finished", "handle_task_erred",
                     "_create_taskstate_from_graph", "stimulus_queue_slots_maybe_opened"):
            count(name)

        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=2) as workers, Client(workers) as client:
                run_all(client)
            print(calls)
        """), *options)  # fmt: skip
    visits = sum(run.visits("schedule tasks"))
    assert visits == int(output.split()[-1]) > 22  # tasks, and graphs
    graph = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)
    scheduler = graph["scheduler"]
    assert 20 <= scheduler["times"] <= visits
    assert 0 < scheduler["longest_s"] < scheduler["busy_s"] < graph["end_s"] - graph["start_s"]
    assert timeloom("report", "--tasks", run.directory).stdout.splitlines()[1].startswith("the scheduler was busy for ")


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


def test_critical_path(measure, timeloom):
    """Of two tasks whose values a third one takes, the second ends when it has seen the end of the first."""
    run, output = measure(program("""
        import time

        def quick():
            open(os.path.join(HERE, "done"), "w").close()
            return 1

        def slow():
            while not os.path.exists(os.path.join(HERE, "done")):
                time.sleep(0.01)
            time.sleep(0.1)
            return 2

        def add(a, b):
            return half(a + b)

        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=1) as workers, Client(workers) as client:
                one, two = client.scheduler_info()["workers"]
                parts = [client.submit(quick, workers=[one]), client.submit(slow, workers=[two])]
                last = client.submit(add, *parts, workers=[one])
                last.result()
                print(json.dumps([future.key for future in [*parts, last]]))
        """))  # fmt: skip
    quick, slow, last = json.loads(output)
    graph = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)
    assert (graph["format"], graph["tasks"], graph["has_needs"]) == ("timeloom-report-task-graph", 3, True)
    # On a busy machine the second one may have started when the first had ended.
    assert [step["key"] for step in graph["path"]] in ([slow, last], [quick, slow, last])
    assert (graph["path"][0]["because"], graph["path"][-1]["because"]) == ("first", "took its value")
    rows = {row["name"]: row for row in graph["path_rows"]}
    assert (rows["slow"]["tasks"], rows["add"]["tasks"]) == (1, 1)
    for row in rows.values():
        assert row["gained_if_halved_s"] == pytest.approx(row["total_s"] / 2)
    before = graph["path"][-1]["before_s"]
    assert (before["no_task_s"], before["unknown_s"]) == (0, 0) and before["data_s"] > 0  # from the other worker
    assert {row["name"]: row["tasks"] for row in graph["queues"]} == {"quick": 1, "slow": 1, "add": 1}
    length = graph["end_s"] - graph["start_s"]
    for row in graph["workers"]:
        assert row["in_tasks_s"] + sum(row["idle_s"].values()) == pytest.approx(length)
    tasks = {task["key"]: task for task in package.read(run.directory).tasks()}
    assert {key: sorted(task["needs"]) for key, task in tasks.items()} == {quick: [], slow: [], last: sorted([quick, slow])}
    assert tasks[last]["queued_s"] >= tasks[last]["fetched_s"] > 0
    lines = timeloom("report", "--tasks", run.directory).stdout.splitlines()
    assert lines[0].startswith("3 tasks on 2 workers (Dask) in ") and any(line.endswith("  add") for line in lines)


def test_arrows(measure, timeloom_program, tmp_path):
    """From each task to those that take its value: in the files for Chrome and Perfetto, and in the viewer."""
    run, output = measure(program("""
        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=1) as workers, Client(workers) as client:
                parts = client.map(inc, range(6))
                sums = [client.submit(total, parts[:3]), client.submit(total, parts[3:])]
                last = client.submit(total, sums)
                client.gather([last])
                print(json.dumps([future.key for future in [*parts, *sums, last]]))
        """))  # fmt: skip
    keys = json.loads(output)
    tasks = package.read(run.directory).tasks()
    needs = {(need, task["key"]) for task in tasks for need in task["needs"]}
    wanted = {(part, keys[6]) for part in keys[:3]} | {(part, keys[7]) for part in keys[3:6]}
    assert needs == wanted | {(keys[6], keys[8]), (keys[7], keys[8])}
    arrows = wanted_arrows(tasks)
    assert len(arrows) == 8
    assert_same_arrows(arrows_in_chrome(timeloom_program, run.directory, tmp_path), arrows)
    assert_same_arrows(arrows_in_perfetto(timeloom_program, run.directory, tmp_path), arrows)
    assert_same_arrows(arrows_in_viewer(timeloom_program, run.directory), arrows)


def test_fewer_workers(measure, timeloom):
    """One of two workers, by number and by its name, and none."""
    text = program("""
        def pid(): return os.getpid()

        if __name__ == "__main__":
            with cluster(n_workers=2, threads_per_worker=1) as workers, Client(workers) as client:
                names = {facts["name"]: address for address, facts in client.scheduler_info()["workers"].items()}
                futures = [client.submit(half, 2 * n, workers=[names[n % 2]], key=f"half-{n}") for n in range(6)]
                print(sum(client.gather(futures)))
        """)  # fmt: skip
    for choice, keys in (("1", None), ("Dask worker 1 *", {"half-1", "half-3", "half-5"}), ("none", set())):
        run, output = measure(text, "--workers", choice, "--force")
        assert output == "15\n"
        tasks = package.read(run.directory).tasks()
        known = {task["key"] for task in tasks}
        assert known == keys if keys is not None else len(known) == 3
        workers = [name for name in run.names if name.startswith("Dask")]
        assert len(workers) == (0 if choice == "none" else 1)
        assert run.info["properties"]["timeloom::workers_left_out"] == ("2" if choice == "none" else "1")


def test_cluster_that_runs_already(measure, tmp_path, timeloom, calls):
    """Its workers record until the client closes, and work on."""
    (tmp_path / "cluster.py").write_text(program("""
        import sys
        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=1) as workers:
                print(workers.scheduler_address, flush=True)
                sys.stdin.read()
        """))  # fmt: skip
    command = [sys.executable, "cluster.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, text=True, env=environment()) as running:
        address = running.stdout.readline().strip()
        run, output = measure(program(f"""
            if __name__ == "__main__":
                import timeloom.dask
                with Client({address!r}) as client:
                    timeloom.dask.measure(client)
                    run_all(client)
                with Client({address!r}) as client:
                    print(client.submit(half, 8, pure=False).result())
            """))  # fmt: skip
        assert output.endswith("\n4\n")
        running.communicate("")
    counted = calls()
    assert run.ending == ""
    tasks = {name: counted[name] for name in ("inc", "total", "fail_once")}
    assert rows_by(timeloom, run, "task") == tasks
    assert sum(run.visits("__main__.half")) == counted["half"] - 1


def test_summary_and_other_runs(measure, tmp_path, timeloom):
    """The line about workers and tasks; the message for a run without tasks."""
    (tmp_path / "app.py").write_text(program("""
        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=1, processes=False) as workers, Client(workers) as client:
                run_all(client)
        """))  # fmt: skip
    command = [sys.executable, "-m", "timeloom", "--profile", "-o", "profile", "app.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment())
    lines = [line for line in done.stderr.splitlines() if "Dask" in line]
    assert (done.returncode, lines) == (0, ["timeloom: 1 worker (Dask), 23 tasks"]), done.stderr
    assert "1 worker (Dask), 23 tasks" in timeloom("report", tmp_path / "profile").stdout
    run, _ = measure("pass")
    for option in (["--by", "task"], ["--tasks"]):
        message = timeloom("report", *option, run.directory, status=1).stderr
        assert re.fullmatch(r"timeloom: .* has no tasks of an engine; .* \[TL470\]\n", message)
    assert "[TL476]" in timeloom("report", "--tasks", tmp_path / "profile", status=1).stderr


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


def test_spilling(measure):
    """Values that do not fit into the memory of the worker go to its disk, and come back for the tasks that take them."""
    run, output = measure(program("""
        # The limit of values in memory alone: nothing waits for a worker that is paused.
        memory = {"target": 0.02, "spill": False, "pause": False, "terminate": False}
        dask.config.set({"distributed.worker.memory." + name: value for name, value in memory.items()})

        def make(n):
            return bytes([n]) * 5_000_000

        if __name__ == "__main__":
            with cluster(n_workers=1, threads_per_worker=1, memory_limit="1GB") as workers, Client(workers) as client:
                parts = client.map(make, range(10))
                client.gather(client.map(len, parts))
                print(sum(client.gather(client.map(len, parts, pure=False))))
        """))  # fmt: skip
    assert output == "50000000\n"
    assert sum(run.visits("spill to disk")) > 0 and sum(run.visits("read spilled")) > 0
