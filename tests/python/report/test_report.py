"""timeloom report, used as a user does, on the runs of archives.py."""

import csv
import io
import json
import os
import shutil
import subprocess

import pytest
from archives import make_archive, milliseconds, one_line, report_json
from converted import recorded as recorded_of
from cube_files import DATA

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
                            "processes", "threads", "tasks", "task_lanes", "events", "given_up", "cut_short", "losses",
                            "findings", "total_s", "waiting_causes_s", "tree", "flat"]
    assert (report["format"], report["version"]) == ("timeloom-report", 1)
    assert (report["processes"], report["threads"], report["events"]) == (1, 2, 18)
    assert report["wall_s"] == pytest.approx(0.1)


def csv_rows(timeloom, *arguments):
    return list(csv.DictReader(io.StringIO(timeloom("report", "--csv", *arguments).stdout)))


@pytest.mark.parametrize("kind", ["tree", "flat"])
def test_csv_has_the_same_numbers_for_each_thread(timeloom, run, kind):
    table = csv_rows(timeloom, f"--{kind}", run)
    assert {(row["process"], row["task"]) for row in table} == {("Process", "")}
    assert [*dict.fromkeys(row["thread"] for row in table)] == ["MainThread", "worker"]
    for thread in ("MainThread", "worker"):
        rows = [row for row in table if row["thread"] == thread]
        expected = report_json(timeloom, "--thread", thread, run)
        assert len(rows) == len(expected[kind]["rows"])
        for row, one in zip(rows, expected[kind]["rows"]):
            for key, value in one.items():
                if key == "parameters":
                    assert value == []
                elif key.endswith("_share"):  # of all threads
                    assert float(row[key]) == pytest.approx(value * expected["total_s"] / 0.11)
                elif isinstance(value, (int, float)):
                    assert float(row[key]) == value
                else:
                    assert row[key] == (value or "")


def test_csv_goes_to_a_file_for_each_table(timeloom, run, tmp_path):
    said = timeloom("report", "--csv", "-o", "out", run, cwd=tmp_path)
    assert (said.stdout, said.stderr) == ("", "timeloom: wrote out.tree.csv\ntimeloom: wrote out.flat.csv\n")
    for kind in ("tree", "flat"):
        assert (tmp_path / f"out.{kind}.csv").read_text() == timeloom("report", "--csv", f"--{kind}", run).stdout
    assert "out.tree.csv" in one_line(timeloom("report", "--csv", "--tree", "-o", "out", run, cwd=tmp_path, status=1))
    timeloom("report", "--csv", "--tree", "-o", "out", "--force", run, cwd=tmp_path)
    assert "two tables" in one_line(timeloom("report", "--csv", "--tree", "--flat", run, status=2))
    assert "--csv" in one_line(timeloom("report", "-o", "out", run, status=2))


def test_csv_has_columns_for_tasks_parameters_and_metrics(timeloom, program, tmp_path):
    run = recorded_of("tasks", program)
    tasks = {row["task"] for row in csv_rows(timeloom, run)} - {""}
    assert {"leaf 0 (leaf)", "leaf 1 (leaf)", "leaf 2 (leaf)"} <= tasks
    assert all(bool(row["task"]) != bool(row["thread"]) for row in csv_rows(timeloom, run))
    rows = csv_rows(timeloom, recorded_of("threads", program))
    steps = [(row["thread"], row["parameter.n"]) for row in rows if row["name"] == "__main__.step"]
    assert sorted(steps) == sorted([("MainThread", "3"), *((name, str(n)) for name in ("wörker;1", 'a "b", c') for n in range(3))])
    values = [(row["thread"], row["metric.residual.count"], float(row["metric.residual.sum"]))
              for row in rows if row["metric.residual.count"]]  # fmt: skip
    assert sorted(values) == sorted([("MainThread", "1", 1.5), ("wörker;1", "3", 0.75), ('a "b", c', "3", 0.75)])


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
    text = timeloom("report", "--full", run, COLUMNS=str(width)).stdout
    assert max(map(len, text.splitlines())) <= width
    for number in ("100ms", "71.0ms", "90.9%", "64.5%"):
        assert number in text


