"""`timeloom view` of sampled runs: samples by call path, and estimated times, against the files and reports of the run."""

import csv
import json
import struct
import subprocess
import sys

import pytest
from html_page import each_data_of, sections_of
from sampled_runs import recorder
from streams import PROGRAMS, environment
from view_client import EVER, NONE, Fields, Viewer
from view_runs import single_samples

pytestmark = pytest.mark.any_python

TWO_THREADS = """
import ctypes, threading, time
busy = ctypes.CDLL("./busy.so")
for function in (busy.sixty, busy.thirty):
    function.argtypes = [ctypes.c_long]
    function.restype = None
def first():
    inner()
def inner():
    while time.thread_time() < 0.3:
        busy.sixty(2)
def second():
    while time.thread_time() < 0.2:
        busy.thirty(2)
for work in (first, second):
    thread = threading.Thread(target=work, name=work.__name__)
    thread.start()
    thread.join()
"""
NEEDS_MONITORING = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    return recorder(tmp_path_factory, lambda run: run, TWO_THREADS)


def samples_of(viewer, begin=0.0, end=EVER, tracks=()):
    """{names of the call path: (samples, nanoseconds)}"""
    body = viewer.ask("samples", struct.pack(f"<2d2I{len(tracks)}I", begin, end, len(tracks), 0, *tracks))
    fields = Fields(body)
    count, added = fields.u32(2)
    path, samples, ticks = fields.u32(count), fields.f64(count), fields.f64(count)
    more = list(zip(fields.u32(added), fields.u32(added), strict=True))
    regions = [region["name"] for region in viewer.description()["regions"]]
    names = regions + body[fields.at :].decode().split("\n")[:-1]
    paths = viewer.paths() + more

    def named(number):
        if number == NONE:
            return ()
        parent, region = paths[number]
        assert parent == NONE or parent < number
        return (*named(parent), names[region])

    return {named(one): sums for one, *sums in zip(path, samples, ticks, strict=True)}


def total(found):
    return [sum(one[i] for one in found.values()) for i in range(2)]


@pytest.mark.parametrize("options", [("--sample", "1ms"), pytest.param(("--sampling",), marks=NEEDS_MONITORING)])
def test_each_sample_has_the_path_of_its_calls(record, program, options):
    run = record(*options)
    with open(run / "samples.csv") as file:
        rows = list(csv.DictReader(file))
    with Viewer(program, run) as viewer:
        described = viewer.wait().description()
        assert described["samples"] and not described["throttled"]
        found = samples_of(viewer)
        assert total(found) == [sum(int(row[key]) for row in rows) for key in ("samples", "nanoseconds")]
        in_sixty = {path: sums for path, sums in found.items() if path and path[-1].endswith(": sixty")}
        (path,) = [path for path in in_sixty if "__main__.inner" in path]
        assert path[path.index("__main__.first") :] == ("__main__.first", "__main__.inner", path[-1])
        (row,) = [row for row in rows if row["function"].endswith("inner") and row["library function"] == "sixty"]
        assert in_sixty[path] == [int(row["samples"]), int(row["nanoseconds"])]
        assert in_sixty[path][1] > 0.8 * total(found)[1] * 3 / 5
        # A part of the run, and single rows.
        track = {one["name"]: i for i, one in enumerate(described["tracks"])}
        assert all("__main__.second" not in path for path in samples_of(viewer, tracks=(track["first"],)))
        middle = described["length"] / 2
        before, after = total(samples_of(viewer, end=middle)), total(samples_of(viewer, begin=middle))
        assert [a + b for a, b in zip(before, after, strict=True)] == total(found)
        assert before[0] > 0 and after[0] > 0


@pytest.mark.parametrize("options", [("--sample", "1ms"), pytest.param(("--sampling",), marks=NEEDS_MONITORING)])
def test_single_samples_are_the_ones_of_the_run(record, program, options):
    run = record(*options)
    with open(run / "samples.csv") as file:
        rows = list(csv.DictReader(file))
    with open(run / "lines.csv") as file:
        lines = {int(row["source line"]): int(row["samples"]) for row in csv.DictReader(file) if row["function"].endswith("__main__.inner")}
    with Viewer(program, run) as viewer:
        described = viewer.wait().description()
        found = single_samples(viewer)
        assert [sum(one[key] for one in found) for key in ("samples", "ns")] == [sum(int(row[key]) for row in rows) for key in ("samples", "nanoseconds")]
        assert all(one["samples"] == one["most"] == 1 and one["first"] == one["last"] for one in found)
        assert found == sorted(found, key=lambda one: (one["track"], one["first"]))
        (row,) = [row for row in rows if row["function"].endswith("inner") and row["library function"] == "sixty"]
        sixty = [one for one in found if one["hit"] and one["hit"].endswith(": sixty") and one["region"] == "__main__.inner"]
        assert [len(sixty), sum(one["ns"] for one in sixty)] == [int(row["samples"]), int(row["nanoseconds"])]
        inner = [one["line"] for one in found if one["region"] == "__main__.inner"]
        assert lines and {line: inner.count(line) for line in set(inner)} == lines
        # A part of the run, and a single row.
        track = [one["name"] for one in described["tracks"]].index("first")
        middle = described["length"] // 2
        part = single_samples(viewer, end=middle, tracks=(track,))
        assert part and part == [one for one in found if one["track"] == track and one["first"] < middle]


