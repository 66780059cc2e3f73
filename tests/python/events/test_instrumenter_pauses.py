"""timeloom run --overhead where single functions cannot be left out: the instrumenter pauses for stretches.

The limit is so small that it pauses in any case, for nearly all of the time. How long depends on the machine, so the
tests read it from the run.
"""

import collections
import json
import subprocess
import sys

import pytest
from spool_reader import spools_of
from streams import PROGRAMS, assert_balanced, environment

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 12), reason="functions are given up one by one, see test_promise")

SMALL = "--overhead=0.01%"
FIB = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

"""
FIB_28 = 1028457


def record(directory, *options, program="app.py", returncode=0):
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--output", "run", "--keep-spool", *options, str(program)],
        cwd=directory, capture_output=True, text=True, timeout=240, env=environment())  # fmt: skip
    assert done.returncode == returncode, done.stderr
    return done


def visits(run):
    """The number of visits of each function, of all threads; enters and leaves are checked to be balanced."""
    (spool,) = spools_of(run)
    assert spool.ended and spool.lost == 0
    found = collections.Counter()
    for location in spool.locations():
        assert_balanced(spool, location)
        found.update(name for kind, name, *_ in spool.events(location) if kind == "enter")
    return found


def observed(spool):
    seen, everything = spool.properties["timeloom::observed_cpu"].split()
    return int(seen), int(everything)


def test_only_visits_of_functions_are_missing(tmp_path):
    """Recursion, threads, generators and exceptions: streams are balanced, and contain nothing that did not happen."""
    for name, options in (("exact", ()), ("run", (SMALL,))):
        (tmp_path / name).mkdir()
        record(tmp_path / name, "--no-weave", *options, program=PROGRAMS / "promise.py")
    exact, recorded = visits(tmp_path / "exact" / "run"), visits(tmp_path / "run" / "run")
    assert {name for name, number in recorded.items() if number > exact[name]} == set()
    assert 0 < recorded["__main__.fib"] < exact["__main__.fib"]
    (spool,) = spools_of(tmp_path / "run" / "run")
    seen, everything = observed(spool)
    assert 0 < seen < everything


def test_it_goes_on_after_each_rest(tmp_path):
    """A limit of a fifth: late calls are seen, too. They go on for seconds of CPU time, however fast the machine is:
    the first rest is at most five times as long as what the calls before it cost."""
    (tmp_path / "app.py").write_text(FIB + (
        "import time\n"
        "def late(n): return fib(n)\n"
        "for _ in range(4): fib(26)\n"
        "calls, end = 0, 8 * time.process_time()\n"
        "while time.process_time() < end:\n"
        "    late(12)\n"
        "    calls += 1\n"
        "print(calls)\n"))
    calls = int(record(tmp_path, "--overhead=20%", "--no-weave").stdout)
    recorded = visits(tmp_path / "run")
    assert 0 < recorded["__main__.late"] < calls
    assert 0 < recorded["__main__.fib"] < 4 * 392835 + calls * 465


def test_threads_are_seen_while_the_first_one_waits(tmp_path):
    (tmp_path / "app.py").write_text(FIB + (
        "import threading\n"
        "def work(n):\n"
        "    for _ in range(n): part()\n"
        "def part(): fib(15)\n"
        "threads = [threading.Thread(target=work, args=(800,)) for _ in range(2)]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"))
    record(tmp_path, "--overhead=20%", "--no-weave")
    recorded = visits(tmp_path / "run")
    (spool,) = spools_of(tmp_path / "run")
    seen, everything = observed(spool)
    assert 0 < seen < everything
    assert 1 < recorded["__main__.part"] < 1600


@pytest.mark.parametrize("profile", [False, True])
def test_everything_that_shows_visits_says_so(tmp_path, timeloom, profile):
    (tmp_path / "app.py").write_text(FIB + "import timeloom\nwith timeloom.region('part'): fib(28)\n")
    done = record(tmp_path, SMALL, *(["--profile"] if profile else []))
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert 0 < info["observed_share"] < 1
    share = round(100 * info["observed_share"])
    words = f"functions seen for {share if share else 'less than 1'} % of the CPU time"
    assert f"timeloom: {words} [TL009]\n" in done.stderr
    assert words in timeloom("info", "run", cwd=tmp_path).stdout
    assert f"\n>=: {words} (--overhead)\n" in timeloom("report", "run", cwd=tmp_path, LANG="C").stdout
    report = json.loads(timeloom("report", "--json", "run", cwd=tmp_path).stdout)
    rows = {row["name"]: row for row in report["flat"]["rows"]}
    assert rows["__main__.fib"]["given_up"] and 0 < rows["__main__.fib"]["visits"] < FIB_28
    assert not rows["part"]["given_up"] and rows["part"]["visits"] == 1
    full = timeloom("report", "--full", "--flat", "run", cwd=tmp_path, COLUMNS="200").stdout
    assert f" >= {rows['__main__.fib']['visits']:,} " in full
    left_out = timeloom("diff", "--fail-above", "0", "run", "run", cwd=tmp_path).stderr
    assert left_out.startswith("timeloom: left out of --fail-above, not timed to the end (--overhead): ")
    assert "__main__.fib" in left_out and "part" not in left_out


def test_rules_are_judged_by_what_is_certain(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(FIB + "fib(28)\n")
    record(tmp_path, SMALL)
    for rule, status in {"visits(__main__.fib) >= 1": 0, "visits(__main__.fib) <= 0": 1}.items():
        timeloom("check", "run", rule, cwd=tmp_path, status=status)
    for rule in (f"visits(__main__.fib) <= {2 * FIB_28}", f"visits(__main__.fib) >= {FIB_28}", "visits(never) == 0"):
        done = timeloom("check", "run", rule, cwd=tmp_path, status=3)
        assert "(--overhead)" in done.stdout + done.stderr, rule


def test_a_killed_run_says_that_not_all_was_seen(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(FIB + "import os\nfib(28)\nos.kill(os.getpid(), 9)\n")
    record(tmp_path, SMALL, returncode=-9)
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert info["observed_share"] is None
    assert "functions not seen all the time" in timeloom("info", "run", cwd=tmp_path).stdout


def test_a_limit_that_is_not_reached_leaves_all_as_it_is(tmp_path, timeloom):
    (tmp_path / "app.py").write_text("def f(): pass\nf()\n")
    done = record(tmp_path, "--overhead=99%")
    assert "seen for" not in done.stderr
    assert "observed_share" not in json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert ">=" not in timeloom("report", "--full", "run", cwd=tmp_path).stdout


def test_without_weaving_the_summary_says_it(tmp_path):
    (tmp_path / "app.py").write_text(FIB + "fib(28)\n")
    assert "timeloom: functions seen for " in record(tmp_path, SMALL, "--no-weave").stderr


def test_a_child_of_a_fork_begins_awake(tmp_path):
    (tmp_path / "app.py").write_text(FIB + (
        "import os\ndef child(): pass\nfib(28)\n"
        "if (pid := os.fork()) == 0:\n    child()\nelse:\n    os.waitpid(pid, 0)\n"))
    record(tmp_path, SMALL, "--no-weave")
    seen = []
    for spool in spools_of(tmp_path / "run"):
        seen += [name for place in spool.locations() for kind, name, *_ in spool.events(place) if kind == "enter"]
    assert seen.count("__main__.child") == 1


def test_pauses_of_the_program_and_rests_do_not_mix(tmp_path):
    (tmp_path / "app.py").write_text(FIB + (
        "import timeloom\n"
        "def paused(): fib(26)\n"
        "fib(26)\n"
        "for _ in range(5):\n"
        "    with timeloom.stop(): paused()\n"
        "fib(26)\n"))
    record(tmp_path, "--overhead=20%", "--no-weave")
    assert visits(tmp_path / "run")["__main__.paused"] == 0


def test_the_next_measurement_sees_everything_again(tmp_path):
    (tmp_path / "app.py").write_text(FIB + (
        "import timeloom\n"
        "with timeloom.Measurement(output='first', overhead='0.01%', weave=False): fib(28)\n"
        "with timeloom.Measurement(output='second', weave=False): fib(15)\n"
        "with timeloom.Measurement(output='third', overhead='0.01%', weave=False): fib(28)\n"))
    subprocess.run([sys.executable, "app.py"], cwd=tmp_path, check=True, timeout=240, env=environment())
    assert visits(tmp_path / "second")["__main__.fib"] == 1973
    for run in ("first", "third"):
        assert 0 < visits(tmp_path / run)["__main__.fib"] < FIB_28
