"""`timeloom view` of metrics: each changed value at its time, as otf2-print prints it; of many, sums of neighbours."""

import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from archives import DEBIAN_PYTHON
from metric_runs import ARCHIVE_WRITER, PROGRAM, events, needs_printer, printed, record
from view_client import Viewer, all_series, series_of

pytestmark = [pytest.mark.any_python]

ROOT = Path(__file__).parents[3]
VIEWER = [sys.executable, "-m", "scripts.pages.viewer"]


def changes(values):
    """Without those that repeat the one before."""
    return [pair for i, pair in enumerate(values) if i == 0 or pair[1] != values[i - 1][1]]


@pytest.fixture
def recorded(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    record(tmp_path, "--metric-rusage", "ru_minflt,ru_utime,ru_nswap", "--metric-rusage-per-process", "ru_stime,ru_maxrss")
    return tmp_path / "run"


@needs_printer
def test_metrics_of_a_run_are_there_where_they_change(program, recorded):
    (clock,) = [line for line in printed(recorded, "-G") if line.startswith("CLOCK_PROPERTIES")]
    offset = int(re.search(r"Global Offset: (\d+)", clock).group(1))
    expected = []
    for happened in events(recorded).values():
        sampled = [(time - offset, values) for kind, time, values in happened if kind == "METRIC"]
        for name in sampled[0][1] if sampled else ():
            expected.append((name, changes([(time, values[name]) for time, values in sampled])))
    with Viewer(program, recorded) as viewer:
        viewer.wait()
        shown = all_series(viewer)
        tracks = viewer.description()["tracks"]
    assert sorted((name, values) for (_, name), values in shown.items()) == sorted(expected)
    assert len(expected) == 2 * 3 + 2
    assert len(shown["MainThread", "ru_minflt"]) > 1 and len(shown["MainThread", "ru_nswap"]) == 1
    (kind,) = {track["kind"] for track in tracks if track["name"] == "Per process metrics"}
    assert kind == "metrics" and ("Per process metrics", "ru_maxrss") in shown


def test_metrics_of_another_tool(program, tmp_path):
    subprocess.run([DEBIAN_PYTHON, ARCHIVE_WRITER, tmp_path / "run"], check=True)
    with Viewer(program, tmp_path / "run" / "traces.otf2") as viewer:
        viewer.wait()
        assert all_series(viewer) == {
            ("first", "instructions"): [(0, 0), (10, 10), (20, 20), (30, 30)],
            ("first", "cycles"): [(0, 7)],
            ("second", "temperature"): [(3, 271.5), (4, 271.5), (20, -1e300)],
            ("second", "balance"): [(21, -5)],
            ("meter", "power"): [(2, 2**40), (30, 0)],
        }
        described = {metric["name"]: (metric["unit"], metric["type"]) for metric in viewer.description()["metrics"]}
        assert described["temperature"] == ("K", "double") and described["balance"] == ("€", "int64")
        # A range includes the values before and after it.
        counter = next(one for one in json.loads(viewer.ask("side"))["counters"] if one["values"] == 4)
        assert series_of(viewer, counter["track"], counter["metric"], 12, 18)[0] == (10, 20)


MANY = """
import timeloom
def step(i):
    timeloom.counter("height", i * 37 % 1000 - 500)
for i in range(20000):
    step(i)
"""


def height(i):
    return i * 37 % 1000 - 500


def test_many_values_are_summed_up_and_few_are_exact(program, tmp_path):
    (tmp_path / "app.py").write_text(MANY)
    record(tmp_path)
    with Viewer(program, tmp_path / "run") as viewer:
        viewer.wait()
        (counter,) = json.loads(viewer.ask("side"))["counters"]
        assert counter["values"] == 20_000
        begin, end, least, most, mean, last = series_of(viewer, counter["track"], counter["metric"])
        assert len(begin) == 2500  # eight in each
        for i, first in enumerate(range(0, 20_000, 8)):
            values = [height(i) for i in range(first, first + 8)]
            assert (least[i], most[i], last[i]) == (min(values), max(values), values[-1])
        # All values one by one, from sufficiently small ranges.
        times, values = [], []
        for i in range(0, len(begin), 100):
            stretch = series_of(viewer, counter["track"], counter["metric"], begin[i], end[min(i + 99, len(end) - 1)])
            assert stretch[0] == stretch[1] and stretch[2] == stretch[3] == stretch[4] == stretch[5]
            new = [place for place, time in enumerate(stretch[0]) if not times or time > times[-1]]
            times += [stretch[0][place] for place in new]
            values += [stretch[5][place] for place in new]
        assert values == [height(i) for i in range(20_000)] and times[::8] == list(begin)
        # The mean is over time: a value is valid until the next.
        for first, found in itertools.islice(zip(range(0, 20_000, 8), mean, strict=True), 2499):
            stays = [times[i + 1] - times[i] for i in range(first, first + 8)]
            area = sum(height(first + i) * stays[i] for i in range(8))
            assert abs(found - area / sum(stays)) < 1e-6


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.parametrize("metrics", [["--metric-rusage", "all"], []], ids=["sampled", "many"])
def test_the_page_answers_as_the_server(program, tmp_path, metrics):
    (tmp_path / "app.py").write_text(PROGRAM if metrics else MANY)
    record(tmp_path, *metrics)
    done = subprocess.run([*VIEWER, "--compare", program, tmp_path / "run"], cwd=ROOT, capture_output=True, text=True, timeout=250)
    if "cannot fetch" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0 and "no answer differs" in done.stdout, done.stdout + done.stderr
