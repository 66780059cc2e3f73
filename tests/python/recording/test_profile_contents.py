"""The contents of a profile besides visits and times: parameters, counters, a depth limit, losses."""

import json
import os
import re
import subprocess
import tarfile

import pycubexr
import pytest
from profile_files import Profile
from streams import run_python, write_program

pytestmark = pytest.mark.any_python

MODES = ([], ["--profile"])
each_mode = pytest.mark.parametrize("mode", MODES)

PROGRAM = """
import timeloom
def work(n):
    timeloom.parameter_int("n", n)
    timeloom.parameter_string("who", "me & you")
    step()
    timeloom.counter("size", 10 * n, unit="B")
    timeloom.counter("ratio", n / 4)
def step(): timeloom.counter("size", 1, unit="B")
def late(n):
    step()
    timeloom.parameter_float("share", n)
    step()
for n in range(6): work(n % 3)
for n in (0.5, 2.5): late(n)
"""


def measure(program, directory, *options, status=0):
    path = write_program(directory, program)
    run = directory / f"run{''.join(options)}"
    done = run_python(["-m", "timeloom", "-o", run, *options, path], directory)
    assert done.returncode == status, done.stderr
    return run, done.stderr


def paths_of(run):
    """{call path: [location, visits, inclusive]} and {(counter, call path): (values, sum, min, max)}."""
    profile, paths = Profile(run), []
    for node in profile.nodes:
        name = "COLLAPSE" if node["region"] is None else node["region"].removeprefix("__main__.")
        name += "".join(f" {key}={value}" for key, value in node["parameters"])
        paths.append((*(paths[node["parent"]] if node["parent"] is not None else ()), name))
    found, counters = {}, {}
    for index, location in enumerate(profile.locations):
        for node, (visits, time, *_) in location["cells"].items():
            found.setdefault(paths[node], []).append((index, visits, time))
        for (metric, node), (count, least, most, total, _) in location["counters"].items():
            counters[metric, paths[node]] = (count, total, least, most)
    return found, counters


def visits_of(run):
    found = {path[1:]: sum(v for _, v, _ in cells) for path, cells in paths_of(run)[0].items()}
    return {path: visits for path, visits in found.items() if path and not path[0].startswith("<")}


def in_cube(run):
    """{call path: visits} and {(counter, call path): (values, sum, min, max)} as pycubexr reads them."""
    visits, counters = {}, {}
    with pycubexr.CubexParser(str(run / "profile.cubex")) as cube:
        def path_of(cnode):
            above = path_of(cnode.parent) if cnode.parent else ()
            name = cnode.region.name.removeprefix("__main__.")
            return (*above, name + "".join(f" {k}={v}" for k, v in cnode.parameters.items()))
        for metric in cube.all_metrics():
            if metric.name in ("time", "min_time", "max_time"):
                continue
            values = cube.get_metric_values(metric)
            for cnode in cube.all_cnodes():
                if cnode.id not in values.cnode_indices:
                    continue
                value = values.cnode_values(cnode)[0]
                if metric.name == "visits":
                    visits[path_of(cnode)[2:]] = int(value)
                else:
                    counters[metric.name, path_of(cnode)[1:]] = value
    return visits, counters


def of_program(counts):
    """Return the paths without the root, and without Python's thread shutdown."""
    return {path: n for path, n in counts.items() if path and not path[0].startswith("threading.")}


@each_mode
def test_parameters_split_call_paths(mode, tmp_path, timeloom_program):
    run, said = measure(PROGRAM, tmp_path, *mode)
    expected = {}
    for n in range(3):
        expected[f"work n={n} who=me & you",] = 2
        expected[f"work n={n} who=me & you", "step"] = 2
    expected["late",] = 0
    expected["late", "step"] = 2
    for share in ("0.5", "2.5"):
        expected[f"late share={share}",] = 1
        expected[f"late share={share}", "step"] = 1
    assert of_program(visits_of(run)) == expected
    assert of_program(in_cube(run)[0]) == expected
    # The same through the report, which reads a trace or a CUBE profile.
    for source in (run, run / "profile.cubex", *run.glob("traces.otf2")):
        done = subprocess.run(
            [timeloom_program, "report", "--json", "--min-percent", "0", source], capture_output=True, text=True, check=True
        )
        rows = {row["id"]: row for row in json.loads(done.stdout)["tree"]["rows"]}
        found = {}
        for row in rows.values():
            values = "".join(f" {one['name']}={one['value']}" for one in row["parameters"])
            if row["name"] == "__main__.work":
                found[values] = row["visits"]
        assert found == {f" n={n} who=me & you": 2 for n in range(3)}
    text = subprocess.run(
        [timeloom_program, "report", "--min-percent", "0", run],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"},
    ).stdout  # fmt: skip
    assert "__main__.work {n=1, who=me & you}" in text


