"""timeloom run --memory=events, and SCOREP_MEMORY_RECORDING: each allocation and each free as a call, in Score-P's layout."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy
import pycubexr
import pytest
from cube_files import raw
from scorep_runs import run_scorep

pytestmark = pytest.mark.any_python
SOURCE = Path(__file__).parents[1] / "programs" / "memory_calls.c"
FUNCTIONS = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", *["free"] * 5]
PROGRAM = """
import ctypes, json, sys, threading
library = ctypes.CDLL("./libcalls.so")
facts, sizes, blocks = (ctypes.c_uint64 * 4 * 11)(), (ctypes.c_uint64 * 3000)(), (ctypes.c_void_p * 3000)()

def call_each():
    library.each_function(facts)

def call_many():
    library.many(sizes, blocks, 3000)

call_each()
if "thread" in sys.argv:
    thread = threading.Thread(target=call_many)
    thread.start()
    thread.join()
else:
    call_many()
print(json.dumps({"facts": [list(one) for one in facts], "sizes": list(sizes)}))
"""
EVENT = re.compile(r"^(ENTER|LEAVE|METRIC) +(\d+) +\d+ +(.*)$")
ATTRIBUTE = re.compile(r'\("([A-Z_]+)" <\d+>; UINT64; (\d+)\)')


@pytest.fixture(autouse=True)
def in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run(["cc", "-O1", "-fno-builtin", "-shared", "-fPIC", SOURCE, "-o", "libcalls.so"], check=True)
    Path("calls.py").write_text(PROGRAM)


class Trace:
    """`calls`: by location, (names of the open regions, attributes of the enter, of the leave) of each call of MEMORY;
    `usage`: the values of the counter."""

    def __init__(self, anchor):
        self.calls, self.usage, opened = {}, [], {}
        attributes = {}
        done = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        for line in done.stdout.splitlines():
            if event := EVENT.match(line):
                kind, location, rest = event.groups()
                stack, attributes = opened.setdefault(location, []), {}
                if kind == "METRIC" and '"Process memory usage"' in rest:
                    self.usage.append(int(rest.rpartition(" ")[2].rstrip(")")))
                elif kind == "ENTER":
                    stack.append((rest.split('"')[1], attributes))
                elif kind == "LEAVE":
                    path = [name for name, _ in stack]
                    self.calls.setdefault(location, []).append((path, stack.pop()[1], attributes))
            elif "ADDITIONAL ATTRIBUTES" in line:
                attributes.update({name: int(value) for name, value in ATTRIBUTE.findall(line)})

    def of(self, function):
        """(name, attributes) of the calls that the function has made, whatever its module is called."""
        return [(path[-1], enter, leave) for calls in self.calls.values() for path, enter, leave in calls
                if len(path) > 1 and re.split("[.:]", path[-2])[-1] == function]


def expected(facts):
    for name, (allocated, result, argument, freed) in zip(FUNCTIONS, facts, strict=True):
        enter = {"ALLOCATION_SIZE": allocated} if allocated else {}
        enter |= {"ARGUMENT_ADDRESS": argument} if argument else {}
        leave = {"RESULT_ADDRESS": result} if result else {}
        yield name, enter, leave | ({"DEALLOCATION_SIZE": freed} if freed else {})


def contains(whole, part):
    """Whether the part is in the list, in this order, other elements between them."""
    rest = iter(whole)
    return all(one in rest for one in part)


def check(trace, known):
    assert contains(trace.of("call_each"), list(expected(known["facts"])))
    many = [(name, enter.get("ALLOCATION_SIZE"), leave.get("DEALLOCATION_SIZE")) for name, enter, leave in trace.of("call_many")]
    sizes = known["sizes"]
    calls = [("malloc", one, None) for one in sizes] + [("free", None, one) for one in sizes[::-2]]
    assert contains(many, calls)
    changes = [after - before for before, after in zip(trace.usage, trace.usage[1:])]
    assert contains(changes, sizes + [-one for one in sizes[::-2]])


@pytest.mark.parametrize("words", [[], ["thread"]], ids=["main", "thread"])
def test_calls_have_the_sizes_and_addresses_that_the_program_knows(timeloom, words):
    done = timeloom("run", "--quiet", "--memory=events", "-o", "run", "calls.py", *words)
    trace = Trace("run/traces.otf2")
    check(trace, json.loads(done.stdout))
    (process,) = json.loads(timeloom("report", "--memory", "--json", "run").stdout)["processes"]
    assert process["all_blocks"] and process["lost"] == 0
    assert (trace.usage[0], max(trace.usage), trace.usage[-1]) == (
        process["start_bytes"], process["peak_bytes"], process["end_bytes"])


def test_door_of_scorep(tmp_path):
    done = run_scorep(tmp_path, "--memory", "calls.py", SCOREP_MEMORY_RECORDING="true", SCOREP_ENABLE_TRACING="true",
                      SCOREP_EXPERIMENT_DIRECTORY="run")  # fmt: skip
    assert re.fullmatch(r"scorep: SCOREP_MEMORY_RECORDING: an allocation and its free take about .* \[TL736\]\n", done.stderr)
    check(Trace("run/traces.otf2"), json.loads(done.stdout))
    definitions = subprocess.run(["otf2-print", "-G", "run/traces.otf2"], capture_output=True, text=True, check=True).stdout
    regions = {match[1]: match[2] for match in re.finditer(
        r'^REGION .* Name: "(.*?)" .* Role: (\w+), Paradigm: NONE, .* File: "MEMORY"', definitions, re.MULTILINE)}
    assert {"malloc": "ALLOCATE", "calloc": "ALLOCATE", "realloc": "REALLOCATE", "free": "DEALLOCATE", "posix_memalign": "ALLOCATE",
            "operator new(size_t)": "ALLOCATE", "operator delete(void*)": "DEALLOCATE"}.items() <= regions.items()  # fmt: skip
    assert re.search(r'^LOCATION .* Name: "Per process metrics" .* Type: METRIC', definitions, re.MULTILINE)
    assert re.search(r'^METRIC_MEMBER .* Name: "Process memory usage" .* Mode: ABSOLUTE_NEXT, .* Unit: "bytes"', definitions, re.MULTILINE)


def test_door_of_scorep_without_the_variable_records_no_calls(tmp_path):
    done = run_scorep(tmp_path, "--memory", "calls.py", SCOREP_ENABLE_TRACING="true", SCOREP_EXPERIMENT_DIRECTORY="run")
    assert done.stderr == ""
    assert not any(path[-1] in FUNCTIONS for calls in Trace("run/traces.otf2").calls.values() for path, *_ in calls)


def largest(values, cnode):
    return numpy.frombuffer(raw(values.cnode_values(cnode)), float).max()


@pytest.mark.parametrize("mode", [[], ["--profile"]], ids=["trace", "profile"])
def test_profile_has_visits_and_metrics_of_scorep(timeloom, mode):
    done = timeloom("run", "--quiet", "--memory-events", *mode, "-o", "run", "calls.py")
    known = json.loads(done.stdout)
    (process,) = json.loads(timeloom("report", "--memory", "--json", "run").stdout)["processes"]
    with pycubexr.CubexParser("run/profile.cubex") as cube:
        kinds = {metric.name: metric.data_type.name if hasattr(metric.data_type, "name") else str(metric.data_type)
                 for metric in cube.all_metrics()}
        assert {"allocation_size", "deallocation_size", "bytes_leaked", "maximum_heap_memory_allocated"} <= kinds.keys()
        (many,) = [one for one in cube.all_cnodes() if one.region.name.endswith(".call_many")]
        children = {one.region.name: one for one in many.get_children()}
        visits = cube.get_metric_values(cube.get_metric_by_name("visits"))
        heap = cube.get_metric_values(cube.get_metric_by_name("maximum_heap_memory_allocated"))
        assert sum(visits.cnode_values(children["malloc"])) >= 3000 and sum(visits.cnode_values(children["free"])) >= 1500
        region = children["malloc"].region
        assert (region.paradigm, region.role, region.mod) == ("memory", "allocate", "MEMORY")
        assert max(largest(heap, one) for one in cube.all_cnodes()) == process["peak_bytes"]
        held = largest(heap, many)
    assert sum(known["sizes"]) < held <= process["peak_bytes"]


def test_maximum_heap_is_read_back(timeloom):
    timeloom("run", "--quiet", "--memory", "--profile", "-o", "run", "calls.py")
    rows = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    with pycubexr.CubexParser("run/profile.cubex") as cube:
        heap = cube.get_metric_values(cube.get_metric_by_name("maximum_heap_memory_allocated"))
        known = {one.region.name: largest(heap, one) for one in cube.all_cnodes()}
    assert max(known.values()) == rows["processes"][0]["peak_bytes"]


def test_score_counts_them_as_memory(timeloom):
    timeloom("run", "--quiet", "--memory=events", "-o", "run", "calls.py")
    trace = Trace("run/traces.otf2")
    calls = sum(path[-1] in FUNCTIONS or path[-1].startswith("operator ") for calls in trace.calls.values() for path, *_ in calls)
    lines = timeloom("score", "-r", "run/profile.cubex").stdout.splitlines()
    (row,) = [line.split() for line in lines if line.split()[-1:] == ["MEMORY"]]
    assert row[0] == "MEMORY" and int(row[2].replace(",", "")) == calls > 4500
    kinds = {words[-1]: words[0] for line in lines if (words := line.split())}
    assert {kinds[name] for name in FUNCTIONS} == {"MEMORY"}


def test_archive_with_samples_keeps_the_attributes(timeloom):
    timeloom("run", "--quiet", "--memory=events", "--sample", "1ms", "-o", "run", "calls.py")
    found = []
    for archive, options in {"plain": [], "sampled": ["--samples"]}.items():
        timeloom("convert", "run", "--to", "otf2", *options, "-o", archive)
        printed = subprocess.run(["otf2-print", f"{archive}/traces.otf2"], capture_output=True, text=True, check=True).stdout
        found.append(Counter(ATTRIBUTE.findall(printed)))
    plain, sampled = found
    assert "\nCALLING_CONTEXT_ENTER " in printed and sampled == plain
    assert sum(count for (name, _), count in sampled.items() if name == "ALLOCATION_SIZE") > 3000


def test_packed_trace_keeps_the_attributes(timeloom):
    done = timeloom("run", "--quiet", "--memory=events", "--trace-format", "packed", "-o", "run", "calls.py")
    timeloom("convert", "run", "--to", "otf2", "-o", "unpacked")
    check(Trace("unpacked/traces.otf2"), json.loads(done.stdout))


def test_attributes_beside_those_of_transfers(timeloom):
    Path("calls.py").write_text(PROGRAM + 'open("calls.py").read()\n')
    done = timeloom("run", "--quiet", "--memory=events", "--io", "posix", "-o", "run", "calls.py")
    check(Trace("run/traces.otf2"), json.loads(done.stdout))


def test_operators_of_cpp_are_calls_of_their_own(timeloom):
    Path("objects.cpp").write_text("""
