"""`timeloom convert --to omnitrace`: the directory, the names and the bytes of what Omnitrace writes."""

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from archives import make_archive, one_line
from converted import Perfetto, recorded
from cube_files import DATA
from omnitrace_runs import run_omnitrace

pytestmark = pytest.mark.any_python

PLAIN = {"OMNITRACE_USE_PID": "OFF", "OMNITRACE_TIME_OUTPUT": "OFF", "HOME": "/nowhere"}



@pytest.fixture
def files(timeloom, run, tmp_path):
    """Converts, and returns {name: text} of the directory."""

    def convert(*options, source=run, **variables):
        done = timeloom("convert", source, "--to", "omnitrace", "-o", "out", *options,
                        cwd=tmp_path, **{**PLAIN, **variables})  # fmt: skip
        found = {}
        for path in sorted((tmp_path / "out").rglob("*")):
            if path.is_file():
                found[str(path.relative_to(tmp_path / "out"))] = path.read_bytes()
        found["stderr"], found["stdout"] = done.stderr, done.stdout
        return found

    return convert


def processes_of(program, run):
    """A worker that had nothing to do has called nothing of its own, and is no process of the run."""
    done = subprocess.run([program, "info", "--json", run], capture_output=True, check=True)
    return len(json.loads(done.stdout)["groups"])


def rows(text):
    """[(label, count, depth)] of a table."""
    lines = text.decode().splitlines()
    data = [line for line in lines if line.startswith("| ") and ">>> " in line]
    cells = [re.match(r"\| (\|.*?|>>>.*?) +\| +(\S+) \| +(\S+) \| ", line).groups() for line in data]
    return [(label, int(count), int(depth)) for label, count, depth in cells]


WALL_CLOCK = """\
|----------------------------------------------------------------------------------------------------------------------------------------|
|                                                REAL-CLOCK TIMER (I.E. WALL-CLOCK TIMER)                                                |
|----------------------------------------------------------------------------------------------------------------------------------------|
|       LABEL         | COUNT  | DEPTH  |   METRIC   | UNITS  |   SUM    |   MEAN   |   MIN    |   MAX    |   VAR    | STDDEV   | % SELF |
|---------------------|--------|--------|------------|--------|----------|----------|----------|----------|----------|----------|--------|
| |0>>> main          |      1 |      0 | wall_clock | sec    | 0.100000 | 0.100000 | 0.100000 | 0.100000 | 0.000000 | 0.000000 |   61.0 |
| |0>>> |_Solver.step |      2 |      1 | wall_clock | sec    | 0.019000 | 0.009500 | 0.009000 | 0.010000 | 0.000001 | 0.000707 |   68.4 |
| |0>>>   |_dot       |      2 |      2 | wall_clock | sec    | 0.006000 | 0.003000 | 0.002000 | 0.004000 | 0.000002 | 0.001414 |  100.0 |
| |0>>> |_fib         |      1 |      1 | wall_clock | sec    | 0.010000 | 0.010000 | 0.010000 | 0.010000 | 0.000000 | 0.000000 |   60.0 |
| |0>>>   |_fib       |      1 |      2 | wall_clock | sec    | 0.004000 | 0.004000 | 0.004000 | 0.004000 | 0.000000 | 0.000000 |   50.0 |
| |0>>>     |_fib     |      1 |      3 | wall_clock | sec    | 0.002000 | 0.002000 | 0.002000 | 0.002000 | 0.000000 | 0.000000 |  100.0 |
| |1>>> |_Solver.step |      1 |      1 | wall_clock | sec    | 0.010000 | 0.010000 | 0.010000 | 0.010000 | 0.000000 | 0.000000 |  100.0 |
|----------------------------------------------------------------------------------------------------------------------------------------|
"""

REPORTS = ("wall_clock.txt", "wall_clock.json", "wall_clock.tree.json")

ROWS = [
    ("|0>>> main", 1, 0), ("|0>>> |_Solver.step", 2, 1), ("|0>>>   |_dot", 2, 2), ("|0>>> |_fib", 1, 1),
    ("|0>>>   |_fib", 1, 2), ("|0>>>     |_fib", 1, 3), ("|1>>> |_Solver.step", 1, 1),
]  # fmt: skip