def test_a_trace_without_its_profile_gives_the_same_call_paths(tmp_path, timeloom_program):
    run, _ = measure(PROGRAM, tmp_path)
    command = [timeloom_program, "report", "--json", "--min-percent", "0", run]
    before = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (run / "profile.cubex").unlink()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == before


@each_mode
def test_counters_have_values_in_call_paths(mode, tmp_path):
    run, _ = measure(PROGRAM, tmp_path, *mode)
    found = {(name, path[1:]): values for (name, path), values in paths_of(run)[1].items()}
    for n in range(3):
        path = (f"work n={n} who=me & you",)
        assert found["size", path] == (2, 20 * n, 10 * n, 10 * n)
        assert found["ratio", path] == (2, n / 2, n / 4, n / 4)
        assert found["size", (*path, "step")] == (2, 2, 1, 1)
    assert found["size", ("late share=0.5", "step")] == (1, 1, 1, 1)
    assert ("size", ("late share=0.5",)) not in found


def test_diff_compares_call_paths_with_the_same_parameters(tmp_path, timeloom_program):
    program = "import timeloom, time\ndef f(n):\n    timeloom.parameter_int('n', n)\n    time.sleep({0} if n else 0)\nf(0); f(1)\n"
    runs = [tmp_path / name for name in "ab"]
    for run, pause in zip(runs, (0, 0.2)):
        path = write_program(tmp_path, program.format(pause))
        done = run_python(["-m", "timeloom", "--quiet", "--profile", "-o", run, path], tmp_path)
        assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [timeloom_program, "diff", "--json", "--tree", "--min-percent", "0", *runs], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "__main__.f {n=0}" in done.stdout and "__main__.f {n=1}" in done.stdout


@each_mode
def test_calls_below_the_depth_limit_are_one_call_path(mode, tmp_path, timeloom_program):
    program = "import sys\nsys.setrecursionlimit(20000)\ndef f(n):\n    if n: f(n - 1)\nf(9998)\nf(5)\n"
    run, said = measure(program, tmp_path, "--profile-depth", "100", *mode)
    found = {path: cells for path, cells in paths_of(run)[0].items() if path[:1] == ("<module>",)}
    sentence = ("the limit of 100 levels of call paths was exceeded. The deepest had 10,000 levels. "
                "Consider setting --profile-depth to 10000. [TL010]")
    assert f"timeloom: {sentence}\n" in said
    deepest = max(found, key=len)
    assert deepest == ("<module>", *["f"] * 99, "COLLAPSE")
    assert sum(cells[0][1] for cells in found.values()) == 1 + 9999 + 6
    assert found[deepest][0][1] == 9999 - 99
    assert found[deepest][0][2] <= found[deepest[:-1]][0][2]
    done = subprocess.run([timeloom_program, "report", "--json", run], capture_output=True, text=True, check=True)
    assert sentence in json.loads(done.stdout)["losses"]
    # A limit that is not exceeded is not reported.
    run, said = measure("def f(): pass\nf()\n", tmp_path, "--force", "--profile-depth", "100", *mode)
    assert "limit" not in said


def test_a_profile_whose_head_is_damaged_is_reported(tmp_path, timeloom_program):
    program = "import threading\ndef f(): pass\nt = threading.Thread(target=f)\nt.start(); t.join(); f()\n"
    run, _ = measure(program, tmp_path, "--profile", "--no-weave")
    (head,) = run.glob("spool/*/profile-1")
    with head.open("r+b") as file:
        file.write(b"damaged!")
    done = subprocess.run([timeloom_program, "weave", run], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 damaged part left out; the recording is kept in spool/" in done.stdout
    assert sum(v for cells in paths_of(run)[0].values() for _, v, _ in cells) >= 2


@pytest.mark.any_python
def test_what_a_profile_has_no_room_for_is_counted(tmp_path, timeloom):
    program = """
import timeloom
with timeloom.region("all"):
    for n in range(260_000):
        with timeloom.region("part"):
            timeloom.parameter_int("n", n)
"""
    run, said = measure(program, tmp_path, "--profile", "--instrumenter", "dummy")
    with tarfile.open(run / "profile.cubex") as archive:  # whole, it takes Python's reader ten seconds
        anchor = archive.extractfile("anchor.xml").read()
    kept = [int(value) for value in re.findall(rb'parkey="n" parvalue="(\d+)"', anchor)]
    assert kept == list(range(len(kept))) and anchor.count(b"<cnode ") == len(kept) + 3
    lost = 260_000 - len(kept)
    assert 5_000 < lost < 15_000
    assert f"timeloom: {lost:,} events could not be recorded [TL003]\n" in said
    timeloom("check", run, "visits(part) >= 260000", "visits(all) >= 1")
    timeloom("check", run, "visits(part) >= 260001", status=4)
