"""`timeloom convert --to omnitrace`: differences to reports of before."""

import json
from collections import Counter

import pytest
from archives import make_archive
from cube_files import DATA
from omnitrace_runs import run_omnitrace
from test_omnitrace_files import PLAIN, ROWS, files, rows  # noqa: F401

pytestmark = pytest.mark.any_python

EARLIER = [(0, "main"), (10, "f"), (20, None), (30, "f"), (50, None), (60, "g"), (70, None), (100, None)]
LATER = [(0, "main"), (10, "f"), (40, None), (50, "h"), (55, None), (120, None)]
DIFFERENCE = """\
|----------------------------------------------------------------------------------------------------------------------------|
|                                          REAL-CLOCK TIMER (I.E. WALL-CLOCK TIMER)                                          |
|----------------------------------------------------------------------------------------------------------------------------|
|   LABEL    | COUNT  | DEPTH  |   METRIC   | UNITS  |   SUM     |   MEAN    |   MIN     |   MAX     |   VAR     |  STDDEV   |
|------------|--------|--------|------------|--------|-----------|-----------|-----------|-----------|-----------|-----------|
| |0>>> main |      0 |      0 | wall_clock | sec    |  0.020000 |  0.020000 |  0.020000 |  0.020000 |  0.000000 |  0.000000 |
| |0>>> |_f  |     -1 |      1 | wall_clock | sec    |  0.000000 |  0.015000 |  0.020000 |  0.010000 | -0.000050 | -0.007071 |
| |0>>> |_h  |      1 |      1 | wall_clock | sec    |  0.005000 |  0.005000 |  0.005000 |  0.005000 |  0.000000 |  0.000000 |
| |0>>> |_g  |     -1 |      1 | wall_clock | sec    | -0.010000 | -0.010000 | -0.010000 | -0.010000 |  0.000000 |  0.000000 |
|----------------------------------------------------------------------------------------------------------------------------|
"""


@pytest.mark.parametrize("unit", ["sec", "msec"])
@pytest.mark.parametrize("suffix", ["", "-4711"])
def test_a_difference(files, timeloom, tmp_path, unit, suffix):
    earlier = make_archive(tmp_path / "earlier", {"main": EARLIER})
    timeloom("convert", earlier, "--to", "omnitrace", "-o", "first", cwd=tmp_path,
             **{**PLAIN, "OMNITRACE_PROFILE": "ON", "OMNITRACE_TIMING_UNITS": unit})  # fmt: skip
    for end in ("json", "tree.json"):
        (tmp_path / "first" / f"wall_clock.{end}").rename(tmp_path / "first" / f"wall_clock{suffix}.{end}")
    later = make_archive(tmp_path / "later", {"main": LATER})
    found = files(source=later, OMNITRACE_PROFILE="ON", OMNITRACE_DIFF_OUTPUT="ON", OMNITRACE_INPUT_PATH="first")
    assert found["wall_clock.diff.txt"].decode() == DIFFERENCE
    graph = json.loads(found["wall_clock.diff.json"])["timemory"]["wall_clock"]["ranks"][0]["graph"]
    assert [(row["prefix"], row["depth"], row["entry"]["laps"], row["entry"]["value"]) for row in graph] == [
        ("|0>>> main", 0, 0, 20_000_000), ("|0>>> |_f", 1, -1, 0), ("|0>>> |_h", 1, 1, 5_000_000),
        ("|0>>> |_g", 1, -1, -10_000_000)]  # fmt: skip
    text = json.loads(found["metadata.json"])["omnitrace"]["metadata"]["output"]["text"]
    assert [one["value"] for one in text] == [["out/wall_clock.txt"], ["out/wall_clock.diff.txt"]]


def test_a_difference_to_a_report_of_omnitrace(files):
    theirs = json.loads((DATA / "omnitrace-reports" / "trip_count.json").read_text())["timemory"]["trip_count"]
    found = files(OMNITRACE_DIFF_OUTPUT="ON", OMNITRACE_INPUT_PATH=str(DATA / "omnitrace-reports"),
                  OMNITRACE_TIMEMORY_COMPONENTS="trip_count wall_clock peak_rss")  # fmt: skip
    changes = rows(found["trip_count.diff.txt"])
    assert {change for change in changes if change[1] > 0} == set(ROWS)
    assert Counter((label, -count) for label, count, _ in changes if count < 0) == Counter(
        (row["prefix"], row["entry"]["laps"]) for row in theirs["ranks"][0]["graph"])  # fmt: skip
    assert len(rows(found["wall_clock.diff.txt"])) > len(ROWS)


def test_a_difference_to_nothing(files, tmp_path):
    found = files(OMNITRACE_PROFILE="ON", OMNITRACE_DIFF_OUTPUT="ON", OMNITRACE_INPUT_PATH="nowhere")
    assert f"there is no report {tmp_path}/nowhere/wall_clock.json" in found["stderr"]
    assert "wall_clock.txt" in found and "wall_clock.diff.txt" not in found
    (tmp_path / "wrong").mkdir()
    for text in ("", "[]", '{"timemory": {"wall_clock": {"ranks": []}}}', '{"timemory": {"wall_clock": {"ranks": [{"graph": [{}]}]}}}'):
        (tmp_path / "wrong" / "wall_clock.json").write_text(text)
        found = files(OMNITRACE_PROFILE="ON", OMNITRACE_DIFF_OUTPUT="ON", OMNITRACE_INPUT_PATH="wrong")
        assert "wrong/wall_clock.json is not a JSON report of wall_clock with rows" in found["stderr"], text


def test_what_a_configuration_file_names_is_found_at_the_end(tmp_path):
    """Also by a program that has left its directory."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "app.py").write_text("import os\ndef f(): pass\nf()\nos.chdir('elsewhere')\n")
    wish = {"OMNITRACE_PROFILE": "ON", "OMNITRACE_USE_PID": "OFF", "OMNITRACE_TIME_OUTPUT": "OFF"}
    run_omnitrace(tmp_path, "--", "app.py", OMNITRACE_OUTPUT_PATH="first", **wish)
    assert (tmp_path / "first" / "wall_clock.json").exists()
    (tmp_path / "diff.cfg").write_text("OMNITRACE_DIFF_OUTPUT = ON\nOMNITRACE_INPUT_PATH = first\nOMNITRACE_TRACE = ON\n"
                                       f"OMNITRACE_PERFETTO_FILE = {tmp_path}/named.proto\n")  # fmt: skip
    run_omnitrace(tmp_path, "-c", "diff.cfg", "--", "app.py", OMNITRACE_OUTPUT_PATH="second", **wish)
    assert (tmp_path / "second" / "wall_clock.diff.txt").exists()
    assert (tmp_path / "named.proto").exists()
