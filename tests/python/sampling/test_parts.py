"""Samples of a part of a run: `report` with `--thread`, `--group`, `--from` and `--to`."""

import csv
import io
import json
import shutil
import subprocess
import sys
from collections import Counter

import pytest
from sampled_runs import recorder

pytestmark = pytest.mark.any_python

needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")

# The first half of its work is `sixty` on a thread, the second half `thirty` on another one.
TWO_HALVES = """\
import ctypes, threading, time
busy = ctypes.CDLL("./busy.so")
for function in (busy.sixty, busy.thirty):
    function.argtypes = [ctypes.c_long]
    function.restype = None

def first():
    while time.thread_time() < 0.5:
        busy.sixty(2)

def second():
    while time.thread_time() < 0.5:
        busy.thirty(2)

for work in (first, second):
    thread = threading.Thread(target=work, name=work.__name__)
    thread.start()
    thread.join()
"""


class Run:
    def __init__(self, path, program):
        self.path, self.program = path, program

    def process(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, cwd=self.path.parent)

    def output(self, *words):
        done = self.process(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def report(self, *options):
        return json.loads(self.output("report", "--json", *options, self.path))

    def native(self, *options):
        """The number of samples and the seconds of each function of a library and its caller."""
        found = Counter()
        for function in self.report("--native", *options)["functions"]:
            for caller in function["callers"]:
                key = (function["library"], function["function"], caller["function"])
                found[key, "samples"] += caller["samples"]
                found[key, "ns"] += round(caller["seconds"] * 1e9)
        return found

    def busy(self, *options):
        return {key[1] for key, _ in self.native(*options) if key[0] == "busy.so"}

    def lines(self, *options):
        found = Counter()
        for row in self.report("--lines", *options)["lines"]:
            found[row["function"], row["line"], "samples"] += row["samples"]
            found[row["function"], row["line"], "ns"] += round(row["seconds"] * 1e9)
        return found

    def start_of(self, name):
        """When the function was entered: nanoseconds since the start of the run, as an option has them."""
        table = io.StringIO(self.output("convert", self.path, "--to", "csv", "--events", "-o", "-"))
        times = [int(row["time_ns"]) for row in csv.DictReader(table)
                 if row["event"] == "enter" and row["name"].rpartition(".")[2] == name]  # fmt: skip
        return f"{min(times) / 1e9:.9f}s"


@pytest.fixture(scope="module")
def record(tmp_path_factory, timeloom_program):
    return recorder(tmp_path_factory, lambda run: Run(run, timeloom_program), TWO_HALVES)


ways = pytest.mark.parametrize(
    "options",
    [("--sample", "1ms"), ("--sample", "1ms", "--profile"), pytest.param(("--sampling",), marks=needs_monitoring)],
    ids=["sample", "profile", "sampling"],
)
traced = pytest.mark.parametrize(
    "options",
    [("--sample", "1ms"), ("--sample", "1ms", "--trace-format", "packed"),
     pytest.param(("--sampling",), marks=needs_monitoring)],
    ids=["sample", "packed", "sampling"],
)  # fmt: skip


@ways
def test_threads_have_their_own_samples(record, options):
    run = record(*options)
    assert run.busy("--thread", "first") == {"sixty"}
    assert run.busy("--thread", "second") == {"thirty"}
    parts = [("--thread", name) for name in ("first", "second")]
    others = run.native("--thread", "0")
    assert run.native() == sum((run.native(*part) for part in parts), others)
    assert run.native("--thread", "first", "--thread", "second") == sum((run.native(*part) for part in parts), Counter())
    assert run.lines() == sum((run.lines(*part) for part in parts), run.lines("--thread", "0"))
    assert run.native("--group", "0") == run.native()


@traced
def test_stretches_of_time_have_their_own_samples(record, options):
    run = record(*options)
    split = run.start_of("second")
    assert run.busy("--to", split) == {"sixty"}
    assert run.busy("--from", split) == {"thirty"}
    assert run.native("--to", split) + run.native("--from", split) == run.native()
    assert run.lines("--to", split) + run.lines("--from", split) == run.lines()
    assert run.busy("--to", split, "--thread", "second") == set()
    assert run.report("--native", "--to", split, "--thread", "second")["samples"] == 0


@traced
def test_every_form_counts_the_same(record, options):
    run = record(*options)
    for part in (("--thread", "first"), ("--to", run.start_of("second"))):
        data = run.report("--native", *part)
        rows = list(csv.DictReader(io.StringIO(run.output("report", "--native", "--csv", *part, run.path))))
        assert sum(int(row["samples"]) for row in rows) == data["samples"] == sum(f["samples"] for f in data["functions"])
        (sixty,) = [function for function in data["functions"] if function["function"] == "sixty"]
        assert sum(int(row["samples"]) for row in rows if row["library function"] == "sixty") == sixty["samples"] > 100
        text = run.output("report", "--native", *part, run.path)
        assert f" {data['samples']:,} samples," in text and "busy: sixty" in text and "thirty" not in text
        lines = run.output("report", "--lines", "--csv", *part, run.path)
        assert "__main__.first" in lines and "__main__.second" not in lines
        assert "busy: sixty" in run.output("report", *part, run.path)
        function = run.report("--function", "__main__.first", *part)
        assert [one["samples"] for one in function["native"] if one["function"] == "sixty"] == [sixty["samples"]]
        native, lines = (sum(one["samples"] for one in function[part]) for part in ("native", "lines"))
        assert native == lines
        text = run.output("report", "--function", "__main__.first", *part, run.path)
        assert "busy: sixty" in text and "own time by source line" in text


def test_all_is_as_the_files_have_it(record):
    run = record("--sample", "1ms")
    assert run.output("report", "--native", "--csv", run.path) == (run.path / "samples.csv").read_text()
    every = ("--thread", "first", "--thread", "second", "--thread", "0")
    assert run.output("report", "--native", "--csv", *every, run.path) == (run.path / "samples.csv").read_text()
    assert run.output("report", "--lines", "--csv", *every, run.path) == (run.path / "lines.csv").read_text()
    assert "samples.timeloom" in (run.path / "MANIFEST.md").read_text()


@needs_monitoring
def test_calls_that_are_made_of_samples_are_counted(record):
    """`report --from` has the number of samples of each function, not of the rows of them in the trace."""
    run = record("--sampling")
    split = run.start_of("second")

    def samples(*options):
        rows = run.report("--min-percent", "0", *options)["flat"]["rows"]
        return Counter({row["name"]: row["samples"] for row in rows})

    whole = samples()
    assert samples("--to", split) + samples("--from", split) == whole
    native = run.report("--native", "--from", split)["functions"]
    of_second = sum(c["samples"] for one in native for c in one["callers"] if c["function"] == "__main__.second")
    assert samples("--from", split)["__main__.second"] == of_second > 100


def test_processes_have_their_own_samples(record):
    run = record("--sample", "1ms", text=TWO_HALVES.partition("for work in")[0] + """\
import os
child = os.fork()
if child == 0:
    second()
else:
    os.waitpid(child, 0)
    first()
""")  # fmt: skip
    assert run.busy("--group", "0") == {"sixty"}
    assert run.busy("--group", "1") == {"thirty"}
    assert run.native("--group", "0") + run.native("--group", "1") == run.native()


def test_runs_of_older_versions_and_damaged_files(record, tmp_path, timeloom_program):
    run = Run(shutil.copytree(record("--sample", "1ms").path, tmp_path / "run"), timeloom_program)
    file = run.path / "samples.timeloom"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    done = run.process("report", "--native", "--thread", "first", "run")
    assert done.returncode == 1 and "samples.timeloom is damaged or of another version" in done.stderr
    assert "[TL171]" in done.stderr
    assert "busy: sixty" in run.output("report", "--native", "run")
    file.unlink()
    for option in ("--native", "--lines"):
        done = run.process("report", option, "--thread", "first", "run")
        assert done.returncode == 1 and "its samples added up only" in done.stderr and "[TL172]" in done.stderr
    assert "busy" not in run.output("report", "--thread", "first", "run")
    assert "busy: sixty" in run.output("report", "run")
