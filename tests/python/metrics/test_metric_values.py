"""Counters of getrusage and PAPI as values of call paths: folded from a trace and in place."""

import json
import re

import pycubexr
import pytest
from metric_runs import NAMES, PROGRAM, events, needs_printer, papi, record, work  # noqa: F401
from profile_files import Profile
from streams import INSTRUMENTERS, run_python

pytestmark = pytest.mark.any_python


def samples(run):
    """{(metric, its set, thread, call path): value}; the call path is None while no region was open."""
    profile = Profile(run)
    return {
        (metric, of.split(":")[0], location["name"], None if node is None else profile.nodes[node]["path"]): value
        for location in profile.locations
        for (metric, of, node), value in location["samples"].items()
        if metric != "waiting"
    }


def totals(timeloom, run):
    found = re.findall(r"timeloom::total_(\w+) = (\d+)", timeloom("info", "--all", run).stdout)
    return {name.lower(): int(value) for name, value in found}  # the library of OTF2 writes them so


# Apart from CPython's own threads at the end, every run is the same.
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
    """Check the values of each thread in the trace, and the totals of the same metrics, folded in place."""
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
        (work / "run" / "profile.cubex").rename(work / "aside")
        reports.append(json.loads(timeloom("report", "--json", "--metric", "TICK", work / "run").stdout))
        (work / "aside").rename(work / "run" / "profile.cubex")
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
    # At least the process that started it, which is the test's.
    assert re.search(r"\nru_maxrss: [\d.]+ [MG]B in all", text)
    text = timeloom("report", "--metric", "TOCK_per_process", work / "run").stdout
    number = report["metric"]["total"] // 10
    assert f"\nTOCK_per_process: {number:,} in all, {number:,} outside all regions\n" in text
    csv = timeloom("report", "--csv", "--flat", "--metric", "TICK", work / "run").stdout.splitlines()
    assert csv[0].endswith(",metric_inclusive,metric_exclusive") and any(line.endswith(",6000,6000") for line in csv)
    said = timeloom("report", "--metric", "ru_stime", work / "run", status=1).stderr
    assert said == ("timeloom: no metric 'ru_stime' was sampled in this run; there are ru_utime, ru_maxrss, TICK, TOCK_per_process [TL422]\n")  # fmt: skip


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
    # A counter of the system that stays zero for a while, as of context switches, takes its place later.
    few, many = sizes
    assert len(few) == len(many) == 2
    assert all(later - first < 10 for first, later in zip(few, many, strict=True))


def test_metrics_go_on_in_the_profile_at_the_size_limit(work, papi, timeloom):
    (work / "app.py").write_text("def leaf(): pass\ndef rest():\n    for _ in range(100_000): leaf()\nrest()\n")
    record(work, *COUNTS, "--max-size=4M", "--at-max-size=profile", env=papi)
    assert (work / "run" / "traces.otf2").exists()
    found = of_program(samples(work / "run"), "TICK")
    assert found == {(MAIN + "rest",): 100_001 * 10, (MAIN + "rest", MAIN + "leaf"): 100_000 * 10}
    assert totals(timeloom, work / "run")["tock_per_process"] * 10 == totals(timeloom, work / "run")["tick"]