def test_the_table_of_a_run(files):
    found = files()
    assert set(found) - {"stderr", "stdout"} == {
        "wall_clock.txt", "wall_clock.json", "wall_clock.tree.json", "perfetto-trace.proto", "metadata.json", "functions.json"}  # fmt: skip
    assert found["wall_clock.txt"].decode() == WALL_CLOCK
    assert rows(found["wall_clock.txt"]) == ROWS
    assert found["stdout"] == ""


def test_what_is_said(files, tmp_path):
    pid = r"\[omnitrace\]\[\d+\]"
    lines = files(OMNITRACE_TIMEMORY_COMPONENTS="trip_count")["stderr"].splitlines()
    assert len(lines) == 9
    assert re.fullmatch(pid + r"\[trip_count\]> Outputting 'out/trip_count.txt'", lines[0])
    assert re.fullmatch(pid + r"\[trip_count\]> Outputting 'out/trip_count.json'", lines[1])
    assert re.fullmatch(pid + r"\[trip_count\]> Outputting 'out/trip_count.tree.json'", lines[2])
    trace = re.escape(str(tmp_path / "out/perfetto-trace.proto"))
    assert re.fullmatch(pid + rf"\[perfetto\]> Outputting '{trace}' \([\d.]+ KB / [\d.]+ MB / [\d.]+ GB\)\.\.\. Done", lines[3])
    assert re.fullmatch(pid + r"\[metadata\]> Outputting 'out/metadata.json' and 'out/functions.json'", lines[4])
    process = r"omnitrace/process/\d+"
    assert re.fullmatch(process + r" : 0\.100000 sec wall_clock \[laps: 1\]", lines[5])
    assert re.fullmatch(process + r"/thread/0 : 0\.100000 sec wall_clock \[laps: 1\]", lines[6])
    assert re.fullmatch(process + r"/thread/1 : 0\.0\d+ sec wall_clock \[laps: 1\]", lines[7])
    numbers = r"\d\.\d{6} sec wall_clock, \d\.\d{6} sec cpu_clock, \d+\.\d % cpu_util"
    assert re.fullmatch(pid + r"\[finalize\]> Finalized: " + numbers, lines[8])
    assert files(OMNITRACE_VERBOSE="-1")["stderr"] == ""


@pytest.mark.parametrize(("variables", "expected"), [
    ({"OMNITRACE_FLAT_PROFILE": "ON"},
     [("|0>>> main", 1, 0), ("|0>>> Solver.step", 2, 0), ("|0>>> dot", 2, 0), ("|0>>> fib", 3, 0),
      ("|1>>> Solver.step", 1, 0)]),
    ({"OMNITRACE_TIMELINE_PROFILE": "ON"},
     [("|0>>> main", 1, 0), ("|0>>> |_Solver.step", 1, 1), ("|0>>>   |_dot", 1, 2), ("|0>>> |_Solver.step", 1, 1),
      ("|0>>>   |_dot", 1, 2), ("|0>>> |_fib", 1, 1), ("|0>>>   |_fib", 1, 2), ("|0>>>     |_fib", 1, 3),
      ("|1>>> |_Solver.step", 1, 1)]),
    ({"OMNITRACE_COLLAPSE_THREADS": "ON"},
     [(">>> main", 1, 0), (">>> |_Solver.step", 3, 1), (">>>   |_dot", 2, 2), (">>> |_fib", 1, 1),
      (">>>   |_fib", 1, 2), (">>>     |_fib", 1, 3)]),
    ({"ROCPROFSYS_MAX_DEPTH": "2"},
     [("|0>>> main", 1, 0), ("|0>>> |_Solver.step", 2, 1), ("|0>>> |_fib", 1, 1), ("|1>>> |_Solver.step", 1, 1)]),
    ({"OMNITRACE_MAX_WIDTH": "16"},
     [("|0>>> main", 1, 0), ("|0>>> |_Solver.s", 2, 1), ("|0>>>   |_dot", 2, 2), ("|0>>> |_fib", 1, 1),
      ("|0>>>   |_fib", 1, 2), ("|0>>>     |_fib", 1, 3), ("|1>>> |_Solver.s", 1, 1)]),
])  # fmt: skip
def test_forms_of_a_profile(files, variables, expected):
    found = files(OMNITRACE_TIMEMORY_COMPONENTS="trip_count", **variables)
    assert rows(found["trip_count.txt"]) == expected
    if "OMNITRACE_MAX_WIDTH" not in variables:
        graph = json.loads(found["trip_count.json"])["timemory"]["trip_count"]["ranks"][0]["graph"]
        assert [(row["prefix"], row["entry"]["laps"], row["depth"]) for row in graph] == expected


