"""`timeloom diff`: two runs side by side, for people, for programs and for CI."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from archives import MAIN, WORKER, make_archive, one_line
from cube_files import DATA
from streams import environment

pytestmark = pytest.mark.any_python


@pytest.fixture
def later(tmp_path):
    """As `run`, with dot() three times as long, fib() gone and a new region."""
    events = [(0, "main"), (1, "Solver.step"), (3, "dot"), (15, None), (18, None),
              (18, "Solver.step"), (19, "dot"), (25, None), (32, None),
              (32, "save"), (40, None), (100, None)]
    return make_archive(tmp_path / "later", {"MainThread": events, "worker": WORKER})


def rows(done, key):
    said = json.loads(done.stdout)
    paths = []
    for above, name in said.get("paths", ()):
        paths.append((*paths[above], name) if above >= 0 else (name,))
    return {paths[row["path"]] if "path" in row else (row["name"],): row for row in said[key]["rows"]}


def test_what_changed(timeloom, run, later):
    done = timeloom("diff", "--json", run, later)
    said = json.loads(done.stdout)
    assert list(said) == ["format", "version", "before", "after", "by", "change_s", "change_share",
                          "regions", "paths", "call_paths"]
    assert (said["format"], said["version"]) == ("timeloom-diff", 2)
    assert said["before"]["total_s"] == said["after"]["total_s"] == pytest.approx(0.11)
    regions = rows(done, "regions")
    assert {name[0]: row["change"] for name, row in regions.items()} == {
        "dot": "slower", "fib": "gone", "save": "new", "main": "faster", "Solver.step": "same"}
    dot = regions["dot",]
    assert (dot["before"]["visits"], dot["after"]["visits"]) == (2, 2)
    assert dot["before"]["exclusive_s"] == pytest.approx(0.006)
    assert dot["exclusive_change_s"] == pytest.approx(0.012)
    assert dot["exclusive_change_share"] == pytest.approx(2)
    assert regions["save",]["before"] is None and regions["fib",]["after"] is None
    paths = rows(done, "call_paths")
    assert paths["main", "Solver.step", "dot"]["change"] == "slower"
    assert paths["main", "fib", "fib", "fib"]["change"] == "gone"
    changes = [abs(row["exclusive_change_s"]) for row in paths.values()]
    assert changes == sorted(changes, reverse=True)
    assert not {"paths", "call_paths"} & set(json.loads(timeloom("diff", "--json", "--flat", run, later).stdout))
    # The table of paths has only the columns that its rows need.
    few = timeloom("diff", "--json", "--min-percent", "10", "--tree", run, later)
    assert json.loads(few.stdout)["paths"] == [[-1, "main"], [0, "Solver.step"], [1, "dot"]]
    assert {path: row["name"] for path, row in rows(few, "call_paths").items()} == {
        ("main", "Solver.step", "dot"): "dot"}


def test_the_text(timeloom, run, later):
    text = timeloom("diff", "--min-percent", "3", run, later, COLUMNS="100").stdout
    assert text.startswith(f"before  110 ms  {run}\nafter   110 ms  {later}\nchange  ")
    lines = [line.split() for line in text.splitlines()]
    assert ["+12.0ms", "+200.0%", "6.00ms", "18.0ms", "2", "dot", "solver.py:30"] in lines
    assert any(line[:2] == ["-10.0ms", "gone"] for line in lines)
    assert any(line[:4] == ["+8.00ms", "new", "-", "8.00ms"] for line in lines)
    assert "main > Solver.step > dot" in text and "Not shown: " in text


def test_other_numbers_of_threads(timeloom, run, tmp_path):
    """Sums, and means of a thread beside them."""
    threads = {"MainThread": MAIN, **{f"worker {i}": WORKER for i in range(3)}}
    more = make_archive(tmp_path / "more", threads)
    done = timeloom("diff", "--json", run, more)
    said = json.loads(done.stdout)
    assert (said["parts"], said["before"]["parts"], said["after"]["parts"]) == ("thread", 2, 4)
    step = rows(done, "regions")["Solver.step",]
    before, after = step["before"], step["after"]
    assert after["exclusive_s"] - before["exclusive_s"] == pytest.approx(0.02)  # two workers more
    assert before["mean_exclusive_s"] == pytest.approx(before["exclusive_s"] / 2)
    assert after["mean_exclusive_s"] == pytest.approx(after["exclusive_s"] / 4)
    text = timeloom("diff", run, more, COLUMNS="100").stdout
    assert "! 2 threads before, 4 after: times are sums of all, those with /thread the mean of one" in text.splitlines()
    heading = next(line.split() for line in text.splitlines() if line.split()[:1] == ["change"] and "region" in line)
    assert heading == ["change", "before", "after", "before/thread", "after/thread", "%/thread", "region", "file:line"]
    assert "parts" not in json.loads(timeloom("diff", "--json", run, run).stdout)
    assert "!" not in timeloom("diff", run, run).stdout


def test_other_numbers_of_ranks(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("def work():\n    return sum(range(100_000))\n\nfor _ in range(5):\n    work()\n")
    for number in (2, 3):
        ranks = [subprocess.Popen(
            [sys.executable, "-m", "timeloom", "--quiet", "--no-mpi", "-o", f"run{number}", "app.py"], cwd=tmp_path,
            env=environment({"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(number),
                             "PMIX_NAMESPACE": f"job{number}"})) for rank in range(number)]  # fmt: skip
        assert [rank.wait(100) for rank in ranks] == [0] * number
    done = timeloom("diff", "--json", "run2", "run3", cwd=tmp_path)
    assert json.loads(done.stdout)["parts"] == "rank"
    row = next(row for name, row in rows(done, "regions").items() if name[0].endswith("work"))
    assert (row["before"]["visits"], row["after"]["visits"]) == (10, 15)
    assert row["after"]["mean_exclusive_s"] == pytest.approx(row["after"]["exclusive_s"] / 3)
    assert "! 2 ranks before, 3 after" in timeloom("diff", "run2", "run3", cwd=tmp_path).stdout


def test_a_threshold_for_ci(timeloom, run, later):
    timeloom("diff", "--fail-above", "300", run, later)
    failed = timeloom("diff", "--fail-above", "100", run, later, status=1)
    assert failed.stderr == "timeloom: dot takes 0.018 s instead of 0.006 s\n"
    timeloom("diff", "--fail-above", "0", run, run)


def test_less_than_a_millisecond_is_not_above_a_threshold(timeloom, tmp_path):
    """Two equal runs differ by that much, which may be a multiple of what one of them took."""
    short, long = (make_archive(tmp_path / name, {"MainThread": [(0, "main"), (0, "f"), (end, None), (4, None)]})
                   for name, end in (("short", 1), ("long", 2)))  # fmt: skip
    timeloom("diff", "--fail-above", "20", short, long)
    assert timeloom("diff", "--fail-above", "0", short, long, status=1).stderr == "timeloom: f takes 0.002 s instead of 0.001 s\n"


def test_profiles_and_traces_can_be_mixed(timeloom, tmp_path):
    profile = shutil.copy(DATA / "scorep-fib" / "profile.cubex", tmp_path)
    trace = DATA / "scorep-fib" / "traces.otf2"
    regions = rows(timeloom("diff", "--json", trace, profile), "regions")
    assert len(regions) == 3
    for row in regions.values():
        assert row["before"]["visits"] == row["after"]["visits"]
        assert row["exclusive_change_s"] == pytest.approx(0, abs=1e-7)


def test_what_cannot_be_compared(timeloom, run, tmp_path):
    other = make_archive(tmp_path / "other", {"MainThread": [(0, "another"), (1, None)]})
    assert "have no region in common" in one_line(timeloom("diff", run, other, status=1))
    one_line(timeloom("diff", run, tmp_path / "none", status=1))
    one_line(timeloom("diff", run, status=2))
    for words in (("--", run), ("--", run, run), ("--after", run), (run, run, run), ("--",)):
        assert "name two runs" in one_line(timeloom("diff", *words, status=2))
    one_line(timeloom("diff", "--fail-above", "x", run, run, status=2))


SIDES = """\
import sys

