"""Measures what the causes of waiting and the regions of garbage collections cost on top of a trace.

usage: python bench/causes.py [--json] [--rounds N] [--only NAME,...] [--scratch DIR]

Method
  Programs of bench/truth_work.py run under `timeloom run --no-weave`, by turns with `--no-gc` and with
  `--causes`, which has collections as well. Each round gives a ratio of CPU times (user and system, with
  all children); the figure is the median of the ratios, with the quartiles. `same` is the ratio of two
  runs with `--no-gc`: the noise of the figure. At most 1.01 is promised.
"""

import pathlib
import statistics
import subprocess

import startup
import truth
from limits import Figures

NAMES = ["fib", "objects", "generators", "threads", "tasks"]
ROUNDS = 15


def measure(name: str, rounds: int, scratch: pathlib.Path) -> Figures:
    program = str(truth.HERE / "truth_work.py")
    ways = [["--no-gc"], ["--causes"], ["--no-gc"]]
    seconds: list[list[float]] = []
    for number in range(rounds):
        one = [0.0] * len(ways)
        for way in range(len(ways)):
            which = (way + number) % len(ways)
            run = str(scratch / f"{name}-{number}-{which}")
            command = [startup.program(), "run", "--quiet", "--no-weave", "-o", run, *ways[which], program, name]
            one[which] = truth.cpu_seconds(command)
            subprocess.run(["rm", "-rf", run], check=True)
        seconds.append(one)
    base = [(plain + again) / 2 for plain, _, again in seconds]
    ratios = [causes / base for (_, causes, _), base in zip(seconds, base, strict=True)]
    low, median, high = statistics.quantiles(ratios)
    return {
        "trace_s": round(statistics.median(base), 3), "ratio": round(median, 4), "ratio_low": round(low, 4),
        "ratio_high": round(high, 4), "same": round(statistics.median(again / plain for plain, _, again in seconds), 4),
    }  # fmt: skip


if __name__ == "__main__":
    truth.compare(__doc__, NAMES, ROUNDS, measure)
