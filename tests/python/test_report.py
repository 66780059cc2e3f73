"""timeloom report, driven as a user drives it, on the runs of archives.py."""

import csv
import io
import json
import os
import subprocess

import pytest
from archives import make_archive, milliseconds, one_line, report_json

pytestmark = pytest.mark.any_python


def test_numbers_of_the_tree(timeloom, run):
    report = report_json(timeloom, run)
    rows = report["tree"]["rows"]
    names = {row["id"]: row["name"] for row in rows}
    tree = [(names.get(row["parent"]), row["name"], row["depth"], milliseconds(row)) for row in rows]
    assert tree == [
        (None, "main", 0, [1, 100, 71, 100, 100, 100]),
        ("main", "Solver.step", 1, [2, 19, 13, 9.5, 9, 10]),
        ("Solver.step", "dot", 2, [2, 6, 6, 3, 2, 4]),
        ("main", "fib", 1, [1, 10, 6, 10, 10, 10]),
        ("fib", "fib", 2, [1, 4, 2, 4, 4, 4]),
        ("fib", "fib", 3, [1, 2, 2, 2, 2, 2]),
        (None, "Solver.step", 0, [1, 10, 10, 10, 10, 10]),
    ]
    assert report["total_s"] == pytest.approx(0.11)
    assert rows[0]["inclusive_share"] == pytest.approx(100 / 110)


def test_numbers_of_the_flat_table(timeloom, run):
    rows = report_json(timeloom, run)["flat"]["rows"]
    assert [(row["name"], milliseconds(row)) for row in rows] == [
        ("main", [1, 100, 71, 100, 100, 100]),
        ("Solver.step", [3, 29, 23, round(29 / 3, 9), 9, 10]),
        # Three visits of 10, 4 and 2 ms, but only 10 ms went by.
        ("fib", [3, 10, 10, round(16 / 3, 9), 2, 10]),
        ("dot", [2, 6, 6, 3, 2, 4]),
    ]
    assert [row["line"] for row in rows] == [10, 20, 40, 30]
    assert {row["file"] for row in rows} == {"/src/heat/solver.py"}


def test_head_of_the_json(timeloom, run):
    report = report_json(timeloom, run)
    assert list(report) == ["format", "version", "run", "program", "host", "start", "wall_s",
                            "processes", "threads", "tasks", "events", "losses", "total_s", "tree", "flat"]
    assert (report["format"], report["version"]) == ("timeloom-report", 1)
    assert (report["processes"], report["threads"], report["events"]) == (1, 2, 18)
    assert report["wall_s"] == pytest.approx(0.1)


def test_csv_has_the_same_numbers(timeloom, run):
    table = list(csv.DictReader(io.StringIO(timeloom("report", "--csv", run).stdout)))
    report = report_json(timeloom, run)
    for kind in ("tree", "flat"):
        rows = [row for row in table if row["table"] == kind]
        assert len(rows) == len(report[kind]["rows"])
        for row, expected in zip(rows, report[kind]["rows"]):
            for key, value in expected.items():
                if key == "parameters":  # in a CSV they are part of the name
                    assert value == []
                elif isinstance(value, (int, float)):
                    assert float(row[key]) == value
                else:
                    assert row[key] == (value or "")


def test_one_table_only(timeloom, run):
    assert "flat" not in report_json(timeloom, "--tree", run)
    assert "tree" not in report_json(timeloom, "--flat", run)
    assert "Flat profile" not in timeloom("report", "--tree", run).stdout
    assert "Call tree" not in timeloom("report", "--flat", run).stdout


@pytest.mark.parametrize("key, order", [
    ("inclusive", "main Solver.step fib dot"), ("exclusive", "main Solver.step fib dot"),
    ("visits", "Solver.step fib dot main"), ("mean", "main Solver.step fib dot"),
    ("name", "Solver.step dot fib main")])
def test_sort(timeloom, run, key, order):
    rows = report_json(timeloom, "--sort", key, run)["flat"]["rows"]
    assert " ".join(row["name"] for row in rows) == order


def test_limits_say_what_they_hide(timeloom, run):
    report = report_json(timeloom, "--depth", 2, "--min-percent", 9.5, run)
    assert [row["name"] for row in report["tree"]["rows"]] == ["main", "Solver.step"]
    assert (report["tree"]["hidden_small"], report["tree"]["hidden_deep"]) == (5, 0)
    assert report["flat"]["hidden_small"] == 2
    text = timeloom("report", "--depth", 1, run).stdout
    assert "Not shown: 5 call paths below level 1 (--depth)" in text


