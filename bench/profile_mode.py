"""Measures the cost of profile mode, on the interpreter that runs this.

usage: python bench/profile_mode.py [--json] [--rounds N] [--scratch DIR] [--seconds S]

Method
  calls   CPU ns that a call of an empty function takes, plain, with a trace, with
          --profile (each by the default instrumenter) and under cProfile; the
          least of many loops in a fresh process, by turns, medians over the
          rounds; what is added to a plain call
  memory  peak MB of a program that makes calls for S and for S / 10 seconds
  cube    wall ms, and peak MB, of writing and reading a CUBE file of 100,000 call
          paths on 64 processes, and of score, report and diff on it
  fold    CPU ns an event of folding a trace, beyond reading it
The last two are those of the programs in BENCH_PROGRAMS, where they have been built.

`limits` says what has to hold (docs of the benchmarks: bench/README.md).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import command_line
import large_profile
import limits

CALLS = """
import sys, time
def nothing(): pass
def loop(n):
    for _ in range(n): nothing()
least = float("inf")
for _ in range(30):
    begin = time.process_time_ns()
    loop(100_000)
    least = min(least, (time.process_time_ns() - begin) / 100_000)
with open(sys.argv[1], "w") as file: file.write(str(least))
"""
LONG = """
import sys, time
def nothing(): pass
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end: nothing()
"""
MODES: dict[str, list[str]] = {
    "plain": [],
    "trace": ["-m", "timeloom", "--quiet", "--no-weave"],
    "profile": ["-m", "timeloom", "--quiet", "--no-weave", "--profile"],
    "cProfile": ["-m", "cProfile", "-o", os.devnull],
}


def program_of(mode: str, directory: str, text: str, argument: str) -> list[str]:
    program = os.path.join(directory, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    options = MODES[mode]
    if "timeloom" in options:
        options = [*options, "-o", os.path.join(directory, "run")]
    return [sys.executable, *options, program, argument]


def call_ns(mode: str, scratch: str) -> float:
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        result = os.path.join(directory, "result")
        # Not where this file is, which is no module `profile` for cProfile.
        subprocess.run(program_of(mode, directory, CALLS, result), check=True, cwd=directory)
        with open(result, encoding="utf-8") as file:
            return float(file.read())


def peak_mb(mode: str, seconds: float, scratch: str) -> float:
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        child = subprocess.Popen(program_of(mode, directory, LONG, str(seconds)))
        _, _, usage = os.wait4(child.pid, 0)
        return usage.ru_maxrss * 1024 / 1e6


def figures(arguments: argparse.Namespace) -> limits.Figures:
    rounds, seconds, scratch = arguments.rounds, arguments.seconds, arguments.scratch
    taken: dict[str, list[float]] = {mode: [] for mode in MODES}
    for number in range(rounds):
        for mode in list(MODES)[:: 1 if number % 2 == 0 else -1]:
            taken[mode].append(call_ns(mode, scratch))
    calls = {mode: statistics.median(values) for mode, values in taken.items()}
    added = {mode: ns - calls["plain"] for mode, ns in calls.items() if mode != "plain"}
    memory = {str(s): round(peak_mb("profile", s, scratch), 1) for s in (seconds / 10, seconds)}
    result: limits.Figures = {
        "python": sys.version.split()[0],
        "plain_call_ns": round(calls["plain"], 1),
        "added_ns": {mode: round(value, 1) for mode, value in added.items()},
        "profile_over_trace": round(added["profile"] / added["trace"], 3),
        "profile_over_cProfile": round(added["profile"] / added["cProfile"], 3),
        "peak_mb": memory,
        **large_profile.measure(scratch),
    }
    result["limits"] = limits.held(limits.check_profile(result))
    return result


if __name__ == "__main__":
    long = {"type": float, "default": 60, "help": "of the long program"}
    command_line.run(__doc__, figures, seconds=long)
