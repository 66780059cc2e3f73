"""Times `timeloom convert` and `timeloom.read()`, compared with weaving the same run.

usage: python bench/convert.py [--json] [--events N] [--rounds N] [--only NAME,...] [--scratch DIR]

Method
  A run of two threads is recorded once. In each round it is woven from a fresh copy, and converted
  to each format after another weave; the medians of the rounds' ratios count. Wall times are
  reported, with bytes per event and the peak resident size of the converting process. `columns`
  reads `.events()` as Arrow columns with nanoarrow, and drops them. `paths` reads a profile of
  100,000 call paths on 8 threads with `.to_pandas()`, compared with `timeloom report --json` of the
  same file.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import startup
import weaving
from limits import Figures

EVENTS, ROUNDS = 20_000_000, 5
FORMATS = ("perfetto", "chrome", "json", "csv", "arrow", "speedscope", "firefox", "collapsed", "pprof")
TABLES = ("json", "csv", "arrow")  # of events
COLUMNS = """
import sys, nanoarrow, timeloom
print(sum(len(batch) for batch in nanoarrow.ArrayStream(timeloom.read(sys.argv[1]).events())))
"""
MANY_PATHS = """
import sys, threading
import timeloom

def work():
    for first in range(316):
        with timeloom.region(f"first {first}"):
            for second in range(316):
                with timeloom.region(f"second {second}"):
                    pass

threads = [threading.Thread(target=work) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""
TO_PANDAS = "import sys, timeloom; print(len(timeloom.read(sys.argv[1]).to_pandas()))"


class Cost(typing.NamedTuple):
    seconds: float
    peak_mb: float


def cost_of(command: list[str]) -> Cost:
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Cost(seconds, usage.ru_maxrss / 1024)


def command_of(name: str, run: pathlib.Path, file: pathlib.Path) -> list[str]:
    if name == "columns":
        return [sys.executable, "-c", COLUMNS, str(run)]
    table = ["--events"] if name in TABLES else []
    return [startup.program(), "convert", str(run), "--to", name, *table, "--force", "-o", str(file)]


def measure_formats(names: list[str], events: int, rounds: int, scratch: pathlib.Path) -> Figures:
    recorded = weaving.record(scratch, 2, events)
    run = scratch / "woven"
    subprocess.run(["cp", "-r", str(recorded), str(run)], check=True)
    subprocess.run([startup.program(), "weave", str(run)], check=True, stdout=subprocess.DEVNULL)
    file = scratch / "converted"
    ratios = collections.defaultdict[str, list[float]](list)
    figures: Figures = {}
    for _ in range(rounds):
        weave = weaving.weave_copy(recorded, os.cpu_count() or 1)[0].wall
        for name in names:
            cost = cost_of(command_of(name, run, file))
            ratios[name].append(cost.seconds / weave)
            size = file.stat().st_size if name != "columns" else 0
            figures[name] = {"bytes_per_event": round(size / events, 2), "peak_mb": round(cost.peak_mb, 1)}
    for name in names:
        figures[name]["times_weave"] = round(statistics.median(ratios[name]), 2)
    return figures


def measure_paths(rounds: int, scratch: pathlib.Path) -> Figures:
    script, run = scratch / "paths.py", scratch / "paths"
    script.write_text(MANY_PATHS, encoding="utf-8")
    subprocess.run([startup.program(), "run", "--quiet", "--profile", "-o", str(run), str(script)], check=True)
    ratios = []
    for _ in range(rounds):
        report = cost_of([startup.program(), "report", "--json", str(run)])
        ratios.append(cost_of([sys.executable, "-c", TO_PANDAS, str(run)]).seconds / report.seconds)
    return {"times_report": round(statistics.median(ratios), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default=",".join((*FORMATS, "columns", "paths")))
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        scratch = pathlib.Path(name)
        formats = [name for name in names if name != "paths"]
        figures = measure_formats(formats, arguments.events, arguments.rounds, scratch) if formats else {}
        if "paths" in names:
            figures["paths"] = measure_paths(arguments.rounds, scratch)
    if arguments.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    for name, one in figures.items():
        print(name, one)


if __name__ == "__main__":
    main()