@pytest.mark.parametrize(("variables", "cells"), [
    ({}, "sec    | 0.019000 | 0.009500 | 0.009000 | 0.010000 | 0.000001 | 0.000707 |   68.4"),
    ({"OMNITRACE_TIMING_UNITS": "msec", "OMNITRACE_TIMING_PRECISION": "1"},
     "msec   |   19.0 |    9.5 |    9.0 |   10.0 |    0.5 |    0.7 |   68.4"),
    ({"OMNITRACE_PRECISION": "3"}, "sec    |  0.019 |  0.009 |  0.009 |  0.010 |  0.000 |  0.001 |   68.4"),
    ({"OMNITRACE_TIMING_SCIENTIFIC": "ON", "OMNITRACE_TIMING_PRECISION": "2"},
     "sec    | 1.90e-02 | 9.50e-03 | 9.00e-03 | 1.00e-02 | 5.00e-07 | 7.07e-04 |   68.4"),
    ({"OMNITRACE_TIMING_WIDTH": "10", "OMNITRACE_TIMING_PRECISION": "3"},
     "sec    |      0.019 |      0.009 |      0.009 |      0.010 |      0.000 |      0.001 |       68.4"),
])  # fmt: skip
def test_numbers(files, variables, cells):
    line = next(line for line in files(**variables)["wall_clock.txt"].decode().splitlines() if "|_Solver.step" in line)
    assert cells in line


@pytest.mark.parametrize(("variables", "names"), [
    ({"OMNITRACE_TRACE": "ON"}, {"perfetto-trace.proto", "metadata.json"}),
    ({"OMNITRACE_PROFILE": "ON"}, {*REPORTS, "metadata.json", "functions.json"}),
    ({"OMNITRACE_TRACE": "OFF"}, {*REPORTS, "metadata.json", "functions.json"}),
    ({"OMNITRACE_PROFILE": "ON", "OMNITRACE_TEXT_OUTPUT": "OFF"}, {"wall_clock.json", "wall_clock.tree.json", "metadata.json", "functions.json"}),
    ({"OMNITRACE_PROFILE": "ON", "OMNITRACE_JSON_OUTPUT": "OFF", "OMNITRACE_TREE_OUTPUT": "OFF"},
     {"wall_clock.txt", "metadata.json", "functions.json"}),
    ({"OMNITRACE_PROFILE": "ON", "OMNITRACE_FILE_OUTPUT": "OFF"}, set()),
    ({"OMNITRACE_PROFILE": "ON", "OMNITRACE_OUTPUT_PREFIX": "pre"},
     {f"pre-{one}" for one in (*REPORTS, "metadata.json", "functions.json")}),
    ({"OMNITRACE_PROFILE": "ON", "OMNITRACE_OUTPUT_PREFIX": "x/y/"},
     {f"x/y/{one}" for one in (*REPORTS, "metadata.json", "functions.json")}),
    ({"OMNITRACE_TRACE": "ON", "OMNITRACE_PERFETTO_FILE": "a.pftrace"}, {"a.pftrace", "metadata.json"}),
])  # fmt: skip
def test_which_files_there_are(files, variables, names):
    assert set(files(**variables)) - {"stderr", "stdout"} == names


def test_tables_are_printed_on_demand(files):
    found = files(OMNITRACE_PROFILE="ON", OMNITRACE_COUT_OUTPUT="ON")
    assert found["stdout"].encode() == found["wall_clock.txt"]


def test_json_without_its_parts(files):
    tree = json.loads(files(OMNITRACE_JSON_OUTPUT="OFF")["wall_clock.json"])["timemory"]["wall_clock"]
    assert "graph" in tree and "ranks" not in tree
    ranks = json.loads(files(OMNITRACE_TREE_OUTPUT="OFF")["wall_clock.json"])["timemory"]["wall_clock"]
    assert "ranks" in ranks and "graph" not in ranks


