"""`timeloom convert` to formats with call paths: the same numbers as `timeloom report` and the trace."""

import csv
import json
import marshal
import pstats
import subprocess
import sys
from collections import Counter, defaultdict

import pytest
from converted import KNOWN_PARAMETERS, PROGRAMS, calls_of, convert, converter, each_run, read_json, recorded
from profile_files import Profile

pytestmark = pytest.mark.any_python
__all__ = ["convert", "each_run"]


def own_times(calls):
    """Return (stack of names with arguments, exclusive time) of each call of one timeline."""
    found, stack = [], []
    for name, begin, end, depth, arguments in calls:
        del stack[depth:]
        divides = {key: value for key, value in arguments.items() if key not in KNOWN_PARAMETERS.values()}
        text = ", ".join(f"{key}={value}" for key, value in divides.items())
        stack.append(name + (f" {{{text}}}" if text else ""))
        found.append([tuple(stack), end - begin])
        if depth:
            parent = next(one for one in reversed(found[:-1]) if one[0] == tuple(stack[:-1]))
            parent[1] -= end - begin
    return found


def clean(name, colon=":"):
    """Return the name as in a line of folded stacks, or with another word for a semicolon."""
    return "".join("?" if ord(one) < 32 else one for one in name).replace(";", colon)


def stacks_of(run, weight):
    """Return {line without its value: value}, computed from the trace."""
    calls = {place: one for place, one in calls_of(run).items() if one}
    processes, timelines = {process for process, _ in calls_of(run)}, calls_of(run)
    stacks = Counter()
    for (process, thread), one in calls.items():
        above = [process] if len(processes) > 1 else []
        root = [*above, thread] if len(timelines) > 1 else []
        for stack, time in own_times(one):
            visits = 0 if stack[-1].endswith(" (forked)") else 1  # nobody has called it
            stacks[";".join(map(clean, [*root, *stack]))] += time if weight == "time" else visits
    return stacks


def folded(file):
    lines = (line.rpartition(" ") for line in file.read_text().splitlines())
    return {stack: int(value) for stack, _, value in lines}


@pytest.mark.parametrize("name", ["pool", "tasks", "killed"])
@pytest.mark.parametrize("weight", ["time", "visits"])
def test_collapsed(program, tmp_path, name, weight):
    run = recorded(name, program)
    expected = {stack: value for stack, value in stacks_of(run, weight).items() if value}
    assert folded(converter(program, run, tmp_path)("collapsed", "--weight", weight)) == expected


@pytest.mark.parametrize("weight", ["work", "waiting"])
def test_collapsed_work_and_waiting(program, tmp_path, timeloom, weight):
    """Over all threads, they are the columns of the report."""
    run = recorded("pool", program)
    stacks = folded(converter(program, run, tmp_path)("collapsed", "--weight", weight))
    column = {"work": "working_s", "waiting": "waiting_s"}[weight]
    expected = sum(row[column] for row in json.loads(timeloom("report", "--json", run).stdout)["tree"]["rows"])
    assert sum(stacks.values()) * 1e-9 == pytest.approx(expected, rel=1e-3)
    assert set(stacks) <= set(stacks_of(run, "time")) and expected > 0


def test_collapsed_bytes_are_the_report_s(timeloom, tmp_path):
    (tmp_path / "program.py").write_text("KEPT = []\ndef keep():\n    KEPT.append(bytearray(10_000_000))\nkeep()\n")
    timeloom("run", "--quiet", "--memory", "-o", "run", "program.py", cwd=tmp_path)
    report = json.loads(timeloom("report", "--memory", "--json", "run", cwd=tmp_path).stdout)
    (path,) = [path for path in report["paths"] if path["path"][-1].endswith(".keep")]
    for weight, amount in (("allocated", path["allocated_bytes"]), ("peak", path["at_peak"]["bytes"]),
                           ("held", path["at_end"]["bytes"])):
        done = timeloom("convert", "run", "--to", "collapsed", "--weight", weight, "-o", "-", cwd=tmp_path)
        assert amount >= 10_000_000
        assert f"__main__.<module>;__main__.keep {amount}\n" in done.stdout


def test_weight_that_a_run_does_not_have(timeloom, tmp_path, program):
    done = timeloom("convert", recorded("pool", program), "--to", "collapsed", "--weight", "held", "-o", "-", status=1)
    assert done.stderr == ("timeloom: --weight: the run has no allocations; record them with timeloom run --memory "
                           "[TL451]\n")


