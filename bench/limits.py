"""Timeloom's limits, checked against figures of the benchmarks."""

import typing

# The cheapest hook of the same kind that can create records.
CLOCK_HOOK = "the hook that only reads the clock twice"

Figures = dict[str, typing.Any]  # a benchmark's output, by name


class Check(typing.NamedTuple):
    what: str
    measured: str
    limit: str
    holds: bool | None  # None: not measured on this Python


def ratio(what: str, value: float | None, name: str, base: float | None, most: float) -> Check:
    limit = f"at most {most:g} × {name}"
    if value is None or not base:
        return Check(what, "–", limit, None)
    return Check(what, f"{value:.1f} / {base:.1f} ns = {value / base:.2f}", limit, value / base <= most)


def at_most(what: str, value: float | None, most: float, unit: str) -> Check:
    limit = f"at most {most:g} {unit}"
    if value is None:
        return Check(what, "–", limit, None)
    return Check(what, f"{value:g} {unit}", limit, value <= most)


def at_least(what: str, value: float | None, least: float, unit: str) -> Check:
    limit = f"at least {least:g} {unit}"
    if value is None:
        return Check(what, "–", limit, None)
    return Check(what, f"{value:g} {unit}", limit, value >= least)


def times(what: str, measured: float | None, name: str, most: float) -> Check:
    """A limit for a ratio that was measured as one."""
    limit = f"at most {most:g} × {name}"
    if measured is None:
        return Check(what, "–", limit, None)
    return Check(what, f"{measured:.2f} times", limit, measured <= most)


def startup(what: str, figures: Figures, name: str) -> Check:
    """The cost of starting and finishing a run of an empty program, beside cProfile's."""
    added, theirs = figures.get(name), figures.get("cProfile_startup_ms")
    limit = "at most 0.7 × python -m cProfile"
    if added is None or not theirs:
        return Check(what, "–", limit, None)
    return Check(what, f"{added:.1f} / {theirs:.1f} ms = {added / theirs:.2f}", limit, added / theirs <= 0.7)


# By version, on the machine of DESIGN.md: ns of a traced call under Score-P 8.4 with its Python bindings 4.5.1; the
# floor of Timeloom's hook; ns of that floor; and the limit, as a share of Score-P's cost.
SCOREP_CALL = {"3.11": (220, "floor-frame", 11, 0.25), "3.12": (237, "floor-monitoring", 22, 0.28)}


def scorep_checks(figures: Figures) -> list[Check]:
    """The limits of `python -m scorep`, where its figures exist."""
    version = ".".join(figures["python"].split(".")[:2])
    theirs, floor, floor_then, share = SCOREP_CALL["3.11" if version == "3.11" else "3.12"]
    floors = figures["scorep_floors"]
    most = round(share * theirs / floor_then, 2)
    return [
        ratio("scorep, a traced call", figures["added_ns"].get("scorep"), floor, floors[floor], most),
        ratio("scorep, a user region", figures.get("scorep_region_ns"), "empty context manager",
              floors["floor-with"], 3),
        startup("scorep, start and finish of an empty program", figures, "scorep_startup_ms"),
    ]  # fmt: skip


def has_monitoring(figures: Figures) -> bool:
    return tuple(map(int, figures["python"].split(".")[:2])) >= (3, 12)


def held(checks: list[Check]) -> dict[str, bool | None]:
    """For running a single benchmark by hand."""
    return {f"{one.what}: {one.limit}": one.holds for one in checks}


def check_scale(figures: Figures) -> list[Check]:
    """The limits for figures of scale.py."""
    return [
        at_most("8 processes over 1, relative to the plain program", figures["processes_8_over_1"], 1.1, "times"),
        at_most("a call with 200 threads over one with 1", figures["threads_200_over_1"], 1.15, "times"),
        at_most("a fork", figures["fork_added_ms"], 5, "ms"),
        at_most("50 tasks that switch, relative to the plain program", figures["tasks_added_over_plain"], 1.5, "times"),
    ]


