"""timeloom run --overhead: the time of functions that were given up is estimated from samples.

The limit is so small that the functions are given up early in any case. On Python 3.11 the instrumenter pauses for
nearly all of the time instead, and calls that begin meanwhile are estimated.
"""

import csv
import json
import re
import subprocess
import sys

import pytest
from html_page import sections_of
from pprof_files import read_pprof
from streams import PROGRAMS, environment

PAUSES = sys.version_info < (3, 12)
needs_pauses = pytest.mark.skipif(not PAUSES, reason="single functions are given up")
LIMIT = ("--overhead=0.5%", "--sample=1ms")


def record(directory, *options, program=PROGRAMS / "shares.py", arguments=("600",), output="run", variables=None):
    return subprocess.run(
        [sys.executable, "-m", "timeloom", "--output", output, *options, str(program), *arguments],
        cwd=directory, capture_output=True, text=True, timeout=300, env=environment(variables), check=True)  # fmt: skip


def report(timeloom, directory, *options, run="run"):
    return json.loads(timeloom("report", "--json", "--min-percent", "0", *options, run, cwd=directory).stdout)


def small(rows):
    return {row["name"].rpartition(".")[2]: row for row in rows if "small_" in row["name"]}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    directory = tmp_path_factory.mktemp("estimates")
    record(directory, *LIMIT)
    return directory


def test_the_first_ten_functions_are_those_of_the_full_trace(measured, timeloom):
    """Of fourteen, by their working time, in the full trace less the cost of measuring."""
    record(measured, output="full", arguments=("60",))
    full = small(report(timeloom, measured, "--compensate", run="full")["flat"]["rows"])
    limited = small(report(timeloom, measured)["flat"]["rows"])
    work = {name: row["compensated_exclusive_s"] - row["waiting_s"] for name, row in full.items()}
    expected = sorted(work, key=lambda name: -work[name])[:10]
    shown = sorted(limited, key=lambda name: -limited[name]["working_s"])[:10]
    assert len({*shown} & {*expected}) >= 9
    assert sum(row["given_up"] for row in limited.values()) >= 9


def test_shares_are_those_of_the_program(measured, timeloom):
    rows = small(report(timeloom, measured)["flat"]["rows"])
    all_own = sum(row["working_s"] for row in rows.values())
    parts = (100, 80, 64, 52, 42, 34, 27, 22, 17, 14, 5, 4, 3, 2)
    for number, part in enumerate(parts):
        row = rows[f"small_{number:02}"]
        error = max(row["own_error_s"] / all_own, 0.02)
        assert abs(row["working_s"] / all_own - part / sum(parts)) < 1.5 * error, row


def test_callers_hold_the_time_no_longer(measured, timeloom):
    """What the tree has below a caller is taken from its own time: all sums stay as they are."""
    data = report(timeloom, measured)
    rows = {row["id"]: row for row in data["tree"]["rows"]}
    for row in rows.values():
        inside = sum(child["inclusive_s"] for child in rows.values() if child["parent"] == row["id"])
        assert row["exclusive_s"] == pytest.approx(row["inclusive_s"] - inside, abs=1e-6)
    roots = sum(row["inclusive_s"] for row in rows.values() if row["parent"] is None)
    assert roots == pytest.approx(data["total_s"], abs=1e-6)
    flat = {row["name"]: row for row in data["flat"]["rows"]}
    first = flat["__main__.first_caller"]
    assert first["own_estimated"] and first["own_error_s"] > 0
    if not first["given_up"]:  # else its total is an estimate, too
        assert not first["inclusive_estimated"] and first["inclusive_error_s"] == 0
    assert first["working_s"] < 0.5 * first["inclusive_s"]
    # Calls that are seen while their caller is not lie below main().
    (below,) = [row for row in rows.values() if row["name"].endswith("small_00") and row["own_estimated"]]
    assert rows[below["parent"]]["name"] == "__main__.first_caller"
    (main,) = [row for row in rows.values() if row["name"] == "__main__.main"]  # entered before anything is given up
    assert not main["inclusive_estimated"]
    assert below["own_estimated"] and below["inclusive_estimated"]


