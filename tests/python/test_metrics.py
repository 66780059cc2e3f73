"""Counters of getrusage and PAPI at every enter and leave: in the trace, as OTF2's readers see it."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pycubexr
import pytest
from streams import INSTRUMENTERS, run_python

NAMES = ["ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt",
         "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw"]  # fmt: skip
PROGRAM = """
import threading
def work():
    leaf(); burn()
def leaf(): pass
def burn():
    sum(range(3_000_000))
    return bytearray(20_000_000)
work()
thread = threading.Thread(target=work); thread.start(); thread.join()
"""

needs_printer = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")


@pytest.fixture
def work(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    return tmp_path


def record(work, *options, env=None, status=0):
    command = ["-m", "timeloom", "--quiet", "--force", "-o", "run", *options, "app.py"]
    done = run_python(command, work, env=env)
    assert (done.returncode, done.stderr == "") == (status, status == 0), done.stderr
    return done


def printed(run, *options):
    command = ["otf2-print", *options, str(run / "traces.otf2")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def events(run):
    """By location: (kind, time, values or region)."""
    result = {}
    for line in printed(run):
        match = re.match(r"(ENTER|LEAVE|METRIC)\s+(\d+)\s+(\d+)\s+(.*)", line)
        if match is None:
            continue
        kind, location, time, rest = match.groups()
        if kind == "METRIC":
            named = re.findall(r'\("(\w+)" <\d+>; UINT64; (\d+)\)', rest)
            values = {name: int(value) for name, value in named} or rest
        else:
            values = re.search(r'Region: "([^"]*)"', rest).group(1)
        result.setdefault(int(location), []).append((kind, int(time), values))
    return result


def check_pairs(stream, names):
    """Every enter and leave has its values before it, with the same time, and they never fall."""
    assert len(stream) % 2 == 0 and stream
    last = dict.fromkeys(names, 0)
    for (kind, time, values), (other, at, _) in zip(stream[::2], stream[1::2]):
        assert kind == "METRIC" and other in ("ENTER", "LEAVE") and time == at
        assert list(values) == names
        assert all(values[name] >= last[name] for name in names)
        last = values
    return last


@needs_printer
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_rusage_of_threads(instrumenter, work):
    record(work, "--metric-rusage=ru_utime, ru_minflt", "--instrumenter", instrumenter)
    locations = events(work / "run")
    assert len(locations) == 2
    for stream in locations.values():
        last = check_pairs(stream, ["ru_utime", "ru_minflt"])
        assert last["ru_utime"] > 0
        # What the work has cost lies in the work: 20 MB are some 5,000 pages.
        regions = {kind + name: values for (_, _, values), (kind, _, name) in zip(stream[::2], stream[1::2])}
        inside = regions["LEAVE__main__.burn"]["ru_minflt"] - regions["ENTER__main__.burn"]["ru_minflt"]
        assert inside > 1_000


@needs_printer
def test_definitions_of_rusage(work):
    record(work, "--metric-rusage=all")
    lines = printed(work / "run", "-G")
    members = [line for line in lines if line.startswith("METRIC_MEMBER")]
    assert [re.search(r'"(\w+)"', line).group(1) for line in members] == NAMES
    field = lambda line, name: re.search(name + r": ([^,]+)", line).group(1)
    kinds = Counter((field(line, "Mode"), field(line, "Value Type"), field(line, "Base"), field(line, "Exponent")) for line in members)
    assert kinds == {
        ("ACCUMULATED_START", "UINT64", "DECIMAL", "-6"): 2,
        ("ABSOLUTE_NEXT", "UINT64", "BINARY", "10"): 1,
        ("ACCUMULATED_START", "UINT64", "BINARY", "10"): 3,
        ("ACCUMULATED_START", "UINT64", "DECIMAL", "0"): 10,
    }
    (metric_class,) = [line for line in lines if line.startswith("METRIC_CLASS")]
    assert "SYNCHRONOUS_STRICT" in metric_class and "CPU" in metric_class and "16 Members" in metric_class
    assert all("RUSAGE" in line for line in members)
    for stream in events(work / "run").values():
        check_pairs(stream, NAMES)


@needs_printer
def test_rusage_of_the_process(work, timeloom):
    record(work, "--metric-rusage=ru_stime", "--metric-rusage-per-process=ru_utime,ru_maxrss")
    lines = printed(work / "run", "-G")
    (location,) = [line for line in lines if line.startswith("LOCATION ") and "METRIC" in line]
    assert '"Per process metrics"' in location
    assert sum(line.startswith("METRIC_CLASS") for line in lines) == 2
    (instance,) = [line for line in lines if line.startswith("METRIC_INSTANCE")]
    assert "LOCATION_GROUP" in instance
    locations = events(work / "run")
    (of_process,) = [stream for stream in locations.values() if all(kind == "METRIC" for kind, _, _ in stream)]
    main = locations[0]
    check_pairs(main, ["ru_stime"])
    assert [time for kind, time, _ in main if kind != "METRIC"] == [time for _, time, _ in of_process]
    said = timeloom("info", work / "run").stdout
    for name in ("ru_stime", "ru_utime_per_process", "ru_maxrss_per_process"):
        assert re.search(rf"timeloom::total_{name} = \d+ x (10\^-6 s|2\^10 Bytes)", said), said


@needs_printer
def test_traces_with_metrics_are_sound(work):
    record(work, "--metric-rusage=all", "--metric-rusage-per-process=all", "--c-functions")
    printed(work / "run", "--silent", "-Werror")


def test_without_metrics_there_are_none(work, timeloom):
    record(work)
    assert "METRIC" not in "".join(printed(work / "run", "-A")) if shutil.which("otf2-print") else True
    assert "Metrics" not in timeloom("info", work / "run").stdout


@needs_printer
def test_many_events_and_small_segments(work):
    """Samples and their events stay together over segments, and in forked children."""
    (work / "app.py").write_text("""
