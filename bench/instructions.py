#!/usr/bin/env python3
"""Counts Timeloom's own instructions for an event, and compares them with instructions.json.

usage: PYTHON -m bench.instructions [--write]

PYTHON has Timeloom installed. Needs valgrind: its callgrind runs one process for each instrumenter, in which each
operation is called 2,000 times, with waiting off and after the callbacks that are timed. Counts do not depend on the
load of the machine, but on the compiler, the architecture and the Python, which the file names; counts of others are
not compared. Prints a line for each operation, and fails if one costs over two instructions more than in the file.
With --write writes the file; the commit that does so gives the reason for a larger number.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

from scripts.release.wheel_cost import costs

FILE = pathlib.Path(__file__).with_suffix(".json")
CALLS = 2000
ALLOWED = 2  # instructions per call, above the file's number
PROGRAM = """
import os, sys, timeloom

def step(): pass
def left_out(): pass

def plain(n):
    for _ in range(n): step()

def filtered(n):
    for _ in range(n): left_out()

def c_function(n, function=abs):
    for _ in range(n): function(1)

def region(n, begin=timeloom.region_begin, end=timeloom.region_end):
    for _ in range(n): begin("region"), end("region")

operations = plain, filtered, c_function, region
for profile in (False, True):
    with timeloom.Measurement(
        output=f"{sys.argv[1]}/{profile}", instrumenter=sys.argv[2], c_functions=sys.argv[3] == "c", profile=profile,
        waiting=False, weave=False, exclude=["__main__.left_out"],
    ):
        for operation in operations:
            operation(200)  # the callbacks that are timed, and the first sights
        for operation in operations:
            os.getpgrp()  # callgrind begins another part
            operation(int(sys.argv[4]))
        os.getpgrp()
"""
OPERATIONS = ("plain", "filtered", "c_function", "region")
COMPILED = """
#include <stdlib.h>
#include <unistd.h>
#define LEFT_OUT __attribute__((no_instrument_function))
__attribute__((noinline)) void step(void) { __asm__ volatile(""); }
__attribute__((noinline)) void left_out(void) { __asm__ volatile(""); }
LEFT_OUT static void repeat(void (*function)(void), int times) {
  for (int i = 0; i < times; ++i) function();
}
LEFT_OUT int main(int count, char **words) {
  repeat(step, 200), repeat(left_out, 200);
  for (int i = 0; i < 2; ++i) {
    getpgrp();
    repeat(i == 0 ? step : left_out, count > 1 ? atoi(words[1]) : 0);
  }
  getpgrp();
}
"""
OURS = ("_core.", "libtimeloom.")
Counts = dict[str, float]


def compiler() -> str:
    """The environment on which the counts depend."""
    version = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    return f"c++ {version}, {platform.machine()}, Python {'.'.join(platform.python_version_tuple()[:2])}"


def of_part(output: pathlib.Path) -> float:
    """Timeloom's own instructions in one call."""
    return sum(own for place, own in costs(output).items() if pathlib.PurePath(place).name.startswith(OURS)) / CALLS


def count(instrumenter: str, c_functions: bool) -> Counts:
    """The counts by "instrumenter[ c-functions][ profile] operation"."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "app.py").write_text(PROGRAM)
        options = ["--separate-threads=yes", "--dump-before=getpgrp", "--callgrind-out-file=out"]
        program = [sys.executable, "app.py", name, instrumenter, "c" if c_functions else "-", str(CALLS)]
        words = ["valgrind", "--tool=callgrind", *options, *program]
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} failed: {done.stderr}")
        # Part 1 ends where the first operation begins; another such part precedes the second measurement.
        # The first thread's: the recorder's own thread looks at other threads when it likes.
        parts = [of_part(directory / f"out.{number}-01") for number in (2, 3, 4, 5, 7, 8, 9, 10)]
    kind = f"{instrumenter} c-functions" if c_functions else instrumenter
    kinds = [f"{kind}{mode} {operation}" for mode in ("", " profile") for operation in OPERATIONS]
    return {kind: round(value, 1) for kind, value in zip(kinds, parts, strict=True)}


def built(directory: pathlib.Path) -> pathlib.Path:
    """The compiled program, linked with libtimeloom; its functions call the compiler's hooks."""
    config = pathlib.Path(sys.executable).with_name("timeloom-config")
    words = [subprocess.check_output([config, option], text=True).split() for option in ("--cflags", "--libs")]
    (directory / "app.c").write_text(COMPILED)
    command = ["cc", "-O2", "-finstrument-functions", *words[0], "app.c", "-o", "app", "-Wl,--no-as-needed", *words[1]]
    subprocess.run(command, cwd=directory, check=True)
    return directory / "app"


def count_compiled() -> Counts:
    """The counts of a function of C that is recorded, and of one that a filter leaves out."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        timeloom = pathlib.Path(sys.executable).with_name("timeloom")
        run = [timeloom, "run", "--quiet", "--no-weave", "-o", "run", "--exclude", "left_out", "--program"]
        options = ["--separate-threads=yes", "--dump-before=getpgrp", "--callgrind-out-file=out"]
        words = [*map(str, run), "valgrind", "--tool=callgrind", *options, str(built(directory)), str(CALLS)]
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} failed: {done.stderr}")
        recorded, filtered = (of_part(directory / f"out.{number}-01") for number in (2, 3))
    return {"compiled plain": round(recorded, 1), "compiled filtered": round(filtered, 1)}


def all_counts() -> Counts:
    """The counts of compiled functions, and of every instrumenter of this Python."""
    counts = count_compiled()
    for instrumenter, c_functions in (("monitoring", False), ("monitoring", True), ("frame", False), ("profile", True)):
        if instrumenter != "monitoring" or sys.version_info >= (3, 12):
            counts |= count(instrumenter, c_functions)
    return counts


def more_than(known: Counts, found: Counts) -> list[str]:
    """A line for each operation that has become more expensive."""
    return [
        f"{kind}: {value:.1f} instructions a call, {known[kind]:.1f} in {FILE.name}; where that must be, run "
        "bench.instructions --write and say why in the commit"
        for kind, value in found.items()
        if kind in known and value > known[kind] + ALLOWED
    ]


def main() -> int:
    """Count, compare, print."""
    kept: dict[str, Counts] = json.loads(FILE.read_text()) if FILE.exists() else {}
    found, here = all_counts(), compiler()
    for kind, value in found.items():
        print(f"{value:8.1f}  {kept.get(here, {}).get(kind, float('nan')):8.1f}  {kind}")
    if "--write" in sys.argv[1:]:
        kept[here] = found
        FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
        return 0
    lines = more_than(kept.get(here, {}), found)
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    os.environ.pop("TIMELOOM_PARENT", None)
    sys.exit(main())
