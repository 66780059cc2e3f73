"""timeloom.read(): a run in Python. The same numbers as the program prints, in data frames with their own types."""

import gc
import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from archives import make_archive
from converted import calls_of, events_of, recorded

import timeloom

pytestmark = pytest.mark.any_python

PROGRAM = Path(timeloom.__file__).parent / "bin" / "timeloom"


def said(*words):
    return json.loads(subprocess.run([PROGRAM, *words], capture_output=True, check=True).stdout)


@pytest.fixture
def path(program):
    return recorded("threads", program)


@pytest.fixture
def opened(path):
    return timeloom.read(path)


def test_facts(opened, path):
    assert opened.info == said("info", "--json", path)
    assert [one["name"] for one in opened.threads] == ["MainThread", "wörker;1", 'a "b", c']
    assert [one["name"] for one in opened.processes] == ["program.py"]
    assert [one["name"] for one in opened.metrics] == ["residual", "waiting"]
    assert repr(opened) == f"timeloom.read({str(path)!r})"


def test_call_paths_and_regions(opened, path):
    report = said("report", "--json", path)
    assert opened.tree == report["tree"]["rows"] and opened.flat == report["flat"]["rows"]


def test_events(opened, path):
    words = {"enter": "enter", "leave": "leave", "metric": "metric", "parameter": "parameter"}
    expected = {thread: [[kind, time] for kind, time, *_ in events if kind in words]
                for (_, thread), events in events_of(path).items()}  # fmt: skip
    found = {thread: [] for thread in expected}
    for row in opened.events():
        if row["event"] in words:
            found[row["thread"]].append([row["event"], row["time_ns"]])
    assert found == expected
    assert len(list(itertools.islice(opened.events(), 3))) == 3
    work = next(call for call in calls_of(path)["program.py", "wörker;1"] if call[0] == "__main__.work")
    part = list(opened.events(thread="wörker;1", start=work[1] / 1e9, end=work[2] / 1e9))
    assert {row["thread"] for row in part} == {"wörker;1"}
    assert work[1] - 1 <= part[0]["time_ns"] and part[-1]["time_ns"] <= work[2]


def test_difference(opened, path, program):
    other = recorded("killed", program)
    assert opened.diff(timeloom.read(other)) == opened.diff(other) == said("diff", "--json", path, other)


@pytest.mark.one_python
def test_pandas(opened, path):
    pandas = pytest.importorskip("pandas")
    rows = said("convert", "--to", "json", "-o", "-", path)
    frame = opened.to_pandas()
    assert list(frame.columns) == list(rows[0])
    records = [{key: None if pandas.isna(value) else value for key, value in one.items()} for one in frame.to_dict("records")]
    assert records == rows
    assert str(frame["visits"].dtype) == "int64" and str(frame["parent"].dtype) == "Int64"
    assert str(frame["parameter.n"].dtype) == "Int64" and str(frame["metric.residual.sum"].dtype) == "float64"


@pytest.mark.one_python
def test_pandas_of_all_threads_together(opened):
    pytest.importorskip("pandas")
    for table, rows in [("paths", opened.tree), ("flat", opened.flat)]:
        frame = opened.to_pandas(per_thread=False, table=table)
        found = sorted(zip(frame["name"], frame["visits"], frame["exclusive_ns"], frame["min_ns"].fillna(-1)))
        expected = sorted(
            (row["name"], row["visits"], round(row["exclusive_s"] * 1e9), -1 if row["min_s"] is None else round(row["min_s"] * 1e9))
            for row in rows)  # fmt: skip
        assert found == expected


def test_columns_without_copies(opened, path):
    nanoarrow = pytest.importorskip("nanoarrow")
    for name in ("paths", "flat", "events"):
        table = opened.table(name)
        rows = by_threads(said("convert", "--to", "json", f"--{name}", "-o", "-", path))
        assert by_threads(table) == rows
        stream = nanoarrow.ArrayStream(table)
        assert [field.name for field in stream.schema.fields] == list(rows[0])
        assert by_threads(stream.read_all().to_pylist()) == rows
    # A child lives on after the whole is gone.
    first = next(iter(nanoarrow.ArrayStream(opened.events(thread="MainThread"))))
    times = first.child(opened_columns(opened).index("time_ns"))
    expected = [row["time_ns"] for row in opened.events(thread="MainThread")][: len(first)]
    del first
    gc.collect()
    assert times.to_pylist() == expected


def opened_columns(opened):
    return list(next(iter(opened.events())))


def by_threads(rows):
    """Threads come in any order, the rows of each in order of time."""
    return sorted(rows, key=lambda row: (row["process"], row["thread"]))


