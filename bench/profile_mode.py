"""Measures the cost of profile mode, on the interpreter that runs this.

usage: python bench/profile_mode.py [--json] [--scratch DIR] [--seconds S]

Method
  memory  peak MB of a program that makes calls for S and for S / 10 seconds
  cube    wall ms, and peak MB, of writing and reading a CUBE file of 100,000 call
          paths on 64 processes, and of score, report and diff on it
  fold    CPU ns per event of folding a trace, in addition to reading it
The last two come from the programs in BENCH_PROGRAMS, if they have been built.

`limits` has the conditions that must hold (docs of the benchmarks: bench/README.md).
"""

import argparse
import os
import subprocess
import sys
import tempfile

import command_line
import large_profile
import limits

LONG = """
import sys, time
def nothing(): pass
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end: nothing()
"""


def peak_mb(seconds: float, scratch: str) -> float:
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        options = ["-m", "timeloom", "--quiet", "--no-weave", "--profile", "-o", os.path.join(directory, "run")]
        child = subprocess.Popen([sys.executable, *options, "-c", LONG, str(seconds)])
        _, _, usage = os.wait4(child.pid, 0)
        return usage.ru_maxrss * 1024 / 1e6


def figures(arguments: argparse.Namespace) -> limits.Figures:
    seconds, scratch = arguments.seconds, arguments.scratch
    result: limits.Figures = {
        "python": sys.version.split()[0],
        "peak_mb": {str(s): round(peak_mb(s, scratch), 1) for s in (seconds / 10, seconds)},
        **large_profile.measure(scratch),
    }
    result["limits"] = limits.held(limits.check_profile(result))
    return result


if __name__ == "__main__":
    long = {"type": float, "default": 60, "help": "of the long program"}
    command_line.run(__doc__, figures, seconds=long)
