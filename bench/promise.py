"""Compares the CPU time of programs under `timeloom run --overhead 5%` with that of the plain programs.

usage: python bench/promise.py [--json] [--rounds N] [--limit SHARE] [--only NAME,...] [--scratch DIR]

Method
  Each program runs plain, measured without a limit and measured with it, by turns, in another
  order in each round: the ratios of their CPU times (user and system, with all children) are taken
  per round, of these the median. The runs are not woven. An empty program runs in the same
  way, and its CPU time is subtracted, so that the start of Python and of Timeloom do not count.
"""

import argparse
import importlib.util
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

import startup
from limits import Figures
from truth import cpu_seconds

ROUNDS = 9
FIB = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(35)\n"


def programs(scratch: pathlib.Path) -> dict[str, list[str]]:
    """The words after `python`, by name; those whose package is installed."""
    for name, text in (("empty", ""), ("fib", FIB)):
        (scratch / f"{name}.py").write_text(text)
    known = {name: [str(scratch / f"{name}.py")] for name in ("empty", "fib")}
    spec = importlib.util.find_spec("black")
    if spec is None or spec.origin is None:
        print("promise.py: black is not installed", file=sys.stderr)
    else:
        source = scratch / "black"
        shutil.copytree(pathlib.Path(spec.origin).parent, source, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        known["black"] = ["-m", "black", "--diff", "--quiet", "--workers", "1", str(source)]
    return known


def one_round(program: list[str], number: int, limit: str, scratch: pathlib.Path) -> dict[str, float]:
    run = scratch / "run"
    measured = [startup.program(), "run", "--quiet", "--no-weave", "--force", "-o", str(run)]
    commands = {
        "plain": [sys.executable, *program],
        "unlimited": [*measured, *program],
        "limited": [*measured, "--overhead", limit, *program],
    }
    names = list(commands)
    first = number % len(names)
    return {name: cpu_seconds(commands[name]) for name in names[first:] + names[:first]}


def measure(program: list[str], rounds: int, limit: str, scratch: pathlib.Path) -> list[dict[str, float]]:
    return [one_round(program, number, limit, scratch) for number in range(rounds)]


def figures_of(rounds: list[dict[str, float]], empty: dict[str, float]) -> Figures:
    net = [{name: seconds - empty[name] for name, seconds in one.items()} for one in rounds]
    ratios = {name: [one[name] / one["plain"] for one in net] for name in ("unlimited", "limited")}
    return {
        "plain_s": round(statistics.median(one["plain"] for one in net), 3),
        **{f"{name}_ratio": round(statistics.median(values), 3) for name, values in ratios.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--limit", default="5%")
    parser.add_argument("--only", default="")
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    figures: Figures = {}
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as directory:
        scratch = pathlib.Path(directory)
        known = programs(scratch)
        wanted = arguments.only.split(",") if arguments.only else [name for name in known if name != "empty"]
        starts = measure(known["empty"], arguments.rounds, arguments.limit, scratch)
        empty = {name: statistics.median(one[name] for one in starts) for name in starts[0]}
        for name in wanted:
            rounds = measure(known[name], arguments.rounds, arguments.limit, scratch)
            figures[name] = figures_of(rounds, empty)
            if not arguments.json:
                print(name, figures[name], flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
