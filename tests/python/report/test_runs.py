"""Finding, weaving and describing runs: timeloom info and weave, and the options that all commands share."""

import json
import re
import shutil
import signal
import subprocess
import sys

import pytest
from archives import one_line, report_json
from cube_files import DATA

pytestmark = pytest.mark.any_python


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


def test_info(timeloom, run):
    info = json.loads(timeloom("info", "--json", run).stdout)
    assert list(info) == ["format", "version", "run", "program", "host", "start", "wall_s",
                          "processes", "threads", "tasks", "task_lanes", "events", "given_up", "cut_short", "losses", "overhead",
                          "creator", "machine",
                          "ticks_per_second", "files", "packing", "groups", "locations", "regions",
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


def test_the_summary_and_the_report_count_the_same_events(timeloom, tmp_path):
    said = timeloom("run", "-o", tmp_path / "run", "-c", "def f(): pass\nf()").stderr
    events = report_json(timeloom, tmp_path / "run")["events"]
    assert f", {events:,} events of 1 thread, " in said


COUNTED = {
    "threads": ("", "for _ in range(3): threading.Thread(target=f).start()"),
    "tasks": ("--async-tasks", "import asyncio\nasync def g(): await asyncio.sleep(0)\nasync def main(): await asyncio.gather(g(), g())\nasyncio.run(main())"),
    "metrics": ("--metric-rusage=ru_utime,ru_minflt --metric-rusage-per-process=ru_utime", "threading.Thread(target=f).start()"),
    "profile": ("--profile", "threading.Thread(target=f).start()"),
    "profile with metrics": ("--profile --metric-rusage=all", "f()"),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_everything_that_is_written_counts_in_both(timeloom, tmp_path, name):
    """Starts and ends of threads and tasks, and values of metrics, as otf2-print counts events."""
    options, text = COUNTED[name]
    program = "import threading\ndef f(): pass\n" + text
    said = timeloom("run", *options.split(), "-o", tmp_path / "run", "-c", program).stderr
    report = report_json(timeloom, tmp_path / "run")
    tasks = f" and {report['tasks']} task" if report["tasks"] else ""
    plural = lambda number: "s" if number != 1 else ""
    threads = f"{report['threads']} thread{plural(report['threads'])}{tasks}{plural(report['tasks']) if tasks else ''}"
    assert f", {report['events']:,} events of {threads}, " in said
    if not name.startswith("profile"):
        (tmp_path / "run" / "profile.cubex").unlink()
        assert report_json(timeloom, tmp_path / "run")["events"] == report["events"]


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
    (killed / "profile.cubex").unlink()
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
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("gone")
    for name, what in (("none", "none does not exist"), ("", "the name of the run is empty"),
                       ("src", "src is not a run: "), ("file", "file is not a run: "),
                       ("loop", "loop is a link that leads back to itself; "),
                       ("dangling", "dangling is a link to gone, which does not exist; ")):
        said = one_line(timeloom(command, name, cwd=tmp_path, status=1))
        assert said.startswith(f"timeloom: {what}")
        assert re.search(r"; name the directory of a run, an \.otf2 or a \.cubex file \[TL20\d\]\n$", said)
        assert "  " not in said


@pytest.mark.parametrize("door", ["timeloom", "python -m timeloom"])
@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_that_cannot_be_written_is_no_wrong_usage(program, door, word):
    command = [program, "run"] if door == "timeloom" else [sys.executable, "-m", "timeloom"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*command, word], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"timeloom: cannot write to standard output: No space left on device [TL423]\n"


def test_help_and_version(timeloom):
    for command in ([], ["report"], ["info"], ["weave"]):
        text = timeloom(*command, "--help").stdout
        assert "0 done, 1 something could not be read or done, 2 wrong usage" in text
    assert timeloom("--version").stdout.split()[0] == "timeloom"


def test_other_profiles_in_a_run_are_left_alone(timeloom, tmp_path):
    shutil.copytree(DATA / "scorep-fib", tmp_path / "run", ignore=shutil.ignore_patterns("traces*"))
    run, profile = tmp_path / "run", tmp_path / "run" / "profile.cubex"
    expected = report_json(timeloom, run)["tree"]
    (run / "diff.cubex").write_bytes(b"what another tool has written")
    assert report_json(timeloom, run)["tree"] == expected
    assert report_json(timeloom, cwd=tmp_path)["tree"] == expected
    assert (run / "diff.cubex").read_bytes() == b"what another tool has written"
    profile.rename(run / "summary.cubex")
    line = one_line(timeloom("report", run, status=1))
    assert "holds several profiles" in line and "diff.cubex" in line
    assert report_json(timeloom, run / "summary.cubex")["tree"] == expected
    (run / "diff.cubex").unlink()
    assert report_json(timeloom, run)["tree"] == expected
