"""`timeloom convert --to callgrind`: read as its readers do."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from converted import calls_of, convert, each_run, read_json
from streams import environment
from test_convert_paths import clean

pytestmark = pytest.mark.any_python

__all__ = ["convert", "each_run"]


def read_callgrind(file):
    """By thread: {(file, function): [time, visits]} and {(caller, function): [calls, time, visits]}."""
    names, threads, current, in_head = {"fl": {}, "fn": {}}, {}, {}, True

    def name(kind, text):
        number, _, given = text.partition(" ")
        if given:
            names[kind][number] = given
        return names[kind][number]

    lines = iter(file.read_text().splitlines())
    assert next(lines) == "# callgrind format"
    for line in lines:
        key, _, value = line.partition("=")
        # As KCachegrind reads it: the line of events ends a head, and names belong to one part.
        if line.startswith("pid: "):
            names, in_head = {"fl": {}, "fn": {}}, True
        elif line.startswith("events: "):
            assert line == "events: Nanoseconds Visits"
            in_head = False
        elif line.startswith("desc: Thread: "):
            own, calls = threads[line.removeprefix("desc: Thread: ")] = ({}, {})
        elif key in ("fl", "cfi"):
            assert not in_head
            current[key] = name("fl", value)
        elif key in ("fn", "cfn"):
            current[key] = name("fn", value)
        elif key == "calls":
            place = (current["fl"], current["fn"]), (current["cfi"], current["cfn"])
            add(calls, place, [int(value.split()[0]), *map(int, next(lines).split()[1:])])
        elif line[:1].isdigit():
            add(own, (current["fl"], current["fn"]), list(map(int, line.split()[1:])))
    return threads


def add(table, key, costs):
    """Functions with one name in one file, such as lambdas, are joined."""
    table[key] = [a + b for a, b in zip(table.get(key, [0] * len(costs)), costs)]


def test_callgrind_has_functions_and_calls(each_run, convert):
    rows = read_json(convert("json", name="paths.json"))
    several = len({process for process, _ in calls_of(each_run)}) > 1

    def place(process, thread):
        return clean(f"{process}: {thread}" if several else thread, ";")

    def function(row):
        return (row["file"] or "???", clean(row["name"], ";"))

    expected = {place(*one): ({}, {}) for one in calls_of(each_run)}
    by_id = {(row["process"], row["thread"], row["id"]): row for row in rows}

    def callers(row):
        while row := by_id.get((row["process"], row["thread"], row["parent"])):
            yield row

    below = dict.fromkeys(by_id, 0)  # visits, its own included
    for row in rows:
        for one in (row, *callers(row)):
            below[one["process"], one["thread"], one["id"]] += row["visits"]
    for row in rows:
        own, calls = expected[place(row["process"], row["thread"])]
        add(own, function(row), [row["exclusive_ns"], row["visits"]])
        above = [function(one) for one in callers(row)]
        if above:  # the cost of a recursive call is in the outermost one
            cost = [row["inclusive_ns"], below[row["process"], row["thread"], row["id"]]]
            add(calls, (above[0], function(row)), [row["visits"], *([0, 0] if function(row) in above else cost)])
    file = convert("callgrind")
    found = read_callgrind(file)
    assert found == expected and any(own for own, _ in found.values())
    # The totals of each part, and of all.
    sums = [[sum(column) for column in zip(*own.values())] if own else [0, 0] for own, _ in found.values()]
    lines = [line.split(": ") for line in file.read_text().splitlines() if line.startswith(("totals: ", "summary: "))]
    assert lines == [["totals", f"{time} {visits}"] for time, visits in sums] + [
        ["summary", " ".join(str(sum(column)) for column in zip(*sums))]]


def annotated(file, *options):
    """Return callgrind_annotate's output: (time, visits) of the whole, and by function."""
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", *options, file], cwd="/", capture_output=True, text=True,
                          check=True, timeout=60)  # fmt: skip
    rows = {}
    for line in done.stdout.splitlines():
        if found := re.match(r" *([\d,]+) \([ .\d]+%\) +([\d,]+) \([ .\d]+%\) +(.*)", line):
            rows[found[3].split(":")[-1].strip()] = tuple(int(found[i].replace(",", "")) for i in (1, 2))
    return rows.pop("PROGRAM TOTALS"), rows, done.stderr


def warnings_of_further_heads(file):
    """The format has a part with a separate head for each thread; callgrind_annotate uses the first one only."""
    lines = file.read_text().splitlines()
    first = lines.index("events: Nanoseconds Visits")
    heads = [n for n, line in enumerate(lines) if n > first and re.match("(pid|part|thread|desc|positions|events): ", line)]
    return [words for n in heads for words in (f"WARNING: line {n + 1} malformed, ignoring", f"    line: '{lines[n]}'")]


@pytest.mark.skipif(shutil.which("callgrind_annotate") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("threads", [1, 2])
def test_callgrind_annotate_computes_the_same(program, tmp_path, timeloom, threads):
    (tmp_path / "app.py").write_text(f"""
import threading

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n > 0 and even(n - 1)

def work():
    fib(10)
    even(20)

work()
for _ in range({threads} - 1):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
""")
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "app.py"], cwd=tmp_path, env=environment(),
                   check=True, timeout=60)  # fmt: skip
    timeloom("convert", "run", "--to", "callgrind", "-o", "file", cwd=tmp_path)
    flat = json.loads(timeloom("convert", "run", "--to", "json", "--flat", "-o", "-", cwd=tmp_path).stdout)
    all_time = sum(row["exclusive_ns"] for row in flat)
    total, own, said = annotated(tmp_path / "file")
    assert total == (all_time, sum(row["visits"] for row in flat))
    assert set(own) == {row["name"] for row in flat}
    for name, (time, visits) in own.items():
        rows = [row for row in flat if row["name"] == name]
        assert (time, visits) == (sum(row["exclusive_ns"] for row in rows), sum(row["visits"] for row in rows)), name
    # Including callees: a recursive function takes the time of its outermost calls.
    total, whole, _ = annotated(tmp_path / "file", "--inclusive=yes")
    assert total == (all_time, sum(row["visits"] for row in flat))
    for name, (time, _) in whole.items():
        rows = [row for row in flat if row["name"] == name]
        assert time == sum(row["inclusive_ns"] for row in rows) <= all_time, name
    assert whole["__main__.fib"][1] == 177 * threads and whole["__main__.even"][1] == 21 * threads
    assert said.splitlines() == warnings_of_further_heads(tmp_path / "file")
    # As the page recommends: a file of one thread has one part.
    timeloom("convert", "run", "--to", "callgrind", "--thread", "MainThread", "-o", "one", cwd=tmp_path)
    of_thread = [row for row in flat if row["thread"] == "MainThread"]
    total, own, said = annotated(tmp_path / "one")
    assert (total[0], set(own), said) == (sum(row["exclusive_ns"] for row in of_thread), {row["name"] for row in of_thread}, "")
