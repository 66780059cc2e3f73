"""Measures what observing a Python program costs, on the interpreter that runs this.

usage: python bench/overhead.py [--json] [--rounds N] [--calls N] [--only NAME,...] [--scratch DIR]

Method
  Every configuration runs bench/workload.py in a fresh process, since not every
  hook can be taken away again. A process times a loop that calls an empty
  function, and by turns the same loop with an empty body; medians of REPEATS.
      cost of a call = call loop - empty loop, of the same process
  The loop is subtracted within the process because a hook may slow it as well
  (a profile hook does on 3.11), which is no part of a call's cost.
  A round runs all configurations, each beside a process without a hook, whose
  order changes from round to round:
      added_ns = cost of a call - cost of a call in the plain process beside it
  Reported are medians over the rounds. `added_ns.none` of "extra" is the same
  figure for a second plain process: the noise of all others.
  Timeloom records to a spool in --scratch while it is measured; weaving comes
  after and has figures of its own (bench/weaving.py).
  viztracer runs with its own defaults (C functions recorded, a ring of a
  million entries); with C functions off it is viztracer-python in "extra".
  scorep is ours, scorep-bindings the bindings of a Score-P that is installed here.

What this interpreter or this environment lacks is null, and said on stderr.
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
import typing

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import bindings  # noqa: E402
from floors.build import build  # noqa: E402
import machine  # noqa: E402
import startup  # noqa: E402
import weaving  # noqa: E402

REPEATS = 5
BUSY = 0.1  # cores; more than this makes the figures doubtful
SCOREP_TRACE = {"SCOREP_ENABLE_TRACING": "true", "SCOREP_ENABLE_PROFILING": "false"}
HAS_MONITORING = hasattr(sys, "monitoring")


class Configuration(typing.NamedTuple):
    name: str
    hook: str = "plain"
    loop: str = "call"
    timeloom: tuple[str, ...] | None = None  # options of `python -m timeloom`
    scorep: tuple[str, ...] | None = None  # of `python -m scorep`, which traces
    package: str | None = None  # must be installed
    needs_monitoring: bool = False
    bindings: bool = False  # the bindings of Score-P, in their own environment


def timeloom(name: str, *options: str, **others) -> Configuration:
    return Configuration(name, timeloom=options, package="timeloom", **others)


def scorep(name: str, *options: str, **others) -> Configuration:
    return Configuration(name, scorep=options, package="scorep", **others)


ADDED = [
    timeloom("timeloom-monitoring", "--instrumenter", "monitoring", needs_monitoring=True),
    timeloom("timeloom-frame", "--instrumenter", "frame"),
    timeloom("timeloom-profile", "--instrumenter", "profile"),
    Configuration("floor-monitoring", hook="floor-monitoring", needs_monitoring=True),
    Configuration("floor-frame", hook="floor-frame"),
    Configuration("floor-profile", hook="floor-profile"),
    Configuration("cProfile", hook="cProfile"),
    Configuration("viztracer", hook="viztracer", package="viztracer"),
    timeloom("filtered", "--instrumenter", "monitoring", "--exclude", "*.nothing",
             needs_monitoring=True),
    timeloom("paused", hook="paused"),
    scorep("scorep"),
    Configuration("scorep-bindings", scorep=(), bindings=True),
]  # fmt: skip
EXTRA = [
    Configuration("none"),
    Configuration("floor-clock", hook="floor-clock", needs_monitoring=True),
    Configuration("floor-frame-clock", hook="floor-frame-clock"),
    timeloom("timeloom-trace", "--instrumenter", "trace"),
    timeloom("filtered-frame", "--instrumenter", "frame", "--exclude", "*.nothing"),
    timeloom("paused-frame", "--instrumenter", "frame", hook="paused"),
    timeloom("paused-profile", "--instrumenter", "profile", hook="paused"),
    Configuration("viztracer-python", hook="viztracer-python", package="viztracer"),
]
WITH = [
    timeloom("with_region_ns", "--instrumenter", "dummy", loop="region"),
    scorep("scorep_region_ns", loop="scorep-region"),
    scorep("scorep_region_off_ns", "--noinstrumenter", loop="scorep-region"),
    Configuration("floor_with_ns", loop="floor-with"),
    Configuration("unmeasured_region_ns", loop="region", package="timeloom"),
]


def say(text: str) -> None:
    print(f"overhead.py: {text}", file=sys.stderr)


def run_once(configuration: Configuration, calls: int, scratch: pathlib.Path) -> float | None:
    """Nanoseconds of the loop's body in a fresh process; None if the process failed."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        result = os.path.join(directory, "result.json")
        command = [bindings.python() if configuration.bindings else sys.executable]
        if configuration.timeloom is not None:
            run = os.path.join(directory, "run")
            command += ["-m", "timeloom", *configuration.timeloom]
            command += ["--quiet", "--no-weave", "-o", run]
        if configuration.scorep is not None:
            command += ["-m", "scorep", *configuration.scorep]
        command += [str(HERE / "workload.py"), configuration.hook, configuration.loop]
        command += [str(calls), str(REPEATS), result]
        environment = {**os.environ, "PYTHONPATH": str(build()), **SCOREP_TRACE,
                       "SCOREP_EXPERIMENT_DIRECTORY": os.path.join(directory, "experiment")}  # fmt: skip
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            say(f"{configuration.name} failed: {(done.stderr.strip() or 'no message')[-300:]}")
            return None
        with open(result, encoding="utf-8") as file:
            figures = json.load(file)
        return figures["loop"] - figures["empty"]