def test_columns_of_many_batches_and_of_none(tmp_path):
    nanoarrow = pytest.importorskip("nanoarrow")
    events = [(i, "f" if i % 2 == 0 else None) for i in range(300_000)]
    run = timeloom.read(make_archive(tmp_path / "long", {"MainThread": events}))
    batches = [batch.to_pylist() for batch in nanoarrow.ArrayStream(run.events())]
    assert len(batches) > 1 and sum(map(len, batches)) == len(events)
    assert [row["time_ns"] for batch in batches for row in batch] == [row["time_ns"] for row in run.events()]
    assert nanoarrow.ArrayStream(run.events(start=1e6)).read_all().to_pylist() == []
    partly = nanoarrow.ArrayStream(run.events())
    assert len(next(iter(partly))) == len(batches[0])
    del partly  # the program that writes is not waited for
    with pytest.raises(timeloom.Error, match="thread"):
        nanoarrow.ArrayStream(run.events(thread="nobody"))


@pytest.mark.one_python
def test_polars(opened, path):
    pytest.importorskip("polars")
    assert opened.to_polars().to_dicts() == said("convert", "--to", "json", "-o", "-", path)
    mine = opened.to_polars(table="events", options=["--only-my-code", "--thread", "MainThread"])
    assert set(mine["thread"]) == {"MainThread"}
    assert len(mine) == len(list(opened.events(thread="MainThread", only_my_code=True)))


@pytest.mark.one_python
def test_a_table_without_rows(tmp_path, program):
    pytest.importorskip("pandas")
    empty = timeloom.read(make_archive(tmp_path / "empty", {"MainThread": []}))
    assert len(empty.to_pandas()) == 0 and "visits" in empty.to_pandas().columns
    assert empty.tree == [] and list(empty.events()) == []


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(timeloom.Error, match="nowhere"):
        timeloom.read(tmp_path / "nowhere")
    (tmp_path / "run.cubex").write_bytes(b"nothing")
    with pytest.raises(timeloom.Error):
        timeloom.read(tmp_path / "run.cubex")


TALKING = '''#!/bin/sh
head -c 300000 /dev/zero | tr '\\0' x >&2
echo '{}'
echo done >&2
exit $STATUS
'''


def test_a_program_that_says_much(tmp_path):
    """More than a pipe holds, on standard error; nothing stays open, whatever happens."""
    talking = tmp_path / "timeloom"
    talking.write_text(TALKING)
    talking.chmod(0o755)
    # In a process of its own, which may be ended.
    text = '''
import os, sys
from pathlib import Path
from timeloom import Error, _read
_read._PROGRAM = Path(sys.argv[1])
before = os.listdir("/proc/self/fd")
os.environ["STATUS"] = "0"
print(_read._run("info"))
os.environ["STATUS"] = "1"
try:
    _read._run("info")
except Error as error:
    print(len(str(error)), str(error)[-5:])
try:
    with _read._output_of(["info"]):
        raise KeyError
except KeyError:
    pass
_read._PROGRAM = Path("/nowhere/timeloom")
try:
    _read._run("info")
except FileNotFoundError:
    pass
print(os.listdir("/proc/self/fd") == before)
'''
    done = subprocess.run([sys.executable, "-W", "error", "-c", text, talking], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("b'{}\\n'\n300004 xdone\nTrue\n", "")


def test_importing_timeloom_brings_none_of_it():
    text = "import sys, timeloom; assert not {'timeloom._read', 'subprocess', 'json', 'pandas'} & set(sys.modules); print(timeloom.read)"
    subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)


def test_call_paths_for_hatchet(opened):
    from timeloom._graphs import literal_of

    def flattened(nodes, parent):
        for node in nodes:
            yield node["frame"]["name"], parent, node["metrics"], len(node["children"])
            yield from flattened(node["children"], node["frame"]["name"])

    names = {row["id"]: row["name"] for row in opened.tree}
    children = Counter(row["parent"] for row in opened.tree)
    expected = [
        (row["name"], names.get(row["parent"]),
         {"time": row["exclusive_s"], "time (inc)": row["inclusive_s"], "visits": row["visits"]}, children[row["id"]])
        for row in opened.tree
    ]  # fmt: skip
    key = repr
    assert sorted(flattened(literal_of(opened.tree), None), key=key) == sorted(expected, key=key)


@pytest.mark.one_python
def test_who_calls_whom(opened):
    pytest.importorskip("networkx")
    graph = opened.to_networkx()
    assert {node: dict(facts) for node, facts in graph.nodes(data=True)} == {
        (row["name"], row["file"], row["line"]): row for row in opened.flat
    }
    keys = {row["id"]: (row["name"], row["file"], row["line"]) for row in opened.tree}
    visits, times = Counter(), Counter()
    for row in opened.tree:
        if row["parent"] is not None:
            edge = keys[row["parent"]], keys[row["id"]]
            visits[edge] += row["visits"]
            times[edge] += row["inclusive_s"]
    assert {(a, b): edge["visits"] for a, b, edge in graph.edges(data=True)} == visits
    assert {(a, b): edge["inclusive_s"] for a, b, edge in graph.edges(data=True)} == pytest.approx(times)
