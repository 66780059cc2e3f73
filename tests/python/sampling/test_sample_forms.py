"""`timeloom convert --samples`: each sample with its call path, in the forms that other tools have for samples."""

import itertools
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from archives import DEBIAN_PYTHON
from pprof_files import read_pprof
from sampled_runs import recorder
from streams import environment

pytestmark = pytest.mark.any_python

needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")

# 60, 30 and 10 % of the work in three functions of C, in rounds; and one of them on a thread.
SHARES = """\
import ctypes, threading, time
busy = ctypes.CDLL("./busy.so")
for function in (busy.sixty, busy.thirty, busy.ten):
    function.argtypes = [ctypes.c_long]
    function.restype = None

def rounds():
    while time.thread_time() < 0.6:
        for function in (busy.sixty, busy.thirty, busy.ten):
            function(1)

def second():
    while time.thread_time() < 0.2:
        busy.thirty(1)

def main():
    thread = threading.Thread(target=second, name="second")
    thread.start()
    thread.join()
    rounds()

main()
"""

# Prints the events of call paths in an archive.
READER = Path(__file__).resolve().parents[1] / "helpers" / "foreign" / "calling_contexts.py"


class Run:
    def __init__(self, path, program):
        self.path, self.program = path, program

    def process(self, *words, **variables):
        command = [self.program, *map(str, words)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=self.path.parent, env=environment(variables)
        )  # fmt: skip

    def output(self, *words):
        done = self.process(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def convert(self, form, *options):
        file = self.path.parent / f"{self.path.name}.{form}"
        self.output("convert", self.path, "--to", form, "--samples", "--force", "-o", file, *options)
        return file

    def archive(self, *options):
        """The events of call paths in an OTF2 archive with samples, by another reader, and its generators."""
        directory = self.path.parent / "archive"
        shutil.rmtree(directory, ignore_errors=True)
        self.output("convert", self.path, "--to", "otf2", "--samples", "-o", directory, *options)
        anchor = directory / "traces.otf2"
        printed = subprocess.run(["otf2-print", anchor], capture_output=True, text=True)
        assert printed.returncode == 0 and printed.stderr == ""
        done = subprocess.run([DEBIAN_PYTHON, READER, anchor], capture_output=True, text=True, check=True)
        events, generators = json.loads(done.stdout)
        assert printed.stdout.count("\nCALLING_CONTEXT_SAMPLE ") == sum(one[1] == "CallingContextSample" for one in events)
        return events, generators

    def samples(self, *options):
        """The samples of that archive: thread, path, line, and CPU time; it is the value behind each of them."""
        events, _ = self.archive(*options)
        found = []
        for thread in dict.fromkeys(one[0] for one in events):
            of_thread = [one for one in events if one[0] == thread]
            for sample, value in itertools.pairwise(of_thread):
                if sample[1] == "CallingContextSample":
                    assert value[1] == "Metric" and value[2] == sample[2]
                    found.append((thread, tuple(sample[3]), sample[4], value[3]))
        return found

    def stacks(self, *options):
        """Each sample in a file of speedscope: its path and nanoseconds, in order."""
        profile = json.loads(self.convert("speedscope", *options).read_text())
        names = [frame["name"] for frame in profile["shared"]["frames"]]
        return sorted(
            (tuple(names[i] for i in stack), weight)
            for one in profile["profiles"] for stack, weight in zip(one["samples"], one["weights"], strict=True)
        )  # fmt: skip

    def native(self):
        """By function of a library: the number of samples and their nanoseconds, as the report has them."""
        rows = json.loads(self.output("report", "--native", "--json", self.path))["functions"]
        found = Counter()
        for row in rows:
            found[row["function"] or "(no name)", "samples"] += row["samples"]
            found[row["function"] or "(no name)", "ns"] += round(row["seconds"] * 1e9)
        return found


def sums(samples):
    """The same of single samples, each a path and its nanoseconds."""
    found = Counter()
    for path, ns in samples:
        name = path[-1].split(": ", 1)[-1]
        found[name, "samples"] += 1
        found[name, "ns"] += ns
    return found


# A region of the user around a call, and much work outside of it.
WITH_BLOCK = """\
import ctypes, timeloom
busy = ctypes.CDLL("./busy.so")
busy.sixty.argtypes = [ctypes.c_long]
busy.sixty.restype = None

def inner():
    busy.sixty(200)

inner()
with timeloom.region("block"):
    inner()
"""

# Nearly all of its time is in a function that is called too often to be recorded.
OFTEN_CALLED = """\
import time

def small(n):
    total = 0
    for i in range(n):
        total += i
    return total

def calls():
    end = time.thread_time() + 1
    while time.thread_time() < end:
        for _ in range(100):
            small(40)

calls()
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory, timeloom_program):
    return recorder(tmp_path_factory, lambda run: Run(run, timeloom_program), SHARES)


ways = pytest.mark.parametrize(
    "options",
    [("--sample", "1ms"), ("--sample", "1ms", "--trace-format", "packed"),
     pytest.param(("--sampling",), marks=needs_monitoring)],
    ids=["sample", "packed", "sampling"],
)  # fmt: skip


@ways
def test_an_archive_has_each_sample_with_its_call_path(record, options):
    run = record(*options)
    samples = run.samples()
    assert sums((path, ns) for _, path, _, ns in samples) == run.native()
    _, generators = run.archive()
    assert generators == [["CPU time of the thread", "Base.DECIMAL", -9, 1_000_000]]
    busy = [(thread, path, line) for thread, path, line, _ in samples if path[-1].startswith("busy: ")]
    rounds = ("__main__.<module>", "__main__.main", "__main__.rounds")
    file = str(run.path.parent / "app.py")
    assert {(thread, path[-2], *line) for thread, path, line in busy if line} == {
        ("MainThread", "__main__.rounds", file, 10), ("second", "__main__.second", file, 14)
    }  # fmt: skip
    of_rounds = Counter(path for thread, path, _ in busy if thread == "MainThread")
    assert set(of_rounds) == {(*rounds, f"busy: {name}") for name in ("sixty", "thirty", "ten")}
    # Of some 600 samples, five standard errors of the largest.
    for name, share in (("sixty", 0.6), ("thirty", 0.3), ("ten", 0.1)):
        assert of_rounds[*rounds, f"busy: {name}"] / of_rounds.total() == pytest.approx(share, abs=0.1)


@ways
def test_calls_are_calling_contexts_and_distances_are_those_of_the_paths(record, options):
    """An archive has one of both forms; and the distance tells which calls a sample shares with the event before."""
    run = record(*options)
    events, _ = run.archive()
    kinds = Counter(one[1] for one in events)
    assert not {"Enter", "Leave"} & set(kinds)
    assert kinds["CallingContextEnter"] == kinds["CallingContextLeave"]
    table = run.output("convert", run.path, "--to", "json", "--events", "-o", "-")
    rows = json.loads(table)
    recorded = Counter(row["name"] for row in rows if row["event"] == "enter")
    entered = Counter(one[3][-1] for one in events if one[1] == "CallingContextEnter")
    assert entered == (Counter() if "--sampling" in options else recorded)
    for thread in {one[0] for one in events}:
        before = []
        for _, kind, _, *rest in (one for one in events if one[0] == thread and one[1] != "Metric"):
            path, line, distance = rest
            # A line makes a call path of its own.
            now = [*path[:-1], (path[-1], *(line or ()))] if line else path
            same = next((i for i, (a, b) in enumerate(zip(now, before, strict=False)) if a != b), min(len(now), len(before)))
            if kind == "CallingContextEnter":
                same = min(same, len(path) - 1)
            if kind != "CallingContextLeave":
                assert distance == len(path) - same + 1, (kind, path, before)
            before = path[:-1] if kind == "CallingContextLeave" else now


@needs_monitoring
def test_regions_of_the_user_are_calls_among_samples(record):
    """With --sampling, nothing else is recorded; the stack of a sample lies below them."""
    run = record("--sampling", text=WITH_BLOCK)
    events, _ = run.archive()
    calls = [(kind, path) for _, kind, _, path, *_ in (one for one in events if len(one) > 4)
             if kind != "CallingContextSample"]  # fmt: skip
    assert calls == [("CallingContextEnter", ["block"]), ("CallingContextLeave", ["block"])]
    samples = run.samples()
    assert sums((path, ns) for _, path, _, ns in samples) == run.native()
    stack = ("__main__.<module>", "__main__.inner", "busy: sixty")
    found = Counter(path for _, path, _, _ in samples if path[-1] == "busy: sixty")
    assert set(found) == {stack, ("block", *stack)}
    assert found["block", *stack] == pytest.approx(found[stack], rel=0.5)


@needs_monitoring
def test_a_throttled_function_is_below_its_caller(record):
    run = record("--sample", "1ms", "--overhead", "1%", text=OFTEN_CALLED)
    samples = run.stacks()
    assert sums(samples) == run.native()
    small = [path for path, _ in samples if "__main__.small" in path]
    assert {path[:-1] for path in small} == {("__main__.<module>", "__main__.calls", "__main__.small")}
    rows = json.loads(run.output("report", "--native", "--json", run.path))["functions"]
    expected = sum(caller["samples"] for row in rows for caller in row["callers"] if caller["function"] == "__main__.small")
    assert len(small) == pytest.approx(expected, rel=0.1) and expected > 100


@ways
def test_speedscope_and_firefox_show_each_sample(record, options):
    run = record(*options)
    expected = [(thread, path, ns) for thread, path, _, ns in run.samples()]
    profile = json.loads(run.convert("speedscope").read_text())
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    found = []
    for one in profile["profiles"]:
        assert one["type"] == "sampled" and one["endValue"] == sum(one["weights"])
        for stack, weight in zip(one["samples"], one["weights"], strict=True):
            found.append((one["name"], tuple(names[i] for i in stack), weight))
    assert sorted(found) == sorted(expected)

    found = []
    for thread in json.loads(run.convert("firefox").read_text())["threads"]:
        strings, functions, stacks = thread["stringArray"], thread["funcTable"], thread["stackTable"]

        def path(at, strings=strings, functions=functions, stacks=stacks):
            outer = () if stacks["prefix"][at] is None else path(stacks["prefix"][at])
            return (*outer, strings[functions["name"][stacks["frame"][at]]])

        table = thread["samples"]
        assert "sampled time" not in strings
        for stack, weight in zip(table["stack"], table["weight"], strict=True):
            found.append((thread["name"], path(stack), round(weight * 1e6)))
    assert sorted(found) == sorted(expected)


def perfetto_samples(file):
    """The samples of such a file: thread, path, CPU time; and the periods, read with its own schema."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

    trace = schema.Trace()
    trace.ParseFromString(file.read_bytes())
    names, threads, before, found, periods = {}, {}, Counter(), [], set()
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.track_descriptor.HasField("thread"):
            thread = packet.track_descriptor.thread
            threads[thread.pid, thread.tid] = thread.thread_name
        if packet.trace_packet_defaults.HasField("perf_sample_defaults"):
            timebase = packet.trace_packet_defaults.perf_sample_defaults.timebase
            periods.add((schema.PerfEvents.Counter.Name(timebase.counter), timebase.period))
        for field in ("function_names", "mapping_paths", "mappings", "frames", "callstacks"):
            for one in getattr(packet.interned_data, field):
                assert (sequence, field, one.iid) not in names
                names[sequence, field, one.iid] = one
        if not packet.HasField("perf_sample"):
            continue
        sample, path = packet.perf_sample, []
        for number in names[sequence, "callstacks", sample.callstack_iid].frame_ids:
            frame = names[sequence, "frames", number]
            mapping = names[sequence, "mappings", frame.mapping_id]
            library = names[sequence, "mapping_paths", mapping.path_string_ids[0]].str.decode()
            path.append((names[sequence, "function_names", frame.function_name_id].str.decode(), library))
        found.append((threads[sample.pid, sample.tid], tuple(path), sample.timebase_count - before[sequence]))
        before[sequence] = sample.timebase_count
    return found, periods


@ways
def test_perfetto_shows_each_sample(record, options):
    run = record(*options)
    found, periods = perfetto_samples(run.convert("perfetto"))
    assert periods == {("SW_TASK_CLOCK", 1_000_000)}
    expected = [(thread, path, ns) for thread, path, _, ns in run.samples()]
    assert sorted((thread, tuple(name for name, _ in path), ns) for thread, path, ns in found) == sorted(expected)
    # Each frame with its library, or its source file.
    files = {frame for _, path, _ in found for frame in path}
    assert {("busy: sixty", "busy.so"), ("__main__.rounds", str(run.path.parent / "app.py"))} <= files


@ways
def test_call_paths_have_samples_in_place_of_visits(record, options):
    run = record(*options)
    expected = Counter()
    for thread, path, _, ns in run.samples():
        expected[thread, path, "samples"] += 1
        expected[thread, path, "ns"] += ns

    profile = read_pprof(run.convert("pprof"))
    strings = profile.string_table
    types = [(strings[one.type], strings[one.unit]) for one in profile.sample_type]
    assert types == [("samples", "count"), ("cpu", "nanoseconds")]
    assert strings[profile.default_sample_type] == "cpu"
    functions = {one.id: strings[one.name] for one in profile.function}
    places = {one.id: functions[one.line[0].function_id] for one in profile.location}
    found = Counter()
    for sample in profile.sample:
        labels = {strings[one.key]: strings[one.str] for one in sample.label}
        path = tuple(places[one] for one in reversed(sample.location_id))
        found[labels["thread"], path, "samples"] += sample.value[0]
        found[labels["thread"], path, "ns"] += sample.value[1]
    assert +found == expected

    for weight, kind in (("time", "ns"), ("visits", "samples")):
        found = Counter()
        for line in run.convert("collapsed", "--weight", weight).read_text().splitlines():
            path, _, value = line.rpartition(" ")
            thread, *names = path.split(";")
            found[thread, tuple(names), kind] += int(value)
        assert found == Counter({key: value for key, value in expected.items() if key[2] == kind})


@ways
def test_a_part_of_the_run(record, options):
    run = record(*options)
    whole = run.samples()
    assert run.stacks("--thread", "second") == sorted((path, ns) for thread, path, _, ns in whole if thread == "second")
    parts = [run.samples("--until", "400ms"), run.samples("--from", "400ms")]
    assert sorted(parts[0] + parts[1]) == sorted(whole) and all(parts)
    # The samples of functions of libraries are at the functions of the program.
    mine = run.samples("--only-my-code")
    functions = {path[-1] for _, path, _, _ in mine}
    assert {"__main__.rounds", "__main__.second"} <= functions
    assert functions <= {"__main__.<module>", "__main__.main", "__main__.rounds", "__main__.second"}


@ways
def test_the_variable_of_score_p_for_plain_calls_is_obeyed(record, options, tmp_path):
    run = record(*options)
    printed = {}
    for name, words, value in (
        ("plain", (), None), ("true", ("--samples",), "yes"), ("false", ("--samples",), "false"),
    ):  # fmt: skip
        variables = {} if value is None else {"SCOREP_TRACING_CONVERT_CALLING_CONTEXT_EVENTS": value}
        done = run.process("convert", run.path, "--to", "otf2", *words, "-o", tmp_path / name, **variables)
        assert done.returncode == 0, done.stderr
        told = "has enters and leaves, and no samples, as SCOREP_TRACING_CONVERT_CALLING_CONTEXT_EVENTS asks for [TL729]"
        assert (told in done.stderr) == (name == "true")
        anchor = tmp_path / name / "traces.otf2"
        printed[name] = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    assert printed["true"] == printed["plain"]
    assert "CALLING_CONTEXT_SAMPLE" not in printed["true"] and "CALLING_CONTEXT_SAMPLE" in printed["false"]


def test_what_has_no_samples_is_refused(record, tmp_path):
    """A run without them, a profile, and formats that have no place for them."""
    run = record("--sample", "1ms")
    for options, message in (
        (("--to", "chrome"), "chrome has no place for samples among its events; leave out --samples [TL727]"),
        (("--to", "csv", "--events"),
         "csv has no place for samples among its events; leave out --samples, --events or both [TL727]"),
        (("--to", "omnitrace"), "omnitrace holds no samples; leave out --samples [TL727]"),
        (("--to", "collapsed", "--before", run.path),
         "--before compares calls, and --samples holds none; choose one; see 'timeloom convert --help' [TL401]"),
    ):  # fmt: skip
        done = run.process("convert", run.path, "--samples", *options, "-o", tmp_path / "file")
        assert (done.returncode, done.stderr) == (2, f"timeloom: {message}\n")
    without = tmp_path / "without"
    shutil.copytree(run.path, without)
    (without / "samples.timeloom").unlink()
    done = run.process("convert", without, "--samples", "--to", "speedscope", "-o", tmp_path / "file")
    assert done.returncode == 1 and done.stderr.endswith(
        "has no single samples: record the program with --sample 1ms or --sampling, or leave out --samples [TL726]\n"
    )
    profile = record("--sample", "1ms", "--profile")
    done = run.process("convert", profile.path, "--samples", "--to", "pprof", "-o", tmp_path / "file")
    assert done.returncode == 1 and done.stderr.endswith(
        "is a profile: its samples have no call paths; --samples needs a trace [TL728]\n"
    )
    assert not (tmp_path / "file").exists()
