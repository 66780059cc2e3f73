"""Counts the cost of recording memory, beside memray and tracemalloc, on the interpreter that runs this.

usage: python bench/memory.py [--json] [--rounds N] [--only NAME,...]

Method
  pair      nanoseconds of a malloc of 64 bytes and its free, in a loop in C: without the wrapper library,
            with the library while nothing is measured, and recorded, in a trace and with --profile;
            of the rounds of each process the fastest counts, plain and recorded by turns
  programs  CPU time of a process, as a multiple of the plain program's, start and end included: under
            `timeloom run --memory --profile`, `memray run`, `memray run --trace-python-allocators` and
            `python -X tracemalloc=25`; all by turns, the median of the rounds. null: not installed

  json      ten documents of 60,000 numbers and texts are made, read and written
  objects   a million small objects in lists, kept and dropped by turns
  arrays    NumPy: temporary arrays of 80 kB to 8 MB (needs numpy)
  groups    pandas: a group-by over a million rows (needs pandas)

CPU times depend on the load of the machine; a ratio is of processes that ran next to each other.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap

import startup

LOOP = """
#include <stdlib.h>
void pairs(long n) { for (long i = 0; i < n; ++i) { char *volatile p = malloc(64); free(p); } }
"""
PAIR = """
import ctypes, sys, time
TIMES, ROUNDS = 200_000, 15
pairs = ctypes.CDLL(sys.argv[1]).pairs
def call():
    pairs(ctypes.c_long(TIMES))
def seconds():
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
seconds()
plain, recorded = [], []
for number in range(ROUNDS):
    plain.append(seconds())
    if len(sys.argv) > 2:
        import timeloom
        with timeloom.Measurement(output=f"{sys.argv[2]}{number}", memory=True, profile=sys.argv[3] == "profile",
                                  weave=False):
            recorded.append(seconds())
print(min(plain) / TIMES * 1e9, min(recorded) / TIMES * 1e9 if recorded else None)
"""
PROGRAMS = {
    "json": """
        import json
        document = [{"number": n, "text": f"item {n}", "list": [n, n + 1]} for n in range(60_000)]
        for _ in range(10):
            document = json.loads(json.dumps(document))
        """,
    "objects": """
        class Point:
            def __init__(self, x, y):
                self.x, self.y = x, y
        def make(n):
            return [Point(i, float(i)) for i in range(n)]
        for _ in range(10):
            kept = make(100_000)
        """,
    "arrays": """
        import numpy
        def step(size):
            a = numpy.arange(size, dtype=float)
            return float((a * 2 + 1).sum())
        for _ in range(150):
            for size in (10_000, 100_000, 1_000_000):
                step(size)
        """,
    "groups": """
        import numpy, pandas
        frame = pandas.DataFrame({"key": numpy.arange(1_000_000) % 1000, "value": numpy.arange(1_000_000.0)})
        for _ in range(10):
            frame.groupby("key").value.agg(["mean", "max"])
        """,
}
NEEDS = {"arrays": "numpy", "groups": "pandas"}


def is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def pair(scratch: pathlib.Path) -> dict[str, float | None]:
    source, library = scratch / "pairs.c", scratch / "pairs.so"
    source.write_text(LOOP)
    subprocess.run(["cc", "-O2", "-fno-builtin", "-shared", "-fPIC", source, "-o", library], check=True)
    wrapper = subprocess.run([startup.program(), "preload", "--print", "--memory"], check=True, capture_output=True,
                             text=True).stdout.strip()  # fmt: skip

    def run(*words: str, **variables: str) -> list[float | None]:
        done = subprocess.run([sys.executable, "-c", PAIR, str(library), *words], check=True, capture_output=True,
                              text=True, env={**os.environ, **variables})  # fmt: skip
        return [None if word == "None" else round(float(word), 1) for word in done.stdout.split()]

    plain, _ = run()
    dormant, trace = run(str(scratch / "trace"), "trace", LD_PRELOAD=wrapper)
    _, profile = run(str(scratch / "profile"), "profile", LD_PRELOAD=wrapper)
    return {"plain_ns": plain, "dormant_ns": dormant, "trace_ns": trace, "profile_ns": profile}


def commands(program: pathlib.Path, scratch: pathlib.Path) -> dict[str, list[str] | None]:
    """How to run a program, by the tool."""
    memray = [sys.executable, "-m", "memray", "run", "--quiet", "--force", "-o", str(scratch / "memray.bin")]
    has_memray = is_installed("memray")
    return {
        "plain": [sys.executable, str(program)],
        "timeloom": [startup.program(), "run", "--quiet", "--force", "--memory", "--profile", "-o",
                     str(scratch / "run"), str(program)],
        "memray": [*memray, str(program)] if has_memray else None,
        "memray_python": [*memray, "--trace-python-allocators", str(program)] if has_memray else None,
        "tracemalloc": [sys.executable, "-X", "tracemalloc=25", str(program)],
    }  # fmt: skip


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratios(name: str, rounds: int, scratch: pathlib.Path) -> dict[str, float | None]:
    program = scratch / f"program_{name}.py"
    program.write_text(textwrap.dedent(PROGRAMS[name]))
    times: dict[str, list[float]] = {}
    every = commands(program, scratch)
    for _ in range(rounds):
        for tool, command in every.items():
            if command:
                times.setdefault(tool, []).append(cpu_seconds(command))
    plain = times["plain"]
    found: dict[str, float | None] = {"plain_s": round(statistics.median(plain), 3)}
    for tool in every:
        if tool != "plain":
            each = [one / base for one, base in zip(times.get(tool, []), plain)]
            found[tool] = round(statistics.median(each), 2) if each else None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(["pair", *PROGRAMS]))
    options = parser.parse_args()
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        scratch = pathlib.Path(directory)
        for name in options.only.split(","):
            if name == "pair":
                figures[name] = pair(scratch)
            elif is_installed(NEEDS.get(name, "json")):
                figures[name] = ratios(name, options.rounds, scratch)
            if not options.json:
                print(name, json.dumps(figures.get(name)), flush=True)
    if options.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