def test_names_in_folded_stacks(program, tmp_path):
    run = recorded("threads", program)
    stacks = folded(converter(program, run, tmp_path)("collapsed", "--only-my-code", "--weight", "visits"))
    odd = 'ein:?"Käse" {x, y}\\ ?1'
    assert stacks[f"MainThread;__main__.<module>;__main__.odd;{odd};__main__.step {{n=3}};__main__.inner"] == 1
    assert stacks["wörker:1;__main__.work"] == 1
    assert stacks["wörker:1;__main__.work;__main__.step {n=2};__main__.inner;__main__.fib;__main__.fib"] == 2


def test_difference_of_two_runs(program, tmp_path, timeloom):
    before, after = recorded("killed", program), recorded("pool", program)
    file = converter(program, after, tmp_path)("collapsed", "--before", before, "--weight", "visits")
    found = {tuple(line.rsplit(" ", 2)[:1]): line.rsplit(" ", 2)[1:] for line in file.read_text().splitlines()}
    expected = {}
    said = json.loads(timeloom("diff", "--json", "--min-percent", "0", before, after).stdout)
    paths = []
    for above, name in said["paths"]:
        paths.append([*(paths[above] if above >= 0 else []), name])
    for row in said["call_paths"]["rows"]:
        visits = [side["visits"] if side else 0 for side in (row["before"], row["after"])]
        if any(visits):
            expected[";".join(map(clean, paths[row["path"]])),] = list(map(str, visits))
    assert found == expected and len(found) > 5


# ---- pstats


def test_pstats_counts_as_cprofile(program, tmp_path):
    script = tmp_path / "counted.py"
    script.write_text("""
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n > 0 and even(n - 1)
def numbers(n):
    for i in range(n): yield fib(i)
class Box:
    def __init__(self, n): self.n = n
    @property
    def double(self): return (lambda: 2 * self.n)()
def main():
    for n in (3, 6): fib(n)
    even(8); even(3)
    assert list(numbers(5)) == [0, 1, 1, 2, 3]
    [Box(n).double for n in range(4)]
    try: fail(3)
    except ValueError: pass
def fail(n):
    if not n: raise ValueError
    fail(n - 1)
main()
""")
    theirs = "import cProfile, sys; it = cProfile.Profile(builtins=False); it.run(open('counted.py').read()); it.dump_stats('theirs')"
    subprocess.run([sys.executable, "-c", theirs], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "run", script.name], cwd=tmp_path, check=True)
    ours = converter(program, tmp_path / "run", tmp_path)("pstats", "--only-my-code")
    theirs = counts(vars(pstats.Stats(str(tmp_path / "theirs")))["stats"], "<string>")
    assert counts(marshal.loads(ours.read_bytes()), str(script)) == theirs
    assert len(theirs) >= 11
    pstats.Stats(str(ours)).strip_dirs().sort_stats("cumulative").calc_callees()


def counts(stats, file):
    """Calls and primitive calls of the functions of a file, and of each by its callers.

    From 3.15 on, cProfile has C functions also where they were not asked for: their callers stand for them.
    """

    def is_ours(function):
        return function[0] == file

    def ours(callers):
        real = [(above, count) for caller, count in callers.items()
                for above in (stats[caller][4] if caller[0] == "~" else [caller])]  # fmt: skip
        return {caller[1:]: count[:2] for caller, count in real if is_ours(caller)}

    return {
        function[1:]: (calls, primitive, ours(callers))
        for function, (primitive, calls, _, _, callers) in stats.items()
        if is_ours(function)
    }


def test_pstats_has_all_time(each_run, convert):
    stats = marshal.loads(convert("pstats").read_bytes())
    own = sum(time for calls in calls_of(each_run).values() for _, time in own_times(calls))
    assert sum(one[2] for one in stats.values()) == pytest.approx(own / 1e9)
    assert sum(one[1] for one in stats.values()) == pytest.approx(sum(map(len, calls_of(each_run).values())), abs=4)


# ---- tables


def rows_of(file):
    if file.suffix == ".json":
        return read_json(file)
    with open(file, newline="") as text:
        return [
            {key: (None if value == "" else number(value)) for key, value in row.items()}
            for row in csv.DictReader(text)
        ]


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def arrow_rows(file):
    nanoarrow = pytest.importorskip("nanoarrow")

    # An Arrow file is a stream between two marks.
    data = file.read_bytes()
    assert data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1"
    stream = nanoarrow.ArrayStream.from_readable(data[8:])
    columns = [one.name for one in stream.schema.fields]
    return [dict(zip(columns, row)) for row in stream.iter_tuples()]


def same(rows, others):
    """Empty texts and none are one in CSV."""
    return [{key: value or None for key, value in row.items()} for row in rows] == [
        {key: value or None for key, value in row.items()} for row in others
    ]


