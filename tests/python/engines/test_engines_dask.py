"""Workers of Dask as they are: each run of a task is a region with its key, and is counted by the program as well."""

import collections
import json
import re
import subprocess
import sys

import pytest
from dask_programs import calls, measure, program, rows_by  # noqa: F401
from streams import environment
from task_arrows import arrows_in_chrome, arrows_in_perfetto, arrows_in_viewer, assert_same_arrows, wanted_arrows

import timeloom as package

pytest.importorskip("distributed")
pytestmark = [pytest.mark.any_python, pytest.mark.one_python]


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


@pytest.mark.engine_suite
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


@pytest.mark.engine_suite
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


@pytest.mark.engine_suite
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
