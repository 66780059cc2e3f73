"""Measures what recording costs with many processes and threads, on the interpreter that runs this.

usage: python bench/scale.py [--json] [--rounds N] [--scratch DIR]

Method
  Every program runs in a fresh process, plain and measured by turns. Figures compare
  the two of one round, for a machine may change its speed from round to round; given
  is the median over the rounds. Times are taken inside the program, around the work alone.
    processes  1 and 8 forked children, each of which makes CALLS calls: how much
               longer 8 take than 1, measured, over the same of the plain program
    threads    1 and 200 threads that make as many calls together: CPU ns added to a
               call with 200, by all threads of the process, ours among them, over
               those added with one. When waiting threads are woken is up to others.
               And the CPU microseconds that are added to starting and ending a thread
    fork       ms that fork, os._exit in the child and wait take longer
    tasks      50 tasks of asyncio that switch SWITCHES times together, with
               --async-tasks: what that adds, over what the plain program takes

`limits` says what has to hold (docs of the benchmarks: bench/README.md).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import command_line
import limits

CALLS = 400_000
THREAD_CALLS = 20 * CALLS
FORKS = 100
SWITCHES = 200_000

HEAD = """
import itertools, json, os, sys, threading, time
def nothing(): pass
def work(calls):
    for _ in itertools.repeat(None, calls): nothing()
def timed(function, *arguments, clock=time.perf_counter):
    begin = clock()
    function(*arguments)
    return clock() - begin
"""

PROCESSES = """
def run(children, calls):
    pids = []
    for _ in range(children):
        pid = os.fork()
        if pid == 0:
            work(calls)
            os._exit(0)
        pids.append(pid)
    for pid in pids: os.waitpid(pid, 0)
work(20_000)
result = {str(n): timed(run, n, CALLS) for n in (1, 8)}
"""

THREADS = """
def run(threads, calls):
    all = [threading.Thread(target=work, args=(calls // threads,)) for _ in range(threads)]
    for one in all: one.start()
    for one in all: one.join()
work(20_000)
result = {str(n): timed(run, n, THREAD_CALLS, clock=time.process_time) for n in (1, 200)}
result["start"] = timed(run, 200, 0, clock=time.process_time)
"""

FORK = """
def run():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
work(1000)
result = {"median": sorted(timed(run) for _ in range(FORKS))[FORKS // 2]}
"""

TASKS = """
import asyncio
async def pause():
    await asyncio.sleep(0)
async def switch(n):
    for _ in range(n): await pause()
async def main():
    await asyncio.gather(*(switch(SWITCHES // 50) for _ in range(50)))
result = {"seconds": timed(asyncio.run, main())}
"""

TAIL = "\nwith open(sys.argv[1], 'w') as file: json.dump(result, file)\n"


def run_once(text: str, measured: bool, scratch: str, more: list[str]) -> dict:
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        program = os.path.join(directory, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            numbers = f"CALLS, THREAD_CALLS, FORKS, SWITCHES = {CALLS}, {THREAD_CALLS}, {FORKS}, {SWITCHES}\n"
            file.write(HEAD + numbers + text + TAIL)
        run = os.path.join(directory, "run")
        options = ["-m", "timeloom", "--quiet", "--no-weave", *more, "-o", run]
        result = os.path.join(directory, "result.json")
        command = [sys.executable, *(options if measured else []), program, result]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        with open(result, encoding="utf-8") as file:
            return json.load(file)


def in_rounds(text: str, rounds: int, scratch: str, *more: str) -> list[tuple[dict, dict]]:
    """Seconds by the program's own keys, plain and measured with the options `more`, of each round."""
    pairs = []
    for number in range(rounds):
        by_turns = (False, True) if number % 2 == 0 else (True, False)
        taken = {measured: run_once(text, measured, scratch, list(more)) for measured in by_turns}
        pairs.append((taken[False], taken[True]))
    return pairs


def median(pairs: list[tuple[dict, dict]], figure) -> float:
    """Over the rounds, of figure(plain, measured)."""
    return statistics.median(figure(*pair) for pair in pairs)


def added(key: str):
    return lambda plain, measured: measured[key] - plain[key]


def figures(arguments) -> dict:
    rounds, scratch = arguments.rounds, arguments.scratch
    processes = in_rounds(PROCESSES, rounds, scratch)
    threads = in_rounds(THREADS, rounds, scratch)
    forks = in_rounds(FORK, rounds, scratch)
    tasks = in_rounds(TASKS, rounds, scratch, "--async-tasks")
    result = {
        "processes_8_over_1": round(
            median(processes, lambda plain, measured: (measured["8"] / measured["1"]) / (plain["8"] / plain["1"])), 3
        ),
        "thread_added_ns": {key: round(median(threads, added(key)) * 1e9 / THREAD_CALLS, 1) for key in ("1", "200")},
        "threads_200_over_1": round(median(threads, lambda *pair: added("200")(*pair) / added("1")(*pair)), 3),
        "thread_start_added_us": round(median(threads, added("start")) * 1e6 / 200, 1),
        "fork_added_ms": round(median(forks, added("median")) * 1e3, 2),
        "task_switch_ns": round(median(tasks, lambda plain, _: plain["seconds"]) * 1e9 / SWITCHES, 1),
        "tasks_added_over_plain": round(median(tasks, lambda plain, measured: measured["seconds"] / plain["seconds"]) - 1, 3),
    }
    result["limits"] = limits.held(limits.check_scale(result))
    return result


if __name__ == "__main__":
    command_line.run(__doc__, figures)
