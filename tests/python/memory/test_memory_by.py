"""timeloom report --memory with --by and --function: sums of the call paths, to the byte."""

import json
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "programs" / "memory_owners.py"
pytestmark = pytest.mark.any_python


@pytest.fixture
def run(timeloom, tmp_path, monkeypatch):
    """The path of a run, and what its program knows."""
    monkeypatch.chdir(tmp_path)
    done = timeloom("run", "--quiet", "--memory=all", "-o", "run", PROGRAM)
    return json.loads(done.stdout)


def report(timeloom, *options):
    return json.loads(timeloom("report", "--memory", "--json", *options, "run").stdout)


def of_paths(paths, *members):
    """The sum of the paths."""
    total = 0
    for path in paths:
        value = path
        for member in members:
            value = value[member]
        total += value
    return total


@pytest.mark.parametrize("key", ["module", "package", "file", "thread", "process"])
def test_groups_add_up_to_the_call_paths(timeloom, run, key):
    whole, groups = report(timeloom), report(timeloom, "--by", key)
    assert (groups["format"], groups["by"]) == ("timeloom-report-memory-by", key)
    rows = [row for row in groups["rows"] if row["name"] not in ("(Timeloom)", "(outside all regions)", "(before the program)")]
    for column, members in (("peak_bytes", ("at_peak", "bytes")), ("held_bytes", ("at_end", "bytes")),
                            ("allocated_bytes", ("allocated_bytes",)), ("allocations", ("allocations",)),
                            ("frees", ("frees",)), ("freed_bytes", ("freed_bytes",))):  # fmt: skip
        assert sum(row[column] for row in rows) == of_paths(whole["paths"], *members) > 0
    (process,) = whole["processes"]
    assert sum(row["peak_bytes"] for row in groups["rows"]) == process["peak_bytes"]
    assert sum(row["held_bytes"] for row in groups["rows"]) == process["end_bytes"]
    assert [row["peak_bytes"] for row in rows] == sorted((row["peak_bytes"] for row in rows), reverse=True)
    assert all(row["peak_error_bytes"] == row["held_error_bytes"] == 0 for row in rows)


def test_a_thread_has_its_own_bytes(timeloom, run):
    rows = report(timeloom, "--by", "thread")["rows"]
    others = [row for row in rows if row["name"] not in ("MainThread", "(Timeloom)", "(outside all regions)", "(before the program)")]
    assert sum(row["held_bytes"] for row in others) >= run["end"]["in_thread"][0] > 0
    (file,) = [row for row in report(timeloom, "--by", "file")["rows"] if row["name"].endswith("memory_owners.py")]
    assert file["held_bytes"] >= sum(held for held, _ in run["end"].values())


def test_function_leaves_its_call_paths(timeloom, run):
    whole, chosen = report(timeloom), report(timeloom, "--function", "first")
    assert [name.rpartition(".")[2] for name in chosen["functions"]] == ["first"]
    inside = [path for path in whole["paths"] if any(name.endswith(".first") for name in path["path"])]
    assert chosen["paths"] == inside != whole["paths"]
    assert of_paths(chosen["paths"], "at_end", "bytes") == run["end"]["first"][0]
    text = timeloom("report", "--memory", "--function", "first", "run", COLUMNS="100").stdout
    (line,) = [line for line in text.splitlines() if "first with its callees: " in line]
    assert " at the peak" in line and line.endswith(" at the end")
    assert "(before the program)" not in text and ".second" not in text


def test_function_and_groups_go_together(timeloom, run):
    rows = report(timeloom, "--function", "second", "--by", "module")["rows"]
    assert sum(row["held_bytes"] for row in rows) == run["end"]["second"][0]
    text = timeloom("report", "--memory", "--by", "module", "run").stdout
    assert " ".join(text.splitlines()[0].split()) == "share at the peak allocated times at the end module"


@pytest.mark.parametrize("options", [("--by", "worker"), ("--function", "first", "--with-source"), ("--from", "1s"), ("--by", "file", "--csv")])
def test_other_options_are_refused_in_one_line(timeloom, run, options):
    done = timeloom("report", "--memory", *options, "run", status=2)
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("[TL401]\n") and done.stdout == ""


def test_unknown_function(timeloom, run):
    done = timeloom("report", "--memory", "--function", "fisrt", "run", status=1)
    assert "first" in done.stderr