def test_thread_and_process(timeloom, run):
    worker = report_json(timeloom, "--thread", "worker", run)
    assert [row["name"] for row in worker["tree"]["rows"]] == ["Solver.step"]
    assert worker["total_s"] == pytest.approx(0.01)
    both = report_json(timeloom, "--thread", "worker", "--thread", "MainThread", run)
    assert both["total_s"] == pytest.approx(0.11)
    ids = [one["id"] for one in json.loads(timeloom("info", "--json", run).stdout)["locations"]]
    assert report_json(timeloom, "--thread", ids[1], run)["tree"] == worker["tree"]
    assert report_json(timeloom, "--group", "Process", run)["total_s"] == pytest.approx(0.11)
    assert report_json(timeloom, "--group", "0", run)["total_s"] == pytest.approx(0.11)
    assert "thread 'x'" in one_line(timeloom("report", "--thread", "x", run, status=1))
    assert "process '7'" in one_line(timeloom("report", "--group", "7", run, status=1))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_fits_the_terminal(timeloom, run, width):
    text = timeloom("report", run, COLUMNS=str(width)).stdout
    assert max(map(len, text.splitlines())) <= width
    for number in ("100ms", "71.0ms", "90.9%", "64.5%"):
        assert number in text


def test_plain_in_a_pipe_and_coloured_on_demand(timeloom, run):
    plain = timeloom("report", run, TERM="xterm", LANG="C").stdout
    assert plain.isascii() and "\033" not in plain
    coloured = timeloom("report", "--color", "always", run, NO_COLOR="1").stdout
    assert "\033[1m" in coloured
    assert "\u2514" in timeloom("report", run, LANG="en_US.UTF-8").stdout


def on_a_terminal(program, run, **variables):
    """The output of a report on a pseudo-terminal of 90 columns."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("COLUMNS", "NO_COLOR")}
    child = subprocess.Popen([program, "report", str(run)], stdout=theirs, stderr=theirs,
                             env={**environment, "TERM": "xterm", **variables})
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert child.wait(60) == 0
    return text.decode()


def test_colour_on_a_terminal(program, run):
    assert "\033[" in on_a_terminal(program, run)
    plain = on_a_terminal(program, run, NO_COLOR="1")
    assert "\033" not in plain
    assert max(map(len, plain.splitlines())) <= 90
    assert "\033" not in on_a_terminal(program, run, TERM="dumb")


def test_a_reader_that_leaves_is_no_error(program, run, tmp_path):
    # More than a pipe holds.
    events = [(k, f"region {k}" if k % 2 == 0 else None) for k in range(4000)]
    large = make_archive(tmp_path / "large", {"MainThread": events})
    child = subprocess.Popen([program, "report", "--csv", str(large)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    assert child.stdout.readline().startswith(b"table,")
    child.stdout.close()
    assert child.wait(60) == 0
    assert child.stderr.read() == b""
    child.stderr.close()


def test_a_full_disk_is_an_error(program, run):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "report", str(run)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"timeloom: cannot write to standard output: No space left on device\n"


def profile_of(visits):
    """A callpaths.json that no trace of these tests gives."""
    return json.dumps({
        "format": "timeloom-callpaths", "version": 2, "creator": "", "machine": "",
        "clock": {"ticks_per_second": 1000, "begin": 0, "length": 100, "realtime": None},
        "properties": {"timeloom::lost_events": "12"},
        "groups": [{"name": "Process", "hostname": "", "process_id": 0, "executable": "",
                    "arguments": [], "creator": None, "ending": ""}],
        "regions": [{"name": "kept", "canonical_name": "kept", "file": "", "group": "",
                     "first_line": 0, "last_line": 0, "paradigm": "user", "role": "code"}],
        "metrics": [], "parameter_sets": [],
        "nodes": {"count": 1, "parent": [None], "region": [0]},
        "locations": [{"id": 0, "name": "MainThread", "group": 0, "type": "cpu thread",
                       "thread_id": 0, "events": 2, "first": 0, "last": 100, "node": [0],
                       "visits": [visits], "inclusive": [visits], "min": [1], "max": [1]}]})


def set_age(path, seconds):
    now = (path.parent / "traces.otf2").stat().st_mtime_ns
    os.utime(path, ns=(now - seconds * 10**9,) * 2)


def test_the_profile_is_read_if_it_is_not_older_than_the_trace(timeloom, run):
    profile = run / "callpaths.json"
    profile.write_text(profile_of(visits=7))
    set_age(profile, 0)
    report = report_json(timeloom, run)
    assert [(row["name"], row["visits"]) for row in report["flat"]["rows"]] == [("kept", 7)]
    assert report["losses"] == ["12 events could not be recorded"]
    assert "! 12 events could not be recorded" in timeloom("report", run).stdout
    set_age(profile, 1)
    assert len(report_json(timeloom, run)["flat"]["rows"]) == 4


def test_a_damaged_profile_is_said_and_the_trace_is_read(timeloom, run):
    profile = run / "callpaths.json"
    expected = timeloom("report", run).stdout
    whole = profile_of(visits=7)
    for damaged in (whole[:300], whole.replace('"first": 0', '"first": 200'), ""):
        profile.write_text(damaged)
        set_age(profile, -1)
        done = timeloom("report", run)
        assert done.stdout == expected
        assert done.stderr.startswith(f"timeloom: {profile} is damaged")
        assert done.stderr.count("\n") == 1


def test_an_archive_without_events(timeloom, tmp_path):
    empty = make_archive(tmp_path / "empty", {})
    assert "No region was entered" in timeloom("report", empty).stdout
    report = report_json(timeloom, empty)
    assert report["tree"]["rows"] == report["flat"]["rows"] == []
    assert json.loads(timeloom("info", "--json", empty).stdout)["events"] == 0