import os
def leaf(): pass
for _ in range(30_000): leaf()
if os.fork() == 0:
    for _ in range(10_000): leaf()
    os._exit(0)
os.wait()
""")
    record(work, "--metric-rusage=ru_nvcsw,ru_minflt", "--metric-rusage-per-process=ru_utime", "--buffer-size=1M")
    streams = events(work / "run")
    threads = [stream for stream in streams.values() if any(kind == "ENTER" for kind, _, _ in stream)]
    counts = sorted(sum(event[0] == "ENTER" and event[2] == "__main__.leaf" for event in stream) for stream in threads)
    assert counts == [10_000, 30_000]
    for stream in threads:
        paired = stream
        # os._exit() leaves regions open, which weaving closes without values.
        while paired[-2][0] == "LEAVE":
            paired = paired[:-1]
        check_pairs(paired, ["ru_nvcsw", "ru_minflt"])


WRONG = {
    "--metric-rusage=ru_time": "metric-rusage: 'ru_time' is not accepted; write all, or some of " + ", ".join(NAMES),
    "--metric-rusage-per-process=x": "metric-rusage-per-process: 'x' is not accepted; write all, or some of " + ", ".join(NAMES),
}  # fmt: skip


@pytest.mark.parametrize("option", WRONG)
def test_unknown_names_are_refused(option, work):
    assert record(work, option, status=2).stderr == f"timeloom: {WRONG[option]}\n"
    assert not (work / "run").exists()


# --- PAPI, by a stand-in for the library ----------------------------------------------------------


@pytest.fixture(scope="module")
def papi(tmp_path_factory):
    """The directory of a libpapi.so that counts its own reads."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    directory = tmp_path_factory.mktemp("papi")
    source = Path(__file__).with_name("metric_papi_stand_in.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", directory / "libpapi.so", source], check=True)
    return {"LD_LIBRARY_PATH": f"{directory}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


@needs_printer
def test_papi(work, papi):
    record(work, "--metric-papi=TOCK:TICK", "--metric-papi-sep=:", "--metric-rusage=ru_nsignals", env=papi)
    lines = printed(work / "run", "-G")
    members = [line for line in lines if line.startswith("METRIC_MEMBER")]
    assert ["PAPI" in line for line in members] == [False, True, True]
    for stream in events(work / "run").values():
        check_pairs(stream, ["ru_nsignals", "TOCK", "TICK"])
        values = [values for kind, _, values in stream if kind == "METRIC"]
        assert [value["TOCK"] for value in values] == list(range(1, len(values) + 1))
        assert [value["TICK"] for value in values] == list(range(10, 10 * len(values) + 1, 10))


@needs_printer
def test_papi_of_the_process(work, papi):
    record(work, "--metric-papi=TOCK", "--metric-papi-per-process=TICK", env=papi)
    streams = events(work / "run")
    main = [values["TOCK"] for kind, _, values in streams[0] if kind == "METRIC"]
    of_process = [s for s in streams.values() if all(kind == "METRIC" for kind, _, _ in s)][0]
    assert len(main) == len(of_process) > 0
    assert main == list(range(1, len(main) + 1))


@pytest.mark.parametrize("options, env, said", [
    (["--metric-papi=TUCK"], {}, "there is no event TUCK on this machine; papi_avail and papi_native_avail list those that there are"),
    (["--metric-papi=TICK,FORBIDDEN"], {}, "FORBIDDEN may not be counted; set /proc/sys/kernel/perf_event_paranoid to 2 or less, or leave metric-papi out"),
    (["--metric-papi-per-process=TICK"], {"STAND_IN_FAILS": "1"}, "libpapi cannot be used here: Component failed; see what papi_avail says, or leave metric-papi out"),
])  # fmt: skip
def test_papi_that_cannot_count_is_refused(options, env, said, work, papi):
    assert record(work, *options, env={**papi, **env}, status=2).stderr == f"timeloom: metric-papi: {said}\n"
    assert not (work / "run").exists()


def test_no_papi(work):
    """Or one without such an event: one line in either case, and nothing is run."""
    said = record(work, "--metric-papi=NO_SUCH_EVENT", status=2).stderr
    assert said.startswith("timeloom: metric-papi: ") and said.count("\n") == 1
    assert not (work / "run").exists()


# --- Values of call paths, folded from a trace and in place ---------------------------------------


def samples(run):
    """{(metric, its set, thread, call path): value}; the call path is None while no region was open."""
    file = json.loads((run / "callpaths.json").read_text())
    nodes, paths = file["nodes"], []
    for parent, region in zip(nodes["parent"], nodes["region"]):
        paths.append((*(paths[parent] if parent is not None else ()), file["regions"][region]["name"]))
    found = {}
    for location in file["locations"]:
        columns = location.get("samples", {"metric": [], "node": [], "value": []})
        for metric, node, value in zip(columns["metric"], columns["node"], columns["value"]):
            definition = file["metrics"][metric]
            path = None if node is None else paths[node]
            found[definition["name"], definition["set"].split(":")[0], location["name"], path] = value
    return found


def totals(timeloom, run):
    found = re.findall(r"timeloom::total_(\w+) = (\d+)", timeloom("info", run).stdout)
    return {name.lower(): int(value) for name, value in found}  # the library of OTF2 writes them so


# The threads of CPython's own at the end aside, every run is the same.
STEADY = """
def leaf(): pass
def inner(n):
    for _ in range(n): leaf()
def outer():
    inner(3); leaf(); inner(2)
def again(n):
    if n: again(n - 1)
for _ in range(100): outer()
again(5)
"""
COUNTS = ["--metric-papi=TICK", "--metric-papi-per-process=TOCK"]


def of_program(found, name, kind="thread"):
    """Values in call paths below the program's own module."""
    return {path[1:]: value for (metric, set_name, _, path), value in found.items()
            if (metric, set_name) == (name, kind) and path and len(path) > 1 and path[1].startswith("__main__.")}  # fmt: skip


MAIN = "__main__."
EXPECTED = {  # a step of TICK is 10 at every enter and leave
    (MAIN + "outer",): 100 * 4 * 10,
    (MAIN + "outer", MAIN + "leaf"): 100 * 10,
    (MAIN + "outer", MAIN + "inner"): 100 * (4 + 3) * 10,
    (MAIN + "outer", MAIN + "inner", MAIN + "leaf"): 100 * 5 * 10,
    **{(MAIN + "again",) * n: 20 for n in range(1, 6)},
    (MAIN + "again",) * 6: 10,
}


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
@pytest.mark.parametrize("mode", [[], ["--profile"]])
def test_call_paths_have_what_was_counted_in_them(mode, instrumenter, work, papi):
    (work / "app.py").write_text(STEADY)
    record(work, *COUNTS, *mode, "--instrumenter", instrumenter, env=papi)
    found = samples(work / "run")
    assert of_program(found, "TICK") == EXPECTED
    assert [path for name, kind, _, path in found if kind == "process"] == [None]


def test_trace_and_profile_agree_and_add_up(work, papi, timeloom):
    (work / "app.py").write_text(PROGRAM)
    runs = {}
    for mode in ([], ["--profile"]):
        record(work, *COUNTS, *mode, env=papi)
        found = samples(work / "run")
        runs[bool(mode)] = {key[:2] + key[3:]: value for key, value in found.items()}
        sums = totals(timeloom, work / "run")
        assert sum(value for key, value in found.items() if key[0] == "TICK") == sums["tick"]
        assert sum(value for key, value in found.items() if key[0] == "TOCK") == sums["tock_per_process"]
    steady = lambda run: {key: value for key, value in run.items() if key[2] and any(MAIN + "work" in part for part in key[2])}
    assert steady(runs[False]) == steady(runs[True]) and len(steady(runs[True])) == 6


@needs_printer
def test_sums_are_last_values_less_first_ones(work, timeloom):
    """Of each thread as the trace has its values; and the total of all, in place, of the same metrics."""
    options = ["--metric-rusage=all", "--metric-rusage-per-process=all"]
    record(work, *options)
    found = samples(work / "run")
    streams = events(work / "run")
    for name in ("ru_utime", "ru_minflt", "ru_nvcsw"):
        for kind, chosen in ("thread", lambda s: any(one[0] == "ENTER" for one in s)), ("process", lambda s: all(one[0] == "METRIC" for one in s)):
            values = [[v[name] for k, _, v in stream if k == "METRIC"] for stream in streams.values() if chosen(stream)]
            counted = sum(one[-1] - one[0] for one in values)
            assert sum(v for key, v in found.items() if key[:2] == (name, kind)) == counted
            assert totals(timeloom, work / "run")[name + ("_per_process" if kind == "process" else "")] == counted
    largest = max(value for key, value in found.items() if key[:2] == ("ru_maxrss", "thread"))
    assert largest == totals(timeloom, work / "run")["ru_maxrss"] > 20_000
    record(work, *options, "--profile")
    found, sums = samples(work / "run"), totals(timeloom, work / "run")
    assert len(sums) == 32
    for name in NAMES:
        for kind, suffix in ("thread", ""), ("process", "_per_process"):
            values = [value for key, value in found.items() if key[:2] == (name, kind)]
            assert (max(values, default=0) if name == "ru_maxrss" else sum(values)) == sums[name + suffix]
    inside = sum(value for key, value in found.items() if key[0] == "ru_minflt" and key[1] == "thread" and key[3] and key[3][-1] == MAIN + "burn")
    assert inside > 8_000  # 20 MB twice


@pytest.mark.parametrize("mode", [[], ["--profile"]])
def test_report_of_a_metric(mode, work, papi, timeloom):
    (work / "app.py").write_text(STEADY)
    record(work, *COUNTS, *mode, "--metric-rusage=ru_utime,ru_maxrss", env=papi)
    sources = [work / "run", work / "run" / "profile.cubex"]
    reports = []
    for source in sources:
        reports.append(json.loads(timeloom("report", "--json", "--metric", "TICK", source).stdout))
    if not mode:
        (work / "run" / "callpaths.json").rename(work / "aside")
        reports.append(json.loads(timeloom("report", "--json", "--metric", "TICK", work / "run").stdout))
        (work / "aside").rename(work / "run" / "callpaths.json")
    for report in reports:
        report.pop("run")
        assert report == reports[0]
    rows = {row["name"].removeprefix(MAIN): (row["metric_inclusive"], row["metric_exclusive"]) for row in report["flat"]["rows"]}
    assert rows["leaf"] == (6000, 6000) and rows["inner"] == (12000, 7000) and rows["outer"] == (17000, 4000)
    assert rows["again"] == (110, 110)
    inclusive = sum(row["metric_inclusive"] for row in report["tree"]["rows"] if row["parent"] is None)
    assert report["metric"]["total"] == inclusive + report["metric"]["outside"]
    text = timeloom("report", "--metric", "ru_utime", work / "run", COLUMNS="200").stdout
    assert " ru_utime incl " in text and re.search(r"\nru_utime: \S+ in all", text)
    text = timeloom("report", "--metric", "ru_maxrss", work / "run", COLUMNS="200").stdout
    assert re.search(r"\nru_maxrss: [\d.]+ MB in all", text)
    text = timeloom("report", "--metric", "TOCK_per_process", work / "run").stdout
    number = report["metric"]["total"] // 10
    assert f"\nTOCK_per_process: {number:,} in all, {number:,} outside all regions\n" in text
    csv = timeloom("report", "--csv", "--metric", "TICK", work / "run").stdout.splitlines()
    assert csv[0].endswith(",metric_inclusive,metric_exclusive") and any(line.endswith(",6000,6000") for line in csv)
    said = timeloom("report", "--metric", "ru_stime", work / "run", status=1).stderr
    assert said == ("timeloom: no metric 'ru_stime' was sampled in this run; there are ru_utime, ru_maxrss, TICK, TOCK_per_process\n")  # fmt: skip


@pytest.mark.parametrize("mode", [[], ["--profile"]])
def test_cube_has_the_metrics_of_score_p(mode, work, papi, timeloom):
    (work / "app.py").write_text(STEADY)
    record(work, *COUNTS, *mode, "--metric-rusage=ru_utime,ru_maxrss", env=papi)
    with pycubexr.CubexParser(str(work / "run" / "profile.cubex")) as cube:
        metrics = {metric.name: metric for metric in cube.all_metrics()}
        assert {name: (str(metrics[name].metric_type), metrics[name].data_type, metrics[name].units) for name in ("ru_utime", "ru_maxrss", "TICK", "TOCK")} == {
            "ru_utime": ("INCLUSIVE", "UINT64", "10^-6 s"),
            "ru_maxrss": ("EXCLUSIVE", "MAXDOUBLE", "2^10 Bytes"),
            "TICK": ("INCLUSIVE", "UINT64", "#"),
            "TOCK": ("INCLUSIVE", "UINT64", "#"),
        }  # fmt: skip
        ticks, tocks = (cube.get_metric_values(metrics[name]) for name in ("TICK", "TOCK"))
        found = {}

        def visit(cnode, path):
            if MAIN + "<module>" in path:
                found[path[path.index(MAIN + "<module>") + 1 :]] = sum(ticks.cnode_values(cnode))
            for child in cnode.get_children():
                visit(child, (*path, child.region.name))

        (root,) = cube.get_root_cnodes()
        visit(root, (root.region.name,))
        assert found[MAIN + "outer",] == 17000
        assert found[MAIN + "outer", MAIN + "inner"] == 12000
        assert found[MAIN + "outer", MAIN + "inner", MAIN + "leaf"] == 5000
        assert sum(ticks.cnode_values(root)) == totals(timeloom, work / "run")["tick"]
        (process,) = [cnode for cnode in root.get_children() if cnode.region.name == "PER PROCESS METRICS"]
        assert sum(tocks.cnode_values(process)) == sum(tocks.cnode_values(root)) == totals(timeloom, work / "run")["tock_per_process"]


def test_a_killed_profile_has_what_was_counted(work, papi, timeloom):
    (work / "app.py").write_text(STEADY + "def end():\n    import os; os.kill(os.getpid(), 9)\nend()\n")
    assert run_python(["-m", "timeloom", "--quiet", "-o", "run", "--profile", *COUNTS, "app.py"], work, env=papi).returncode == -9
    timeloom("weave", work / "run")
    found = of_program(samples(work / "run"), "TICK")
    assert found == EXPECTED
    assert totals(timeloom, work / "run")["tock_per_process"] > 1700


def test_a_profile_with_metrics_does_not_grow_with_calls(work, papi):
    sizes = []
    for calls in (100, 20_000):
        (work / "app.py").write_text(f"def leaf(): pass\nfor _ in range({calls}): leaf()\n")
        record(work, *COUNTS, "--profile", "--metric-rusage=all", "--keep-spool", env=papi)
        files = sorted((work / "run" / "spool").glob("*/profile-*"))
        places = [int.from_bytes(path.read_bytes()[16:20], "little") for path in files]
        sizes.append(places)
        values = of_program(samples(work / "run"), "TICK")
        assert values == {(MAIN + "leaf",): 10 * calls}
    assert sizes[0] == sizes[1] and len(sizes[0]) == 2


def test_metrics_go_on_in_the_profile_at_the_size_limit(work, papi, timeloom):
    (work / "app.py").write_text("def leaf(): pass\ndef rest():\n    for _ in range(100_000): leaf()\nrest()\n")
    record(work, *COUNTS, "--max-size=4M", "--at-max-size=profile", env=papi)
    assert (work / "run" / "traces.otf2").exists()
    found = of_program(samples(work / "run"), "TICK")
    assert found == {(MAIN + "rest",): 100_001 * 10, (MAIN + "rest", MAIN + "leaf"): 100_000 * 10}
    assert totals(timeloom, work / "run")["tock_per_process"] * 10 == totals(timeloom, work / "run")["tick"]
