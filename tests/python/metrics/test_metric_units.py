"""Values of metrics with their units: in every format as the kernel reported them to the program, and for another
tool's trace."""

import csv
import io
import json
import re
import subprocess

import pytest
from archives import DEBIAN_PYTHON
from converted import Perfetto, converter, made_once, read_json
from metric_runs import ARCHIVE_WRITER, record
from omnitrace_runs import variables_of
from view_client import Viewer, all_series

from timeloom import read
from timeloom._columns import read_columns
from timeloom._read import _PROGRAM

pytestmark = pytest.mark.any_python

# The kernel is queried before the call, inside it and after it, so that recorded values lie in between.
PROGRAM = """
import json, resource, time
def told():
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return [usage.ru_utime, usage.ru_maxrss * 1024]
def work():
    first = told()
    kept = bytearray(b"x") * 150_000_000
    end = time.thread_time() + 0.2
    while time.thread_time() < end: pass
    return [first, told()]
before = told()
first, last = work()
json.dump([before, first, last, told()], open("told.json", "w"))
"""
METRICS = ("ru_utime", "ru_maxrss")
POWERS = {"10^-6 s": 1e-6, "2^10 Bytes": 1024}


@pytest.fixture
def told(program):
    """Return the run and, by metric, the smallest and largest possible value at the enter and the leave of work()."""

    def make(directory):
        (directory / "app.py").write_text(PROGRAM)
        record(directory, "--metric-rusage", ",".join(METRICS))

    run = made_once("metric-units", make) / "run"
    before, first, last, after = json.loads((run.parent / "told.json").read_text())
    return run, {name: ((before[i], first[i]), (last[i], after[i])) for i, name in enumerate(METRICS)}


def check(found, bounds):
    """`found`: by metric, the values at the enter and the leave, in seconds and bytes."""
    assert found.keys() == set(METRICS)
    for name, values in found.items():
        for value, (least, most) in zip(values, bounds[name], strict=True):
            assert least - 1e-9 <= value <= most + 1e-9, (name, values, bounds[name])


def check_increase(value, bounds, rounded=0.0):
    """Of a counter, from the enter to the leave."""
    (before, first), (last, after) = bounds
    assert (last - first) * (1 - rounded) - 1e-9 <= value <= (after - before) * (1 + rounded) + 1e-9


def at_ends(values, call):
    """The values of [(time, value), ...] that hold at both ends of the call."""
    return [[value for time, value in values if time <= end][-1] for end in call]


def test_reports(told, timeloom):
    run, bounds = told
    for source in (run, run / "profile.cubex", run / "traces.otf2"):
        for name in METRICS:
            report = json.loads(timeloom("report", "--json", "--metric", name, source).stdout)
            power = POWERS[report["metric"]["unit"]]
            (row,) = [row for row in report["flat"]["rows"] if row["name"] == "__main__.work"]
            csv = timeloom("report", "--csv", "--flat", "--metric", name, source).stdout.splitlines()
            (line,) = [line for line in csv if "__main__.work," in line]
            assert line.split(",")[-2:] == [str(row["metric_inclusive"]), str(row["metric_exclusive"])]
            text = timeloom("report", "--flat", "--metric", name, source, COLUMNS="200").stdout
            (shown,) = [line for line in text.splitlines() if "__main__.work" in line]
            number, unit = re.findall(r"([\d.]+) ?(ms|s|MB|GB)\b", shown)[-2 if name == "ru_utime" else -1]
            inclusive = float(number) * {"ms": 1e-3, "s": 1, "MB": 1e6, "GB": 1e9}[unit]
            if name == "ru_utime":
                check_increase(row["metric_inclusive"] * power, bounds[name])
                check_increase(inclusive, bounds[name], rounded=0.01)
            else:
                least, most = bounds[name][1]
                assert least <= row["metric_inclusive"] * power <= most
                assert 0.99 * least <= inclusive <= 1.01 * most
    units = {"ru_utime": "10^-6 s", "ru_maxrss": "2^10 Bytes"}
    for source in (run, run / "profile.cubex", run / "traces.otf2"):
        facts = json.loads(timeloom("info", "--json", source).stdout)
        assert {one["name"]: one["unit"] for one in facts["metrics"] if one["name"] in METRICS} == units
        assert {"ru_utime [10^-6 s]", "ru_maxrss [2^10 Bytes]"} <= {line.strip() for line in timeloom("info", source).stdout.splitlines()}