def test_every_table_marks_them(measured, timeloom):
    answer = timeloom("report", "run", cwd=measured, COLUMNS="120").stdout
    lines = answer.splitlines()
    at = next(i for i, line in enumerate(lines) if "small_00" in line)
    line, below = lines[at : at + 2]
    assert re.search(r" ~\d", line) and ">=" in line
    assert re.fullmatch(r" +\+- [\d.]+ m?s of [\d,]+ samples", below)
    assert re.search(r"~: .* is estimated from samples\n", answer)
    full = timeloom("report", "--full", "run", cwd=measured, COLUMNS="160").stdout
    assert re.search(r"~[\d.]+m?s .*small_00", full)
    assert "\n~: estimated from samples" in full
    one = timeloom("report", "--function", "small_00", "run", cwd=measured, COLUMNS="160").stdout
    assert re.search(r"own ~[\d.]+ m?s \(\+- [\d.]+ m?s of [\d,]+ samples\)", one)
    assert re.search(r"total ~[\d.]+ m?s \(\+- ", one)
    facts = json.loads(timeloom("report", "--function", "small_00", "--json", "run", cwd=measured).stdout)
    assert 0 < facts["own_error_s"] < facts["own_s"]
    table = timeloom("report", "--csv", "--flat", "run", cwd=measured).stdout.splitlines()
    (row,) = [row for row in csv.DictReader(table) if row["name"].endswith("small_00")]
    assert float(row["own_error_s"]) == pytest.approx(facts["own_error_s"], rel=0.01)


def test_rules_know_the_error(measured, timeloom):
    """A limit within the error of an estimate is undecided, and the mean of the visits that were seen is not known."""
    facts = json.loads(timeloom("report", "--function", "small_00", "--json", "run", cwd=measured).stdout)
    for limit, status in ((facts["own_s"] * 1.001, 4), (facts["own_s"] * 0.999, 4), (facts["own_s"] * 3, 0), (facts["own_s"] / 9, 1)):
        timeloom("check", "run", f"self(*small_00) < {limit:.6f}s", cwd=measured, status=status)
    rows = json.loads(timeloom("report", "--flat", "--json", "run", cwd=measured).stdout)["flat"]["rows"]
    (row,) = [row for row in rows if row["name"].endswith("small_00")]
    assert row["mean_s"] is None and row["own_error_s"] > 0


