"""Reads runs with tools from PyPI and Debian that read such files, and compares the results.

usage: PYTHON -m scripts.trials.real_readers [--scratch DIR] [--only NAME]...

PYTHON is the interpreter of an environment with Timeloom and with the packages of
scripts/trials/real_readers.txt; `make real-readers` creates one. Each program is run with a trace, and
Timeloom's own report is compared with the results of these tools:

* otf2-print and the Python bindings of OTF2 (Debian: otf2-tools, python3-otf2): the visits of
  each region on each location, their order, the number of events;
* ViTE (Debian: vite), without a window: that it finds neither errors nor warnings, and every
  location by its name;
* pycubexr: the visits and the exclusive time of each region; that every metric has a finite value
  for each call path;
* Extra-P: the same sums, from profiles of several runs;
* hatchet: the same sums, in its graph of pycubexr's call paths; and in the reports of
  `timeloom convert --to omnitrace`, read by its reader for timemory;
* pandas: the same sums, from `timeloom report --csv --flat`.

A reader that is not installed counts as a failure. The exit status is 1 if anything differs.
"""

import argparse
import collections
import io
import json
import logging
import math
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from scripts import environments
from scripts.trials.reader_runs import PROGRAMS, Run, measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN_PYTHON = "/usr/bin/python3"  # the one that has the bindings of OTF2

# Of an archive: {location: {region: enters}}, the depth that is left, the number of events.
READ_ARCHIVE = """
import json, sys
import otf2

visits, names, count = {}, {}, 0
with otf2.reader.open(sys.argv[1]) as trace:
    open_regions = {}
    for location, event in trace.events:
        count += 1
        place = str(location._ref)
        names[place] = location.name
        stack = open_regions.setdefault(place, [])
        if isinstance(event, otf2.events.Enter):
            stack.append(event.region)
            of_place = visits.setdefault(place, {})
            of_place[event.region.name] = of_place.get(event.region.name, 0) + 1
        elif isinstance(event, otf2.events.Leave):
            assert stack.pop() is event.region, (place, event)
    assert not any(open_regions.values()), open_regions
    defined = sum(location.number_of_events for location in trace.definitions.locations)
json.dump({"visits": visits, "names": names, "events": count, "defined": defined}, sys.stdout)
"""


class Different(Exception):
    pass


