"""timeloom run --overhead: functions that are called often are given up, and everything else stays exact.

The limit is so small that some functions are given up in any case. Which ones depends on the time, so the tests read
them from the run.
"""

import collections
import json
import re
import shutil
import subprocess
import sys

import pytest
from spool_reader import spools_of
from streams import PROGRAMS, assert_balanced, environment, streams_of

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")

SMALL = "--overhead=0.01%"
HOT = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

"""


def record(directory, *options, program=PROGRAMS / "promise.py", returncode=0):
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--output", "run", "--keep-spool", *options, str(program)],
        cwd=directory, capture_output=True, text=True, timeout=240, env=environment())  # fmt: skip
    assert done.returncode == returncode, done.stderr
    return done


def visits(streams):
    return collections.Counter(name for stream in streams for kind, name in stream if kind == "enter")


def given_up(spool):
    """Names of the functions that the spool lists as given up."""
    lists = [value for key, value in spool.properties.items() if key.startswith("timeloom::given_up_ids_")]
    return {spool.regions[int(word)]["name"] for one in lists for word in one.split()}


def places(spool):
    regions = [one for one in spool.regions.values() if one["name"] in given_up(spool)]
    return sorted(f"{one['name']} ({one['file']}:{one['first']})" for one in regions)


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """The visits of a run without the limit."""
    directory = tmp_path_factory.mktemp("exact")
    record(directory, "--no-weave")
    return visits(streams_of(directory / "run"))


def test_all_that_is_not_given_up_is_recorded_exactly(exact, tmp_path):
    record(tmp_path, "--no-weave", SMALL)
    recorded = visits(streams_of(tmp_path / "run"))  # balanced, too
    (spool,) = spools_of(tmp_path / "run")
    left_out = given_up(spool)
    assert "__main__.fib" in left_out
    for name, number in exact.items():
        if name in left_out:
            assert 0 < recorded[name] <= number, name
        else:
            assert recorded[name] == number, name
    assert recorded["__main__.fib"] < exact["__main__.fib"]
    assert recorded.keys() == exact.keys()


def test_what_follows_a_given_up_visit_is_not_inside_it(tmp_path, timeloom):
    """The visits that were open when fib was given up, on both threads, are closed there and then."""
    (tmp_path / "app.py").write_text(
        "import threading\n" + HOT + "def after():\n    pass\n\n"
        "def main(n):\n    fib(n)\n    after()\n\n"
        "def late():\n    begun.set()\n    fib(26)\n    after()\n\n"
        "begun = threading.Event()\n"
        "other = threading.Thread(target=late)\n"
        "other.start()\nbegun.wait()\nmain(28)\nother.join()\n"
    )
    record(tmp_path, SMALL, program="app.py")
    rows = json.loads(timeloom("report", "--json", "run", cwd=tmp_path).stdout)["tree"]["rows"]
    names = {row["id"]: row["name"] for row in rows}
    above = {names[row["parent"]] for row in rows if row["name"] == "__main__.after"}
    assert "__main__.fib" in {row["name"] for row in rows if row.get("given_up")}
    assert above == {"__main__.main", "__main__.late"}


def test_nothing_is_recorded_twice_below_a_limit_of_the_depth(exact, tmp_path):
    """Deeper calls are less deep where a function above them is given up."""
    record(tmp_path, "--no-weave", SMALL, "--max-depth=150", "--buffer-size=1M")
    recorded = visits(streams_of(tmp_path / "run"))
    (spool,) = spools_of(tmp_path / "run")
    assert "__main__.fib" in given_up(spool)
    assert {name for name, number in recorded.items() if number > exact[name]} == set()


def test_profiles_have_the_same_visits(exact, tmp_path, timeloom):
    record(tmp_path, SMALL, "--profile")
    report = json.loads(timeloom("report", "--json", "run", cwd=tmp_path).stdout)
    rows = {row["name"]: row for row in report["flat"]["rows"] if row["name"] in exact}
    assert rows["__main__.fib"]["given_up"]
    for name, number in exact.items():
        if rows[name]["given_up"]:
            assert 0 < rows[name]["visits"] <= number, name
        else:
            assert rows[name]["visits"] == number, name


def test_everything_that_shows_visits_names_them(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(HOT + "fib(28)\n")
    done = record(tmp_path, SMALL, "--sample=off", program="app.py")
    (spool,) = spools_of(tmp_path / "run")
    known = places(spool)
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert sorted(info["given_up"]) == known != []
    assert "timeloom::given_up" in info["properties"]
    text = timeloom("info", "run", cwd=tmp_path, COLUMNS="40").stdout
    assert "\nNot timed to the end (--overhead)\n" in text
    assert all(f" {place}\n" in text for place in known)
    report = json.loads(timeloom("report", "--json", "run", cwd=tmp_path).stdout)
    rows = {row["name"]: row for row in report["flat"]["rows"]}
    assert {name for name, row in rows.items() if row["given_up"]} == given_up(spool)
    seen = rows["__main__.fib"]["visits"]
    (line,) = [line for line in done.stderr.splitlines() if "not timed to the end" in line]
    assert line == f"timeloom: not timed to the end: __main__.fib after {seen:,} visits [TL008]"
    full = timeloom("report", "--full", "--flat", "run", cwd=tmp_path, COLUMNS="200").stdout
    assert f" >= {seen:,} " in full
    full = timeloom("report", "--full", "--flat", "run", cwd=tmp_path, COLUMNS="200", LC_ALL="C.UTF-8").stdout
    assert f" \u2265 {seen:,} " in full
    answer = timeloom("report", "run", cwd=tmp_path, COLUMNS="120").stdout
    assert any(f">= {seen:,}" in row and "fib" in row for row in answer.splitlines())
    assert "\n>=: throttled for --overhead; its later calls are its callers'\n" in answer
    assert "--c-functions" not in answer  # their time is not in long stretches
    one = timeloom("report", "--function", "fib", "run", cwd=tmp_path).stdout
    assert f"\n>= {seen:,} visits" in one
    by = timeloom("report", "--by", "process", "run", cwd=tmp_path).stdout.splitlines()
    assert by[0].split()[4] == "visits" and by[1].split()[4] == ">="
    facts = json.loads(timeloom("report", "--function", "fib", "--json", "run", cwd=tmp_path).stdout)
    assert facts["given_up"] is True and facts["visits"] == seen


def test_a_comparison_shows_and_does_not_judge_them(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(HOT + "fib(28)\n")
    record(tmp_path, SMALL, program="app.py")
    (spool,) = spools_of(tmp_path / "run")
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    done = timeloom("diff", "--fail-above", "0", "--min-percent", "0", "run", "other", cwd=tmp_path, COLUMNS="200")
    left_out = "timeloom: left out of --fail-above, not timed to the end (--overhead): "
    assert done.stderr.startswith(left_out) and done.stderr.count("\n") == 1
    assert set(done.stderr.removeprefix(left_out).removesuffix(" [TL413]\n").split(", ")) == given_up(spool)
    assert "\n! not timed to the end (--overhead), later time is their callers': " in done.stdout
    rows = json.loads(timeloom("diff", "--json", "run", "other", cwd=tmp_path).stdout)["regions"]["rows"]
    for side in ("before", "after"):
        assert {row["name"] for row in rows if row[side]["given_up"]} == given_up(spool)
    (fib,) = [row for row in rows if row["name"] == "__main__.fib"]
    assert f" >= {fib['after']['visits']:,}  __main__.fib" in done.stdout


def test_rules_are_judged_by_what_is_certain(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(HOT + "fib(28)\n")
    record(tmp_path, SMALL, program="app.py")
    for rule, status in {
        "visits(__main__.fib) >= 10": 0, "visits(__main__.fib) <= 10": 1, "visits(__main__.fib) == 10": 1,
        "visits(__main__.<module>) == 1": 0,
    }.items():  # fmt: skip
        timeloom("check", "run", rule, cwd=tmp_path, status=status)
    for rule in ("visits(__main__.fib) <= 2000000", "visits(__main__.fib) == 1028457", "mean(__main__.fib) < 1min",
                 "visits(__main__.fib) >= 1028457", "self(__main__.fib) < 99%"):  # fmt: skip
        done = timeloom("check", "run", rule, cwd=tmp_path, status=3)
        assert "__main__.fib, which was not timed to the end (--overhead)" in done.stdout + done.stderr, rule


@pytest.mark.parametrize("options", [[], ["--profile"]])
def test_no_rule_holds_for_the_part_of_a_visit_that_was_cut_short(tmp_path, timeloom, options):
    (tmp_path / "app.py").write_text(
        "def fib(n, first=False):\n"
        "    if first: return once(n)\n"
        "    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n"
        "def once(n):\n    return fib(n)\n\nfib(28, True)\n")
    record(tmp_path, SMALL, *options, program="app.py")
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert [place.split(" (")[0] for place in info["given_up"]] == ["__main__.fib"]
    assert info["cut_short"] == [f"__main__.once ({tmp_path}/app.py:5)"]
    text = timeloom("info", "run", cwd=tmp_path, COLUMNS="40").stdout
    assert f"\nEnded with a visit of these\n  {info['cut_short'][0]}\n" in re.sub("  +", "  ", text)
    for rule in ("total(__main__.once) < 60min", "self(__main__.once) < 60min", "max(__main__.once) < 60min",
                 "mean(__main__.once) < 60min", "min(__main__.once) < 60min"):  # fmt: skip
        done = timeloom("check", "run", rule, cwd=tmp_path, status=3)
        assert "__main__.once, which was not timed to the end (--overhead)" in done.stdout + done.stderr, rule
    for rule, status in {"visits(__main__.once) == 1": 0, "total(__main__.once) > 1ns": 0,
                         "total(__main__.once) < 1ns": 1}.items():  # fmt: skip
        timeloom("check", "run", rule, cwd=tmp_path, status=status)


def test_a_killed_run_names_them(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(HOT + "import os\nfib(28)\nos.kill(os.getpid(), 9)\n")
    record(tmp_path, SMALL, program="app.py", returncode=-9)
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert any(place.startswith("__main__.fib (") for place in info["given_up"])


def test_without_weaving_the_summary_counts_them(tmp_path):
    (tmp_path / "app.py").write_text(HOT + "fib(28)\n")
    done = record(tmp_path, SMALL, "--no-weave", program="app.py")
    assert "timeloom: 1 function not timed to the end [TL008]\n" in done.stderr


def test_a_limit_that_is_not_reached_gives_nothing_up(tmp_path, timeloom):
    (tmp_path / "app.py").write_text("def f(): pass\nf()\n")
    done = record(tmp_path, "--overhead=99%", program="app.py")
    assert "not timed" not in done.stderr
    assert json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["given_up"] == []
    assert ">=" not in timeloom("report", "--full", "run", cwd=tmp_path).stdout


def test_a_forked_child_goes_on_without_them(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(HOT + (
        "import os\ndef child(): fib(22)\nfib(28)\n"
        "if (pid := os.fork()) == 0:\n    child()\nelse:\n    os.waitpid(pid, 0)\n"))
    record(tmp_path, SMALL, "--no-weave", program="app.py")
    child, parent = sorted(spools_of(tmp_path / "run"), key=lambda spool: len(given_up(spool)))
    seen = collections.Counter(name for location in child.locations() for kind, name, *_ in child.events(location)
                               if kind == "enter")  # fmt: skip
    assert seen["__main__.child"] == 1 and seen["__main__.fib"] == 0
    assert "__main__.fib" in given_up(parent) and given_up(child) == set()
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert any(place.startswith("__main__.fib (") for place in info["given_up"])


def test_the_next_measurement_times_all_functions_again(tmp_path):
    (tmp_path / "app.py").write_text(HOT + (
        "import timeloom\n"
        "with timeloom.Measurement(output='first', overhead='0.01%', weave=False): fib(28)\n"
        "with timeloom.Measurement(output='second', weave=False): fib(15)\n"
        "with timeloom.Measurement(output='third', overhead='0.01%', weave=False): fib(28)\n"))
    subprocess.run([sys.executable, "app.py"], cwd=tmp_path, check=True, timeout=240, env=environment())
    assert visits(streams_of(tmp_path / "second"))["__main__.fib"] == 1973
    for run in ("first", "third"):
        (spool,) = spools_of(tmp_path / run)
        assert "__main__.fib" in given_up(spool)
        assert 0 < visits(streams_of(tmp_path / run))["__main__.fib"] < 1028457


def test_functions_of_short_threads_are_given_up(tmp_path):
    (tmp_path / "app.py").write_text(
        "import threading\n"
        "def hot(): pass\n"
        "def work():\n    for _ in range(150): hot()\n"
        "for _ in range(1000):\n"
        "    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n")
    record(tmp_path, SMALL, "--no-weave", program="app.py")
    (spool,) = spools_of(tmp_path / "run")
    assert "__main__.hot" in given_up(spool)


def test_what_is_hidden_stays_so_where_a_function_around_it_is_given_up(tmp_path):
    (tmp_path / "app.py").write_text(
        "def fib(n, first=False):\n"
        "    if first: return busy(n)\n"
        "    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "def busy(n):\n    helper(n)\n    helper(0)\n"
        "def helper(n): return fib(n)\n"
        "fib(28, True)\nhelper(0)\n")
    record(tmp_path, SMALL, "--no-weave", "--function-exclude=^busy$", program="app.py")
    (spool,) = spools_of(tmp_path / "run")
    assert given_up(spool) == {"__main__.fib"}
    seen = visits(streams_of(tmp_path / "run"))
    assert (seen["__main__.fib"], seen["__main__.helper"]) == (1, 1)


def test_regions_of_the_program_end_where_a_function_around_them_is_given_up(tmp_path):
    (tmp_path / "app.py").write_text(
        "import timeloom\n"
        "def hot(n):\n"
        "    if n == 0: return inside()\n"
        "    return hot(n - 1)\n"
        "def inside():\n"
        "    with timeloom.region('part'):\n"
        "        return fib(28)\n"
        "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "def main():\n"
        "    for _ in range(3): hot(400)\n"
        "    with timeloom.region('last'): pass\n"
        "main()\n")
    record(tmp_path, SMALL, "--no-weave", program="app.py")
    (spool,) = spools_of(tmp_path / "run")
    seen = collections.Counter()
    for location in spool.locations():
        assert_balanced(spool, location)
        seen.update(name for kind, name, *_ in spool.events(location) if kind == "enter")
    assert (seen["part"], seen["last"], seen["__main__.main"]) == (3, 1, 1)