def test_the_tree_apart_by_threads(files):
    """The form in which hatchet reads several threads; scripts/trials/real_readers.py has it read them."""

    def nodes(one):
        node = one["node"]
        yield node["prefix"], node["tid"], node["inclusive"]["entry"]["laps"], node["exclusive"]["entry"]["value"]
        for child in one["children"]:
            yield from nodes(child)

    tree = json.loads(files()["wall_clock.tree.json"])["timemory"]["wall_clock"]
    assert "graph" not in tree and "ranks" not in tree
    assert list(nodes(tree["mpi"][0][0])) == [
        ("unknown-hash=0", [0], 0, -100_000_000), ("main", [0], 1, 61_000_000), ("Solver.step", [0], 2, 13_000_000),
        ("dot", [0], 2, 6_000_000), ("fib", [0], 1, 6_000_000), ("fib", [0], 1, 2_000_000), ("fib", [0], 1, 2_000_000),
        ("Solver.step", [1], 1, 10_000_000),
    ]  # fmt: skip


def test_directories(timeloom, run, tmp_path):
    timeloom("convert", run, "--to", "omnitrace", cwd=tmp_path,
             **{**PLAIN, "OMNITRACE_OUTPUT_PATH": "a-%rank%-$env{KIND}", "KIND": "x/y"})  # fmt: skip
    assert (tmp_path / "a-0-x_y" / "wall_clock.txt").exists()
    variables = {**PLAIN, "OMNITRACE_TIME_OUTPUT": "ON", "OMNITRACE_OUTPUT_PATH": "b", "OMNITRACE_TIME_FORMAT": "t"}
    timeloom("convert", run, "--to", "omnitrace", cwd=tmp_path, **variables)
    assert (tmp_path / "b/t/wall_clock.txt").exists()


def test_a_directory_that_cannot_be_made(timeloom, run, tmp_path):
    (tmp_path / "file").write_text("")
    done = timeloom("convert", run, "--to", "omnitrace", "-o", "file/out", cwd=tmp_path, **PLAIN)
    assert "cannot write to file/out: Not a directory; the files go to ./ [TL721]" in done.stderr
    assert (tmp_path / "wall_clock.txt").exists()


def test_the_perfetto_trace_is_that_of_convert(files, timeloom, run, tmp_path):
    """But for the category of functions of Python, of which this run has none."""
    timeloom("convert", run, "--to", "perfetto", "-o", tmp_path / "one")
    # The packets of both threads come in any order.
    assert sorted(files()["perfetto-trace.proto"]) == sorted((tmp_path / "one").read_bytes())


def test_a_unit_that_nobody_knows(timeloom, run, tmp_path):
    done = timeloom("convert", run, "--to", "omnitrace", "-o", "out", cwd=tmp_path, OMNITRACE_TIMING_UNITS="parsec", **PLAIN)
    said = [line for line in done.stderr.splitlines() if "parsec" in line]
    assert said == ["timeloom: OMNITRACE_TIMING_UNITS=parsec: there is no such unit; times are in sec [TL708]"]
    assert "| sec " in (tmp_path / "out/wall_clock.txt").read_text()


def test_metadata_has_no_environment(files):
    found = files(SECRET="my password", OMNITRACE_MAX_DEPTH="7")
    metadata = json.loads(found["metadata.json"])["omnitrace"]["metadata"]
    assert set(metadata) == {"info", "output", "settings"}
    assert b"my password" not in found["metadata.json"]
    assert metadata["settings"]["OMNITRACE_MAX_DEPTH"]["value"] == "7"
    assert metadata["output"]["text"] == [{"key": "wall_clock", "value": ["out/wall_clock.txt"]}]
    functions = json.loads(found["functions.json"])["omnitrace"]["functions"]
    graph = json.loads(found["wall_clock.json"])["timemory"]["wall_clock"]["ranks"][0]["graph"]
    assert set(functions) == {"main", "Solver.step", "dot", "fib"}
    assert {one for of_label in functions.values() for one in of_label} == {row["hash"] for row in graph}