def test_plain_in_a_pipe_and_coloured_on_demand(timeloom, run):
    plain = timeloom("report", "--full", run, TERM="xterm", LANG="C").stdout
    assert plain.isascii() and "\033" not in plain
    coloured = timeloom("report", "--full", "--color", "always", run, NO_COLOR="1").stdout
    assert "\033[1m" in coloured
    assert "\u2514" in timeloom("report", "--full", run, LANG="en_US.UTF-8").stdout


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
    child = subprocess.Popen([program, "report", "--full", str(run)], stdout=theirs, stderr=theirs,
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
    assert child.stdout.readline().startswith(b"process,thread,task,")
    child.stdout.close()
    assert child.wait(60) == 0
    assert child.stderr.read() == b""
    child.stderr.close()


def test_a_full_disk_is_an_error(program, run):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "report", str(run)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"timeloom: cannot write to standard output: No space left on device [TL423]\n"


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory):
    """A run that calls f three times, and another that calls it four times."""
    directory = tmp_path_factory.mktemp("recorded")
    for calls in (3, 4):
        text = f"def f(): pass\nfor _ in range({calls}): f()"
        subprocess.run([program, "run", "--quiet", "-o", f"run{calls}", "-c", text], cwd=directory, check=True)
    return directory


def visits_of_f(timeloom, run):
    (visits,) = [row["visits"] for row in report_json(timeloom, run)["flat"]["rows"] if row["name"] == "__main__.f"]
    return visits


def test_the_profile_that_was_woven_with_the_trace_is_read(timeloom, recorded, tmp_path):
    run = shutil.copytree(recorded / "run3", tmp_path / "run")
    expected = timeloom("report", "--csv", run).stdout
    shutil.rmtree(run / "traces")
    done = timeloom("report", "--csv", run)
    assert (done.stdout, done.stderr) == (expected, "timeloom: 2 files of the trace missing, cut off or damaged; its profile is read [TL259]\n")


def test_the_profile_of_another_trace_is_not_read(timeloom, recorded, tmp_path):
    run = shutil.copytree(recorded / "run3", tmp_path / "run")
    shutil.copy(recorded / "run4" / "profile.cubex", run)
    assert visits_of_f(timeloom, run / "profile.cubex") == 4
    assert visits_of_f(timeloom, run) == 3
    traced = shutil.copytree(DATA / "scorep-fib", tmp_path / "fib")
    shutil.copy(recorded / "run4" / "profile.cubex", traced)
    assert "fib" in timeloom("report", traced).stdout


@pytest.mark.parametrize("name", ["scorep-fib", "scorep-user-regions"])
def test_of_a_run_of_scorep_the_trace_is_read(timeloom, tmp_path, name):
    run = shutil.copytree(DATA / name, tmp_path / "run")
    with_profile = timeloom("report", run)
    (run / "profile.cubex").unlink()
    assert (with_profile.stdout, with_profile.stderr) == (timeloom("report", run).stdout, "")


def test_a_damaged_profile_is_said_and_the_trace_is_read(timeloom, recorded, tmp_path):
    run = shutil.copytree(recorded / "run3", tmp_path / "run")
    profile = run / "profile.cubex"
    expected = timeloom("report", run).stdout
    whole = profile.read_bytes()
    for damaged in (whole[:300], whole[: len(whole) // 2], whole.replace(b"CUBEX.DATA", b"CUBEX.DADA"), b""):
        profile.write_bytes(damaged)
        done = timeloom("report", run)
        assert done.stdout == expected
        assert done.stderr.startswith(f"timeloom: {profile} cannot be read as a CUBE4 profile: ")
        assert done.stderr.endswith("; the trace is read instead [TL268]\n") and done.stderr.count("\n") == 1


def test_an_archive_without_events(timeloom, tmp_path):
    empty = make_archive(tmp_path / "empty", {})
    assert "No time was recorded in a region" in timeloom("report", empty).stdout
    report = report_json(timeloom, empty)
    assert report["tree"]["rows"] == report["flat"]["rows"] == []
    assert json.loads(timeloom("info", "--json", empty).stdout)["events"] == 0
