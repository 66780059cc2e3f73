"""Times a program with and without a measurement, in one process, for bench/scale.py.

usage: scale_work.py PROGRAM CYCLES RESULT

PROGRAM  processes, threads, fork or tasks; the head of bench/scale.py describes them
RESULT   gets a list of CYCLES objects {"plain": {...}, "measured": {...}} as JSON, each
         with the seconds of the program's parts; plain and measured run directly after each
         other, and alternate in going first
"""

import asyncio
import contextlib
import functools
import itertools
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import hooks

Times = dict[str, float]  # seconds of the parts of a program

CALLS = 400_000  # of each process
THREADS = 200
TURNS = 6  # of each thread
TURN_CALLS = 20_000
FORKS = 20
SWITCHES = 100_000
TASKS = 50


def nothing() -> None:
    pass


def work(calls: int) -> None:
    for _ in itertools.repeat(None, calls):
        nothing()


def timed(function: Callable[..., object], *arguments: Any, clock: Callable[[], float] = time.perf_counter) -> float:
    begin = clock()
    function(*arguments)
    return clock() - begin


def run_processes(count: int) -> None:
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            work(CALLS)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


class Worker(threading.Thread):
    """Makes TURN_CALLS calls in each of its turns."""

    def __init__(self) -> None:
        super().__init__()
        self.turn, self.done = threading.Lock(), threading.Lock()
        self.turn.acquire()
        self.done.acquire()
        self.ended = False
        self.start()

    def run(self) -> None:
        self.turn.acquire()
        while not self.ended:
            work(TURN_CALLS)
            self.done.release()
            self.turn.acquire()

    def take_turn(self) -> None:
        self.turn.release()
        self.done.acquire()

    def end(self) -> None:
        self.ended = True
        self.turn.release()
        self.join()


def fork_once() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


async def pause() -> None:
    await asyncio.sleep(0)


async def switch(times: int) -> None:
    for _ in range(times):
        await pause()


async def run_tasks() -> None:
    await asyncio.gather(*(switch(SWITCHES // TASKS) for _ in range(TASKS)))


def time_processes() -> Times:
    before, eight, after = (timed(run_processes, count) for count in (1, 8, 1))
    return {"1": (before + after) / 2, "8": eight}


def time_threads() -> Times:
    cpu = time.process_time
    begin = cpu()
    one, *workers = (Worker() for _ in range(1 + THREADS))
    taken = {"start": cpu() - begin, "1": 0, "200": 0}
    for number, worker in enumerate(workers * TURNS):
        # They alternate in going first, since the work that one leaves to the drain falls into the next.
        pair = {"1": one, "200": worker}
        for key in pair if number % 2 == 0 else reversed(pair):
            taken[key] += timed(pair[key].take_turn, clock=cpu)
    begin = cpu()
    for worker in (one, *workers):
        worker.end()
    taken["start"] += cpu() - begin
    return taken


def time_fork() -> Times:
    return {"one": statistics.median(timed(fork_once) for _ in range(FORKS))}


def time_tasks() -> Times:
    return {"all": timed(asyncio.run, run_tasks())}


PROGRAMS = {"processes": time_processes, "threads": time_threads, "fork": time_fork, "tasks": time_tasks}


def main() -> None:
    name, cycles, result = sys.argv[1:]
    program = PROGRAMS[name]
    settings = {"async_tasks": True} if name == "tasks" else {}
    ways: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
        "plain": contextlib.nullcontext,
        "measured": functools.partial(hooks.measured, **settings),
    }
    work(20_000)
    taken = []
    for number in range(int(cycles)):
        one: dict[str, Times] = {}
        for way in ways if number % 2 == 0 else reversed(ways):
            with ways[way]():
                one[way] = program()
        taken.append(one)
    with open(result, "w", encoding="utf-8") as file:
        json.dump(taken, file)


if __name__ == "__main__":
    main()