def check_profile(figures: Figures) -> list[Check]:
    """The limits for figures of profile_mode.py."""
    short, long = figures["peak_mb"].values()
    cube = figures.get("cube_ms", {})
    slowest = [cube.get(name) for name in ("score", "report", "diff")]
    return [
        at_most("growth of memory over ten times as long", round(long - short, 1), 2, "MB"),
        at_most("a large CUBE file is written", cube.get("write_profile"), 1000, "ms"),
        at_most("its values are read", cube.get("read_values"), 1000, "ms"),
        at_most("its call tree is read", cube.get("load_call_tree"), 1000, "ms"),
        at_most("the slowest of score, report, diff on it", max(slowest) if cube else None, 2000, "ms"),
        at_most("memory for that", figures.get("cube_peak_mb"), 500, "MB"),
        at_most("folding a trace", figures.get("fold_ns_per_event"), 15, "ns an event"),
    ]


def check_view(figures: Figures) -> list[Check]:
    """The limits for figures of view.py."""
    checks = [at_most("the page's file", figures["page_bytes"] / 1e3, 250, "kB")]
    for name, one in figures.items():
        if not isinstance(one, dict):
            continue
        # A single location is not indexed in parallel.
        shared = one["index_times_weave"] if one["locations"] > 1 else None
        checks += [
            times(f"{name}, making the index", shared, "weaving", 1.2),
            at_most(f"{name}, size of the index", round(100 * one["index_share"], 1), 40, "% of the trace"),
            times(f"{name}, opened for the first time", one["first_open_times_weave"], "weaving", 3),
            at_most(f"{name}, opened again", one["later_open_s"], 1, "s"),
            at_most(f"{name}, the slowest table", one["table_max_ms"], 150, "ms"),
            at_most(f"{name}, the slowest search for the next call", one["find_max_ms"], 20, "ms"),
            at_most(f"{name}, memory of the server", max(one["building_peak_mb"], one["serving_peak_mb"]), 300, "MB"),
            at_most(f"{name}, a frame that is not there yet", one.get("cold_answered_p95_ms"), 100, "ms"),
            at_most(f"{name}, a frame that is", one.get("warm_busy_p95_ms"), 16, "ms"),
            at_most(f"{name}, memory of the page", one.get("page_heap_mb"), 250, "MB"),
        ]
    return checks


def check(figures: Figures, long_weave: Figures | None) -> list[Check]:
    """`long_weave`: the output of weave_memory.py for 100 million events."""
    added = figures["added_ns"]
    extra = figures["extra"]
    ratios = figures["ratios"]
    region, floor = figures["with_region_ns"], figures["floor_with_ns"]
    return [
        times("monitoring, a call", ratios["monitoring_over_clock"], CLOCK_HOOK, 1.35),
        times("monitoring, a call", ratios["monitoring_over_viztracer"], "viztracer", 0.6),
        times("monitoring, a call", ratios["monitoring_over_cProfile"], "cProfile", 0.5),
        times("frame, a call", ratios["frame_over_clock"], CLOCK_HOOK, 1.45),
        times("frame, a call", ratios["frame_over_viztracer"], "viztracer", 0.6),
        times("a call of a C function", ratios.get("c_function_over_viztracer"), "viztracer", 0.6),
        times("frame, a call", ratios["frame_over_cProfile"], "cProfile", 0.5),
        times("omnitrace, a call", ratios.get("omnitrace_over_timeloom"), "a call of the timeloom door", 1.25),
        times("a call with --profile", ratios["folded_over_trace"], "a call with a trace", 1.3),
        at_most("a filtered function, monitoring", added["filtered"], 2, "ns"),
        at_most("a function that -ME of omnitrace leaves out", extra["added_ns"].get("omnitrace-file"), 2, "ns"),
        at_most("any function while paused", added["paused"], 2, "ns"),
        ratio("`with region`", region, "empty context manager", floor, 3),
        at_most("spool", figures["bytes_per_event_spool"], 9, "bytes an event"),
        at_most("OTF2", figures["bytes_per_event_otf2"], 13, "bytes an event"),
        at_most("weave, one core", figures["weave_ns_per_event"], 40, "ns an event"),
        at_least("weave, two locations on two cores", extra.get("weave_speedup_2"), 1.7, "times"),
        at_most("weave, 100 million events", (long_weave or {}).get("weave_peak_mb"), 200, "MB"),
        startup("start and finish of an empty program", figures, "startup_ms"),
        *scorep_checks(figures),
    ]
