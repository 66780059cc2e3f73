"""Measures `timeloom view`: the index, the server's answers and the page, on runs of several shapes.

usage: python bench/view.py [--json] [--only NAME,...] [--events N] [--large N] [--tasks N] [--locations N]
                            [--rounds N] [--no-page] [--scratch DIR]

Method
  Runs with the shapes of bench/view_work.py are recorded once each. In every round a fresh copy is
  woven, its index is built, and the run is opened again. For the index the median of the rounds'
  ratios counts, for opening the median time. Opening ends when a server that was just started has
  answered the page's questions for its first picture. Then the server answers questions for tables of
  random times and rows, for the next call of each function from random moments, and for pictures at
  random places; the 95th percentile and the longest count. Memory is the peak resident size of the
  server. Finally viewer/tests/browser/tour.mjs makes a tour of the run in Chromium, if that and the
  packages of viewer/ are installed (`make viewer`).

`limits` has the conditions that must hold.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import command_line
import limits
import machine
import startup
import view_questions
import weaving
from limits import Figures

HERE = pathlib.Path(__file__).resolve().parent
WORK = HERE / "view_work.py"
TOUR = HERE.parent / "viewer" / "tests" / "browser" / "tour.mjs"
PACKAGES = HERE.parent / "viewer" / "node_modules" / "playwright-core"
PAGE = HERE.parent / "viewer" / "dist" / "index.html"
INDEX = "view.timeloom"
FIRST_STEP = "everything"


class Case(typing.NamedTuple):
    shape: str
    locations: int  # 0: the value of --locations
    size: str = "events"  # the option with its number of events


CASES = {
    "few-1": Case("chain", 1),
    "few-2": Case("chain", 2),
    "few-many": Case("chain", 0),
    "paths-2": Case("tree", 2),
    "paths-many": Case("tree", 0),
    "deep-2": Case("deep", 2),
    "deep-many": Case("deep", 0),
    "tasks": Case("tasks", 1, "tasks"),
    "large": Case("tree", 2, "large"),
}


def percentile(values: list[float], share: float) -> float:
    """The least value that this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def record(case: Case, arguments: argparse.Namespace, scratch: pathlib.Path) -> pathlib.Path:
    """A run of this shape, not woven."""
    events = arguments.tasks * 20 if case.size == "tasks" else vars(arguments)[case.size]
    options = ["--quiet", "--no-weave", "--only-my-code"]
    if case.size == "tasks":
        options += ["--async-tasks", "--task-layout", "locations"]
    run = scratch / "recorded"
    program = [str(WORK), case.shape, str(events), str(case.locations or arguments.locations)]
    subprocess.run([startup.program(), "run", *options, "-o", str(run), *program], check=True)
    return run


def program() -> str:
    """The measured program: from TIMELOOM_PROGRAM, or the installed one."""
    return os.environ.get("TIMELOOM_PROGRAM") or startup.program()


def opened(run: pathlib.Path) -> tuple[float, float, view_questions.Server]:
    """Seconds until the index exists, and until the first picture; and the server."""
    begin = time.perf_counter()
    server = view_questions.Server(program(), run)
    server.wait()
    ready = time.perf_counter()
    server.first_picture()
    return ready - begin, time.perf_counter() - begin, server


def opening(recorded: pathlib.Path, woven: pathlib.Path, rounds: int) -> tuple[Figures, int]:
    """The cost of opening beside weaving; and the bytes of the trace."""
    turns: list[tuple[float, ...]] = []
    trace = 0
    for _ in range(rounds):
        weave, trace = weaving.weave_copy(recorded, 2)
        (woven / INDEX).unlink(missing_ok=True)
        made, first, server = opened(woven)
        building, processor = server.peak_mb(), server.cpu_seconds()
        server.end()
        _, later, server = opened(woven)
        server.end()
        turns.append((weave.wall, made, first, later, building, processor / weave.processor))
    median = statistics.median
    figures: Figures = {
        "weave_s": round(median(weave for weave, *_ in turns), 3),
        "index_times_weave": round(median(made / weave for weave, made, *_ in turns), 2),
        "index_cpu_times_weave": round(median(times for *_, times in turns), 2),
        "first_open_s": round(median(first for _, _, first, *_ in turns), 3),
        "first_open_times_weave": round(median(first / weave for weave, _, first, *_ in turns), 2),
        "later_open_s": round(median(later for _, _, _, later, *_ in turns), 3),
        "building_peak_mb": round(max(building for *_, building, _ in turns), 1),
    }
    return figures, trace


