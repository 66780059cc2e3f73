"""Measures what Timeloom adds to programs of Dask, Ray, Celery and Spark: CPU time of all processes, and wall time.

usage: python bench/engines.py [--json] [--only ENGINE,...] [--rounds N] [--workers N] [--tasks N] [--scratch DIR]

Method
  A program starts its engine on this machine, with a number of workers with a thread each. It runs 10,000 tasks (Spark:
  500) of 1 ms of work in Python, and ends. It runs alternately plain and under `timeloom run --no-weave`, in an order
  that changes from round to round. CPU time is the sum of all processes that the program has started, the JVM and the
  servers of Ray among them: of a control group of the kernel where this may be made (root), else of the processes that
  others have waited for (wait4), which is not all of Ray's. The trace is made after that, and counts as weaving
  (bench/weaving.py). The figures are medians of the rounds, and the ratio is the median of the ratios of each round.
  The number of recorded tasks is compared with the number that the program ran. Engines that are not installed are left
  out.

  Dask: the last task takes 100 values. `clock_error_us` is the longest time by which it seems to start before one of
  them was made, 0 where all processes have one clock. Celery: a worker with a pool of forked processes is measured;
  the broker is a directory, to which an unmeasured program sends a hundred tasks at a time.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import startup

ROUNDS = 7
SECONDS = 30  # for the last processes to end
TASK = """
import sys, time

def task(n):
    end = time.thread_time() + 0.001
    while time.thread_time() < end:
        step(n)
    return n

def step(n):
    return sum(range(200))
"""
DASK = """
from distributed import Client, LocalCluster

if __name__ == "__main__":
    workers, tasks = map(int, sys.argv[1:])
    with LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                      silence_logs=60) as cluster, Client(cluster) as client:
        futures = client.map(task, range(tasks - 1))
        futures.append(client.submit(sum, futures[:100]))
        print(len(client.gather(futures)))
"""
RAY = """
import ray

if __name__ == "__main__":
    workers, tasks = map(int, sys.argv[1:])
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
             _node_ip_address="127.0.0.1")
    remote = ray.remote(task)
    print(len(ray.get([remote.remote(n) for n in range(tasks)])))
    ray.shutdown()
"""
SPARK = """
from pyspark.sql import SparkSession

if __name__ == "__main__":
    workers, tasks = map(int, sys.argv[1:])
    spark = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
    spark = spark.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF").getOrCreate()
    print(spark.sparkContext.parallelize(range(tasks), tasks).map(task).count())
    spark.stop()
"""
# Also the application of Celery's worker, which imports it.
CELERY = """
import os, shutil, signal, subprocess
from celery import Celery

for name in ("made", "queue", "control"):
    os.makedirs(name, exist_ok=True)
