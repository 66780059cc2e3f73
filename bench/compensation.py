"""Compares `timeloom report --compensate` with known times.

usage: python bench/compensation.py [--json] [--rounds N] [--scratch DIR]

Method
  Functions with known work are called in loops, alternately plain, timed from outside with the
  wall clock, and inside a timeloom.Measurement. The true time of a callee is the plain time of
  its loop minus the time of the same loop over an empty body; the true time of a loop is all of
  its plain time. Figures are medians over the rounds. A figure holds if it is within a tenth of
  the true time, for callees that take more than a microsecond.
"""

import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import startup

import timeloom

ROUNDS = 9
HOLDS_FROM_NS, WITHIN = 1000, 0.1
Seconds = dict[str, float]


def nothing() -> None:
    pass


def short() -> int:
    return sum((1, 2, 3))


def medium() -> int:
    total = 0
    for i in range(40):
        total += i
    return total


def long() -> int:
    total = 0
    for i in range(4000):
        total += i
    return total


def calling() -> int:
    """Its ten empty calls count as its own time: about a thirtieth."""
    total = 0
    for i in range(300):
        total += i
    for _ in range(10):
        nothing()
    return total


def caller(work: typing.Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


CASES: dict[typing.Callable[[], object], int] = {
    nothing: 200_000,
    short: 100_000,
    medium: 40_000,
    calling: 10_000,
    long: 500,
}


def plain_seconds(work: typing.Callable[[], object], times: int) -> float:
    begin = time.perf_counter_ns()
    caller(work, times)
    return (time.perf_counter_ns() - begin) / 1e9


def reported(run: str) -> tuple[Seconds, Seconds]:
    """Exclusive times of the callees and total times of their loops: as measured, and compensated."""
    done = subprocess.run(
        [startup.program(), "report", "--json", "--tree", "--compensate", run], capture_output=True, check=True
    )
    rows = {row["id"]: row for row in json.loads(done.stdout)["tree"]["rows"]}
    measured, less = {}, {}
    for row in rows.values():
        name = row["name"].rpartition(".")[2]
        if row["parent"] is None or not rows[row["parent"]]["name"].endswith("caller"):
            continue
        measured[name], less[name] = row["exclusive_s"], row["compensated_exclusive_s"]
    return measured, less


def observed_seconds(scratch: pathlib.Path) -> tuple[Seconds, Seconds]:
    with timeloom.Measurement(output=str(scratch), quiet=True) as measurement:
        for work, times in CASES.items():
            caller(work, times)
    assert measurement.run is not None
    return reported(measurement.run)


def measure(rounds: int, scratch: pathlib.Path) -> dict[str, dict[str, object]]:
    truth, measured, less = (collections.defaultdict[str, list[float]](list) for _ in range(3))
    for number in range(rounds):
        for work, times in CASES.items():
            loop = plain_seconds(nothing, times) if work is not nothing else 0.0
            truth[work.__name__].append(plain_seconds(work, times) - loop)
        seen, compensated = observed_seconds(scratch / f"run-{number}")
        for name in seen:
            measured[name].append(seen[name])
            less[name].append(compensated[name])
    return {work.__name__: row(truth, measured, less, work.__name__, times) for work, times in CASES.items()}


def row(
    truth: dict[str, list[float]], measured: dict[str, list[float]], less: dict[str, list[float]], name: str, times: int
) -> dict[str, object]:
    true, seen, compensated = (statistics.median(one[name]) / times * 1e9 for one in (truth, measured, less))
    holds = abs(compensated - true) <= WITHIN * true if true >= HOLDS_FROM_NS else None
    figures = {"true_ns": true, "measured_ns": seen, "compensated_ns": compensated}
    return {**{key: round(value, 1) for key, value in figures.items()}, "holds": holds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        figures = measure(arguments.rounds, pathlib.Path(scratch))
    if arguments.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    for name, one in figures.items():
        print(name, one)


if __name__ == "__main__":
    main()
