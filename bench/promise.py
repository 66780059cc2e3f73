"""Compares the CPU time of programs under `timeloom run --overhead 5%` with the CPU time of the plain programs.

usage: python bench/promise.py [--json] [--rounds N] [--limit SHARE] [--only NAME,...] [--scratch DIR] [--django DIR]

DIR is Django's unpacked source distribution, with its tests.

Method
  Each program runs plain, measured without a limit and measured with it, in another order in each
  round. The ratio of the CPU times (user and system, with all children) is computed for each round;
  the median counts. The runs are not woven. An empty program runs in the same way, and its CPU time
  is subtracted, so that the start of Python and of Timeloom does not count.
  The runs of the last round are read as well. With the limit, the time of a function that was given
  up counts for its caller; for the comparison it is moved to the caller in the run without the limit,
  too. The result is how many of the ten functions with the longest exclusive time are the same.
"""

import argparse
import collections
import importlib.util
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


DJANGO_TESTS = "basic queries model_forms model_fields expressions aggregation annotations lookup"
FIRST = 10


def programs(scratch: pathlib.Path, django: str) -> dict[str, list[str]]:
    """The words after `python`, by name, of the programs whose packages are installed."""
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


def call_tree(run: pathlib.Path) -> list[dict[str, Any]]:
    """The nodes of a run, callers before their callees."""
    command = [startup.program(), "report", "--json", "--full", "--min-percent", "0", str(run)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows: list[dict[str, Any]] = report["tree"]["rows"]
    return rows


def function_of(node: dict[str, Any]) -> str:
    """An empty name for call paths beyond the limit."""
    return f"{node['name']} ({node['file']}:{node['line']})" if node["file"] else ""


def first_functions(nodes: list[dict[str, Any]], given_up: set[str]) -> list[str]:
    """The functions with the longest exclusive time; the time of `given_up` functions counts for their callers."""
    owners: dict[int, str] = {}  # by node: the function that its time counts for; "" if unknown
    times: collections.Counter[str] = collections.Counter()
    for node in nodes:
        function = function_of(node)
        owner = owners.get(node["parent"], "") if function in given_up else function
        owners[node["id"]] = owner
        times[owner] += node["exclusive_s"]
    del times[""]
    return [function for function, _ in times.most_common(FIRST)]


def compare(unlimited: pathlib.Path, limited: pathlib.Path) -> Figures:
    nodes = call_tree(limited)
    given_up = {function_of(node) for node in nodes if node["given_up"]}
    after = first_functions(nodes, given_up)
    before = first_functions(call_tree(unlimited), given_up)
    return {"given_up": len(given_up), "first": len(before), "first_kept": len({*before} & {*after})}


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
            figures[name] = figures_of(rounds, empty) | compare(scratch / "unlimited", scratch / "limited")
            if not arguments.json:
                print(name, figures[name], flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