def available(configurations: list[Configuration]) -> list[Configuration]:
    missing = set()
    chosen = []
    for each in configurations:
        if each.bindings and bindings.python() is None:
            say("no Score-P with its bindings is on PATH (bench/README.md); their figures are null")
        elif each.package and importlib.util.find_spec(each.package) is None:
            missing.add(each.package)
        elif HAS_MONITORING or not each.needs_monitoring:
            chosen.append(each)
    for package in sorted(missing):
        say(f"{package} is not installed; its figures are null")
    if not HAS_MONITORING:
        say("this Python has no sys.monitoring; the figures of it are null")
    return chosen


def measure(configurations, rounds, calls, scratch):
    """Costs of all rounds by name, and those of the plain processes beside them."""
    costs = {each.name: [] for each in configurations}
    added = {each.name: [] for each in configurations}
    plain_costs = []
    plain = Configuration("plain")
    for number in range(rounds):
        for each in list(configurations):
            pair = (plain, each) if number % 2 == 0 else (each, plain)
            taken = {one: run_once(one, calls, scratch) for one in pair}
            if taken[each] is None or taken[plain] is None:
                configurations.remove(each)
                continue
            plain_costs.append(taken[plain])
            costs[each.name].append(taken[each])
            added[each.name].append(taken[each] - taken[plain])
    return costs, added, plain_costs


def median(values: list[float] | None) -> float | None:
    return round(statistics.median(values), 2) if values else None


def figures(arguments) -> dict:
    others = machine.OtherLoad()
    wanted = arguments.only.split(",") if arguments.only else None
    listed = [one for one in ADDED + EXTRA + WITH if not wanted or one.name in wanted]
    chosen = available(listed)
    scratch = pathlib.Path(arguments.scratch)
    costs, added, plain = measure(chosen, arguments.rounds, arguments.calls, scratch)
    result = {
        "python": platform.python_version(),
        "plain_call_ns": median(plain),
        "added_ns": {one.name: median(added.get(one.name)) for one in ADDED},
        "with_region_ns": median(costs.get("with_region_ns")),
        "scorep_region_ns": median(costs.get("scorep_region_ns")),
        "floor_with_ns": median(costs.get("floor_with_ns")),
    }
    extra = {
        "scorep_region_off_ns": median(costs.get("scorep_region_off_ns")),
        "unmeasured_region_ns": median(costs.get("unmeasured_region_ns")),
        "added_ns": {one.name: median(added.get(one.name)) for one in EXTRA},
    }
    installed = os.path.exists(startup.program())
    if not installed:
        say(f"{startup.program()} is missing; the figures of weave and startup are null")
    if not wanted or "weave" in wanted:
        weave = weaving.measure(scratch, arguments.weave_events) if installed else {}
        result.update({key: weave.pop(key, None) for key in weaving.MAIN_KEYS})
        extra.update(weave)
    if not wanted or "startup" in wanted:
        start = startup.measure(scratch) if installed else {}
        result["startup_ms"] = start.pop("startup_ms", None)
        result["scorep_startup_ms"] = start.pop("scorep_startup_ms", None)
        extra.update(start)
    extra["other_load_cores"] = others.cores()
    if extra["other_load_cores"] > BUSY:
        say(f"other programs kept {extra['other_load_cores']} cores busy; measure again without")
    return {**result, "extra": extra}


def print_table(result: dict, indent: str = "") -> None:
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
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=1_000_000, help="in one timed loop")
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
