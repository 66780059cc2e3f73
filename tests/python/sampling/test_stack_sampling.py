"""Stacks of samples in place of calls (`--sampling`): every view has them."""

import json
import math
import os
import subprocess
import sys
import textwrap
from collections import Counter

import pytest
from streams import environment

NAMES = ("sixty", "thirty", "ten")
needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")

COMMON = """
import json, os, signal, sys, threading, time
taken = dict.fromkeys(("sixty", "thirty", "ten"), 0)

def sixty(n):
    total = 0
    for i in range(6 * n):
        total += i * i % 7
    return total

def thirty(n):
    return sum(square(i) for i in range(n))

def square(i):
    return i * i % 7

def ten(n):
    i = 0
    while i < n:
        i += 1

def timed(function, n=2000):
    before = time.thread_time_ns()
    function(n)
    taken[function.__name__] += time.thread_time_ns() - before

def until(cpu_seconds, *functions):
    end = time.thread_time() + cpu_seconds
    while time.thread_time() < end:
        for function in functions:
            timed(function)
"""


class Run:
    def __init__(self, directory, program):
        self.directory = directory
        self.program = program

    def command(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, cwd=self.directory.parent)

    def output(self, *words):
        done = self.command(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def properties(self):
        return json.loads(self.output("info", "--json", self.directory))["properties"]

    def paths(self, *options):
        """The seconds of each call path, without what it calls; with their number of samples."""
        rows = json.loads(self.output("report", "--json", "--tree", "--min-percent", "0", *options, self.directory))
        rows = rows["tree"]["rows"]
        names, seconds, samples = {}, Counter(), Counter()
        for row in rows:
            path = names[row["id"]] = (*names.get(row["parent"], ()), row["name"].replace("__main__.", ""))
            seconds[path] += row["exclusive_s"]
            samples[path] += row["samples"]
        return seconds, samples

    def shares(self, *options):
        """The seconds below each function that `timed` has called, and the number of samples in all."""
        seconds, samples = self.paths(*options)
        below = Counter()
        for path, time in seconds.items():
            if "timed" in path and path[-1] != "timed":
                below[path[path.index("timed") + 1]] += time
        return below, sum(samples.values())


@pytest.fixture
def sampled(tmp_path, timeloom_program):
    """Runs a program with `--sampling`, and returns its run, its output and its standard error."""

    def sampled(text, *options, status=0):
        program = tmp_path / "program.py"
        program.write_text(COMMON + textwrap.dedent(text))
        run = tmp_path / "run"
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", run, "--sampling", *options, program]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment()
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return Run(run, timeloom_program), done.stdout, done.stderr

    return sampled


def assert_shares(seconds, taken, samples):
    """The shares are those that the program has measured, within what so few samples allow."""
    all_seconds, all_taken = sum(seconds[name] for name in NAMES), sum(taken.values())
    for name in NAMES:
        expected = taken[name] / all_taken
        error = 5 * math.sqrt(expected * (1 - expected) / samples) + 0.03
        assert abs(seconds[name] / all_seconds - expected) < error, (name, dict(seconds), taken, samples)


@needs_monitoring
@pytest.mark.parametrize("options", [(), ("--profile",), ("--sample", "2ms")])
def test_three_functions_have_their_shares(sampled, options):
    run, out, err = sampled(
        """
        until(1.5, sixty, thirty, ten)
        print(json.dumps(taken))
        """,
        *options,
    )
    assert err == ""
    taken = json.loads(out)
    seconds, samples = run.shares()
    assert_shares(seconds, taken, samples)
    # Callers are known, though no call was recorded.
    paths, counts = run.paths()
    known = {path for path, number in counts.items() if number >= 3}
    start = ("<module>", "until", "timed")
    assert {(*start, "sixty"), (*start, "ten"), (*start, "thirty", "thirty.<locals>.<genexpr>", "square")} <= known
    assert sum(paths.values()) == pytest.approx(sum(taken.values()) / 1e9, rel=0.1, abs=0.05)


@needs_monitoring
def test_waiting_is_no_sample(sampled):
    run, _, err = sampled(
        """
        def waits(): time.sleep(1)
        until(0.3, ten)
        waits()
        until(0.3, sixty)
        """
    )
    assert err == ""
    paths, _ = run.paths()
    assert sum(time for path, time in paths.items() if "waits" in path) < 0.2
    assert 0.4 < sum(paths.values()) < 1


@needs_monitoring
def test_threads_and_a_forked_child(sampled):
    run, out, err = sampled(
        """
        threads = [threading.Thread(target=until, args=(0.7, function), name=function.__name__) for function in (sixty, thirty)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        while len(os.listdir("/proc/self/task")) > 2: time.sleep(0.001)  # joined, and not gone yet; one is the drain
        def in_child(): until(0.5, ten)
        child = os.fork()
        if child == 0:
            in_child()
            print(json.dumps(taken), flush=True)
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert err == ""
    seconds, samples = run.shares()
    assert_shares(seconds, json.loads(out), samples)
    of_thread, _ = run.shares("--thread", "sixty")
    assert of_thread["sixty"] > 0.4 and of_thread["thirty"] == of_thread["ten"] == 0
    paths, _ = run.paths()
    assert any("in_child" in path for path in paths)
    assert int(run.properties()["timeloom::sample_threads"]) == 4


@needs_monitoring
def test_threads_that_run_before_the_recording(tmp_path, timeloom_program):
    """All of them are sampled, though no function begins for the first time."""
    program = """
        import timeloom
        def forever(function):
            while not ended: timed(function)
        ended = False
        threads = [threading.Thread(target=forever, args=(function,), name=function.__name__) for function in (sixty, thirty)]
        for thread in threads: thread.start()
        while not (taken["sixty"] and taken["thirty"]): time.sleep(0.001)
        with timeloom.Measurement(output="run", sampling=True):
            taken.update(sixty=0, thirty=0)
            while min(taken["sixty"], taken["thirty"]) < 3e8: time.sleep(0.001)
        ended = True
        for thread in threads: thread.join()
    """
    (tmp_path / "program.py").write_text(COMMON + textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment()
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    run = Run(tmp_path / "run", timeloom_program)
    for name in ("sixty", "thirty"):
        seconds, _ = run.shares("--thread", name)
        assert 0.2 < seconds[name] == sum(seconds.values())


@needs_monitoring
def test_a_spawned_child(sampled):
    run, _, err = sampled(
        """
        import multiprocessing
        if __name__ == "__main__":
            child = multiprocessing.get_context("spawn").Process(target=until, args=(0.5, ten))
            child.start()
            child.join()
            assert child.exitcode == 0
        """
    )
    assert err == ""
    paths, _ = run.paths()
    assert sum(time for path, time in paths.items() if path[-1].endswith("ten")) > 0.3


@needs_monitoring
def test_a_kill_keeps_the_samples(sampled):
    run, _, _ = sampled(
        """
        ready = threading.Event()
        def kill():
            ready.wait()
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Thread(target=kill).start()
        until(0.5, sixty)
        ready.set()
        until(1000, sixty)
        """,
        status=-9,
    )
    paths, samples = run.paths()
    assert sum(time for path, time in paths.items() if path[-1] == "sixty") > 0.4
    assert sum(samples.values()) >= 30


@needs_monitoring
def test_deep_stacks_generators_and_exceptions(sampled):
    run, _, err = sampled(
        """
        def deep(n):
            if n == 0:
                return until(0.5, ten)
            return deep(n - 1)
        def numbers():
            while True:
                try:
                    yield sum(range(300))
                    raise ValueError
                except ValueError:
                    pass
        def consume():
            for _, number in zip(range(3000), numbers()): assert number
        sys.setrecursionlimit(3000)
        deep(700)
        end = time.thread_time() + 0.3
        while time.thread_time() < end: consume()
        deep(1500)
        """
    )
    assert err == ""
    paths, _ = run.paths()
    assert any(path.count("deep") == 701 and path[-1] == "ten" for path in paths)
    assert any(path[-2:] == ("consume", "numbers") for path in paths)


@needs_monitoring
def test_every_view_marks_its_figures(sampled):
    run, _, _ = sampled("until(0.5, sixty, ten)")
    report = run.output("report", run.directory)
    assert "samples" in report and "visits" not in report and "sampled: " in report.splitlines()[0]
    function = run.output("report", "--function", "sixty", run.directory)
    assert "samples" in function and "visit" not in function
    by = run.output("report", "--by", "module", run.directory)
    assert "samples" in by and "visits" not in by
    full = run.output("report", "--full", run.directory)
    assert "samples" in full and "visits" not in full
    native = run.output("report", "--native", "--json", run.directory)
    callers = {caller["function"] for one in json.loads(native)["functions"] for caller in one["callers"]}
    assert "__main__.sixty" in callers
    info = run.output("info", run.directory)
    assert "stacks of Python taken in the handler of the signal" in info
    collapsed = run.output("convert", "--to", "collapsed", "-o", "-", run.directory)
    assert any(";__main__.sixty " in line for line in collapsed.splitlines())
    diff = run.output("diff", run.directory, run.directory)
    assert "visits" not in diff
    assert run.command("check", run.directory, "self(__main__.sixty) > 0.1s").returncode == 0
    refused = run.command("check", run.directory, "visits(__main__.sixty) > 1")
    assert refused.returncode != 0 and "visits are not known" in refused.stdout + refused.stderr
    slowest = run.command("report", "--slowest", run.directory)
    assert slowest.returncode == 1 and "[TL441]" in slowest.stderr


@needs_monitoring
def test_a_filter_gives_the_time_to_the_caller(sampled):
    run, _, err = sampled("until(0.5, thirty)", "--exclude", "__main__.square")
    assert err == ""
    paths, samples = run.paths()
    assert not any("square" in path for path in paths)
    assert any(path[-1] == "thirty.<locals>.<genexpr>" and number > 10 for path, number in samples.items())


@needs_monitoring
def test_a_region_has_its_time_and_its_waiting(sampled):
    run, _, err = sampled(
        """
        import timeloom
        until(0.3, ten)
        with timeloom.region("mine"):
            until(0.3, sixty)
            time.sleep(1)
        """
    )
    assert err == ""
    rows = json.loads(run.output("report", "--json", "--flat", "--min-percent", "0", run.directory))["flat"]["rows"]
    mine = next(row for row in rows if row["name"] == "mine")
    assert mine["inclusive_s"] > 1.2 and mine["waiting_s"] > 0.9 and mine["working_s"] < 0.3
    assert all(row["waiting_s"] == 0 for row in rows if row["name"] != "mine")
    paths, _ = run.paths()
    assert all(path[0] == "mine" for path in paths if path[-1] == "sixty")


@pytest.mark.parametrize(
    "options", [("--max-depth", "3"), ("--overhead", "5%"), ("--c-functions",), ("--instrumenter", "profile"), ("--from", "f"), ("--memory",)]
)  # fmt: skip
def test_settings_that_need_calls(tmp_path, options):
    (tmp_path / "x.py").write_text("print(1)")
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--sampling", *options, "x.py"],
        cwd=tmp_path, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "--sampling" in done.stderr and "[TL113]" in done.stderr


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="has sys.monitoring")
def test_python_without_monitoring(tmp_path):
    (tmp_path / "x.py").write_text("print(1)")
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--sampling", "x.py"],
        cwd=tmp_path, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == "" and "needs Python 3.12 or later" in done.stderr
    assert not os.path.exists(tmp_path / "timeloom-run")