def test_the_time_of_recorded_functions_that_they_call_is_in_their_total(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(
        "def slow():\n    return sum(range(40000))\n"
        "def tiny(value):\n    return value\n"
        "def hot(number):\n    for value in range(300): tiny(value)\n    return slow() if number % 3 == 0 else None\n"
        "def main():\n    for number in range(6000): hot(number)\n"
        "main()\n")
    record(tmp_path, *LIMIT, program="app.py", arguments=())
    rows = {row["name"]: row for row in report(timeloom, tmp_path)["flat"]["rows"]}
    assert rows["__main__.tiny"]["given_up"] and rows["__main__.tiny"]["own_estimated"]
    if rows["__main__.hot"]["given_up"]:
        parts = [rows[f"__main__.{name}"] for name in ("hot", "tiny", "slow")]
        assert rows["__main__.hot"]["inclusive_s"] == pytest.approx(sum(one["own_s"] for one in parts), rel=0.1)


def test_a_collection_inside_a_throttled_function_keeps_its_time(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(
        "import gc\n"
        "keep = [[number] for number in range(20000)]\n"
        "def hot(number):\n    return gc.collect() if number % 1000 == 0 else number\n"
        "def main():\n    for number in range(300_000): hot(number)\n"
        "main()\n")
    record(tmp_path, *LIMIT, program="app.py", arguments=(), variables={"TIMELOOM_GC": "on"})
    rows = {row["name"]: row for row in report(timeloom, tmp_path)["flat"]["rows"]}
    assert rows["__main__.hot"]["given_up"]
    (collections,) = [row for name, row in rows.items() if name.startswith("gc.")]
    assert "own_estimated" not in collections or not collections["own_estimated"]
    assert collections["exclusive_s"] > rows["__main__.hot"]["exclusive_s"]


def test_throttled_functions_inside_a_block_of_the_api_are_below_it(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(
        "import timeloom\n"
        "def hot(number):\n    return number\n"
        "def main():\n    with timeloom.region('step'):\n"
        "        for number in range(3_000_000): hot(number)\n"
        "main()\n")
    record(tmp_path, *LIMIT, program="app.py", arguments=())
    rows = report(timeloom, tmp_path)["tree"]["rows"]
    (hot,) = [row for row in rows if row["name"] == "__main__.hot"]
    (step,) = [row for row in rows if row["name"] == "step"]
    assert hot["own_estimated"] and hot["parent"] == step["id"]


def test_a_part_of_the_run_has_its_own(measured, timeloom):
    """Its estimates are made of the samples that it has, so the estimates of two parts add up to the whole."""
    whole = small(report(timeloom, measured)["flat"]["rows"])
    data = report(timeloom, measured)
    split = f"{data['wall_s'] / 2:.9f}s"
    parts = [small(report(timeloom, measured, option, split)["flat"]["rows"]) for option in ("--to", "--from")]
    for name, row in whole.items():
        if not row.get("own_estimated"):
            continue
        halves = [part[name] for part in parts if name in part]
        assert sum(one["own_s"] for one in halves) == pytest.approx(row["own_s"], rel=0.02, abs=0.01)
        errors = sum(one["own_error_s"] ** 2 for one in halves) ** 0.5
        assert errors == pytest.approx(row["own_error_s"], rel=0.05, abs=0.001)
    later = parts[1]
    assert later["small_00"]["own_estimated"] and later["small_00"]["inclusive_estimated"]
    all_own = sum(row["working_s"] for row in later.values())
    for name, parts_of_466 in (("small_00", 100), ("small_01", 80), ("small_02", 64)):
        error = max(later[name]["own_error_s"] / all_own, 0.02)
        assert abs(later[name]["working_s"] / all_own - parts_of_466 / 466) < 1.5 * error, later[name]
    text = timeloom("report", "--from", split, "run", cwd=measured, COLUMNS="120").stdout
    assert re.search(r" ~\d.*small_00", text) and "is estimated from samples" in text


def folded(timeloom, directory, *options):
    text = timeloom("convert", "run", "--to", "collapsed", *options, "-o", "-", cwd=directory).stdout
    return {path: int(number) for path, _, number in (line.rpartition(" ") for line in text.splitlines())}


def test_conversions_mark_them(measured, timeloom, tmp_path):
    paths = folded(timeloom, measured)
    marked = {frame for path in paths for frame in path.split(";") if frame.startswith("~")}
    rows = {row["name"]: row for row in report(timeloom, measured)["flat"]["rows"]}
    assert marked == {f"~{name}" for name, row in rows.items() if row.get("inclusive_estimated")}
    # All of the trace is the whole run, too.
    again = folded(timeloom, measured, "--from", "0s")
    assert again.keys() == paths.keys()
    assert all(again[path] == pytest.approx(number, abs=10) for path, number in paths.items())
    assert folded(timeloom, measured, "--from", "0s", "--only-my-code").keys() == folded(timeloom, measured, "--only-my-code").keys()  # fmt: skip

    timeloom("convert", "run", "--to", "speedscope", "--paths", "-o", str(tmp_path / "s.json"), cwd=measured)
    frames = json.loads((tmp_path / "s.json").read_text())["shared"]["frames"]
    assert {frame["name"] for frame in frames if frame["name"].startswith("~")} == marked

    def estimated(*options):
        timeloom("convert", "run", "--to", "pprof", "--force", *options, "-o", str(tmp_path / "p.pb.gz"), cwd=measured)
        profile = read_pprof(tmp_path / "p.pb.gz")
        types = [profile.string_table[one.type] for one in profile.sample_type]
        at = types.index("estimated")
        assert all(sample.value[at] <= sample.value[types.index("time")] for sample in profile.sample)
        return sum(sample.value[at] for sample in profile.sample)

    def callgrind(*options):
        text = timeloom("convert", "run", "--to", "callgrind", *options, "-o", "-", cwd=measured).stdout
        assert "\nevents: Nanoseconds Visits Estimated\n" in text
        (summary,) = re.findall(r"^summary: (\d+) (\d+) (\d+)$", text, re.MULTILINE)
        calls = re.findall(r"^calls=\d+ \d+\n\d+ (\d+) (\d+) (\d+)$", text, re.MULTILINE)
        assert all(int(of_it) <= int(time) for time, _, of_it in calls)
        assert max(int(of_it) for _, _, of_it in calls) > 0.4 * int(summary[2])
        return int(summary[2])

    rows = small(rows.values())
    errors = sum(row["own_error_s"] for row in rows.values())
    all_estimated = sum(row["own_s"] for row in rows.values() if row.get("own_estimated"))
    assert 0 < estimated() <= (all_estimated + errors) * 1e9
    assert estimated() > 0.5 * all_estimated * 1e9
    assert callgrind() == estimated() == pytest.approx(estimated("--from", "0s"), abs=1000)
    split = f"{report(timeloom, measured)['wall_s'] / 2:.9f}s"
    assert callgrind("--from", split) + callgrind("--until", split) == pytest.approx(estimated(), rel=0.02)


def test_the_viewer_tells_that_it_has_none(measured, timeloom):
    timeloom("view", "--html", "page.html", "run", cwd=measured)
    (description,) = [body for tag, body in sections_of((measured / "page.html").read_text()) if tag == 1]
    assert any("[TL173]" in line for line in json.loads(description)["losses"])


def test_runs_without_estimates_have_no_marks(measured, timeloom):
    record(measured, output="plain", arguments=("10",))
    text = timeloom("convert", "plain", "--to", "callgrind", "-o", "-", cwd=measured).stdout
    assert "\nevents: Nanoseconds Visits\n" in text
    assert "~" not in timeloom("convert", "plain", "--to", "collapsed", "-o", "-", cwd=measured).stdout


def test_profiles_threads_and_forked_children_have_estimates(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(
        "import os, threading\n"
        "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        f"def work():\n    return fib({32 if PAUSES else 28})\n"
        "work()\n"
        "thread = threading.Thread(target=work, name='other')\nthread.start()\nthread.join()\n"
        "if (child := os.fork()) == 0:\n    work()\nelse:\n    os.waitpid(child, 0)\n")
    limit = ("--overhead=20%", "--sample=1ms") if PAUSES else LIMIT  # so that threads begin to be seen
    record(tmp_path, *limit, "--profile", program="app.py", arguments=())
    for options in (("--group", "0"), ("--group", "1"), ("--thread", "other")):
        rows = {row["name"]: row for row in report(timeloom, tmp_path, *options)["flat"]["rows"]}
        assert rows["__main__.fib"]["own_estimated"], options
        work = rows.get("__main__.work", {"working_s": 0})  # began unseen
        assert rows["__main__.fib"]["working_s"] > 3 * work["working_s"], options


HOT = (
    "import time\n"
    "def hot(n): return n if n < 2 else hot(n - 1) + hot(n - 2)\n"
    "def busy(seconds):\n"
    "    end = time.process_time() + seconds\n"
    "    while time.process_time() < end: pass\n")  # fmt: skip


@needs_pauses
def test_functions_that_nobody_saw_begin_are_found_by_their_samples(tmp_path, timeloom):
    """late() and what it calls run for the first time while nothing is recorded any more."""
    (tmp_path / "app.py").write_text(HOT + (
        "def late():\n    busy(0.5)\n    later()\n"
        "def later(): busy(1)\n"
        "hot(28)\n"
        "late()\n"))
    record(tmp_path, "--overhead=0.01%", "--sample=1ms", program="app.py", arguments=())
    rows = {row["id"]: row for row in report(timeloom, tmp_path)["tree"]["rows"]}

    def below(caller, name):
        (found,) = [row for row in rows.values()
                    if row["name"] == f"__main__.{name}" and rows[row["parent"]]["name"] == f"__main__.{caller}"]  # fmt: skip
        return found

    late, later, first, second = (below(*two) for two in (
        ("<module>", "late"), ("late", "later"), ("late", "busy"), ("later", "busy")))  # fmt: skip
    assert late["visits"] == later["visits"] == first["visits"] == second["visits"] == 0
    assert all(row["inclusive_estimated"] for row in (late, later, first, second))
    assert second["inclusive_s"] == pytest.approx(later["inclusive_s"], rel=0.05)
    assert first["inclusive_s"] + second["inclusive_s"] == pytest.approx(late["inclusive_s"], rel=0.05)
    assert 0 < second["own_error_s"] < second["inclusive_s"]


def test_functions_that_a_filter_leaves_out_are_not_estimated(tmp_path, timeloom):
    """Their time is their caller's, as without a limit."""
    record(tmp_path, *LIMIT, "--exclude=*.small_00", arguments=("100",))
    rows = {row["name"]: row for row in report(timeloom, tmp_path)["flat"]["rows"]}
    assert "__main__.small_00" not in rows and rows["__main__.small_01"]["own_estimated"]


@needs_pauses
@pytest.mark.parametrize("option", ["--max-depth=50", "--function-exclude=^small_00$"])
def test_nothing_is_estimated_where_left_out_calls_cannot_be_told_from_unseen_ones(tmp_path, timeloom, option):
    record(tmp_path, *LIMIT, option, arguments=("20",))
    assert all("own_estimated" not in row for row in report(timeloom, tmp_path)["flat"]["rows"])


def test_nothing_is_estimated_without_samples(tmp_path, timeloom):
    record(tmp_path, "--overhead=0.5%", "--sample=off", arguments=("10",))
    data = report(timeloom, tmp_path)
    assert all("own_estimated" not in row for row in data["flat"]["rows"])
    assert "samples.csv" not in {path.name for path in (tmp_path / "run").iterdir()}


def test_a_program_that_uses_the_signal_is_told(tmp_path):
    (tmp_path / "app.py").write_text("def f(): pass\nf()\n")
    code = (
        "import signal, timeloom\nsignal.signal(signal.SIGURG, lambda *_: None)\n"
        "with timeloom.Measurement(output='run', overhead='5%'): pass\n")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env=environment(), check=True)  # fmt: skip
    assert "the time of functions that are throttled is not estimated: " in done.stderr
    assert "[TL175]" in done.stderr
