"""Measures what Timeloom adds to a program of Dask: CPU time of all its processes, and wall time.

usage: python bench/engines.py [--json] [--rounds N] [--workers N] [--tasks N] [--scratch DIR]

Method
  A program starts a LocalCluster of workers with a thread each, runs tasks of 1 ms of work in Python, gathers their
  results and ends. It runs alternately plain and under `timeloom run --no-weave`, in an order that changes from round
  to round. CPU time is the sum of the program and all its children, from the kernel (wait4); the trace is made after
  that, and counts as weaving (bench/weaving.py). The figures are medians of the rounds, and the ratio is the median of
  the ratios of each round. The number of recorded tasks is compared with the number that the program ran. The last task
  takes 100 values: `clock_error_us` is the longest time by which it seems to start before one of them was made, 0 where
  all processes have one clock.
"""

import argparse
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
PROGRAM = """
import sys, time
from distributed import Client, LocalCluster

def task(n):
    end = time.thread_time() + 0.001
    while time.thread_time() < end:
        step(n)
    return n

def step(n):
    return sum(range(200))

if __name__ == "__main__":
    workers, tasks = map(int, sys.argv[1:])
    with LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                      silence_logs=60) as cluster, Client(cluster) as client:
        futures = client.map(task, range(tasks - 1))
        futures.append(client.submit(sum, futures[:100]))
        print(len(client.gather(futures)))
"""


def run(command: list[str]) -> tuple[float, float]:
    """CPU and wall time, in seconds, of a command with all its children."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"engines.py: {command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def recorded_graph(directory: str) -> dict[str, float]:
    command = [startup.program(), "report", "--tasks", "--json", directory]
    graph: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return graph


def measure(rounds: int, workers: int, tasks: int, scratch: pathlib.Path) -> dict[str, float]:
    program = scratch / "dask_program.py"
    program.write_text(PROGRAM)
    words = [str(program), str(workers), str(tasks)]
    directory = str(scratch / "run")
    plain_command = [sys.executable, *words]
    measured_command = [
        sys.executable, "-m", "timeloom", "--quiet", "--force", "--no-weave", "-o", directory, *words,
    ]  # fmt: skip
    times: dict[str, list[tuple[float, float]]] = {"plain": [], "measured": []}
    for number in range(rounds):
        order = [("plain", plain_command), ("measured", measured_command)]
        for name, command in order if number % 2 == 0 else reversed(order):
            times[name].append(run(command))
    graph = recorded_graph(directory)
    if graph["tasks"] != tasks:
        raise SystemExit(f"engines.py: {graph['tasks']} tasks recorded, {tasks} run")
    pairs = list(zip(times["plain"], times["measured"], strict=True))
    figures: dict[str, float] = {"workers": workers, "tasks": tasks, "rounds": rounds}
    for at, kind in enumerate(("cpu", "wall")):
        for name, runs in times.items():
            figures[f"{name}_{kind}_s"] = round(statistics.median(one[at] for one in runs), 3)
        figures[f"{kind}_ratio"] = round(statistics.median(m[at] / p[at] for p, m in pairs), 3)
    figures["clock_error_us"] = round(1e6 * graph["clock_error_s"], 1)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--scratch", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        figures = measure(options.rounds, options.workers, options.tasks, pathlib.Path(scratch))
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:18} {value}")


if __name__ == "__main__":
    main()
