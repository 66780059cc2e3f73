"""A wait belongs to the call path that waited, also where a parameter or a counter comes before the next call."""

import json

import pytest
from streams import run_python

PROGRAM = """
import time, timeloom

def child():
    pass

def begun():
    with timeloom.region("begun"):
        time.sleep(0.05)
        timeloom.parameter_int("x", 1)

def later():
    with timeloom.region("later"):
        child()
        time.sleep(0.05)
        timeloom.parameter_string("x", "a")

def counted():
    with timeloom.region("counted"):
        time.sleep(0.05)
        timeloom.counter("c", 1)

for _ in range(2):
    begun()
    later()
    counted()
"""


@pytest.mark.parametrize("options", [(), ("--profile",), ("--causes",)])
def test_waits_before_values(tmp_path, timeloom, options):
    (tmp_path / "app.py").write_text(PROGRAM)
    done = run_python(["-m", "timeloom", "--quiet", *options, "-o", "run", "app.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    archive = tmp_path / "run" / "traces.otf2"
    for shown in ("run", *([archive] if archive.exists() else [])):
        report = json.loads(timeloom("report", "--json", "--flat", "--min-percent", "0", shown, cwd=tmp_path).stdout)
        rows = {row["name"]: row for row in report["flat"]["rows"]}
        for name in ("begun", "later", "counted"):
            row = rows[name]
            assert row["waiting_s"] >= 0.1, (shown, name)
            assert row["working_s"] + row["waiting_s"] == pytest.approx(row["exclusive_s"], abs=1e-6), (shown, name)
