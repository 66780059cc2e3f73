"""Ray as it is: tasks and methods of actors are regions with Ray's names and ids, on the workers that run them."""

import collections
import json
import os
import subprocess
import sys
import textwrap

import pytest
from process_runs import Run
from streams import environment
from task_arrows import arrows_in_chrome, arrows_in_perfetto, arrows_in_viewer, assert_same_arrows, wanted_arrows

import timeloom as package

pytest.importorskip("ray")
pytestmark = [pytest.mark.any_python, pytest.mark.engine_suite]

PROGRAM = """
import json, os, sys
import ray

HERE = os.getcwd()

def note(name):
    with open(os.path.join(HERE, "calls"), "a") as file:
        file.write(name + "\\n")

def half(n):
    note("half")
    return n // 2

@ray.remote
def double(n):
    note("double")
    return 2 * half(2 * n), ray.get_runtime_context().get_task_id()

@ray.remote(max_retries=2)
def die_once(n):
    note("die_once")
    try:
        os.close(os.open(os.path.join(HERE, "died"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return n
    os.kill(os.getpid(), 9)

@ray.remote
class Counter:
    def __init__(self):
        note("Counter.__init__")
        self.total = 0

    def add(self, n):
        note("Counter.add")
        self.total += n
        return self.total

    def fail(self):
        note("Counter.fail")
        raise ValueError("wrong")

def start(**how):
    ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", **how)
"""
MAIN = """
    if __name__ == "__main__":
        start(num_cpus=2, _node_ip_address="127.0.0.1")
        counter = Counter.options(num_cpus=0).remote()
        results = ray.get([double.remote(n) for n in range(12)])
        totals = ray.get([counter.add.remote(n) for n, _ in results])
        try:
            ray.get(counter.fail.remote())
        except ValueError:
            totals.append(ray.get(die_once.remote(5)))
        assert ray.get(ray.put([1, 2])) == [1, 2]
        ray.kill(counter)
        print(json.dumps([totals[-2:], [task for _, task in results]]))
"""


def run_program(directory, text, *options, **variables):
    (directory / "program.py").write_text(PROGRAM + textwrap.dedent(text))
    command = [sys.executable, "-m", "timeloom", "-o", "run", *options, "program.py"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=250,
                          env={**environment(), "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", **variables})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if line.startswith("timeloom")]


def rows_by(timeloom, run, key):
    rows = json.loads(timeloom("report", "--by", key, "--json", run.directory).stdout)["rows"]
    return {row["name"]: row["tasks"] for row in rows}


def tasks_of(counted):
    return {name: count for name, count in counted.items() if name != "half"}


def test_tasks_and_actors(tmp_path, timeloom, timeloom_program):
    """A worker is killed by its task, an actor by the program: both are Ray's matter."""
    output, lines = run_program(tmp_path, MAIN)
    totals, ids = json.loads(output.splitlines()[-1])
    assert totals == [132, 5]
    counted = collections.Counter((tmp_path / "calls").read_text().split())
    run = Run(tmp_path / "run", timeloom_program)
    assert rows_by(timeloom, run, "task") == tasks_of(counted)
    tasks = package.read(run.directory).tasks()
    assert [task["key"] for task in tasks if task["prefix"] == "double"] and {
        task["key"] for task in tasks if task["prefix"] == "double"} == set(ids)  # fmt: skip
    workers = {task["worker"] for task in tasks if task["prefix"] != "die_once"}
    assert all(name.startswith(("Ray worker ", "Ray actor Counter ")) for name in workers)
    assert {name: sum(run.visits(name)) for name in ("__main__.half", "__main__.double")} == {
        "__main__.half": counted["half"], "__main__.double": counted["double"]}  # fmt: skip
    assert run.visits("ray.put")[0] == 1 and run.visits("ray.get")[0] == sum(run.visits("ray.get")) > 0
    assert run.ending == "" and "TL" not in "".join(lines)
    engine = [row["name"] for row in package.read(run.directory).flat if row["name"].startswith("ray._private.worker.")]
    assert engine == []