def summary(name: str, seconds: list[float]) -> Figures:
    """In milliseconds."""
    p95, longest = percentile(seconds, 0.95), max(seconds)
    return {f"{name}_p95_ms": round(p95 * 1e3, 2), f"{name}_max_ms": round(longest * 1e3, 2)}


def answers(run: pathlib.Path) -> Figures:
    _, _, server = opened(run)
    try:
        description = server.description()
        return {
            "events": description["events"],
            "locations": len(description["tracks"]),
            "call_paths": server.count_paths(),
            "depth": max(track["depth"] for track in description["tracks"]),
            **summary("table", server.time_tables()),
            **summary("find", server.time_finding()),
            **summary("tiles", server.time_tiles()),
            "serving_peak_mb": round(server.peak_mb(), 1),
        }
    finally:
        server.end()


def page_is_here() -> bool:
    return PACKAGES.is_dir() and shutil.which("node") is not None and shutil.which("chromium") is not None


def figures_of_tour(tour: Figures) -> Figures:
    """The figures from tour.mjs's output; the step from one call to everything is not a frame of the tour."""
    cold, warm = ([step for step in tour[turn] if step["kind"] != FIRST_STEP] for turn in ("cold", "warm"))
    if tour["problems"]:
        raise RuntimeError(f"view.py: the page: {tour['problems'][0]}")
    slowest = max(warm, key=lambda step: float(step["busy"]))
    return {
        "page_first_ms": round(tour["first"], 1),
        "cold_answered_p95_ms": round(percentile([step["answered"] for step in cold], 0.95), 1),
        "cold_busy_p95_ms": round(percentile([step["busy"] for step in cold], 0.95), 1),
        "warm_busy_p95_ms": round(percentile([step["busy"] for step in warm], 0.95), 1),
        "cold_cpu_mean_ms": round(tour["processors"]["cold"] / len(tour["cold"]), 2),
        "warm_cpu_mean_ms": round(tour["processors"]["warm"] / len(tour["warm"]), 2),
        "warm_slowest": f"{slowest['kind']}, {slowest['busy']:.1f} ms",
        "page_heap_mb": round(tour["held"], 1),
        "page_heap_peak_mb": round(tour["peak"], 1),
    }


def tour_of(run: pathlib.Path) -> Figures:
    _, _, server = opened(run)
    try:
        done = subprocess.run(["node", str(TOUR)], input=server.address, stdout=subprocess.PIPE, check=True, text=True)
        return figures_of_tour(json.loads(done.stdout)) | {"toured_peak_mb": round(server.peak_mb(), 1)}
    finally:
        server.end()


def measure(case: Case, arguments: argparse.Namespace, scratch: pathlib.Path) -> Figures:
    recorded, woven = record(case, arguments, scratch), scratch / "woven"
    subprocess.run(["cp", "-rl", str(recorded), str(woven)], check=True)
    subprocess.run([startup.program(), "weave", str(woven)], check=True, stdout=subprocess.DEVNULL)
    times, trace = opening(recorded, woven, arguments.rounds)
    shutil.rmtree(recorded)
    figures = answers(woven)
    index = (woven / INDEX).stat().st_size
    figures |= times
    figures["index_bytes_per_event"] = round(index / figures["events"], 2)
    figures["index_share"] = round(index / trace, 3)
    if arguments.page:
        figures |= tour_of(woven)
    return figures


def figures(arguments: argparse.Namespace) -> Figures:
    if arguments.page and not page_is_here():
        print("view.py: without node, chromium and `make viewer`, the page is not measured", file=sys.stderr)
        arguments.page = False
    load = machine.OtherLoad()
    result: Figures = {"page_bytes": PAGE.stat().st_size}
    for name in arguments.only.split(","):
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as directory:
            result[name] = measure(CASES[name], arguments, pathlib.Path(directory))
    result["other_programs_cores"] = load.cores()
    result["limits"] = limits.held(limits.check_view(result))
    return result


if __name__ == "__main__":
    command_line.run(
        __doc__,
        figures,
        only={"default": ",".join(CASES), "help": "cases of these: %(default)s"},
        events={"type": int, "default": 20_000_000, "help": "of each run but the last two"},
        large={"type": int, "default": 100_000_000, "help": "events of the largest run, 25 bytes of the disk each"},
        tasks={"type": int, "default": 20_000, "help": "of 20 events, a location each"},
        locations={"type": int, "default": 1000, "help": "where there are many"},
        page={"action": argparse.BooleanOptionalAction, "default": True, "help": "whether the page is measured"},
    )
