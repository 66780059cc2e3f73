"""Compares the CPU time of programs under `timeloom run --overhead 5%` with the CPU time of the plain programs.

usage: python bench/promise.py [--json] [--rounds N] [--limit SHARE] [--only NAME,...] [--scratch DIR] [--django DIR]

DIR is Django's unpacked source distribution, with its tests.

Method
  Each program runs plain, measured without a limit and measured with it, in another order in each
  round. The ratio of the CPU times (user and system, with all children) is computed for each round;
  the median counts. The runs are not woven. An empty program runs in the same way, and its CPU time
  is subtracted, so that the start of Python and of Timeloom does not count.
  The runs of the last round are read as well: the ten functions with the longest own time, in the run
  without the limit less what measuring cost, and in the run with it as they are shown, where the time
  of functions that were given up is estimated from samples. The result is how many are the same, and
  the largest difference of their shares of all own time, in points. Both lists are printed.
"""

import argparse
import collections
import importlib.util
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import startup
from limits import Figures
from truth import cpu_seconds

ROUNDS = 9
FIB = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(35)\n"


# Deparses the standard library, which is small methods that call each other.
UNPARSE = """import ast, pathlib
for path in sorted(pathlib.Path(ast.__file__).parent.glob("*.py"))[:90]:
    ast.unparse(ast.parse(path.read_bytes()))
"""
SHARES = pathlib.Path(__file__).parent.parent / "tests" / "python" / "programs" / "shares.py"
DJANGO_TESTS = "basic queries model_forms model_fields expressions aggregation annotations lookup"
FIRST = 10


def programs(scratch: pathlib.Path, django: str) -> dict[str, list[str]]:
    """The words after `python`, by name, of the programs whose packages are installed."""
    for name, text in (("empty", ""), ("fib", FIB), ("unparse", UNPARSE)):
        (scratch / f"{name}.py").write_text(text)
    known = {name: [str(scratch / f"{name}.py")] for name in ("empty", "fib", "unparse")}
    known["shares"] = [str(SHARES), "150"]
    spec = importlib.util.find_spec("black")
    if spec is None or spec.origin is None:
        print("promise.py: black is not installed", file=sys.stderr)
    else:
        source = scratch / "black"
        shutil.copytree(pathlib.Path(spec.origin).parent, source, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        known["black"] = ["-m", "black", "--diff", "--quiet", "--workers", "1", str(source)]
    if django and importlib.util.find_spec("django") is not None:
        tests = pathlib.Path(django) / "tests" / "runtests.py"
        known["django"] = [str(tests), "--parallel", "1", "--verbosity", "0", *DJANGO_TESTS.split()]
    else:
        print("promise.py: Django's tests are not measured without Django and --django", file=sys.stderr)
    return known


def one_round(program: list[str], number: int, limit: str, scratch: pathlib.Path) -> dict[str, float]:
    measured = [startup.program(), "run", "--quiet", "--no-weave", "--force", "-o"]
    commands = {
        "plain": [sys.executable, *program],
        "unlimited": [*measured, str(scratch / "unlimited"), *program],
        "limited": [*measured, str(scratch / "limited"), "--overhead", limit, *program],
    }
    names = list(commands)
    first = number % len(names)
    return {name: cpu_seconds(commands[name]) for name in names[first:] + names[:first]}


def measure(program: list[str], rounds: int, limit: str, scratch: pathlib.Path) -> list[dict[str, float]]:
    return [one_round(program, number, limit, scratch) for number in range(rounds)]


def functions_of(run: pathlib.Path, *options: str) -> list[dict[str, Any]]:
    command = [startup.program(), "report", "--json", "--flat", "--min-percent", "0", *options, str(run)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows: list[dict[str, Any]] = report["flat"]["rows"]
    return rows


def shares_of(rows: list[dict[str, Any]], time: str) -> dict[str, float]:
    """The share of each function in all own work, the largest first; importing is left out."""
    times: collections.Counter[str] = collections.Counter()
    for row in rows:
        if row["file"] and not row["file"].startswith("<frozen importlib"):
            name = f"{row['name']} ({row['file'].rpartition('/')[2]}:{row['line']})"
            times[name] += max(row[time] - row["waiting_s"], 0)
    whole = sum(times.values())
    return {name: seconds / whole for name, seconds in times.most_common()}


def compare(unlimited: pathlib.Path, limited: pathlib.Path, shown: bool) -> Figures:
    rows = functions_of(limited)
    after = shares_of(rows, "exclusive_s")
    before = shares_of(functions_of(unlimited, "--compensate"), "compensated_exclusive_s")
    first = list(before)[:FIRST]
    if shown:
        for one, other in itertools.zip_longest(first, list(after)[:FIRST], fillvalue=""):
            print(f"  {before.get(one, 0):6.1%} {one[-48:]:48}  {after.get(other, 0):6.1%} {other[-48:]}")
    return {
        "given_up": sum(row["given_up"] for row in rows),
        "first": len(first),
        "first_kept": len({*first} & {*list(after)[:FIRST]}),
        "points": round(100 * max(abs(before[one] - after.get(one, 0)) for one in first), 1),
    }


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
    parser.add_argument("--django", default=os.environ.get("BENCH_DJANGO", ""))
    arguments = parser.parse_args()
    figures: Figures = {}
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as directory:
        scratch = pathlib.Path(directory)
        known = programs(scratch, arguments.django)
        wanted = arguments.only.split(",") if arguments.only else [name for name in known if name != "empty"]
        starts = measure(known["empty"], arguments.rounds, arguments.limit, scratch)
        empty = {name: statistics.median(one[name] for one in starts) for name in starts[0]}
        for name in wanted:
            rounds = measure(known[name], arguments.rounds, arguments.limit, scratch)
            figures[name] = figures_of(rounds, empty) | compare(
                scratch / "unlimited", scratch / "limited", not arguments.json
            )
            if not arguments.json:
                print(name, figures[name], flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