COROUTINES = """
    import asyncio

    @ray.remote
    class Meeting:
        def __init__(self, size):
            note("Meeting.__init__")
            self.here, self.size, self.all = 0, size, asyncio.Event()

        async def join(self, n):
            note("Meeting.join")
            self.here += 1
            if self.here == self.size:
                self.all.set()
            await self.all.wait()
            await asyncio.sleep(0.05)
            return half(2 * n), ray.get_runtime_context().get_task_id()

        async def fail(self):
            note("Meeting.fail")
            await asyncio.sleep(0)
            raise ValueError("wrong")

        def count(self):
            note("Meeting.count")
            return self.here

    if __name__ == "__main__":
        start(num_cpus=1, _node_ip_address="127.0.0.1")
        meeting = Meeting.options(num_cpus=0).remote(5)
        results = ray.get([meeting.join.remote(n) for n in range(5)])
        try:
            ray.get(meeting.fail.remote())
        except ValueError:
            print(json.dumps([sum(n for n, _ in results), [task for _, task in results], ray.get(meeting.count.remote())]))
"""


def test_coroutines(tmp_path, timeloom, timeloom_program):
    """Five methods of an actor that wait for each other; one that fails, and one that is a plain function."""
    output, lines = run_program(tmp_path, COROUTINES)
    total, ids, joined = json.loads(output.splitlines()[-1])
    assert (total, joined) == (10, 5) and "TL" not in "".join(lines)
    counted = collections.Counter((tmp_path / "calls").read_text().split())
    run = Run(tmp_path / "run", timeloom_program)
    rows = json.loads(timeloom("report", "--by", "task", "--json", run.directory).stdout)["rows"]
    assert {row["name"]: row["tasks"] for row in rows} == tasks_of(counted)
    assert next(row["waiting_s"] for row in rows if row["name"] == "Meeting.join") > 5 * 0.04
    assert sum(run.visits("__main__.half")) == counted["half"] == 5
    tasks = package.read(run.directory).tasks()
    assert {task["key"] for task in tasks if task["prefix"] == "Meeting.join"} == set(ids)
    assert all(task["worker"].startswith("Ray actor Meeting ") for task in tasks)
    assert all(task["queued_s"] is not None for task in tasks if task["prefix"] != "Meeting.__init__")
    (actor,) = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)["workers"]
    assert actor["threads"] == 5  # all of them at once


# The times of Ray itself, in seconds: {task: (asked for, running)}.
TIMES = """
        def times_of_ray(tasks):
            import ray._private.state
            from ray.core.generated.common_pb2 import TaskStatus
            asked, running = TaskStatus.Value("PENDING_ARGS_AVAIL"), TaskStatus.Value("RUNNING")
            times = {}
            while not times.keys() >= set(tasks):  # workers report them from time to time
                for event in ray._private.state.state._get_all_task_events():
                    known = event.state_updates.state_ts_ns
                    if asked in known and running in known:
                        times[event.task_id.hex()] = (known[asked] * 1e-9, known[running] * 1e-9)
            return times
"""


