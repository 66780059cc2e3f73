"""Locks as CSV: `timeloom report --locks --csv` has the numbers of `--json`."""

import csv

import pytest
from lock_runs import CONVOY, locks_of, record


def test_csv(timeloom, tmp_path):
    run, _ = record(tmp_path, CONVOY)
    data = locks_of(timeloom, run)
    text = timeloom("report", "--locks", "--csv", run).stdout
    rows = list(csv.DictReader(text.splitlines()))
    for number, lock in enumerate(data["locks"]):
        own, *parts = (row for row in rows if row["id"] == str(number))
        assert (own["row"], own["lock"], own["kind"]) == ("lock", lock["name"], lock["kind"])
        assert (int(own["taken"]), int(own["waits"]), int(own["threads"])) == (lock["taken"], lock["waits"], lock["threads"])
        assert float(own["waited_s"]) == pytest.approx(lock["waited_s"]) and own["file"] == lock["made_at"]["file"]
        assert own["thread"] == own["longest_s"] == own["others_waited_s"] == ""
        holders = [row for row in parts if row["row"] == "holder"]
        assert [(row["function"], int(row["line"]), int(row["taken"])) for row in holders] == [
            (one["at"]["function"], one["at"]["line"], one["taken"]) for one in lock["holders"]
        ]
        assert [float(row["others_waited_s"]) for row in holders] == pytest.approx([one["others_waited_s"] for one in lock["holders"]])
        waiters = [row for row in parts if row["row"] == "waiter"]
        assert [(row["thread"], int(row["line"]), int(row["waits"])) for row in waiters] == [
            (one["thread"], one["at"]["line"], one["waits"]) for one in lock["waiters"]
        ]
        assert len(parts) == len(holders) + len(waiters)
    assert {row["id"] for row in rows} == {str(number) for number in range(len(data["locks"]))}
    refused = timeloom("report", "--locks", "--csv", "-o", "x", run, status=2)
    assert "--locks prints its CSV: leave out -o and --force" in refused.stderr