def test_metrics_that_a_run_has_not(files):
    found = files(OMNITRACE_TIMEMORY_COMPONENTS="trip_count peak_rss cpu_clock")
    assert "peak_rss was not measured, which needs --metric-rusage" in found["stderr"]
    assert "cpu_clock is not measured: it counts in steps of 10 ms" in found["stderr"]
    assert "trip_count.txt" in found and "peak_rss.txt" not in found


@pytest.mark.parametrize(("variables", "said"), [
    ({"OMNITRACE_TIMEMORY_COMPONENTS": "wallclock"}, "no metric is called 'wallclock'"),
    ({"OMNITRACE_TRACE": "maybe"}, "variable OMNITRACE_TRACE: 'maybe' cannot be read; write ON or OFF [TL709]"),
    ({"OMNITRACE_CONFIG_FILE": "/no/where"}, "cannot read the configuration file /no/where [TL712]"),
])  # fmt: skip
def test_wrong_variables(timeloom, run, tmp_path, variables, said):
    done = timeloom("convert", run, "--to", "omnitrace", "-o", "out", cwd=tmp_path, status=1, **{**PLAIN, **variables})
    assert said in one_line(done)
    assert not (tmp_path / "out").exists()


def test_a_profile_has_no_events(timeloom, tmp_path):
    source = DATA / "scorep-fib" / "profile.cubex"
    said = one_line(timeloom("convert", source, "--to", "omnitrace", status=1, cwd=tmp_path, **PLAIN))
    assert "is a profile, which has no times of events" in said
    assert os.listdir(tmp_path) == []


def test_parts_of_a_run(files):
    found = files("--from", "5ms", "--until", "12ms", OMNITRACE_TIMEMORY_COMPONENTS="trip_count")
    assert rows(found["trip_count.txt"]) == [("|0>>> main", 1, 0), ("|0>>> |_Solver.step", 2, 1), ("|0>>>   |_dot", 2, 2)]
    found = files("--thread", "worker", OMNITRACE_TIMEMORY_COMPONENTS="trip_count")
    assert rows(found["trip_count.txt"]) == [("|0>>> Solver.step", 1, 0)]


def test_options_of_other_formats(timeloom, run, tmp_path):
    for option in ("--events", "--paths", "--flat"):
        said = one_line(timeloom("convert", run, "--to", "omnitrace", option, status=2, cwd=tmp_path, **PLAIN))
        assert "leave out --events, --paths, --flat" in said


def test_each_process_has_files_of_its_own(program, files):
    found = files(source=recorded("pool", program), OMNITRACE_USE_PID="ON", OMNITRACE_PROFILE="ON")
    tables = [name for name in found if name.startswith("wall_clock-") and name.endswith(".txt")]
    assert len(tables) == processes_of(program, recorded("pool", program)) >= 2
    assert sorted(tables) == sorted({f"wall_clock-{one.split('-')[1]}" for one in tables})


def test_what_a_process_took(tmp_path):
    """Of a real one: its memory and CPU time."""
    (tmp_path / "app.py").write_text("big = bytes(range(256)) * 400_000\nsum(big)\n")
    lines = run_omnitrace(tmp_path, "app.py", OMNITRACE_VERBOSE="0").stderr.splitlines()
    (line,) = [line for line in lines if re.match(r"omnitrace/process/\d+ : ", line)]
    words = r": ([\d.]+) sec wall_clock, ([\d.]+) MB peak_rss, ([\d.]+) MB page_rss, ([\d.]+) sec cpu_clock, ([\d.]+) % cpu_util \[laps: 1\]"
    wall, peak, resident, cpu, share = map(float, re.search(words, line).groups())
    assert 102.4 < resident <= peak < 1000 and cpu > 0 and share == pytest.approx(100 * cpu / wall, rel=0.01)


def test_the_start_of_python_is_not_in_the_time_of_a_process(tmp_path):
    """Of a program that does nothing: it cannot run more than its threads, itself and the recorder's, have time for."""
    (tmp_path / "app.py").write_text("pass\n")
    lines = run_omnitrace(tmp_path, "app.py", OMNITRACE_VERBOSE="0").stderr.splitlines()
    (share,) = [float(re.search(r"([\d.]+) % cpu_util", line).group(1)) for line in lines if line.startswith("omnitrace/process/") and "cpu_util" in line]
    assert share <= 200


