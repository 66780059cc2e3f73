"""Measures the cost of recording with many processes and threads, on the interpreter that runs this.

usage: python bench/scale.py [--json] [--rounds N] [--scratch DIR]

Method
  bench/scale_work.py runs each program CYCLES times in a process, plain and measured directly after
  each other, so that both meet the machine in the same state. Each cycle gives a figure; the median
  over the cycles of all rounds is reported. For processes, the ratio of ratios, it is the geometric
  mean.
    processes  1 and 8 forked children, each of which makes CALLS calls: the ratio of the times of
               8 and of 1, measured, divided by the same ratio of the plain program
    threads    200 threads that wait for one another and make TURN_CALLS calls in turn, and one
               thread that has a turn before or after each of theirs: CPU ns added to a call of the
               200, by all threads of the process including Timeloom's, divided by the ns added to a
               call of the one. They wait on locks: a thread that waits for the GIL wakes up every
               5 ms, and 200 of them make a call of the plain program 1.1 to 1.7 times as expensive.
               Also the CPU microseconds added to starting and ending a thread, of 201 that live at
               the same time
    fork       added ms of fork, os._exit in the child and wait. This comes first: ext4 does not
               reuse inodes deleted in the last minutes, and examines each of them when it creates a
               file; the other programs leave thousands
    tasks      50 tasks of asyncio that switch SWITCHES times together, with --async-tasks: the added
               time, divided by the plain program's time

`limits` has the conditions that must hold (docs of the benchmarks: bench/README.md).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

import command_line
import limits
from scale_work import SWITCHES, THREADS, TURN_CALLS, TURNS, Times

WORK = pathlib.Path(__file__).resolve().parent / "scale_work.py"
# Enough for steady figures.
CYCLES = {"processes": 30, "threads": 2, "fork": 3, "tasks": 3}


def cycles(program: str, rounds: int, scratch: str) -> list[tuple[Times, Times]]:
    """Seconds by the program's own keys, plain and measured, for each cycle of each round."""
    pairs: list[tuple[Times, Times]] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=scratch) as directory:
            result = os.path.join(directory, "result.json")
            command = [sys.executable, str(WORK), program, str(CYCLES[program]), result]
            environment = {**os.environ, "PYTHONWARNINGS": "ignore", "TMPDIR": directory}
            subprocess.run(command, check=True, env=environment)
            with open(result, encoding="utf-8") as file:
                pairs += [(one["plain"], one["measured"]) for one in json.load(file)]
    return pairs


def median(pairs: list[tuple[Times, Times]], figure: Callable[[Times, Times], float]) -> float:
    """The median of figure(plain, measured) over the cycles."""
    return statistics.median(figure(*pair) for pair in pairs)


def added(key: str) -> Callable[[Times, Times], float]:
    return lambda plain, measured: measured[key] - plain[key]


def growth(plain: Times, measured: Times) -> float:
    """The ratio of 8 processes to 1, measured, over the same ratio of the plain program."""
    return (measured["8"] / measured["1"]) / (plain["8"] / plain["1"])


def figures(arguments: argparse.Namespace) -> limits.Figures:
    rounds, scratch = arguments.rounds, arguments.scratch
    forks, tasks, threads, processes = (
        cycles(program, rounds, scratch) for program in ("fork", "tasks", "threads", "processes")
    )
    calls = THREADS * TURNS * TURN_CALLS
    result: limits.Figures = {
        "processes_8_over_1": round(statistics.geometric_mean(growth(*pair) for pair in processes), 3),
        "thread_added_ns": {key: round(median(threads, added(key)) * 1e9 / calls, 1) for key in ("1", "200")},
        "threads_200_over_1": round(median(threads, lambda *pair: added("200")(*pair) / added("1")(*pair)), 3),
        "thread_start_added_us": round(median(threads, added("start")) * 1e6 / (1 + THREADS), 1),
        "fork_added_ms": round(median(forks, added("one")) * 1e3, 2),
        "task_switch_ns": round(median(tasks, lambda plain, _: plain["all"]) * 1e9 / SWITCHES, 1),
        "tasks_added_over_plain": round(median(tasks, lambda plain, measured: measured["all"] / plain["all"]) - 1, 3),
    }
    result["limits"] = limits.held(limits.check_scale(result))
    return result


if __name__ == "__main__":
    command_line.run(__doc__, figures)
