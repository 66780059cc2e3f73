"""Times loops under one hook after the other, in one process, for bench/overhead.py.

usage: workload.py CYCLES CALLS RESULT NAME...

NAME    one of SAMPLES: a hook, and the loop that is timed under it
RESULT  gets a list of CYCLES objects as JSON, each with the nanoseconds per iteration of every
        NAME, minus the nanoseconds of the same loop with an empty body: the median of REPEATS
        times CALLS iterations

Cycles go through all names, alternately forwards and backwards.
"""

import contextlib
import functools
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import hooks

REPEATS = 3
WARM_UP = 20_000

Loop = Callable[[Iterator[None], Any], None]  # with the function or region that it uses
Hook = Callable[[], AbstractContextManager[None]]


def nothing() -> None:
    pass


def call_loop(iterations: Iterator[None], function: Callable[[], None]) -> None:
    for _ in iterations:
        function()


def with_loop(iterations: Iterator[None], manager: Callable[[str], AbstractContextManager[Any]]) -> None:
    for _ in iterations:
        with manager("x"):
            pass


def empty_loop(iterations: Iterator[None], _: None) -> None:
    for _ in iterations:
        pass


def empty_manager() -> tuple[Loop, Any]:
    import floors

    return with_loop, floors.Empty


def region() -> tuple[Loop, Any]:
    import timeloom

    return with_loop, timeloom.region


def scorep_region() -> tuple[Loop, Any]:
    import scorep

    return with_loop, scorep.user.region


def call() -> tuple[Loop, Any]:
    return call_loop, nothing


def c_call() -> tuple[Loop, Any]:
    return call_loop, {}.clear


def timeloom(**settings: Any) -> Hook:
    return functools.partial(hooks.measured, **settings)


PLAIN = contextlib.nullcontext
SAMPLES: dict[str, tuple[Hook, Callable[[], tuple[Loop, Any]]]] = {
    "plain": (PLAIN, call),
    "none": (PLAIN, call),
    "floor-monitoring": (hooks.floor_monitoring, call),
    "floor-clock": (functools.partial(hooks.floor_monitoring, clock=True), call),
    "floor-frame": (hooks.floor_frame, call),
    "floor-frame-clock": (functools.partial(hooks.floor_frame, clock=True), call),
    "floor-profile": (hooks.floor_profile, call),
    "cProfile": (hooks.cprofile, call),
    "viztracer": (hooks.viztracer, call),
    "viztracer-python": (functools.partial(hooks.viztracer, ignore_c_function=True), call),
    "timeloom-monitoring": (timeloom(instrumenter="monitoring"), call),
    "timeloom-frame": (timeloom(instrumenter="frame"), call),
    "timeloom-profile": (timeloom(instrumenter="profile"), call),
    "timeloom-trace": (timeloom(instrumenter="trace"), call),
    "timeloom-folded": (timeloom(profile=True), call),
    "filtered": (timeloom(instrumenter="monitoring", exclude="*nothing"), call),
    "filtered-frame": (timeloom(instrumenter="frame", exclude="*nothing"), call),
    "paused": (timeloom(paused=True), call),
    "paused-frame": (timeloom(instrumenter="frame", paused=True), call),
    "paused-profile": (timeloom(instrumenter="profile", paused=True), call),
    "c-function": (timeloom(c_functions=True), c_call),
    "viztracer-c-function": (hooks.viztracer, c_call),
    "plain-c-function": (PLAIN, c_call),
    "with-region": (timeloom(instrumenter="dummy"), region),
    "unmeasured-region": (PLAIN, region),
    "floor-with": (PLAIN, empty_manager),
    "scorep": (hooks.scorep, call),
    "scorep-region": (hooks.scorep, scorep_region),
    "scorep-region-off": (PLAIN, scorep_region),
    "omnitrace": (hooks.omnitrace, call),
    "omnitrace-file": (functools.partial(hooks.omnitrace, exclude_modules="workload.py$"), call),
    "omnitrace-subtree": (functools.partial(hooks.omnitrace, exclude_functions="^nothing$"), call),
}


def timed(loop: Loop, subject: Any, count: int) -> float:
    iterations = itertools.repeat(None, count)
    begin = time.perf_counter_ns()
    loop(iterations, subject)
    return (time.perf_counter_ns() - begin) / count


def sample(name: str, calls: int) -> float:
    hook, subject_of = SAMPLES[name]
    loop, subject = subject_of()
    with hook():
        timed(loop, subject, WARM_UP)
        timed(empty_loop, None, WARM_UP)
        taken = [(timed(loop, subject, calls), timed(empty_loop, None, calls)) for _ in range(REPEATS)]
    full, empty = zip(*taken)
    difference: float = statistics.median(full) - statistics.median(empty)
    return difference


def main() -> None:
    cycles, calls, result, *names = sys.argv[1:]
    taken = []
    for number in range(int(cycles)):
        order = names if number % 2 == 0 else names[::-1]
        taken.append({name: sample(name, int(calls)) for name in order})
    with open(result, "w", encoding="utf-8") as file:
        json.dump(taken, file)


if __name__ == "__main__":
    main()