def test_processes_are_one_report(program, files):
    run = recorded("pool", program)
    variables = {"OMNITRACE_PROFILE": "ON", "OMNITRACE_FLAT_PROFILE": "ON"}
    together = files(source=run, OMNITRACE_COLLAPSE_PROCESSES="ON", **variables)
    assert [name for name in together if name.endswith(".txt")] == ["wall_clock.txt"]
    expected, tables = Counter(), 0
    for name, text in files(source=run, OMNITRACE_USE_PID="ON", **variables).items():
        if re.fullmatch(r"wall_clock-\d+\.txt", name):
            tables += 1
            expected.update({label: count for label, count, _ in rows(text)})
    found = [(label, count) for label, count, _ in rows(together["wall_clock.txt"])]
    assert sorted(found) == sorted(expected.items()) and tables == processes_of(program, run) >= 2
    report = json.loads(together["wall_clock.json"])["timemory"]["wall_clock"]
    assert report["process_count"] == tables and len(report["graph"][0][0]["node"]["pid"]) == tables


def test_a_run_without_events(timeloom, tmp_path):
    empty = make_archive(tmp_path / "empty", {"MainThread": []})
    timeloom("convert", empty, "--to", "omnitrace", "-o", "out", cwd=tmp_path, **PLAIN)
    assert sorted(os.listdir(tmp_path / "out")) == ["functions.json", "metadata.json", "wall_clock.json", "wall_clock.tree.json", "wall_clock.txt"]
    assert rows((tmp_path / "out/wall_clock.txt").read_bytes()) == []


@pytest.mark.parametrize(
    "variables, user, functions",
    [({}, True, True), ({"OMNITRACE_DISABLE_CATEGORIES": "python"}, True, False),
     ({"OMNITRACE_ENABLE_CATEGORIES": "user"}, True, False), ({"ROCPROFSYS_ENABLE_CATEGORIES": "python mpi"}, False, True)],
)  # fmt: skip
def test_categories(files, program, tmp_path, variables, user, functions):
    found = files(source=recorded("threads", program), **variables)
    names = {label.split(">>> ")[1].removeprefix("|_").strip() for label, _, _ in rows(found["wall_clock.txt"])}
    region = {name for name in names if "Käse" in name}
    assert (bool(region), bool(names - region)) == (user, functions)
    (tmp_path / "trace").write_bytes(found["perfetto-trace.proto"])
    assert set(Perfetto(tmp_path / "trace").categories.values()) == ({"user"} if user else set()) | ({"python"} if functions else set())


def test_counters_of_getrusage(files, program, tmp_path):
    (tmp_path / "app.py").write_text("def work():\n    return list(map(bytearray, [1 << 20] * 30))\nwork()\n")
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "counted", "--metric-rusage",
                    "ru_utime,ru_stime,ru_maxrss,ru_minflt", "app.py"], cwd=tmp_path, check=True)  # fmt: skip
    wanted = "thread_cpu_clock thread_cpu_util peak_rss current_peak_rss num_minor_page_faults user_mode_time"
    found = files(source=tmp_path / "counted", OMNITRACE_TIMEMORY_COMPONENTS=wanted)
    for name in ("thread_cpu_clock", "thread_cpu_util", "peak_rss", "current_peak_rss", "minor_page_faults", "user_mode_time"):
        assert [row[0].split("_", 1)[-1] for row in rows(found[f"{name}.txt"])][-1].endswith("work"), name
    faults = json.loads(found["minor_page_faults.json"])["timemory"]["num_minor_page_faults"]
    work = faults["ranks"][0]["graph"][-1]
    assert work["prefix"].endswith("work") and work["entry"]["value"] > 1000
    # Nothing is said of the growth: the largest size of whoever started the program counts, too.
    rss = json.loads(found["peak_rss.json"])["timemory"]["peak_rss"]["ranks"][0]["graph"][-1]
    both = json.loads(found["current_peak_rss.json"])["timemory"]["current_peak_rss"]["ranks"][0]["graph"][-1]
    assert both["entry"]["value"]["second"] - both["entry"]["value"]["first"] == rss["entry"]["value"]