extern "C" void objects() { for (int i = 0; i < 7; ++i) { delete[] new char[1000 + i]; delete new long(i); } }
""")
    subprocess.run(["c++", "-O0", "-shared", "-fPIC", "objects.cpp", "-o", "libobjects.so"], check=True)
    Path("cpp.py").write_text("""
import ctypes
library = ctypes.CDLL("./libobjects.so")
def make():
    library.objects()
make()
""")
    timeloom("run", "--quiet", "--memory=events", "-o", "run", "cpp.py")
    calls = [one for one in Trace("run/traces.otf2").of("make") if one[0].startswith("operator ")]
    calls = calls[[name for name, *_ in calls].index("operator new[](size_t)") :]  # the first call of a function has others
    assert [name.partition("(")[0] for name, *_ in calls] == [
        "operator new[]", "operator delete[]", "operator new", "operator delete"] * 7  # fmt: skip
    for new, delete in zip(calls[::2], calls[1::2], strict=True):
        assert delete[1]["ARGUMENT_ADDRESS"] == new[2]["RESULT_ADDRESS"]
        assert delete[2]["DEALLOCATION_SIZE"] == new[1]["ALLOCATION_SIZE"] >= 8


def test_forked_child_records_its_own_calls(timeloom):
    Path("forks.py").write_text(PROGRAM.replace("call_each()\nif", "import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\ncall_each()\nif"))
    done = timeloom("run", "--quiet", "--memory=events", "-o", "run", "forks.py")
    trace, found = Trace("run/traces.otf2"), 0
    for known in map(json.loads, done.stdout.splitlines()):
        assert contains(trace.of("call_each"), list(expected(known["facts"])))
        found += 1
    assert found == 2


def test_events_are_off_without_the_option(timeloom):
    timeloom("run", "--quiet", "--memory=all", "-o", "run", "calls.py")
    assert not any(path[-1] in FUNCTIONS for calls in Trace("run/traces.otf2").calls.values() for path, *_ in calls)


def test_nothing_is_an_estimate(timeloom):
    """Blocks that lived shorter than 1 ms are known one by one, too."""
    Path("brief.py").write_text("""
import ctypes
library = ctypes.CDLL(None)
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def brief():
    for _ in range(1000): library.free(library.malloc(1000))

library.free(library.malloc(1))
brief()
""")
    timeloom("run", "--quiet", "--memory=events", "-o", "run", "brief.py")
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    (path,) = [one for one in report["paths"] if one["path"][-1].endswith(".brief")]
    assert path["temporary"]["error_bytes"] == 0 and path["temporary"]["blocks"] <= path["allocations"]
    assert 990_000 <= path["temporary"]["bytes"] <= path["allocated_bytes"]
    text = timeloom("report", "--memory", "run").stdout
    assert "~" not in text and "all other numbers" not in text


def test_sampling_refuses_them(timeloom):
    done = timeloom("run", "--sampling", "--memory=events", "-o", "run", "calls.py", status=2)
    assert "records no calls" in done.stderr and done.stderr.endswith("[TL113]\n")
