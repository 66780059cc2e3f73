"""Measures the cost of observing a Python program, on the interpreter that runs this.

usage: python bench/overhead.py [--json] [--rounds N] [--calls N] [--only NAME,...] [--scratch DIR]

Method
  bench/workload.py times a loop that calls an empty function under one hook after the other, in one
  process, each together with the same loop with an empty body:
      cost of a call = call loop - empty loop
      added_ns = cost of a call - cost of a call without a hook, of the same cycle
  The empty loop is subtracted because a hook may slow the loop as well (a profile hook does on 3.11),
  which is not part of the cost of a call. A cycle takes a second or two; a virtual machine may change
  its speed from one minute to the next. Reported figures are medians over CYCLES cycles of each of N
  processes. `added_ns.none` of "extra" is the same figure for a second sample without a hook: the
  noise of all others.
  While it is measured, Timeloom records to a spool in --scratch; weaving comes afterwards and has
  separate figures (bench/weaving.py).
  c_function_ns is the time of a call of a C function without arguments under --c-functions,
  plain_c_function_ns without a hook, and `c_function_over_viztracer` compares what the two tools add
  to it.
  `ratios` compares the added times of two hooks: for each process the ratio of the medians over its
  cycles, and the median of these ratios. `folded` is --profile, with the default instrumenter.
  viztracer runs with its defaults (C functions recorded, a ring of a million entries, which is full);
  with C functions off it is viztracer-python in "extra".
  omnitrace is Timeloom's door with its default filters, in a separate process together with the hook
  that only reads the clock; `omnitrace_over_timeloom` is the ratio of the calls of the two doors, each
  relative to that hook. A process belongs to that door once it has used it. omnitrace-file is a function
  that -ME leaves out, and omnitrace-subtree one that -E leaves out with its callees, so that its calls
  must be seen.
  scorep is Timeloom's door, in a process started by `python -m scorep`, with floors measured in the
  same process; scorep-bindings are the bindings of a Score-P that is installed here.

Figures that this interpreter or environment cannot measure are null, with a message on stderr.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import bindings
import machine
import startup
import weaving
from limits import Figures

HERE = pathlib.Path(__file__).resolve().parent
CYCLES = 8
BUSY = 0.1  # cores; with more than this the figures are doubtful
HAS_MONITORING = hasattr(sys, "monitoring")
NEED_MONITORING = {"floor-monitoring", "floor-clock", "timeloom-monitoring", "filtered", "omnitrace-file"}
NEED_VIZTRACER = {"viztracer", "viztracer-python", "viztracer-c-function"}

# Names of bench/workload.py, by the process that measures them.
ADDED = ["timeloom-monitoring", "timeloom-frame", "timeloom-profile", "floor-monitoring", "floor-frame",
         "floor-profile", "cProfile", "viztracer", "filtered", "paused"]  # fmt: skip
EXTRA = ["none", "timeloom-folded", "floor-clock", "floor-frame-clock", "timeloom-trace",
         "filtered-frame", "paused-frame", "paused-profile", "viztracer-python"]  # fmt: skip
C_FUNCTIONS = ["c-function", "viztracer-c-function", "plain-c-function"]
WITH = ["with-region", "unmeasured-region", "floor-with"]
SCOREP_FLOORS = ["floor-monitoring", "floor-frame", "floor-with"]
SCOREP = ["scorep", "scorep-region", "scorep-region-off", *SCOREP_FLOORS]
CLOCK = "floor-clock" if HAS_MONITORING else "floor-frame-clock"
OMNITRACE = ["omnitrace", "omnitrace-file", "omnitrace-subtree", CLOCK]

# Ratios of the added times of two hooks: the first over the second.
TRACE = "timeloom-monitoring" if HAS_MONITORING else "timeloom-frame"
RATIOS = {
    "monitoring_over_clock": ("timeloom-monitoring", "floor-clock"),
    "monitoring_over_viztracer": ("timeloom-monitoring", "viztracer"),
    "monitoring_over_cProfile": ("timeloom-monitoring", "cProfile"),
    "frame_over_clock": ("timeloom-frame", "floor-frame-clock"),
    "frame_over_viztracer": ("timeloom-frame", "viztracer"),
    "frame_over_cProfile": ("timeloom-frame", "cProfile"),
    "folded_over_trace": ("timeloom-folded", TRACE),
    "c_function_over_viztracer": ("c-function", "viztracer-c-function"),
}

Cycle = dict[str, float]  # nanoseconds per iteration, by name


def say(text: str) -> None:
    print(f"overhead.py: {text}", file=sys.stderr)


def available(names: list[str], wanted: list[str] | None) -> list[str]:
    chosen = [name for name in names if wanted is None or name in wanted]
    if not HAS_MONITORING:
        chosen = [name for name in chosen if name not in NEED_MONITORING]
    if {*chosen} & NEED_VIZTRACER and importlib.util.find_spec("viztracer") is None:
        say("viztracer is not installed; its figures are null")
        chosen = [name for name in chosen if name not in NEED_VIZTRACER]
    return chosen


def cycles_of(python: str, names: list[str], arguments: argparse.Namespace, *under: str) -> list[Cycle]:
    """All cycles of all rounds; empty if there is nothing to measure or a process failed."""
    if not names:
        return []
    floors = subprocess.check_output([python, str(HERE / "floors" / "build.py")], text=True)
    taken: list[Cycle] = []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as directory:
            result = os.path.join(directory, "result.json")
            command = [python, *under, str(HERE / "workload.py"), str(CYCLES), str(arguments.calls)]
            environment = {**os.environ, "PYTHONPATH": floors.strip(), "TMPDIR": directory,
                           "SCOREP_ENABLE_TRACING": "true", "SCOREP_ENABLE_PROFILING": "false",
                           "SCOREP_EXPERIMENT_DIRECTORY": os.path.join(directory, "experiment"),
                           "OMNITRACE_OUTPUT_PATH": os.path.join(directory, "omnitrace"),
                           "OMNITRACE_VERBOSE": "-1"}  # fmt: skip
            done = subprocess.run([*command, result, "plain", *names], env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                say(f"{', '.join(names)}: {(done.stderr.strip() or 'no message')[-300:]}")
                return []
            with open(result, encoding="utf-8") as file:
                taken += json.load(file)
    return taken


def cost(cycles: list[Cycle], name: str) -> float | None:
    return median([cycle[name] for cycle in cycles if name in cycle])


def added(cycles: list[Cycle], name: str) -> float | None:
    plain = C_FUNCTIONS[-1] if name in C_FUNCTIONS else "plain"
    return median([cycle[name] - cycle[plain] for cycle in cycles if {name, plain} <= cycle.keys()])


def ratio(cycles: list[Cycle], over: str, under: str) -> float | None:
    """The ratio of the added times of two hooks: the median over processes of the ratio of their medians."""
    ratios = []
    for begin in range(0, len(cycles), CYCLES):
        process = cycles[begin : begin + CYCLES]
        first, second = added(process, over), added(process, under)
        if first is not None and second:
            ratios.append(first / second)
    return median(ratios)


def quotient(first: float | None, second: float | None) -> float | None:
    return round(first / second, 2) if first is not None and second else None


def median(values: list[float] | None) -> float | None:
    return round(statistics.median(values), 2) if values else None


def call_figures(arguments: argparse.Namespace, wanted: list[str] | None) -> tuple[Figures, Figures]:
    """The figures of calls and of regions; the second part belongs to `extra`."""
    under_scorep = ("-m", "scorep", "--noinstrumenter")
    cycles = cycles_of(sys.executable, available(ADDED + EXTRA + WITH + C_FUNCTIONS, wanted), arguments)
    of_door = available(SCOREP, wanted and ([*wanted, *SCOREP_FLOORS] if {*wanted} & {*SCOREP} else []))
    door = cycles_of(sys.executable, of_door, arguments, *under_scorep)
    of_omnitrace = available(OMNITRACE, wanted and ([*wanted, CLOCK] if "omnitrace" in wanted else []))
    omnitrace = cycles_of(sys.executable, of_omnitrace, arguments)
    over_clock = [ratio(omnitrace, "omnitrace", CLOCK), ratio(cycles, TRACE, CLOCK)]
    theirs: list[Cycle] = []
    their_python = bindings.python()
    if their_python is None:
        say("no Score-P with its bindings is on PATH (bench/README.md); their figures are null")
    else:
        theirs = cycles_of(their_python, ["scorep"], arguments, *under_scorep)
    result = {
        "plain_call_ns": cost(cycles, "plain"),
        "added_ns": {**{name: added(cycles, name) for name in ADDED}, "scorep": added(door, "scorep"),
                     "omnitrace": added(omnitrace, "omnitrace"),
                     "scorep-bindings": added(theirs, "scorep")},
        "ratios": {**{name: ratio(cycles, *pair) for name, pair in RATIOS.items()},
                   "omnitrace_over_timeloom": quotient(*over_clock)},
        "with_region_ns": cost(cycles, "with-region"),
        "scorep_region_ns": cost(door, "scorep-region"),
        "floor_with_ns": cost(cycles, "floor-with"),
        "scorep_floors": {**{name: added(door, name) for name in SCOREP_FLOORS[:2]},
                          "floor-with": cost(door, "floor-with")},
    }  # fmt: skip
    extra = {
        "scorep_region_off_ns": cost(door, "scorep-region-off"),
        "unmeasured_region_ns": cost(cycles, "unmeasured-region"),
        "c_function_ns": cost(cycles, "c-function"),
        "plain_c_function_ns": cost(cycles, "plain-c-function"),
        "added_ns": {**{name: added(cycles, name) for name in EXTRA},
                     **{name: added(omnitrace, name) for name in OMNITRACE[1:3]}},
    }
    return result, extra


def figures(arguments: argparse.Namespace) -> Figures:
    others = machine.OtherLoad()
    wanted = arguments.only.split(",") if arguments.only else None
    scratch = pathlib.Path(arguments.scratch)
    if not HAS_MONITORING:
        say("this Python has no sys.monitoring; the figures of it are null")
    result, extra = call_figures(arguments, wanted)
    result = {"python": platform.python_version(), **result}
    installed = os.path.exists(startup.program())
    if not installed:
        say(f"{startup.program()} is missing; the figures of weave and startup are null")
    if not wanted or "weave" in wanted:
        weave = weaving.measure(scratch, arguments.weave_events) if installed else {}
        result.update({key: weave.pop(key, None) for key in weaving.MAIN_KEYS})
        extra.update(weave)
    if not wanted or "startup" in wanted:
        start = startup.measure(scratch) if installed else {}
        for name in ("startup_ms", "scorep_startup_ms", "cProfile_startup_ms"):
            result[name] = start.pop(name, None)
        extra.update(start)
    extra["other_load_cores"] = others.cores()
    if extra["other_load_cores"] > BUSY:
        say(f"other programs kept {extra['other_load_cores']} cores busy; measure again without")
    return {**result, "extra": extra}


def print_table(result: Figures, indent: str = "") -> None:
    for key, value in result.items():
        if isinstance(value, dict):
            print(f"{indent}{key}")
            print_table(value, indent + "  ")
        else:
            print(f"{indent}{key:<{34 - len(indent)}} {'-' if value is None else value}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=50_000, help="in one timed loop")
    parser.add_argument("--weave-events", type=int, default=20_000_000)
    parser.add_argument("--only", help="some configurations, and weave, startup")
    parser.add_argument("--scratch", default=tempfile.gettempdir(), help="where runs are written")
    arguments = parser.parse_args()
    result = figures(arguments)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
