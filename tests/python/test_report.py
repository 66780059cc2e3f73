"""timeloom report, info and weave, driven as a user drives them.

The runs are OTF2 archives written by the Python bindings of OTF2, that is by
another tool, with numbers that can be checked by hand.
"""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DEBIAN_PYTHON = "/usr/bin/python3"  # the one that has the bindings of OTF2
ARCHIVE_WRITER = Path(__file__).with_name("foreign_archive.py")

# Thread, then (time in ms, region to enter or None to leave).
MAIN = [
    (0, "main"), (1, "Solver.step"), (3, "dot"), (7, None), (10, None),
    (10, "Solver.step"), (11, "dot"), (13, None), (20, None),
    (20, "fib"), (21, "fib"), (22, "fib"), (24, None), (25, None), (30, None), (100, None),
]
WORKER = [(50, "Solver.step"), (60, None)]


def make_archive(directory, threads):
    subprocess.run([DEBIAN_PYTHON, str(ARCHIVE_WRITER), str(directory)],
                   input=json.dumps(threads), text=True, check=True)
    return directory


@pytest.fixture(scope="session")
def program(timeloom_program):
    return timeloom_program


@pytest.fixture
def timeloom(program):
    def run(*arguments, status=0, cwd=None, stdin=None, **variables):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                              cwd=cwd, stdin=stdin, env={**environment, **variables}, timeout=60)
        assert done.returncode == status, (done.stdout, done.stderr)
        return done

    return run


@pytest.fixture(scope="session")
def woven(tmp_path_factory):
    return make_archive(tmp_path_factory.mktemp("runs") / "run",
                        {"MainThread": MAIN, "worker": WORKER})


@pytest.fixture
def run(woven, tmp_path):
    return Path(shutil.copytree(woven, tmp_path / "run"))


def milliseconds(row):
    return [row["visits"]] + [round(row[key + "_s"] * 1000, 9)
                              for key in ("inclusive", "exclusive", "mean", "min", "max")]


def one_line(done):
    """What a failing command says: a single line and no output."""
    assert done.stdout == ""
    assert done.stderr.startswith("timeloom: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def report_json(timeloom, *arguments):
    return json.loads(timeloom("report", "--json", *arguments).stdout)


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
                            "processes", "threads", "events", "losses", "total_s", "tree", "flat"]
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
                if isinstance(value, (int, float)):
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
        "format": "timeloom-callpaths", "version": 1, "creator": "", "machine": "",
        "clock": {"ticks_per_second": 1000, "begin": 0, "length": 100, "realtime": None},
        "properties": {"timeloom::lost_events": "12"},
        "groups": [{"name": "Process", "hostname": "", "process_id": 0, "executable": "",
                    "arguments": []}],
        "regions": [{"name": "kept", "canonical_name": "kept", "file": "", "group": "",
                     "first_line": 0, "last_line": 0, "paradigm": "user", "role": "code"}],
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


def test_an_anchor_file_and_the_newest_run(timeloom, run):
    expected = report_json(timeloom, run)["tree"]
    assert report_json(timeloom, run / "traces.otf2")["tree"] == expected
    done = timeloom("report", "--json", cwd=run.parent)
    assert json.loads(done.stdout)["tree"] == expected


def test_what_is_no_run(timeloom, tmp_path):
    one_line(timeloom("report", tmp_path / "missing", status=1))
    one_line(timeloom("report", tmp_path, status=1))
    one_line(timeloom("report", status=1, cwd=tmp_path))
    one_line(timeloom("info", tmp_path, status=1))
    one_line(timeloom("weave", tmp_path, status=1))
    text = tmp_path / "text.otf2"
    text.write_text("not a trace")
    one_line(timeloom("report", text, status=1))