app = Celery("celery_program", broker="filesystem://")
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "made", "control_folder": "control"}
app.conf.task_ignore_result = True
done = os.open("done", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def counted(n):
    task(n)
    os.write(done, b".")

remote = app.task(name="task")(counted)

def send(numbers):
    for n in numbers:
        remote.delay(n)
    for name in os.listdir("made"):  # the broker reads files that are not written to their ends
        os.rename(os.path.join("made", name), os.path.join("queue", name))

def wait_for(number, worker):
    while os.path.getsize("done") < number:
        if worker.poll() is not None:
            raise SystemExit("the worker has ended")
        time.sleep(0.01)

if __name__ == "__main__":
    workers, tasks, *command = sys.argv[1:]
    worker = subprocess.Popen([*command, "-m", "celery", "-A", "celery_program", "worker", "--pool", "prefork",
                               "--concurrency", workers, "--loglevel", "ERROR"], stdout=subprocess.DEVNULL)
    os.truncate("done", 0)
    for first in range(0, int(tasks), 100):
        wait_for(first - 20, worker)
        send(range(first, min(first + 100, int(tasks))))
    wait_for(int(tasks), worker)
    worker.send_signal(signal.SIGTERM)
    worker.wait()
"""
# The module that has to be there, the program, and its number of tasks.
ENGINES = {
    "dask": ("distributed", DASK, 10_000), "ray": ("ray", RAY, 10_000), "celery": ("celery", CELERY, 10_000),
    "spark": ("pyspark", SPARK, 500),
}  # fmt: skip
VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "SPARK_LOCAL_IP": "127.0.0.1"}


class Group:
    """A control group, whose processes the kernel sums up."""

    PLACES = ((pathlib.Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage"), (pathlib.Path("/sys/fs/cgroup"), "cpu.stat"))

    def __init__(self) -> None:
        self.path, self._usage = self._make()

    def _make(self) -> tuple[pathlib.Path | None, str]:
        for place, usage in self.PLACES:
            path = place / f"timeloom-bench-{os.getpid()}-{time.monotonic_ns()}"
            if not (place / "cgroup.procs").exists():
                continue
            try:
                path.mkdir()
            except OSError:
                continue
            return path, usage
        return None, ""

    def around(self, command: list[str]) -> list[str]:
        """The command that runs another one in the group."""
        if self.path is None:
            return command
        return ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(self.path / "cgroup.procs"), *command]

    def end(self) -> float | None:
        """Return the CPU time of all its processes, once they have ended; None without such a group."""
        if self.path is None:
            return None
        last = time.monotonic() + SECONDS
        while (self.path / "cgroup.procs").read_text() and time.monotonic() < last:
            time.sleep(0.01)
        if self._usage == "cpu.stat":
            seconds = int((self.path / self._usage).read_text().split()[1]) * 1e-6
        else:
            seconds = int((self.path / self._usage).read_text()) * 1e-9
        self.path.rmdir()
        return seconds


def run(command: list[str], directory: pathlib.Path) -> tuple[float, float]:
    """CPU and wall time, in seconds, of a command with all its children."""
    group = Group()
    begin = time.monotonic()
    variables = {**os.environ, **VARIABLES, "PYSPARK_PYTHON": sys.executable}
    process = subprocess.Popen(group.around(command), cwd=directory, stdout=subprocess.DEVNULL, env=variables)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = group.end()
    if process.returncode != 0:
        raise SystemExit(f"engines.py: {command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime if cpu is None else cpu, wall


def recorded_tasks(directory: pathlib.Path) -> int:
    command = [startup.program(), "report", "--by", "task", "--json", str(directory)]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]
    return sum(row["tasks"] for row in rows)


def clock_error_us(directory: pathlib.Path) -> float:
    command = [startup.program(), "report", "--tasks", "--json", str(directory)]
    graph = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return round(1e6 * float(graph["clock_error_s"]), 1)


def commands(engine: str, words: list[str], directory: pathlib.Path) -> dict[str, list[str]]:
    """The commands by their kinds; `words`: the program with its arguments; `directory`: of the run."""
    plain = [sys.executable]
    measured = [*plain, "-m", "timeloom", "--quiet", "--force", "--no-weave", "-o", str(directory)]
    kinds = {"plain": plain, "measured": measured}
    if engine == "celery":  # its worker is measured
        return {kind: [*plain, *words, *python] for kind, python in kinds.items()}
    return {kind: [*python, *words] for kind, python in kinds.items()}


def measure(engine: str, rounds: int, workers: int, tasks: int, scratch: pathlib.Path) -> dict[str, float]:
    program = scratch / f"{engine}_program.py"
    program.write_text(TASK + ENGINES[engine][1])
    directory = scratch / f"run-{engine}"
    times: dict[str, list[tuple[float, float]]] = {"plain": [], "measured": []}
    for number in range(rounds):
        order = list(commands(engine, [str(program), str(workers), str(tasks)], directory).items())
        for name, command in order if number % 2 == 0 else reversed(order):
            times[name].append(run(command, scratch))
    if (recorded := recorded_tasks(directory)) != tasks:
        raise SystemExit(f"engines.py: {engine}: {recorded} tasks recorded, {tasks} run")
    pairs = list(zip(times["plain"], times["measured"], strict=True))
    figures: dict[str, float] = {"workers": workers, "tasks": tasks, "rounds": rounds}
    for at, kind in enumerate(("cpu", "wall")):
        for name, runs in times.items():
            figures[f"{name}_{kind}_s"] = round(statistics.median(one[at] for one in runs), 3)
        figures[f"{kind}_ratio"] = round(statistics.median(m[at] / p[at] for p, m in pairs), 3)
    if engine == "dask":
        figures["clock_error_us"] = clock_error_us(directory)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default=",".join(ENGINES), help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--tasks", type=int, help="in place of the number of each engine")
    parser.add_argument("--scratch", type=pathlib.Path)
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(ENGINES):
        parser.error(f"no engine has the name {min(unknown)}")
    all_figures = {}
    for name in names:
        module, _, tasks = ENGINES[name]
        if importlib.util.find_spec(module) is None:
            print(f"engines.py: {module} is not installed", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
            figures = measure(name, options.rounds, options.workers, options.tasks or tasks, pathlib.Path(scratch))
        all_figures[name] = figures
        if not options.json:
            print("\n".join([name, *(f"  {what:16} {value}" for what, value in figures.items())]), flush=True)
    if options.json:
        print(json.dumps(all_figures))


if __name__ == "__main__":
    main()
