"""`timeloom convert` as a command: its input, its selections, its output, and what it refuses."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from archives import make_archive, one_line
from converted import Chrome, Speedscope, calls_of, converter, read_json, recorded
from cube_files import DATA
from streams import environment

pytestmark = pytest.mark.any_python

FORMATS = ["perfetto", "chrome", "speedscope", "collapsed", "pprof", "pstats", "csv", "json", "arrow", "callgrind", "firefox"]
OF_EVENTS = ["perfetto", "chrome", "firefox"]


def calls(timeloom, run, *options):
    """{thread: [(name, begin in ms, end in ms, depth)]} of a conversion to standard output."""
    done = timeloom("convert", run, "--to", "speedscope", "-o", "-", *options)
    data = json.loads(done.stdout)
    names = [frame["name"] for frame in data["shared"]["frames"]]
    found = {}
    for profile in data["profiles"]:
        found[profile["name"]], stack = [], []
        for event in profile["events"]:
            if event["type"] == "O":
                stack.append([names[event["frame"]], event["at"] / 1e6, None, len(stack)])
                found[profile["name"]].append(stack[-1])
            else:
                stack.pop()[2] = event["at"] / 1e6
        assert not stack
    return {name: list(map(tuple, one)) for name, one in found.items()}


# ---- input


def test_a_trace_of_another_tool(timeloom, run):
    assert calls(timeloom, run) == {
        "MainThread": [("main", 0, 100, 0), ("Solver.step", 1, 10, 1), ("dot", 3, 7, 2), ("Solver.step", 10, 20, 1),
                       ("dot", 11, 13, 2), ("fib", 20, 30, 1), ("fib", 21, 25, 2), ("fib", 22, 24, 3)],
        "worker": [("Solver.step", 50, 60, 0)],
    }  # fmt: skip
    assert calls(timeloom, run / "traces.otf2") == calls(timeloom, run)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["trace", "profile"])
def test_runs_of_score_p_become_every_format(timeloom, tmp_path, format, kind):
    name = {"trace": "traces.otf2", "profile": "profile.cubex"}[kind]
    for source in sorted(DATA.glob(f"scorep-*/{name}")):
        options = ["convert", source, "--to", format, "-o", tmp_path / "out", "--force"]
        if kind == "profile" and format in OF_EVENTS:
            said = one_line(timeloom(*options, status=1))
            assert "is a profile, which has no times of events" in said and "collapsed, pprof" in said
        else:
            assert "wrote " in timeloom(*options).stderr
            assert (tmp_path / "out").stat().st_size > 50


def test_a_profile_says_what_its_trace_says(timeloom, tmp_path):
    def paths(name):
        rows = json.loads(timeloom("convert", DATA / "scorep-fib" / name, "--to", "json", "--paths", "-o", "-").stdout)
        return [(row["depth"], row["name"], row["visits"]) for row in rows]

    assert paths("traces.otf2") == paths("profile.cubex") != []


def test_a_run_that_was_killed_is_woven_first(timeloom, tmp_path):
    text = "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGKILL)\nf()"
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "-c", text]
    assert subprocess.run(command, cwd=tmp_path).returncode == -signal.SIGKILL
    done = timeloom("convert", "run", "--to", "collapsed", "--weight", "visits", "-o", "-", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "__main__.<module>;__main__.f 1"
    assert "was unfinished, woven now" in done.stderr


@pytest.mark.parametrize("format", FORMATS)
def test_a_run_without_events(timeloom, tmp_path, format):
    empty = make_archive(tmp_path / "empty", {"MainThread": []})
    timeloom("convert", empty, "--to", format, "-o", tmp_path / "out")
    if format in ("chrome", "json", "speedscope", "firefox"):
        read_json(tmp_path / "out")


def test_a_damaged_trace_is_said_in_one_line(timeloom, run, tmp_path):
    (anchor,) = run.glob("*.otf2")
    anchor.write_bytes(anchor.read_bytes()[:40])
    one_line(timeloom("convert", run, "--to", "chrome", "-o", tmp_path / "out", status=1))
    assert os.listdir(tmp_path) == ["run"]


def test_repairs_are_said(timeloom, run, tmp_path):
    (events,) = run.glob("traces/0.evt")
    events.write_bytes(events.read_bytes()[:100])
    done = timeloom("convert", run, "--to", "chrome", "-o", tmp_path / "out")
    assert "damaged or cut off" in done.stderr
    assert Chrome(tmp_path / "out").calls


# ---- which part


def test_a_window(timeloom, run):
    assert calls(timeloom, run, "--from", "5ms", "--until", "12ms") == {
        "MainThread": [("main", 5, 12, 0), ("Solver.step", 5, 10, 1), ("dot", 5, 7, 2), ("Solver.step", 10, 12, 1),
                       ("dot", 11, 12, 2)],
        "worker": [],
    }  # fmt: skip
    assert calls(timeloom, run, "--from", "22ms")["MainThread"] == [
        ("main", 22, 100, 0), ("fib", 22, 30, 1), ("fib", 22, 25, 2), ("fib", 22, 24, 3)]  # fmt: skip
    assert calls(timeloom, run, "--until", "0.001s") == {"MainThread": [("main", 0, 1, 0)], "worker": []}


def test_a_window_of_regions(timeloom, run):
    assert calls(timeloom, run, "--from", "fib", "--until", "fib")["MainThread"] == [
        ("main", 20, 24, 0), ("fib", 20, 24, 1), ("fib", 21, 24, 2), ("fib", 22, 24, 3)]  # fmt: skip
    said = one_line(timeloom("convert", run, "--to", "json", "--from", "nobody", "-o", "-", status=1))
    assert "no region 'nobody'" in said


@pytest.mark.parametrize("options", [[], ["--causes"]])
def test_windows_share_the_waiting_of_a_gap(timeloom, tmp_path, options):
    """A window that starts or ends within a gap has its part of the waiting that is noted at the end of the gap."""
    text = "import time\ndef nap(): time.sleep(0.4)\ndef main(): nap()\nmain()"
    command = [sys.executable, "-m", "timeloom", "--quiet", *options, "-o", "run", "-c", text]
    subprocess.run(command, cwd=tmp_path, check=True)

    def waiting(*window):
        done = timeloom("convert", "run", "--to", "csv", *window, "-o", "-", cwd=tmp_path)
        (nap,) = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["name"] == "__main__.nap"]
        return {name: int(value or 0) for name, value in nap.items() if name.startswith("metric.") and "waiting" in name}

    whole = waiting()
    parts = [waiting("--until", "100ms"), waiting("--from", "100ms", "--until", "300ms"), waiting("--from", "300ms")]
    assert whole["metric.waiting"] > 380_000_000 and 190_000_000 < parts[1]["metric.waiting"] <= 200_000_003
    for name, value in whole.items():
        assert abs(sum(part[name] for part in parts) - value) <= 3, name


def test_a_window_of_call_paths(timeloom, run):
    done = timeloom("convert", run, "--to", "json", "--from", "5ms", "--until", "12ms", "-o", "-")
    assert [(row["name"], row["visits"], row["inclusive_ns"], row["exclusive_ns"]) for row in json.loads(done.stdout)] == [
        ("main", 1, 7_000_000, 0), ("Solver.step", 2, 7_000_000, 4_000_000), ("dot", 2, 3_000_000, 3_000_000)]  # fmt: skip


def test_parameters_of_regions_that_are_open_when_the_window_begins(program, tmp_path):
    run = recorded("killed", program)
    ((place, expected),) = calls_of(run).items()
    inner = next(call for call in expected if call[0] == "__main__.inner")
    file = converter(program, run, tmp_path)("chrome", "--from", f"{inner[1] / 1e6}ms")
    (step,) = [call for call in Chrome(file).calls[place] if call[0] == "__main__.step"]
    assert step[4] == {"n": 1} and step[1] == pytest.approx(inner[1], abs=1)


def test_threads(timeloom, run):
    assert list(calls(timeloom, run, "--thread", "worker")) == ["worker"]
    assert list(calls(timeloom, run, "--thread", "worker", "--thread", "MainThread")) == ["MainThread", "worker"]
    one_line(timeloom("convert", run, "--to", "json", "--thread", "x", "-o", "-", status=1))


def test_only_my_code(program, tmp_path):
    """The time of a function that is left out belongs to its caller, in events and in call paths."""
    run = recorded("threads", program)
    convert = converter(program, run, tmp_path)
    mine = Speedscope(convert("speedscope", "--only-my-code")).calls
    for (_, thread), every in calls_of(run).items():
        names = [name for name, *_ in every if name.startswith(("__main__", "ein;"))]
        assert [name for name, *_ in mine[thread]] == names != []
    paths = read_json(convert("json", "--only-my-code"))
    for thread, every in mine.items():
        own = sum(end - begin for _, begin, end, depth, _ in every if depth == 0)
        assert own == sum(row["exclusive_ns"] for row in paths if row["thread"] == thread)
        assert len(every) == sum(row["visits"] for row in paths if row["thread"] == thread) > 0


# ---- where to


def test_a_name_of_its_own(timeloom, run, tmp_path):
    done = timeloom("convert", run, "--to", "chrome", cwd=tmp_path)
    assert (tmp_path / "run.chrome.json").is_file() and done.stdout == ""
    assert done.stderr.startswith("timeloom: wrote run.chrome.json, ") and "perfetto" in done.stderr


def test_no_two_formats_have_one_name(timeloom, run, tmp_path):
    for format in FORMATS:
        timeloom("convert", run, "--to", format, cwd=tmp_path)
    assert len(set(os.listdir(tmp_path)) - {"run"}) == len(FORMATS)


def test_a_file_that_exists(timeloom, run, tmp_path):
    file = tmp_path / "mine"
    file.write_text("keep")
    options = ("convert", run, "--to", "chrome", "-o", file)
    assert "exists; name another file" in one_line(timeloom(*options, status=1))
    assert file.read_text() == "keep"
    timeloom(*options, "--force")
    assert Chrome(file).calls
    assert "is a directory" in one_line(timeloom("convert", run, "--to", "chrome", "-o", tmp_path, "--force", status=1))
    assert sorted(os.listdir(tmp_path)) == ["mine", "run"]


def test_a_link_stays_one(timeloom, run, tmp_path):
    (tmp_path / "link").symlink_to("file")
    timeloom("convert", run, "--to", "chrome", "-o", tmp_path / "link", status=1)
    (tmp_path / "file").write_text("old")
    timeloom("convert", run, "--to", "chrome", "-o", tmp_path / "link", "--force")
    assert (tmp_path / "link").is_symlink() and Chrome(tmp_path / "file").calls


def test_a_pipe(program, timeloom, run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    child = subprocess.Popen([program, "convert", run, "--to", "speedscope", "-o", tmp_path / "pipe"])
    text = (tmp_path / "pipe").read_text()
    assert child.wait(60) == 0
    assert text == timeloom("convert", run, "--to", "speedscope", "-o", "-").stdout


def test_a_reader_that_leaves_is_no_error(program, tmp_path):
    run = recorded("threads", program)
    command = [program, "convert", run, "--to", "json", "--events", "-o", "-"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    assert (child.wait(60), child.stderr.read()) == (0, b"")
    child.stderr.close()


def test_a_full_disk_is_an_error(program, timeloom, run, tmp_path):
    done = timeloom("convert", run, "--to", "chrome", "-o", "/dev/full", status=1)
    assert one_line(done) == "timeloom: cannot write /dev/full: No space left on device [TL302]\n"
    # A file at its size limit; other programs would be ended by a signal.
    command = f"ulimit -f 0; exec {program} convert {run} --to chrome -o out"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "timeloom: cannot write out: File too large [TL302]\n")
    assert os.listdir(tmp_path) == ["run"]


def test_nothing_is_left_of_a_conversion_that_was_ended(program, run, tmp_path):
    """A pipe that nobody reads keeps it waiting while the file is open."""
    large = make_archive(tmp_path / "large", {"a": [(k, None if k % 2 else "region") for k in range(40_000)]})
    child = subprocess.Popen([program, "convert", large, "--to", "chrome", "-o", "out.json.gz"], cwd=tmp_path)
    end = time.monotonic() + 30
    while child.poll() is None and len(os.listdir(tmp_path)) < 3 and time.monotonic() < end:
        time.sleep(0.001)
    child.terminate()
    status = child.wait(60)
    left = set(os.listdir(tmp_path)) - {"large", "run"}
    assert (status, left) in [(-signal.SIGTERM, set()), (0, {"out.json.gz"})]


# ---- wrong usage


@pytest.mark.parametrize("options, status, said", [
    ([], 2, "--to FORMAT is missing"),
    (["--to", "nothing"], 2, "none of arrow, "),
    (["--to", "pstats", "--weight", "time"], 2, "--weight goes with collapsed"),
    (["--to", "csv", "--flat", "--events"], 2, "choose one"),
    (["--to", "pstats", "--events"], 2, "pstats holds call paths, not events"),
    (["--to", "chrome", "--paths"], 2, "chrome holds events, not call paths"),
    (["--to", "chrome", "--flat"], 2, "--flat goes with csv, json and arrow"),
    (["--to", "pprof", "--before", "x"], 2, "--before goes with collapsed"),
    (["--to", "json", "--from", "5"], 2, "--from: '5' is not accepted"),
    (["--to", "json", "--from", "2s", "--until", "1s"], 2, "--until is before --from [TL408]"),
    (["--to", "json", "-o", "nowhere/out"], 1, "cannot write nowhere/out: No such file or directory"),
])  # fmt: skip
def test_wrong_usage(timeloom, run, tmp_path, options, status, said):
    assert said in one_line(timeloom("convert", run, *options, status=status, cwd=tmp_path))
    assert os.listdir(tmp_path) == ["run"]


# ---- the same bytes each time


@pytest.fixture(scope="module")
def parallel(tmp_path_factory):
    """A run of several threads, with enough events that they are written at the same time."""
    place = tmp_path_factory.mktemp("parallel")
    (place / "app.py").write_text("""
import threading

def leaf(n):
    return n

def work():
    for n in range(3000):
        leaf(n)

threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(6)]
for one in threads: one.start()
for one in threads: one.join()
""")
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "app.py"], cwd=place,
                   env=environment(), check=True, timeout=60)  # fmt: skip
    return place


@pytest.mark.parametrize("words", [*([one] for one in FORMATS), ["speedscope", "--paths"], ["csv", "--events"], ["csv", "--flat"],
                                   ["json", "--events"], ["arrow", "--events"], ["chrome", "--from", "__main__.leaf"]], ids=" ".join)  # fmt: skip
def test_a_run_makes_the_same_bytes_each_time(timeloom, parallel, words):
    files = [parallel / name for name in ("one", "two", "three")]
    for file in files:
        timeloom("convert", "run", "--to", *words, "-o", file, "--force", cwd=parallel)
    first, *others = (file.read_bytes() for file in files)
    assert first and all(other == first for other in others)