def test_a_trace_that_is_cut_off(timeloom, run):
    for name in ("traces.otf2", "traces.def"):
        whole = (run / name).read_bytes()
        for size in (0, 10, len(whole) // 2):
            (run / name).write_bytes(whole[:size])
            one_line(timeloom("report", run, status=1))
        (run / name).write_bytes(whole)
    timeloom("report", run)


def test_an_archive_without_events(timeloom, tmp_path):
    empty = make_archive(tmp_path / "empty", {})
    assert "No region was entered" in timeloom("report", empty).stdout
    report = report_json(timeloom, empty)
    assert report["tree"]["rows"] == report["flat"]["rows"] == []
    assert json.loads(timeloom("info", "--json", empty).stdout)["events"] == 0


def test_info(timeloom, run):
    info = json.loads(timeloom("info", "--json", run).stdout)
    assert list(info) == ["format", "version", "run", "program", "host", "start", "wall_s",
                          "processes", "threads", "events", "losses", "creator", "machine",
                          "ticks_per_second", "files", "groups", "locations", "regions",
                          "metrics", "parameters", "markers", "properties"]
    assert (info["format"], info["version"]) == ("timeloom-info", 1)
    assert [(one["name"], one["events"]) for one in info["locations"]] == [("MainThread", 16),
                                                                           ("worker", 2)]
    assert (info["regions"], info["ticks_per_second"]) == (4, 1000)
    files = {file["name"]: file for file in info["files"]}
    assert set(files) == {"traces.otf2", "traces.def", "traces/"}
    assert files["traces.otf2"]["bytes"] == (run / "traces.otf2").stat().st_size
    text = timeloom("info", run, COLUMNS="80").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "MainThread" in text and "otf2-print" in text


@pytest.fixture
def killed(tmp_path):
    """The run of a program that killed itself in the middle of two regions."""
    script = tmp_path / "dies.py"
    script.write_text("import os, signal\n"
                      "def leaf(i):\n"
                      "    if i == 999: os.kill(os.getpid(), signal.SIGKILL)\n"
                      "def work():\n"
                      "    for i in range(1000): leaf(i)\n"
                      "work()\n")
    run = tmp_path / "killed"
    done = subprocess.run([sys.executable, "-m", "timeloom", "--output", run, script],
                          stderr=subprocess.PIPE)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (run / "traces.otf2").exists()
    return run


COMMANDS = {
    "script": (["app.py", "a b"], "app.py", "app.py 'a b'"),
    "flags": (["-X", "dev", "app.py"], "app.py", "-X dev app.py"),
    "module": (["-m", "app", "-q"], "app", "-m app -q"),
    "code": (["-c", "print('x')", "1"], "-c", r"-c 'print('\''x'\'')' 1"),
    "stdin": (["-", "1"], "-", "- 1"),
}


@pytest.mark.parametrize("words, name, typed", COMMANDS.values(), ids=COMMANDS)
def test_the_command_is_that_of_plain_python(timeloom, tmp_path, words, name, typed):
    (tmp_path / "app.py").write_text("")
    timeloom("run", "--quiet", "-orun", *words, cwd=tmp_path, stdin=subprocess.DEVNULL)
    info = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)
    assert info["program"].split(" ", 1)[1] == typed
    assert (info["groups"][0]["name"], info["groups"][0]["arguments"]) == (name, words)


@pytest.mark.parametrize("command", ["report", "info"])
def test_an_unfinished_run_is_woven_first(timeloom, killed, command):
    first = timeloom(command, "--json", killed)
    assert first.stderr.startswith(f"timeloom: {killed} was unfinished, woven now: ")
    assert "cut off" in first.stderr and first.stderr.count("\n") == 1
    assert json.loads(first.stdout)["losses"]
    second = timeloom(command, "--json", killed)
    assert second.stderr == ""
    if command == "report":
        assert second.stdout == first.stdout
        visits = {row["name"]: row["visits"] for row in json.loads(first.stdout)["flat"]["rows"]}
        assert visits["__main__.leaf"] == 1000 and visits["__main__.work"] == 1


def test_the_profile_of_a_run_and_its_trace_give_the_same_report(timeloom, killed):
    from_profile = timeloom("report", "--json", killed).stdout
    (killed / "callpaths.json").unlink()
    assert timeloom("report", "--json", killed).stdout == from_profile


def test_weave_says_what_it_did_in_one_line(timeloom, killed):
    done = timeloom("weave", "--keep-spool", "--threads", 1, killed)
    assert done.stderr == "" and done.stdout.count("\n") == 1
    assert done.stdout.startswith(f"{killed}: ") and "of 1 thread in 1 process" in done.stdout
    assert (killed / "spool").is_dir() and (killed / "traces.otf2").exists()


def test_weave_leaves_a_woven_run_as_it_is(timeloom, run):
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    assert timeloom("weave", run).stdout == f"{run} is woven already: nothing to do\n"
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


@pytest.mark.parametrize("arguments", [
    [], ["frobnicate"], ["--frobnicate"], ["report", "--frobnicate"], ["report", "a", "b"],
    ["report", "--depth", "0"], ["report", "--depth", "1.5"], ["report", "--depth"],
    ["report", "--min-percent", "101"], ["report", "--sort", "size"],
    ["report", "--color", "blue"], ["report", "--json", "--csv"], ["weave"],
    ["weave", "--threads", "0", "x"], ["info", "--tree"]])
def test_wrong_usage_is_one_line_that_names_the_help(timeloom, arguments):
    said = one_line(timeloom(*arguments, status=2))
    command = arguments[0] if arguments and arguments[0] in ("report", "info", "weave") else ""
    assert f"see 'timeloom {command} --help'".replace("  ", " ") in said


@pytest.mark.parametrize("command", ["report", "info", "weave"])
def test_what_cannot_be_opened_is_one_line_that_says_what_to_name(timeloom, tmp_path, command):
    (tmp_path / "src" / "spool").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for name, what in (("none", "none does not exist"), ("", "the name of the run is empty"),
                       ("src", "src is no run: "), ("file", "file is no run: ")):
        said = one_line(timeloom(command, name, cwd=tmp_path, status=1))
        assert said.startswith(f"timeloom: {what}")
        assert said.endswith("; name the directory of a run or an .otf2 file\n")
        assert "  " not in said


def test_help_and_version(timeloom):
    for command in ([], ["report"], ["info"], ["weave"]):
        text = timeloom(*command, "--help").stdout
        assert "0 done, 1 something could not be read or done, 2 wrong usage" in text
    assert timeloom("--version").stdout.split()[0] == "timeloom"
