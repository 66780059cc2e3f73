"""Runs with deep recursion: no command needs time or output that grows with the square of the depth."""

import json
import subprocess
import sys

import pytest
from streams import environment

pytestmark = pytest.mark.any_python

DEPTH = 20_000
PROGRAM = f"""
import sys
sys.setrecursionlimit({DEPTH} + 100)
def even(n):
    return odd(n - 1) if n else 0
def odd(n):
    return even(n - 1)
even({DEPTH})
"""


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """Return two runs of a pair of functions that call each other."""
    place = tmp_path_factory.mktemp("deep")
    (place / "app.py").write_text(PROGRAM)
    for name in ("run", "again"):
        subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", name, "app.py"], cwd=place,
                       env=environment(), check=True, timeout=60)  # fmt: skip
    return place


# Most bytes for each call of the recursion; quadratic output has thousands.
@pytest.mark.parametrize(("most", "words"), [
    (2, ["report", "run"]), (2, ["report", "--tree", "run"]), (600, ["report", "--json", "run"]),
    (300, ["report", "--csv", "run"]), (2, ["report", "--by", "thread", "run"]),
    (2, ["report", "--function", "__main__.even", "run"]), (2, ["info", "run"]), (2, ["score", "run"]),
    (2, ["view", "--text", "run"]), (2, ["diff", "run", "again"]), (700, ["diff", "--json", "run", "again"]),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)  # fmt: skip
def test_the_output_of_commands_is_linear(timeloom, deep, most, words):
    said = timeloom(*words, cwd=deep).stdout
    assert 0 < len(said) < most * DEPTH


@pytest.mark.parametrize(("most", "format"), [
    (300, "perfetto"), (600, "chrome"), (300, "speedscope"), (400, "firefox"), (1, "pstats"), (1, "callgrind"),
    (200, "csv"), (500, "json"), (200, "arrow"),
])  # fmt: skip
def test_files_for_other_tools_are_linear(timeloom, deep, most, format):
    timeloom("convert", "run", "--to", format, "-o", f"file.{format}", cwd=deep)
    assert 0 < (deep / f"file.{format}").stat().st_size < most * DEPTH


# Their stacks end after 1,024 calls.
@pytest.mark.parametrize("words", [["collapsed"], ["pprof"], ["speedscope", "--paths"]])
def test_formats_of_whole_stacks_stop_at_a_depth(timeloom, deep, words):
    file = deep / f"stacks.{words[0]}"
    done = timeloom("convert", "run", "--to", *words, "-o", file, cwd=deep)
    assert done.stderr.splitlines()[0] == (
        f"timeloom: run: stacks of {words[0]} end after 1,024 calls with '(deeper calls)' [TL436]")
    assert file.stat().st_size < 1024 * 1024 * 20


def test_collapsed_has_all_visits(timeloom, deep):
    text = timeloom("convert", "run", "--to", "collapsed", "--weight", "visits", "-o", "-", cwd=deep).stdout
    visits: dict[str, int] = {}
    longest = 0
    for line in text.splitlines():
        stack, number = line.rsplit(" ", 1)
        frames = stack.split(";")
        visits[frames[-1]] = visits.get(frames[-1], 0) + int(number)
        longest = max(longest, len(frames))
    assert visits["__main__.even"] == DEPTH // 2 + 1 and visits["__main__.odd"] == DEPTH // 2
    assert longest == 1024 + 2
    both = timeloom("convert", "run", "--to", "collapsed", "--weight", "visits", "--before", "again", "-o", "-", cwd=deep)
    pairs = [line.rsplit(" ", 2) for line in both.stdout.splitlines()]
    assert all(before == after for _, before, after in pairs) and len(pairs) == len(text.splitlines())


def test_paths_of_a_difference_are_a_table(timeloom, deep):
    said = json.loads(timeloom("diff", "--json", "--tree", "run", "again", cwd=deep).stdout)
    paths = said["paths"]
    assert len(paths) == len(said["call_paths"]["rows"]) >= DEPTH
    deepest = max(row["path"] for row in said["call_paths"]["rows"])
    names = []
    while deepest >= 0:
        deepest, name = paths[deepest]
        names.append(name)
    assert names[:2] == ["__main__.even", "__main__.odd"] and len(names) > DEPTH


def test_paths_of_input_and_output_end_at_a_depth(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("""
import os, sys
sys.setrecursionlimit(4000)
file = os.open("/dev/null", os.O_WRONLY)
def f(n):
    os.write(file, b"x")
    if n: f(n - 1)
f(3000)
""")
    subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "--io", "posix", "-o", "run", "app.py"], cwd=tmp_path,
                   env=environment(), check=True, timeout=60)  # fmt: skip
    said = timeloom("report", "--io", "--json", "run", cwd=tmp_path).stdout
    rows = [row for row in json.loads(said)["call_paths"] if row["path"][-2:] == ["__main__.f", "write"]]
    assert sum(row["operations"] for row in rows) == 3001
    assert max(len(row["path"]) for row in rows) == 1024 + 3
    (deep,) = [row for row in rows if "(deeper calls)" in row["path"]]
    assert deep["path"][-3] == "(deeper calls)" and deep["operations"] == 3001 - (len(rows) - 1)