def test_graph_of_tasks(tmp_path, timeloom, timeloom_program):
    """The driver tells when it asked for a task, and whose values the task takes; a task asks for one as well."""
    output, _ = run_program(tmp_path, TIMES + """
        import time

        @ray.remote
        def part(n):
            return n, ray.get_runtime_context().get_task_id()

        @ray.remote
        def both(a, b, c=None):
            inner = ray.get(part.remote(7))
            return [a[1], b[1], c and c[1], inner[1], ray.get_runtime_context().get_task_id()]

        @ray.remote
        class Keeper:
            def keep(self, value):
                return time.monotonic_ns(), ray.get_runtime_context().get_task_id()

        if __name__ == "__main__":
            start(num_cpus=2, _node_ip_address="127.0.0.1")
            parts = [part.remote(n) for n in range(3)]
            last = both.remote(parts[0], parts[1], c=parts[2])
            keeper = Keeper.options(num_cpus=0).remote()
            before = time.monotonic_ns()
            ran, kept = ray.get(keeper.keep.remote(last))
            tasks = ray.get(last)
            print(json.dumps([tasks, kept, ran - before, times_of_ray([*tasks, kept])]))
        """)  # fmt: skip
    (a, b, c, inner, both), kept, most, times = json.loads(output.splitlines()[-1])
    run = Run(tmp_path / "run", timeloom_program)
    tasks = {task["key"]: task for task in package.read(run.directory).tasks()}
    assert {key: sorted(tasks[key]["needs"]) for key in (a, b, c, inner, both, kept)} == {
        a: [], b: [], c: [], inner: [], both: sorted([a, b, c]), kept: [both]}  # fmt: skip
    assert all(tasks[key]["queued_s"] > 0 for key in (a, b, c, inner, both, kept))
    assert tasks[both]["queued_s"] > tasks[both]["start_s"] - max(tasks[key]["end_s"] for key in (a, b, c)) > 0
    # Ray notes that a task is asked for after the call has begun, and that it runs before its function does.
    for key in (a, b, c, inner, both, kept):
        asked, running = times[key]
        assert tasks[key]["queued_s"] > running - asked > 0
    assert tasks[kept]["queued_s"] < most * 1e-9
    arrows = wanted_arrows(package.read(run.directory).tasks())
    assert len(arrows) == 4
    assert_same_arrows(arrows_in_chrome(timeloom_program, run.directory, tmp_path), arrows)
    assert_same_arrows(arrows_in_perfetto(timeloom_program, run.directory, tmp_path), arrows)
    assert_same_arrows(arrows_in_viewer(timeloom_program, run.directory), arrows)
    graph = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)
    assert graph["has_needs"] and graph["clock_error_s"] == 0
    assert {row["name"]: row["tasks"] for row in graph["names"]} == {
        "part": 4, "both": 1, "Keeper.keep": 1, "Keeper.__init__": 1}  # fmt: skip
    assert {row["name"]: row["tasks"] for row in graph["queues"]} == {"part": 4, "both": 1, "Keeper.keep": 1}
    # The actor may be ready before or after the value.
    assert graph["path"][-1]["key"] == kept and graph["path"][-1]["because"] in ("took its value", "same thread")


def test_fewer_workers(tmp_path, timeloom, timeloom_program):
    """By the class of an actor, the first one, and none."""
    for choice, names in (("Counter", {"Counter.__init__", "Counter.add", "Counter.fail"}), ("1", None), ("none", set())):
        for name in ("calls", "died"):
            (tmp_path / name).unlink(missing_ok=True)
        output, _ = run_program(tmp_path, MAIN, "--force", "--workers", choice)
        assert json.loads(output.splitlines()[-1])[0] == [132, 5]
        run = Run(tmp_path / "run", timeloom_program)
        workers = [name for name in run.names if name.startswith("Ray ") or "default_worker" in name]
        assert len(workers) == (choice != "none")
        assert names is None or {task["prefix"] for task in package.read(run.directory).tasks()} == names
        assert int(run.info["properties"]["timeloom::workers_left_out"]) > 0


def test_cluster_that_runs_already(tmp_path, timeloom, timeloom_program):
    """The hook of Ray brings the workers of this job into the run, and a hook that is there is called as well."""
    (tmp_path / "hooks.py").write_text("def hook(env):\n    return {**(env or {}), 'env_vars': {'SEEN': 'by the hook'}}\n")
    (tmp_path / "cluster.py").write_text("""
import ray, sys
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
""")
    variables = {**environment(), "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "cluster.py"], cwd=tmp_path, stdin=pipe, stdout=pipe, text=True, env=variables,
                          stderr=subprocess.DEVNULL) as cluster:  # fmt: skip
        address = cluster.stdout.readline().strip()
        output, _ = run_program(tmp_path, f"""
            import timeloom.ray
            @ray.remote
            def seen():
                note("seen")
                return os.environ.get("SEEN")
            if __name__ == "__main__":
                start(address={address!r})
                print(ray.get([double.remote(3), seen.remote()])[1])
            """, RAY_RUNTIME_ENV_HOOK="hooks.hook", PYTHONPATH=os.fspath(tmp_path))  # fmt: skip
        cluster.communicate("")
    assert output.splitlines()[-1] + "\n" == "by the hook\n"
    run = Run(tmp_path / "run", timeloom_program)
    assert rows_by(timeloom, run, "task") == {"double": 1, "seen": 1}