@pytest.mark.parametrize("table", ["--paths", "--flat", "--events"])
def test_tables_are_the_same_in_all_formats(program, tmp_path, table):
    run = recorded("threads", program)
    convert = converter(program, run, tmp_path)
    rows = rows_of(convert("json", table, "--only-my-code", name="a.json"))
    assert len(rows) > 10

    def ordered(table):
        return sorted(table, key=lambda row: (row["thread"], row.get("time_ns", 0)))

    arrow = arrow_rows(convert("arrow", table, "--only-my-code", name="a.arrow"))
    assert ordered(arrow) == ordered(rows)
    assert same(ordered(rows_of(convert("csv", table, "--only-my-code", name="a.csv"))), ordered(rows))


@pytest.mark.parametrize("name", PROGRAMS)
def test_call_paths_have_the_numbers_of_the_profile(program, tmp_path, name):
    run = recorded(name, program)
    rows = read_json(converter(program, run, tmp_path)("json"))
    profile = Profile(run)
    expected = Counter()
    for location in profile.locations:
        for node, (visits, inclusive, least, most) in location["cells"].items():
            one = profile.nodes[node]
            given = len(one["parameters"])
            extremes = (least, most) if visits else (None, None)
            expected[location["name"], tuple(one["path"]), given, visits, inclusive, *extremes] += 1
    by_id = {row["id"]: row for row in rows}

    def path(row):
        above = () if row["parent"] is None else path(by_id[row["parent"]])
        return (*above, row["name"])

    found = Counter()
    for row in rows:
        given = sum(value is not None for key, value in row.items() if key.startswith("parameter."))
        found[row["thread"], path(row), given, row["visits"], row["inclusive_ns"], row["min_ns"], row["max_ns"]] += 1
    assert found == expected


def test_parameters_and_metrics_are_columns(program, tmp_path):
    run = recorded("threads", program)
    rows = read_json(converter(program, run, tmp_path)("json"))
    steps = [(row["thread"], row["parameter.n"]) for row in rows if row["name"] == "__main__.step"]
    assert sorted(steps) == sorted([(name, n) for name in ("wörker;1", 'a "b", c') for n in range(3)] + [("MainThread", 3)])
    counted = {row["thread"]: [row["metric.residual." + key] for key in ("count", "sum", "min", "max")]
               for row in rows if row["metric.residual.count"]}  # fmt: skip
    assert counted == {"wörker;1": [3, 0.75, 0, 0.5], 'a "b", c': [3, 0.75, 0, 0.5], "MainThread": [1, 1.5, 1.5, 1.5]}
    (late,) = {row["parameter.result"] for row in rows if row["name"] == "__main__.late"} - {None}
    assert late == 'käse "7"'


def test_regions_are_those_of_the_report(program, tmp_path, timeloom):
    run = recorded("pool", program)
    rows = read_json(converter(program, run, tmp_path)("json", "--flat"))
    visits, own = defaultdict(int), defaultdict(int)
    for row in rows:
        visits[row["name"]] += row["visits"]
        own[row["name"]] += row["exclusive_ns"]
    report = json.loads(timeloom("report", "--json", run).stdout)["flat"]["rows"]
    assert visits == {row["name"]: row["visits"] for row in report}
    assert own == {row["name"]: round(row["exclusive_s"] * 1e9) for row in report}


@pytest.mark.parametrize("table", ["--paths", "--flat"])
def test_a_task_is_a_task_without_its_thread(program, tmp_path, table):
    convert = converter(program, recorded("tasks", program), tmp_path)
    rows = read_json(convert("json", table))
    kinds = {row["thread"]: row["kind"] for row in rows}
    assert kinds["MainThread"] == "thread" and kinds["leaf 1 (leaf)"] == "task"
    assert read_json(convert("json", table, "--thread", "leaf 1 (leaf)")) == [
        row for row in rows if row["thread"] == "leaf 1 (leaf)"
    ]


def test_sampled_metrics(program, tmp_path, timeloom):
    text = "def f(): return sum(range(100000))\nfor _ in range(20): f()"
    command = [sys.executable, "-m", "timeloom", "--quiet", "--metric-rusage", "ru_utime", "-o", "run", "-c", text]
    subprocess.run(command, cwd=tmp_path, check=True)
    rows = read_json(converter(program, tmp_path / "run", tmp_path)("json"))
    report = json.loads(timeloom("report", "--json", "--metric", "ru_utime", tmp_path / "run").stdout)["tree"]["rows"]
    assert {row["name"]: row["metric.ru_utime"] or 0 for row in rows} == {
        row["name"]: row["metric_exclusive"] for row in report
    }