def test_many_samples_are_joined_by_columns_of_time(record, program):
    with Viewer(program, record("--sample", "1ms")) as viewer:
        length = viewer.wait().description()["length"]
        alone = single_samples(viewer, end=length)
        tracks = {one["track"] for one in alone}
        joined = single_samples(viewer, end=length, limit=1, columns=64)
        assert {one["track"] for one in joined} == tracks and len(joined) <= 64 * len(tracks)
        for one in joined:
            members = [other for other in alone if other["track"] == one["track"] and other["first"] * 64 // length == one["first"] * 64 // length]
            hits = [other["hit"] for other in members]
            most = max(hits, key=hits.count)
            assert [one["samples"], one["ns"], one["hit"], one["most"]] == [len(members), sum(other["ns"] for other in members), most, hits.count(most)]
            assert [one["first"], one["last"]] == [members[0]["first"], members[-1]["first"]]
            assert one["region"] == members[hits.index(most)]["region"]
        assert sum(one["samples"] for one in joined) == len(alone)
        for limit, columns in ((0, 1), (1, 0), (1, 4097), (1_000_001, 1)):
            code, _, _ = viewer.request("POST", "/api/sampled", struct.pack("<2I2d2I", limit, columns, 0, 1, 0, 0), X_Timeloom_Token=viewer.token)
            assert code == 400


def test_a_file_has_the_single_samples(record, program, timeloom, tmp_path):
    run = record("--sample", "1ms")
    timeloom("view", run, "--html", tmp_path / "out.html")
    sections = dict(sections_of((tmp_path / "out.html").read_text()))
    with Viewer(program, run) as viewer:
        viewer.wait()
        whole = viewer.ask("sampled", struct.pack("<2I2d2I", 100_000, 1, 0, EVER, 0, 0))
    assert sections[14] == whole and len(whole) > 1000
    timeloom("view", run, run, "--html", tmp_path / "two.html")
    assert b"timeloom-data-2" in (tmp_path / "two.html").read_bytes()
    (one, two) = each_data_of((tmp_path / "two.html").read_text())
    assert 14 not in dict(one) and 14 not in dict(two)


def test_runs_without_samples_have_none(tmp_path, program):
    (tmp_path / "app.py").write_text("pass\n")
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "app.py"], cwd=tmp_path, check=True, env=environment())
    with Viewer(program, tmp_path / "run") as viewer:
        assert not viewer.wait().description()["samples"]
        for route, body in (("samples", b""), ("estimates", b""), ("sampled", struct.pack("<2I", 1, 1))):
            code, _, words = viewer.request("POST", f"/api/{route}", body + struct.pack("<2d2I", 0, 1, 0, 0), X_Timeloom_Token=viewer.token)
            assert code == 400 and words.startswith(b"the run has no ")


def test_estimates_are_the_ones_of_the_report(tmp_path, program, timeloom):
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--overhead=0.5%", "--sample=1ms", PROGRAMS / "shares.py", "300"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300, env=environment())
    run = tmp_path / "run"
    with Viewer(program, run) as viewer:
        described = viewer.wait().description()
        assert described["throttled"]
        for part in ((0.0, float(described["length"] + 1)), (described["length"] // 4, described["length"] // 2)):
            answer = json.loads(viewer.ask("estimates", struct.pack("<2d2I", *part, 0, 0)))
            found = {described["regions"][one["region"]]["name"]: one for one in answer["functions"]}
            paths = viewer.paths() + list(zip(*answer["added"].values(), strict=True))
            of_paths = {names_of(one["path"], paths, described): one for one in answer["paths"]}
            stretch = [f"{one / 1e9:.9f}s" for one in part]
            words = ["--from", stretch[0], "--to", stretch[1]]
            report = json.loads(timeloom("report", "--json", "--flat", "--tree", "--min-percent", "0", *words, run).stdout)
            marked = {row["name"]: row for row in report["flat"]["rows"] if row["own_estimated"] or row["inclusive_estimated"]}
            assert len(marked) >= 8
            assert_same_times(found, marked)
            callers, marked = {}, {}
            for row in report["tree"]["rows"]:
                names = callers[row["id"]] = (*callers.get(row["parent"], ()), row["name"])
                if row["own_estimated"] or row["inclusive_estimated"]:
                    marked[names] = row
            assert len(marked) >= 8
            assert_same_times(of_paths, marked)


def names_of(path, paths, described):
    if path == NONE:
        return ()
    parent, region = paths[path]
    return (*names_of(parent, paths, described), described["regions"][region]["name"])


def assert_same_times(found, marked):
    assert found.keys() == marked.keys()
    for name, row in marked.items():
        for key, of_report in (("own", "exclusive_s"), ("own_error", "own_error_s"), ("total", "inclusive_s"), ("total_error", "inclusive_error_s")):
            assert found[name][key] == pytest.approx(row[of_report] * 1e9, rel=1e-5, abs=1000), (name, key)
