"""A random program that forks, starts threads, awaits and dies, and counts its own calls.

usage: soak_program.py SEED COUNTS FOLLOW

Each process has a file in the directory COUNTS, PID-TIME, with a pair of numbers for each of its
threads: calls of step() started and ended. The file is mapped, so that it is correct at whatever
instruction the process dies. COUNTS/expected gets the status with which this program intends to end.
FOLLOW is the value of `timeloom run --follow`: only processes that are followed are started.
"""

import asyncio
import concurrent.futures
import functools
import itertools
import mmap
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

SEED, COUNTS, FOLLOW = sys.argv[1:4]
SLOTS = 4096  # threads of one process
DEEPEST = 2  # children of children


def step() -> None:
    pass


class Counts:
    """The file of this process."""

    def __init__(self) -> None:
        self.open()
        os.register_at_fork(after_in_child=self.open)

    def open(self) -> None:
        path = f"{COUNTS}/{os.getpid()}-{time.monotonic_ns()}"
        with open(path, "w+b") as file:
            file.truncate(SLOTS * 16)
            self.numbers = memoryview(mmap.mmap(file.fileno(), SLOTS * 16)).cast("Q")
        self.slots = itertools.count()
        self.own = threading.local()

    def work(self, n: int) -> None:
        if not hasattr(self.own, "slot"):
            self.own.slot = 2 * next(self.slots)
        slot = self.own.slot
        for _ in range(n):
            self.numbers[slot] += 1
            step()
            self.numbers[slot + 1] += 1


counts = Counts()
work = counts.work


def recurse(n: int) -> None:
    work(1)
    if n:
        recurse(n - 1)


def generate(n: int) -> Iterator[None]:
    for _ in range(n):
        work(1)
        yield


class Fault(Exception):
    """Raises and catches an exception."""


def fail(n: int) -> None:
    try:
        work(n)
        raise Fault
    finally:
        work(1)


def simple(rng: random.Random) -> None:
    choice = rng.randrange(5)
    if choice == 0:
        work(rng.choice((1, 10, 1000, 20_000)))
    elif choice == 1:
        recurse(rng.randrange(300))
    elif choice == 2:
        generator = generate(50)
        for _ in range(rng.randrange(50)):
            next(generator)
    elif choice == 3:
        try:
            fail(rng.randrange(20))
        except Fault:
            work(1)
    else:
        exec("def made(): work(3)\nmade()", {"work": work})


async def task(rng: random.Random, depth: int) -> None:
    for _ in range(rng.randrange(1, 6)):
        simple(rng)
        await asyncio.sleep(0 if rng.random() < 0.9 else 0.001)
        if depth and rng.random() < 0.2:
            await asyncio.gather(*(task(random.Random(rng.random()), depth - 1) for _ in range(3)))


def tasks(rng: random.Random, depth: int) -> None:
    async def all_of_them() -> None:
        running = [asyncio.create_task(task(random.Random(rng.random()), 1)) for _ in range(rng.randrange(1, 20))]
        if rng.random() < 0.3:
            await asyncio.sleep(0)
            running[0].cancel()
        await asyncio.gather(*running, return_exceptions=True)

    asyncio.run(all_of_them())


def threads(rng: random.Random, depth: int) -> None:
    def run(seed: float) -> None:
        own = random.Random(seed)
        for _ in range(own.randrange(1, 4)):
            act(own, depth) if own.random() < 0.2 else simple(own)

    started = [threading.Thread(target=run, args=(rng.random(),)) for _ in range(rng.choice((1, 3, 20)))]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def daemon(rng: random.Random, depth: int) -> None:
    """A thread that is alive when its process ends."""
    done = threading.Event()

    def run() -> None:
        work(100)
        done.set()
        threading.Event().wait()

    threading.Thread(target=run, daemon=True).start()
    done.wait()


def fork(rng: random.Random, depth: int) -> None:
    seed = rng.random()
    alone = threading.active_count() == 1
    pid = os.fork()
    if pid == 0:
        own = random.Random(seed)
        try:
            # Other threads may have held a lock of Python's library at the fork, also without Timeloom.
            body(own, depth + 1) if alone else simple(own)
            die(own, main=False)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(99)
    if rng.random() < 0.1:
        return  # reached by a thread that waits for it
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in STATUSES, status


def in_worker(seed: float) -> int:
    own = random.Random(seed)
    simple(own)
    return os.getpid()


def processes(rng: random.Random, depth: int) -> None:
    if threading.active_count() > 1:
        simple(rng)
        return
    method = rng.choice(("fork", "spawn", "forkserver")) if depth == 0 else "fork"
    context: Any = multiprocessing.get_context(method)
    kind = rng.randrange(3)
    if kind == 0:
        child = context.Process(target=in_worker, args=(rng.random(),))
        child.start()
        child.join()
        assert child.exitcode == 0, child.exitcode
    elif kind == 1:
        with context.Pool(2) as pool:  # and terminates it
            pool.map(in_worker, [rng.random() for _ in range(8)])
    else:
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            list(pool.map(in_worker, [rng.random() for _ in range(8)]))


def other_python(rng: random.Random, depth: int) -> None:
    if FOLLOW != "all":
        simple(rng)
        return
    words = [sys.executable, "-W", "ignore", __file__, str(rng.randrange(1 << 30)), COUNTS, FOLLOW, str(depth + 1)]
    status = subprocess.run(words).returncode
    assert status in STATUSES, status


ACTIONS = [tasks, threads, fork, fork, processes, other_python, daemon]


def act(rng: random.Random, depth: int) -> None:
    action = rng.choice(ACTIONS)
    if depth >= DEEPEST and action in (fork, processes, other_python):
        action = tasks
    action(rng, depth)


def body(rng: random.Random, depth: int) -> None:
    for _ in range(rng.randrange(1, 5 - depth)):
        simple(rng)
        act(rng, depth)
    work(rng.randrange(100))


def become(status: int) -> None:
    os.execv("/bin/sh", ["sh", "-c", f"exit {status}"])


def kill_self(number: int) -> None:
    os.kill(os.getpid(), number)


DEATHS: dict[str, tuple[Callable[[], object], int]] = {
    "exit": (lambda: sys.exit(3), 3),
    "_exit": (lambda: os._exit(4), 4),
    "exec": (lambda: become(5), 5),
    **{
        name: (functools.partial(kill_self, number), -number)
        for name, number in (("KILL", 9), ("TERM", 15), ("HUP", 1), ("USR1", 10))
    },
    "abort": (os.abort, -6),
}
STATUSES = {0, *(status for _, status in DEATHS.values())}


def die(rng: random.Random, main: bool) -> None:
    name = rng.choice(["", "", "", *DEATHS])
    end, status = DEATHS.get(name, (lambda: None, 0))
    if main and len(sys.argv) == 4:
        with open(f"{COUNTS}/expected", "w") as file:
            file.write(str(status))
    work(rng.randrange(10))
    if not main and name in ("", "exit"):
        os._exit(status)
    end()


if __name__ == "__main__":
    signal.alarm(120)  # the parent does not wait for it any more
    generator = random.Random(SEED)
    body(generator, int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    die(generator, main=True)
