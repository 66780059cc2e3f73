"""`timeloom report --from --to` gives the same numbers as `timeloom convert --from --until` computes from every
event."""

import csv
import io
import json
import random
import re
import shutil

import pytest
from converted import calls_of, each_run

pytestmark = pytest.mark.any_python

__all__ = ["each_run"]


@pytest.fixture
def run(each_run, tmp_path):
    return shutil.copytree(each_run, tmp_path / "run")


def ms(time):
    return f"{time // 10**6}.{time % 10**6:06}ms"


def without_late_parameters(rows):
    """A late parameter splits a visit in two parts; a report knows the shorter and the longer one."""
    return {name: row[:2] if name == "__main__.late" else row for name, row in rows.items()}


def converted(timeloom, run, begin, end):
    """{name: (visits, exclusive ns, min ns, max ns)}, over all threads."""
    text = timeloom("convert", run, "--to", "csv", "--flat", "--from", ms(begin), "--until", ms(end),
                    "-o", "-").stdout  # fmt: skip
    rows = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["name"].endswith(" (forked)"):
            assert row["visits"] == "0"
            continue
        visits, own, least, most = rows.get(row["name"], (0, 0, 10**18, 0))
        rows[row["name"]] = (visits + int(row["visits"]), own + int(row["exclusive_ns"]),
                             min(least, int(row["min_ns"])), max(most, int(row["max_ns"])))  # fmt: skip
    return without_late_parameters(rows)


def reported(timeloom, run, *arguments):
    rows = {}
    report = json.loads(timeloom("report", run, "--json", "--flat", *arguments).stdout)
    for row in report["flat"]["rows"]:
        visits, own, least, most = rows.get(row["name"], (0, 0, 10**18, 0))
        if row["name"].endswith(" (forked)"):
            assert row["visits"] == 0
            continue
        values = [round(row[f"{key}_s"] * 1e9) for key in ("exclusive", "min", "max")]
        rows[row["name"]] = visits + row["visits"], own + values[0], min(least, values[1]), max(most, values[2])
    return without_late_parameters(rows)


def test_a_range_is_what_its_events_say(timeloom, run, each_run):
    times = [time for calls in calls_of(each_run).values() for call in calls for time in call[1:3]]
    chosen = random.Random(2)
    for _ in range(6):
        begin, end = sorted(chosen.choice(times) + chosen.randrange(3) for _ in range(2))
        if begin == end:
            continue
        found = reported(timeloom, run, "--from", ms(begin), "--to", ms(end))
        assert found == converted(timeloom, run, begin, end), (begin, end)


def test_a_range_over_everything_is_the_report(timeloom, run):
    assert reported(timeloom, run, "--from", "0s") == reported(timeloom, run)


def test_every_form_of_a_report_takes_a_range(timeloom, run, each_run):
    (_, begin, end, *_) = max((call for calls in calls_of(each_run).values() for call in calls),
                              key=lambda call: call[2] - call[1])  # fmt: skip
    part = ["--from", ms(begin + 1000), "--to", ms(end)]
    for form in ([], ["--full"], ["--tree"], ["--flat"], ["--by", "module"], ["--csv", "--flat"]):
        assert timeloom("report", run, *form, *part).stdout


def test_wrong_ranges(timeloom, run):
    assert "--to is before --from [TL408]" in timeloom("report", run, "--from", "2s", "--to", "1s", status=2).stderr
    assert "takes a time" in timeloom("report", run, "--from", "__main__.step", status=2).stderr
    assert "'1x' is not accepted" in timeloom("report", run, "--to", "1x", status=2).stderr
    said = timeloom("report", run, "--from", "1000s", status=1).stderr
    length = json.loads(timeloom("report", "--json", run).stdout)["wall_s"]
    found = re.fullmatch(r"timeloom: --from 1000s is beyond the end of the run, which is ([0-9.]+) (m?s) long \[TL419\]\n", said)
    assert float(found[1]) * (1e-3 if found[2] == "ms" else 1) == pytest.approx(length, rel=0.01)
    for other in (["--slowest"], ["--metric", "ru_utime"]):
        assert "do not go with" in timeloom("report", run, "--from", "1s", *other, status=2).stderr