def steady(n):
    return sum(i * i for i in range(n))

def growing(n):
    total = 0
    for i in range(n):
        total ^= i
    return total

steady(300_000)
growing(200_000 * int(sys.argv[1]))
"""


def test_several_runs_of_each_side(timeloom, tmp_path):
    """The function that works four times as long is the only one in the table, and fails the limit."""
    (tmp_path / "app.py").write_text(SIDES)
    for number in range(3):
        for side, factor in (("a", 1), ("b", 4)):
            timeloom("run", "--quiet", "-o", f"{side}{number}", "app.py", factor, cwd=tmp_path)
    before, after = ["a0", "a1", "a2"], ["b0", "b1", "b2"]
    done = timeloom("diff", "--json", "--flat", *before, "--", *after, cwd=tmp_path)
    said = json.loads(done.stdout)
    assert said["by"] == "work" and said["before"]["runs"] == before and said["after"]["runs"] == after
    row = next(row for row in said["regions"]["rows"] if row["name"] == "__main__.growing")
    low, high = row["before"]["working_range_s"]
    assert low <= row["before"]["working_s"] <= high < row["after"]["working_range_s"][0]
    assert row["working_change_s"] == pytest.approx(row["after"]["working_s"] - row["before"]["working_s"])
    text = timeloom("diff", "--flat", *before, "--", *after, cwd=tmp_path).stdout
    assert "a0 and 2 others, median" in text and " spread " in text and "__main__.growing" in text
    failed = timeloom("diff", "--fail-above", 50, "--format", "junit", *before, "--", *after, cwd=tmp_path, status=1)
    assert 'name="__main__.growing" file="app.py" line="6"' in failed.stdout
    # Regions within the limit are tests that pass.
    passed = timeloom("diff", "--fail-above", 1000, "--format", "junit", *before, "--", *after, cwd=tmp_path)
    names = re.findall(r'<testcase classname="timeloom diff" name="([^"]+)"[^>]*/>', passed.stdout)
    assert names[0] == "the whole" and "__main__.growing" in names
    assert f'tests="{len(names)}" failures="0" errors="0"' in passed.stdout
    markdown = timeloom("diff", "--fail-above", 1000, "--format", "markdown", *before, "--", *after, cwd=tmp_path)
    assert f"### timeloom diff: {len(names)} of {len(names)} passed" in markdown.stdout
    assert timeloom("diff", "--by", "time", "a0", "a1", cwd=tmp_path).stdout.count(" of work") == 0


def test_sides_need_runs(timeloom, run, later):
    assert "name two runs" in timeloom("diff", run, status=2).stderr
    assert "name two runs" in timeloom("diff", run, later, run, status=2).stderr
    assert "go with --fail-above" in timeloom("diff", "--format", "github", run, later, status=2).stderr
    assert "[TL440]" in timeloom("diff", "--by", "work", run, later, status=1).stderr


SAMPLED = """\
import sys, time
def alike(): return spend(0.3)
def growing(): return spend(0.2 * int(sys.argv[1]))
def spend(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
time.sleep(0.3)
alike(), growing()
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")
def test_sampled_runs_are_compared_beyond_the_error_of_their_samples(timeloom, tmp_path):
    (tmp_path / "app.py").write_text(SAMPLED)
    for name, factor in (("a0", 1), ("a1", 1), ("b", 4)):
        timeloom("run", "--quiet", "--sampling", "-o", name, "app.py", factor, cwd=tmp_path)

    def paths(*words):
        done = timeloom("diff", "--json", *words, cwd=tmp_path)
        names = {}
        for number, (above, name) in enumerate(json.loads(done.stdout)["paths"]):
            names[number] = (*names.get(above, ()), name.removeprefix("__main__."))
        return {names[row["path"]]: row for row in json.loads(done.stdout)["call_paths"]["rows"]}

    grown = paths("a0", "b")
    path = ("<module>", "growing", "spend")
    row = grown[path]
    assert row["working_change_s"] == pytest.approx(0.6, rel=0.1)
    times = [grown[path][side]["working_s"] for side in ("before", "after")]
    samples = [grown[path][side]["samples"] for side in ("before", "after")]
    wholes = [sum(one[side]["working_s"] for one in grown.values() if one[side]) for side in ("before", "after")]
    # Of n samples among N: n (1 - n/N) is the variance.
    variance = sum(time**2 / n * (1 - time / whole) for time, n, whole in zip(times, samples, wholes, strict=True))
    assert row["change_error_s"] == pytest.approx(2 * variance**0.5, rel=0.1)
    text = timeloom("diff", "--tree", "a0", "b", cwd=tmp_path, COLUMNS="200").stdout
    assert re.match(r"before  \d+ ms of CPU time  a0\nafter   \S+ m?s of CPU time  b\n", text)
    assert "growing > __main__.spend" in text and "alike > __main__.spend" not in text and " waiting " not in text
    alike = timeloom("diff", "--tree", "--min-percent", "0", "a0", "a1", cwd=tmp_path).stdout
    assert "__main__.spend" not in alike and "within the error of their samples" in alike
    failed = timeloom("diff", "--fail-above", "50", "a0", "b", cwd=tmp_path, status=1).stderr
    assert "the whole works" in failed and "__main__.growing works" in failed and "alike" not in failed
    # The spread of several runs decides.
    assert "within the error" not in timeloom("diff", "a0", "a1", "--", "b", "b", cwd=tmp_path).stdout