def test_files_of_omnitrace(told, program, tmp_path):
    run, bounds = told
    wanted = {"OMNITRACE_USE_PID": "OFF", "OMNITRACE_TIMEMORY_COMPONENTS": "user_mode_time peak_rss current_peak_rss", "OMNITRACE_PRECISION": "9", "OMNITRACE_WIDTH": "20"}
    subprocess.run([program, "convert", run, "--to", "omnitrace", "-o", "out"], cwd=tmp_path, env=variables_of(tmp_path, **wanted), check=True)

    def work(name, metric):
        (row,) = [row for row in json.loads((tmp_path / "out" / f"{name}.json").read_text())["timemory"][metric]["ranks"][0]["graph"] if "work" in row["prefix"]]
        (line,) = [line for line in (tmp_path / "out" / f"{name}.txt").read_text().splitlines() if re.search(r"work +\|", line)]
        return row["entry"]["repr_data"], [float(cell) for cell in re.findall(r"\d+\.\d+", line)][0 if name != "current_peak_rss" else slice(0, None)]

    value, shown = work("user_mode_time", "user_mode_time")
    check_increase(value, bounds["ru_utime"])
    check_increase(shown, bounds["ru_utime"], rounded=1e-6)
    value, shown = work("peak_rss", "peak_rss")
    check_increase(value * 1e6, bounds["ru_maxrss"], rounded=1e-6)
    check_increase(shown * 1e6, bounds["ru_maxrss"], rounded=1e-6)
    both, _ = work("current_peak_rss", "current_peak_rss")
    for value, (least, most) in zip(both.values() if isinstance(both, dict) else both, bounds["ru_maxrss"], strict=True):
        assert least <= value * 1e6 * (1 + 1e-6) and value * 1e6 <= most * (1 + 1e-6)


def test_perfetto(told, program, tmp_path):
    run, bounds = told
    file = converter(program, run, tmp_path)("perfetto")
    read, scales = Perfetto(file), {}
    for packet in read.trace.packet:
        if packet.track_descriptor.HasField("counter"):
            counter = packet.track_descriptor.counter
            scales[packet.track_descriptor.name] = (counter.unit, counter.unit_multiplier, counter.unit_name)
    assert scales == {"ru_utime": (1, 1000, ""), "ru_maxrss": (3, 1024, "")}  # nanoseconds, bytes
    (place,) = read.counters
    (call,) = [call[1:3] for call in read.calls[place] if call[0] == "__main__.work"]
    factors = {"ru_utime": 1000e-9, "ru_maxrss": 1024}
    check({name: [value * factors[name] for value in at_ends([(time, value) for time, known, value in read.counters[place] if known == name], call)]
           for name in METRICS}, bounds)  # fmt: skip


def test_chrome_firefox_and_events(told, program, tmp_path):
    run, bounds = told
    convert = converter(program, run, tmp_path)
    chrome = read_json(convert("chrome"))["traceEvents"]
    call = [one["ts"] for one in chrome if one["ph"] in "BE" and one["name"] == "__main__.work"]
    values = {name: [(one["ts"], *one["args"].items()) for one in chrome if one["ph"] == "C" and one["name"] == name] for name in METRICS}
    check({name: at_ends([(time, value * POWERS[unit]) for time, (unit, value) in of_metric], call) for name, of_metric in values.items()}, bounds)
    (thread,) = read_json(convert("firefox"))["threads"]
    strings, markers, marks = thread["stringArray"], thread["markers"], {name: [] for name in METRICS}
    for name, time, data in zip(markers["name"], markers["startTime"], markers["data"], strict=True):
        if strings[name] in METRICS:
            number, unit = data["name"].split(" ", 1)
            marks[strings[name]].append((round(time * 1e3, 3), float(number) * POWERS[unit]))
    check({name: at_ends(of_metric, call) for name, of_metric in marks.items()}, bounds)


