"""timeloom report --compensate: the times minus the cost of measuring, by the rule in docs/overhead.md."""

import csv
import io
import json
import subprocess

import pytest
from archives import one_line

pytestmark = pytest.mark.any_python

PROGRAM = """\
def empty():
    pass

def few():
    sum(range(100_000))

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def main():
    for _ in range(20_000):
        empty()
    for _ in range(5):
        few()
    fib(18)

main()
"""


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory):
    directory = tmp_path_factory.mktemp("compensate")
    (directory / "app.py").write_text(PROGRAM)
    subprocess.run([program, "run", "--quiet", "-o", "run", "app.py"], cwd=directory, check=True)
    return directory


def cost_of_a_call(properties: dict[str, str]) -> tuple[float, float]:
    """Return the recorded cost of a call: inside its visit, and outside."""
    fields = dict(field.split("=") for field in properties["timeloom::cost"].split())
    both = 2 * float(fields["event"])
    inside = min(float(fields["inside"]), both)
    return inside, both - inside


def test_the_cost_of_calls_is_taken_from_the_times(timeloom, recorded):
    report = json.loads(timeloom("report", "--json", "--compensate", "run", cwd=recorded).stdout)
    properties = json.loads(timeloom("info", "--json", "run", cwd=recorded).stdout)["properties"]
    inside, outside = cost_of_a_call(properties)
    assert inside > 0 and outside > 0
    assert report["compensation"] == pytest.approx({"inside_s": inside, "outside_s": outside})
    rows = report["tree"]["rows"]
    cost = {row["id"]: row["visits"] * inside for row in rows}
    for row in rows:
        if row["parent"] is not None:
            cost[row["parent"]] += row["visits"] * outside
    below = {row["id"]: 0.0 for row in rows}
    for row in reversed(rows):
        own = max(row["exclusive_s"] - cost[row["id"]], 0)
        assert row["compensated_exclusive_s"] == pytest.approx(own, abs=2e-9), row["name"]
        below[row["id"]] += own
        assert row["compensated_inclusive_s"] == pytest.approx(below[row["id"]], abs=2e-8), row["name"]
        if row["parent"] is not None:
            below[row["parent"]] += below[row["id"]]
    flat = {row["name"]: row for row in report["flat"]["rows"]}
    empty = next(row for row in rows if row["name"].endswith("empty"))
    assert flat[empty["name"]]["compensated_exclusive_s"] == empty["compensated_exclusive_s"] < empty["exclusive_s"]
    ranking = [row["compensated_exclusive_s"] for row in report["flat"]["rows"]]
    assert ranking == sorted(ranking, reverse=True)


def test_tables_show_both_times_and_say_what_was_taken(timeloom, recorded):
    full = timeloom("report", "--full", "--compensate", "run", cwd=recorded, COLUMNS="140").stdout
    for title in ("incl* ", "excl* "):
        assert full.count(title) == 2
    answer = timeloom("report", "--compensate", "run", cwd=recorded).stdout
    assert " share working*  visits measured  where the time went" in answer
    for text in (full, answer):
        assert text.count("*: less ") == 1
    assert "*: less " not in timeloom("report", "--full", "run", cwd=recorded).stdout
    table = timeloom("report", "--csv", "--compensate", "run", cwd=recorded).stdout
    for row in csv.DictReader(io.StringIO(table)):
        assert 0 <= float(row["compensated_exclusive_s"]) <= float(row["exclusive_s"]) + 1e-9


def test_groups_are_less_than_measured(timeloom, recorded):
    for key in ("module", "thread"):
        plain, less = (
            json.loads(timeloom("report", "--json", "--by", key, *more, "run", cwd=recorded).stdout)["rows"]
            for more in ((), ("--compensate",))
        )
        assert sum(row["working_s"] for row in less) < sum(row["working_s"] for row in plain)
        assert {row["name"]: row["visits"] for row in less} == {row["name"]: row["visits"] for row in plain}


def test_a_run_that_does_not_say_it_is_refused(timeloom, recorded, run):
    refused = one_line(timeloom("report", "--compensate", run, status=1))
    assert "does not record what measuring a call cost" in refused
    for option in ("--slowest", "--function=fib"):
        refused = one_line(timeloom("report", "--compensate", option, "run", cwd=recorded, status=2))
        assert "--compensate" in refused and option.partition("=")[0] in refused
