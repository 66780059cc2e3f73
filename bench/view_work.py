"""Makes the calls of the runs for bench/view.py.

usage: view_work.py SHAPE EVENTS LOCATIONS

SHAPE      chain: 15 calls inside each other, again and again: few call paths
           tree: two functions that call each other 14 deep in every order: 32,767 call paths
           deep: 500 calls inside each other, each of which calls a short one
           tasks: tasks of asyncio that make 9 calls each
EVENTS     total number, and up to one repetition more in each location; a call is two events
LOCATIONS  number of threads that share them; for tasks one, in which they take turns
"""

import asyncio
import itertools
import sys
import threading
from collections.abc import Callable

CHAIN, DEEP, TREE = 15, 500, 14
PREFIX = 3  # levels of the tree below which one repetition stays in one part
WAYS = ["".join(way) for way in itertools.product("01", repeat=PREFIX)]
TASK_CALLS = 9
TASKS_AT_ONCE = 1000


def outer(levels: int) -> None:
    if levels:
        middle(levels - 1)


def middle(levels: int) -> None:
    if levels:
        inner(levels - 1)


def inner(levels: int) -> None:
    if levels:
        outer(levels - 1)


def left(levels: int, way: str) -> None:
    if levels and way[:1] != "1":
        left(levels - 1, way[1:])
    if levels and way[:1] != "0":
        right(levels - 1, way[1:])


def right(levels: int, way: str) -> None:
    if levels and way[:1] != "1":
        left(levels - 1, way[1:])
    if levels and way[:1] != "0":
        right(levels - 1, way[1:])


def nothing() -> None:
    pass


def descend(levels: int) -> None:
    nothing()
    if levels > 1:
        descend(levels - 1)


async def task() -> None:
    for _ in range(TASK_CALLS):
        nothing()


# Programs by name: a function that is called again and again, and the calls that one turn makes.
REPEATED: dict[str, tuple[Callable[[int], None], int]] = {
    "chain": (lambda number: outer(CHAIN - 1), CHAIN),
    "tree": (lambda number: left(TREE, WAYS[number % len(WAYS)]), 1 + PREFIX + 2 ** (TREE - PREFIX + 1) - 2),
    "deep": (lambda number: descend(DEEP), 2 * DEEP),
}


def repeat(shape: str, events: int, first: int) -> None:
    once, calls = REPEATED[shape]
    for number in range(-(-events // (2 * calls))):
        once(first + number)


async def make_tasks(events: int) -> None:
    for _ in range(-(-events // (2 * (1 + TASK_CALLS) * TASKS_AT_ONCE))):
        await asyncio.gather(*(task() for _ in range(TASKS_AT_ONCE)))


def main() -> None:
    shape, events, locations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if shape == "tasks":
        asyncio.run(make_tasks(events))
        return
    each = events // locations
    threads = [threading.Thread(target=repeat, args=(shape, each, number)) for number in range(1, locations)]
    for thread in threads:
        thread.start()
    repeat(shape, each, 0)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