def rows_of_arrow(run, table):
    with subprocess.Popen([_PROGRAM, *run.table(table).command("arrow")], stdout=subprocess.PIPE) as done:
        columns = {name: values for name, (values, _) in read_columns(done.stdout).items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_tables(told, timeloom):
    run, bounds = told
    opened = read(run)
    powers = {one["name"]: POWERS[one["unit"]] for one in opened.metrics if one["name"] in METRICS}
    text = timeloom("convert", run, "--to", "csv", "--events", "-o", "-").stdout
    for events in (list(opened.events()), rows_of_arrow(opened, "events"), list(csv.DictReader(io.StringIO(text)))):
        call = [int(one["time_ns"]) for one in events if one["name"] == "__main__.work"]
        check({name: at_ends([(int(one["time_ns"]), float(one["number"]) * powers[name]) for one in events if one["name"] == name], call)
               for name in METRICS}, bounds)  # fmt: skip
    # The call path also contains calls of told(): together they make up the whole call.
    for paths in (list(opened.table()), rows_of_arrow(opened, "paths")):
        (work,) = [one["id"] for one in paths if one["name"] == "__main__.work"]
        inside = [one["metric.ru_utime"] or 0 for one in paths if work in (one["id"], one["parent"])]
        check_increase(sum(inside) * powers["ru_utime"], bounds["ru_utime"])


def test_the_viewer(told, program):
    run, bounds = told
    with Viewer(program, run) as viewer:
        viewer.wait()
        powers = {one["name"]: POWERS[one["unit"]] for one in viewer.description()["metrics"] if one["name"] in METRICS}
        series = {name: values for (_, name), values in all_series(viewer).items()}
    (begin, end) = [one["time_ns"] for one in read(run).events() if one["name"] == "__main__.work"]
    check({name: [value * powers[name] for value in at_ends(series[name], (begin, end))] for name in METRICS}, bounds)


def test_factors_of_another_tool(program, timeloom, tmp_path):
    subprocess.run([DEBIAN_PYTHON, ARCHIVE_WRITER, tmp_path / "run", "scaled"], check=True)
    trace = tmp_path / "run" / "traces.otf2"
    units = {"ru_utime": "10^-3 s", "ru_maxrss": "2^20 Bytes", "steps": "10^3 #", "light": "10^-12 s", "half": "2^-1 Bytes",
             "day": "10^4 s", "tick": "2^-3 s", "plain": "10^2"}  # fmt: skip
    assert {one["name"]: one["unit"] for one in read(trace).metrics} == units
    shown = {}
    for name in ("ru_utime", "ru_maxrss", "steps"):
        (shown[name],) = re.findall(rf"^{name}: (\S+ ?[MGs]?B?) in all", timeloom("report", "--metric", name, trace).stdout, re.M)
    assert shown == {"ru_utime": "2.50s", "ru_maxrss": "262 MB", "steps": "2,000"}
    wanted = {"OMNITRACE_USE_PID": "OFF", "OMNITRACE_TIMEMORY_COMPONENTS": "user_mode_time peak_rss"}
    subprocess.run([program, "convert", trace, "--to", "omnitrace", "-o", "reports"], cwd=tmp_path, env=variables_of(tmp_path, **wanted), check=True)
    reports = {name: json.loads((tmp_path / "reports" / f"{name}.json").read_text())["timemory"][name]["ranks"][0]["graph"][0]["entry"]["repr_data"]
               for name in ("user_mode_time", "peak_rss")}  # fmt: skip
    assert reports == {"user_mode_time": 2.5, "peak_rss": 220 * 2**20 / 1e6}
    read_back = Perfetto(converter(program, trace, tmp_path)("perfetto"))
    counters = {packet.track_descriptor.name: packet.track_descriptor.counter for packet in read_back.trace.packet if packet.track_descriptor.HasField("counter")}
    assert {name: (one.unit, one.unit_multiplier, one.unit_name) for name, one in counters.items()} == {
        "ru_utime": (1, 10**6, ""), "ru_maxrss": (3, 2**20, ""), "steps": (0, 0, "10^3 #"), "light": (0, 0, "10^-12 s"),
        "half": (0, 0, "2^-1 Bytes"), "day": (1, 10**13, ""), "tick": (1, 125_000_000, ""), "plain": (0, 0, "10^2"),
    }  # fmt: skip
    chrome = read_json(converter(program, trace, tmp_path)("chrome"))["traceEvents"]
    last = {one["name"]: one["args"] for one in chrome if one["ph"] == "C"}
    values = {"ru_utime": 4000, "ru_maxrss": 250, "steps": 9, "light": 125, "half": 9, "day": 8, "tick": 5, "plain": 3}
    assert last == {name: {units[name]: value} for name, value in values.items()}
