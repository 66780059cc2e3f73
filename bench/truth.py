"""Compares the overhead that Timeloom estimates with the measured cost.

usage: python bench/truth.py [--json] [--rounds N] [--only NAME,...] [--scratch DIR]

Method
  Each program of bench/truth_work.py runs plain and under `timeloom run --no-weave --follow all`,
  alternating in going first. The truth is the difference of the CPU time (user and system) of the
  process with all its children: the median over the rounds, with the quartiles as its interval. The
  estimate is the median of the values that `timeloom info` prints for the runs. It holds if it lies
  within a quarter of the measured difference, or within two points of the plain program's CPU time,
  whichever is more. `timeloom check 'overhead < 5%'` also runs for each run, and its verdicts are
  counted. A NAME is a program, for a trace, or 'PROGRAM --profile'.
"""

import argparse
import collections
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

import startup
from limits import Figures
from truth_work import PACKAGES, PROFILED, PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 20
RULE = "overhead < 5%"
NAMES = [*PROGRAMS, *(f"{name} --profile" for name in PROFILED)]
VERDICTS = {0: "pass", 1: "fail", 4: "undecided"}  # by the exit status of `timeloom check`
Measure = Callable[[str, int, pathlib.Path], Figures]  # figures of a program, from so many rounds
SHARE, POINTS = 0.25, 0.02  # how far an estimate may be off


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a command with its children."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def overhead_of(run: str) -> Figures:
    done = subprocess.run([startup.program(), "info", "--json", run], capture_output=True, check=True)
    overhead: Figures = json.loads(done.stdout)["overhead"]
    return overhead


def verdict_of(run: str) -> str:
    done = subprocess.run([startup.program(), "check", run, RULE], capture_output=True)
    return VERDICTS[done.returncode]


def measure(name: str, rounds: int, scratch: pathlib.Path) -> Figures:
    work, *options = name.split()
    program = [str(HERE / "truth_work.py"), work]
    plain, added, stated = [], [], []
    verdicts: collections.Counter[str] = collections.Counter()
    for number in range(rounds):
        run = str(scratch / f"{work}-{number}")
        measured = [startup.program(), "run", "--follow", "all", *options, "--quiet", "--no-weave", "-o", run]
        commands = [[sys.executable, *program], [*measured, *program]]
        order = (0, 1) if number % 2 == 0 else (1, 0)
        seconds = {one: cpu_seconds(commands[one]) for one in order}
        plain.append(seconds[0])
        added.append(seconds[1] - seconds[0])
        stated.append(overhead_of(run))
        verdicts[verdict_of(run)] += 1
        subprocess.run(["rm", "-rf", run], check=True)
    truth, base = statistics.median(added), statistics.median(plain)
    estimate = statistics.median(one["cpu_seconds"] for one in stated)
    low, _, high = statistics.quantiles(added)
    return {
        "plain_s": round(base, 3), "added_s": round(truth, 3), "added_low_s": round(low, 3),
        "added_high_s": round(high, 3), "estimated_s": round(estimate, 3),
        "holds": abs(estimate - truth) <= max(SHARE * truth, POINTS * base),
        "verdicts": dict(verdicts), "parts": stated[rounds // 2],
    }  # fmt: skip


def compare(document: str | None, names: list[str], rounds: int, measure: Measure) -> None:
    """The command line of a benchmark over the programs of truth_work.py; `document` is its usage."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", default="")
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    figures: Figures = {}
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        for name in arguments.only.split(",") if arguments.only else names:
            package = PACKAGES.get(name.split()[0])
            if package is not None and importlib.util.find_spec(package) is None:
                print(f"{pathlib.Path(sys.argv[0]).name}: {name}: {package} is not installed", file=sys.stderr)
                continue
            figures[name] = measure(name, arguments.rounds, pathlib.Path(scratch))
            if not arguments.json:
                print(name, figures[name], flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    compare(__doc__, NAMES, ROUNDS, measure)
