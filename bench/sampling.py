"""Compares `timeloom report --compensate` with a sampler that observes the plain program.

usage: python bench/sampling.py [--json] [--rounds N] [--only NAME,...] [--scratch DIR]

Method
  Programs of bench/truth_work.py run alternately plain under py-spy, which stops the process from
  outside 1,000 times a second and notes the current Python function, and under `timeloom run`. The
  samples of all rounds, by innermost function, are the truth: shares of exclusive time. They are
  compared with the shares that Timeloom measured, and with the compensated ones. Two sets of shares
  differ by half the sum of the absolute differences (total variation distance): the share of the time
  that they assign to different functions. The difference between two halves of the samples is printed
  as `floor`: a smaller difference means nothing. The compensated times hold if they differ by no more
  than the measured ones, or by no more than the floor. Programs with threads are left out, since their
  functions also wait for the GIL. Garbage collection is off: a collection starts at the first
  instruction of a function, before its enter is seen, so the sampler would assign its time to the
  function, and Timeloom to the caller.
"""

import collections
import json
import pathlib
import subprocess
import sys
import sysconfig
from collections.abc import Iterator

import startup
from limits import Figures
from truth import compare
from truth_work import PROFILED, PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 8
RATE = 1000  # samples a second
NAMES = [name for name in PROGRAMS if name not in ("threads", "tasks", *PROFILED)]
Counts = collections.Counter[tuple[str, int]]  # by file name and first line of a function
Shares = dict[tuple[str, int], float]


def program(name: str) -> list[str]:
    return [str(HERE / "truth_work.py"), name, "--no-gc"]


def place_of(frame: str) -> tuple[str, int] | None:
    """The key for `name (file:line)`; None for frames that are not recorded: the interpreter's own, and the import
    system."""
    file, _, first = frame.rpartition("(")[2].rstrip(")").rpartition(":")
    return (pathlib.PurePath(file).name, int(first)) if file and not file.startswith("<frozen importlib") else None


def sampled(name: str, scratch: pathlib.Path) -> Counts:
    """Samples by innermost function, inside the program's function with that name."""
    output = scratch / "samples.txt"
    py_spy = pathlib.Path(sysconfig.get_path("scripts")) / "py-spy"
    command = [str(py_spy), "record", "-r", str(RATE), "-f", "raw", "--function", "-o", str(output), "--"]
    subprocess.run([*command, sys.executable, *program(name)], check=True, capture_output=True)
    counts = Counts()
    for line in output.read_text(encoding="utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if len(frames) > 1 and frames[1].startswith(f"{PROGRAMS[name].__name__} "):
            counts[next(filter(None, map(place_of, reversed(frames))))] += int(count)
    return counts


def reported(name: str, scratch: pathlib.Path) -> Iterator[Figures]:
    """The rows of the call tree inside that function."""
    run = str(scratch / "run")
    subprocess.run([startup.program(), "run", "--quiet", "--force", "-o", run, *program(name)],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    command = [startup.program(), "report", "--json", "--tree", "--compensate", "--min-percent", "0", run]
    inside: set[int] = set()
    for row in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["tree"]["rows"]:
        if row["parent"] in inside or row["name"] == f"__main__.{PROGRAMS[name].__name__}":
            inside.add(row["id"])
            yield row


def shares(counts: Counts) -> Shares:
    return {key: count / counts.total() for key, count in counts.items()}


def distance(one: Shares, other: Shares) -> float:
    return sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other}) / 2


def measure(name: str, rounds: int, scratch: pathlib.Path) -> Figures:
    halves = [Counts(), Counts()]
    measured, compensated = Counts(), Counts()  # of nanoseconds
    for number in range(rounds):
        halves[number % 2] += sampled(name, scratch)
        for row in reported(name, scratch):
            place = pathlib.PurePath(row["file"]).name, row["line"]
            measured[place] += round(row["exclusive_s"] * 1e9)
            compensated[place] += round(row["compensated_exclusive_s"] * 1e9)
    samples = halves[0] + halves[1]
    found = [distance(shares(samples), shares(counts)) for counts in (measured, compensated)]
    floor = distance(shares(halves[0]), shares(halves[1])) / 2  # there are twice as many samples as in a half
    return {
        "samples": samples.total(), "measured": round(found[0], 4), "compensated": round(found[1], 4),
        "floor": round(floor, 4), "holds": found[1] <= max(found[0], floor),
    }  # fmt: skip


if __name__ == "__main__":
    compare(__doc__, NAMES, ROUNDS, measure)
