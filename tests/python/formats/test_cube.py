"""CUBE profiles: pycubexr reads what Timeloom writes, and Timeloom reads the same values as pycubexr."""

import json
import shutil
import subprocess

import hypothesis.strategies as st
import pycubexr
import pytest
from archives import one_line, report_json
from cube_files import DATA, SIZES, SUMS_ONLY, needs_tool, random_description, read, with_pycubexr, write
from hypothesis import HealthCheck, example, given, settings

pytestmark = pytest.mark.any_python

PROGRAM = """
import threading

def leaf(n):
    return n

def work(n):
    for i in range(n):
        leaf(i)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def main():
    fib(9)
    work(2)
    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

main()
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory, timeloom_program):
    directory = tmp_path_factory.mktemp("cube")
    (directory / "app.py").write_text(PROGRAM)
    subprocess.run([timeloom_program, "run", "--output", "run", "app.py"], cwd=directory,
                   check=True, capture_output=True)
    return directory / "run"


def cells_of_trace(timeloom, run):
    """{(thread, path of regions): (visits, inclusive, min, max)} in nanoseconds, folded from the trace."""
    cells = {}
    for thread, location in enumerate(json.loads(timeloom("info", "--json", run).stdout)["locations"]):
        report = report_json(timeloom, run, "--thread", location["id"])
        for path, row in rows_by_path(report).items():
            times = (round(row[key] * 1e9) for key in ("inclusive_s", "min_s", "max_s"))
            cells[thread, path] = (row["visits"], *times)
    return cells


def without_profile(run, copy):
    shutil.copytree(run, copy)
    (copy / "profile.cubex").unlink()
    return copy


def cells_of_cube(file):
    """Return the same as pycubexr reads it, without the nodes that shape the tree."""
    with pycubexr.CubexParser(file) as cube:
        metrics = [cube.get_metric_values(cube.get_metric_by_name(name))
                   for name in ("visits", "time", "min_time", "max_time")]
        cells = {}
        for cnode in cube.all_cnodes():
            if cnode.region.role == "artificial":
                continue
            path, node = (), cnode
            while node is not None:
                if node.region.role != "artificial":
                    path = (node.region.name, *path)
                node = node.parent
            rows = [getattr(values.cnode_values(cnode), "_values", values.cnode_values(cnode))
                    for values in metrics]
            for thread, (visits, *times) in enumerate(zip(*rows)):
                if visits:
                    assert (thread, path) not in cells
                    cells[thread, path] = (int(visits), *(round(time * 1e9) for time in times))
                else:
                    assert times == [0, 0, 0]
        return cells


def test_a_run_is_what_pycubexr_reads(timeloom, measured, tmp_path):
    cells = cells_of_trace(timeloom, without_profile(measured, tmp_path / "traced"))
    assert {thread for thread, _ in cells} == {0, 1, 2}
    assert sum(visits for (_, path), (visits, *_) in cells.items()
               if path[-1] == "__main__.fib") == 109
    assert cells_of_cube(measured / "profile.cubex") == cells


def test_a_run_has_the_machine_that_pycubexr_reads(measured):
    with pycubexr.CubexParser(measured / "profile.cubex") as cube:
        root = cube.get_root_cnodes()[0]
        assert (root.region.paradigm, root.region.role) == ("measurement", "artificial")
        assert "THREADS" in [child.region.name for child in root.get_children()]
        assert [location.rank for location in cube.get_locations()] == ["0", "1", "2"]
        assert [metric.name for metric in cube.all_metrics()] == ["visits", "time", "min_time",
                                                                  "max_time", "waiting"]
        visits = cube.get_metric_values(cube.get_metric_by_name("visits")).cnode_values(root)
        assert list(visits) == [1, 0, 0]


def rows_by_path(report):
    names, rows = {}, {}
    for row in report["tree"]["rows"]:
        names[row["id"]] = (names[row["parent"]] if row["parent"] is not None else ()) + (
            row["name"],)
        rows[names[row["id"]]] = row
    return rows


def test_profile_and_trace_of_a_run_give_the_same_report(timeloom, measured, tmp_path):
    of_trace = report_json(timeloom, without_profile(measured, tmp_path / "traced"))
    of_profile = report_json(timeloom, measured / "profile.cubex")
    expected, found = rows_by_path(of_trace), rows_by_path(of_profile)
    assert found.keys() == expected.keys()
    for path, row in expected.items():
        assert found[path]["visits"] == row["visits"]
        for key in ("inclusive_s", "exclusive_s", "min_s", "max_s", "mean_s"):
            assert found[path][key] == pytest.approx(row[key], abs=2e-9), (path, key)
    for key in ("program", "host", "start", "wall_s", "processes", "threads", "events", "total_s"):
        assert of_profile[key] == pytest.approx(of_trace[key], abs=1e-9) if isinstance(
            of_trace[key], float) else of_profile[key] == of_trace[key], key


@pytest.mark.parametrize("name", ["scorep-fib", "scorep-user-regions", "scorep-threads"])
def test_a_profile_of_another_tool_is_a_run(timeloom, tmp_path, name):
    (tmp_path / "run").mkdir()
    shutil.copy(DATA / name / "profile.cubex", tmp_path / "run")
    by_directory = report_json(timeloom, tmp_path / "run")
    by_file = report_json(timeloom, tmp_path / "run" / "profile.cubex")
    assert by_directory["tree"] == by_file["tree"] and by_file["tree"]["rows"]
    assert by_directory["program"].startswith("python3.11 -m scorep")
    assert json.loads(timeloom("report", "--json", cwd=tmp_path).stdout)["run"] == "run"
    info = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)
    assert info["creator"] == "Score-P 8.4" and info["wall_s"] > 0
    text = timeloom("report", tmp_path / "run").stdout
    assert "0 events" not in text


def test_damage_is_one_line(timeloom, tmp_path):
    whole = (DATA / "scorep-fib" / "profile.cubex").read_bytes()
    damaged = tmp_path / "damaged.cubex"
    for content in (b"", b"no profile", whole[:600], whole[:-2000],
                    whole.replace(b"CUBEX.INDEX", b"CUBEX.XEDNI"),
                    whole.replace(b"UINT64", b"UINT63"),
                    whole.replace(b"<cube version", b"<!DOCTYPE cube []><cube v", 1),
                    whole.replace(b'calleeId="5"', b'calleeId="9"')):
        damaged.write_bytes(content)
        for command in ("report", "info"):
            assert "damaged.cubex cannot be read as a CUBE4 profile: " in one_line(
                timeloom(command, damaged, status=1))


kinds = st.sampled_from(sorted(SIZES)).flatmap(lambda dtype: st.tuples(
    st.just(dtype),
    st.sampled_from(["EXCLUSIVE"] if dtype in SUMS_ONLY else ["EXCLUSIVE", "INCLUSIVE"])))


def check_round_trip(file, description, *options):
    write(file, description, *options)
    assert read(file) == description
    values, tree, locations = with_pycubexr(file)
    assert {name: {str(cnode): row.hex() for cnode, row in rows.items()}
            for name, rows in values.items()} == {
                f"metric_{index}": rows for index, rows in description["values"].items()}
    assert tree == {
        index: (one["parent"], description["regions"][one["region"]],
                {key: value for _, key, value in one["parameters"]})
        for index, one in enumerate(description["cnodes"])}
    assert locations == [name for _, name in description["locations"]]


@needs_tool
@settings(max_examples=40, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), nodes=st.integers(1, 200), locations=st.integers(1, 20),
       metrics=st.lists(kinds, min_size=1, max_size=5), compress=st.booleans())
@example(seed=0, nodes=75, locations=17, compress=False,  # a member whose values would end with a block of the archive
         metrics=[("COMPLEX", "EXCLUSIVE")] * 3 + [("INT16", "EXCLUSIVE")])
def test_random_cubes_are_what_pycubexr_reads(tmp_path, seed, nodes, locations, metrics, compress):
    check_round_trip(tmp_path / "a.cubex", random_description(seed, nodes, locations, metrics),
                     *(["compress"] if compress else []))


@needs_tool
@settings(max_examples=3, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), kind=kinds)
def test_large_cubes_are_what_pycubexr_reads(tmp_path, seed, kind):
    check_round_trip(tmp_path / "a.cubex", random_description(seed, 10_000, 100, [kind]))


@needs_tool
@pytest.mark.parametrize("name", ["scorep-fib", "scorep-user-regions", "scorep-threads"])
def test_real_profiles_are_read_as_pycubexr_reads_them(name):
    file = DATA / name / "profile.cubex"
    ours, (values, tree, locations) = read(file), with_pycubexr(file)
    assert [name for _, name in ours["locations"]] == locations
    assert {ours["metrics"][int(metric)]["name"]: {int(cnode): row for cnode, row in rows.items()}
            for metric, rows in ours["values"].items()} == {
                metric: {cnode: row.hex() for cnode, row in rows.items()}
                for metric, rows in values.items()}
    assert [(one["parent"], ours["regions"][one["region"]]) for one in ours["cnodes"]] == [
        tree[cnode][:2] for cnode in sorted(tree)]