def same(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise Different(f"{what}: {found!r} instead of {expected!r}"[:500])


def same_sums(reader: str, run: Run, visits: collections.Counter[str], seconds: dict[str, float]) -> None:
    same(f"visits of {reader}", dict(+visits), dict(+run.visits))
    for name, expected in run.seconds.items():
        if abs(seconds.get(name, 0) - expected) > 1e-6:
            raise Different(f"seconds of {name} of {reader}: {seconds.get(name)} instead of {expected}")


def by_location(run: Run) -> dict[str, dict[str, int]]:
    places = (str(one["id"]) for one in run.info["locations"])
    return {place: counts for place in places if (counts := dict(run.visits_on(int(place))))}


def is_visited(name: str) -> bool:
    """Whether enters of a region are visits: the open calls of a forked child and unmeasured time are not called."""
    return not name.endswith(" (forked)") and name != "unmeasured"


def check_otf2_print(run: Run) -> None:
    done = subprocess.run(["otf2-print", "--silent", "-Werror", run.trace], capture_output=True, text=True)
    same("otf2-print", (done.returncode, done.stdout.strip(), done.stderr), (0, "=== OTF2-PRINT ===", ""))
    text = subprocess.run(["otf2-print", run.trace], check=True, capture_output=True, text=True).stdout
    visits: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for place, name in re.findall(r'^ENTER +(\d+) .* Region: "(.*)" <\d+>', text, re.MULTILINE):
        if is_visited(name):
            visits[place][name] += 1
    same("visits of otf2-print", {place: dict(one) for place, one in visits.items()}, by_location(run))


def read_archive(run: Run) -> Any:
    done = subprocess.run([DEBIAN_PYTHON, "-c", READ_ARCHIVE, run.trace], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def check_otf2_python(run: Run) -> None:
    read = read_archive(run)
    visits = {place: {name: count for name, count in one.items() if is_visited(name)}
              for place, one in read["visits"].items()}  # fmt: skip
    same("visits of python3-otf2", visits, by_location(run))
    same("events of python3-otf2", (read["events"], read["defined"]), (run.info["events"],) * 2)


def check_vite(run: Run) -> None:
    picture = run.directory.with_suffix(".svg")
    variables = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_RUNTIME_DIR": str(run.directory.parent)}
    done = subprocess.run([os.environ.get("VITE", "vite"), "-e", picture, run.trace], env=variables, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    found = re.findall(r"(\d+) errors and (\d+) warnings were found", done.stdout)
    same("ViTE", (done.returncode, found), (0, [("0", "0")]))
    text = picture.read_text()
    names = read_archive(run)["names"].values()  # if they are Score-P's, info has others
    same("locations of ViTE", {name for name in names if not shown(name, text)}, set())


def shown(name: str, picture: str) -> bool:
    """ViTE appends the number of the location, and does not escape characters for XML."""
    return re.search(rf">{re.escape(name)}_\d+</text>", picture) is not None


def metric_sums(run: Run) -> Iterator[tuple[Any, Any, Any, Any]]:
    import pycubexr

    with pycubexr.CubexParser(str(run.profile)) as cube:
        for metric in cube.all_metrics():
            yield cube, metric, cube.get_metric_values(metric), list(cube.all_cnodes())


def is_shape(cnode: Any) -> bool:
    """True if the call path does not belong to the program."""
    return cnode.region.role == "artificial" and ":" not in cnode.region.paradigm


def names_of(cnode: Any) -> str:
    names = []
    while cnode is not None:
        names.append(cnode.region.name)
        cnode = cnode.parent
    return "->".join(reversed(names))


def check_pycubexr(run: Run) -> None:
    visits: collections.Counter[str] = collections.Counter()
    seconds: dict[str, float] = collections.defaultdict(float)
    for _, metric, values, cnodes in metric_sums(run):
        same(f"rows of {metric.name}", set(values.cnode_indices), {one.id for one in cnodes})
        for cnode in cnodes:
            if metric.name == "visits" and not is_shape(cnode):
                visits[cnode.region.name] += int(values.value(cnode))
            if metric.name == "time" and not is_shape(cnode):
                seconds[cnode.region.name] += float(values.value(cnode, convert_to_exclusive=True))
            if metric.name in ("min_time", "max_time"):
                for time in values.cnode_values(cnode).astype(float):
                    same(f"{metric.name} of {cnode.region.name} can be", bool(0 <= time < 1e6), True)
    same_sums("pycubexr", run, visits, seconds)


def check_extrap(run: Run) -> None:
    from extrap.fileio.file_reader.cube_file_reader2 import CubeFileReader2

    series = run.directory.with_name(run.directory.name + "-series")
    for size in (2, 4, 8, 16, 32):
        (series / f"app.p{size}.r1").mkdir(parents=True, exist_ok=True)
        shutil.copy(run.profile, series / f"app.p{size}.r1" / "profile.cubex")
    reader = CubeFileReader2()
    reader.scaling_type = "strong"  # sums of all threads
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        experiment = reader.read_experiment(series)
    sums: dict[str, float] = collections.defaultdict(float)
    for (callpath, metric), measurements in experiment.measurements.items():
        same(f"points of {metric.name}", len(measurements), 5)
        values = [one.mean for one in measurements]
        same(f"{metric.name} of {callpath.name} can be", all(-1e-12 < one < 1e12 for one in values), True)
        sums[metric.name] += values[0]
    for _, metric, values, cnodes in metric_sums(run):
        if metric.name not in ("visits", "time"):
            continue
        of_paths: dict[str, list[float]] = collections.defaultdict(list)
        for cnode in cnodes:
            value = float(values.value(cnode, convert_to_exclusive=metric.name == "time"))
            of_paths[names_of(cnode)].append(value)
        # Call paths of the same names are repetitions to Extra-P.
        expected = sum(sum(of_path) / len(of_path) for of_path in of_paths.values())
        same(f"{metric.name} of Extra-P", math.isclose(sums[metric.name], expected, abs_tol=1e-9), True)


def check_hatchet(run: Run) -> None:
    import hatchet

    values_of: dict[str, Any] = {}
    for cube, metric, values, _ in metric_sums(run):
        values_of[metric.name] = values
        roots = cube.get_root_cnodes()

    def literal(cnode: Any) -> dict[str, Any]:
        metrics = {name: float(values.value(cnode, convert_to_exclusive=name == "time"))
                   for name, values in values_of.items()}  # fmt: skip
        metrics["shape"] = float(is_shape(cnode))
        frame = {"name": cnode.region.name, "type": "function"}
        return {"frame": frame, "metrics": metrics, "children": [literal(one) for one in cnode.get_children()]}

    frame = hatchet.GraphFrame.from_literal([literal(one) for one in roots]).dataframe
    same("values of hatchet", bool((frame[["visits", "time", "min_time", "max_time"]] < 1e12).all(axis=None)), True)
    of_program = frame[frame["shape"] == 0].groupby("name")[["visits", "time"]].sum()
    visits = collections.Counter({name: int(count) for name, count in of_program["visits"].items()})
    same_sums("hatchet", run, visits, dict(of_program["time"]))


def check_timemory(run: Run) -> None:
    import hatchet

    directory = run.directory.with_name(run.directory.name + "-omnitrace")
    variables = {**os.environ, "OMNITRACE_PROFILE": "ON", "OMNITRACE_USE_PID": "OFF"}
    subprocess.run([run.timeloom, "convert", run.directory, "--to", "omnitrace", "-o", directory], check=True,
                   env=variables, capture_output=True)  # fmt: skip
    visits: collections.Counter[str] = collections.Counter()
    for file in directory.glob("wall_clock*.tree.json"):  # one per process
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            frame = hatchet.GraphFrame.from_timemory(str(file)).dataframe
        for name, calls in frame.groupby("name")["count"].sum().items():
            visits[str(name)] += int(calls)
    # No seconds: a thread's are taken from the call path above it.
    same("visits of hatchet's timemory", dict(+visits), dict(+run.visits))


def check_hatchet_of_read(run: Run) -> None:
    """The graph of timeloom.read().to_hatchet(), whose module is taken from the source tree."""
    import hatchet

    literal_of = runpy.run_path(str(environments.ROOT / "python" / "timeloom" / "_graphs.py"))["literal_of"]
    report = json.loads(run.output("report", "--json"))
    frame = hatchet.GraphFrame.from_literal(literal_of(report["tree"]["rows"])).dataframe
    of_names = frame.groupby("name")[["visits", "time"]].sum()
    visits = collections.Counter({name: int(count) for name, count in of_names["visits"].items()})
    same_sums("hatchet of timeloom.read()", run, visits, dict(of_names["time"]))


def check_pandas(run: Run) -> None:
    import pandas

    table = pandas.read_csv(io.StringIO(run.output("report", "--csv", "--flat")))
    flat = table.groupby("name")[["visits", "exclusive_s"]].sum()
    visits = collections.Counter({name: int(count) for name, count in flat["visits"].items()})
    same_sums("pandas", run, visits, dict(flat["exclusive_s"]))


READERS: dict[str, Callable[[Run], None]] = {
    "otf2-print": check_otf2_print,
    "python3-otf2": check_otf2_python,
    "vite": check_vite,
    "pycubexr": check_pycubexr,
    "extrap": check_extrap,
    "hatchet": check_hatchet,
    "timemory": check_timemory,
    "hatchet of timeloom.read()": check_hatchet_of_read,
    "pandas": check_pandas,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT / "build" / "real-readers")
    parser.add_argument("--only", action="append", choices=list(READERS), default=[])
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    failed = 0
    for program in PROGRAMS:
        run = measure(arguments.scratch.resolve(), program)
        for name in arguments.only or READERS:
            if name in program.without:
                continue
            try:
                READERS[name](run)
                result = "agrees"
            except Exception as error:  # readers of other projects may raise anything
                failed += 1
                result = f"FAILED: {type(error).__name__}: {error}"
            print(f"{program.name}: {name} {result}", flush=True)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
