"""`timeloom report --imports`: modules, their own and total time, their importers."""

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python


@pytest.fixture(autouse=True)
def in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("slow.py").write_text("import time\ntime.sleep(0.2)\nimport inner\n")
    Path("inner.py").write_text("import time\ndef wait():\n    time.sleep(0.1)\nwait()\n")
    Path("late.py").write_text("import time\ntime.sleep(0.05)\n")
    Path("app.py").write_text("import slow, os\ndef load():\n    import late\nload()\n")


@pytest.mark.parametrize("mode", [[], ["--profile"]], ids=["trace", "profile"])
def test_modules_of_a_program(timeloom, mode):
    timeloom("run", "--quiet", *mode, "-o", "run", "app.py")
    facts = json.loads(timeloom("report", "--imports", "--json", "run").stdout)
    rows = {row["name"]: row for row in facts["modules"]}
    assert [row["name"] for row in facts["modules"]][:3] == ["slow", "inner", "late"]
    found = {name: (row["importer"], row["processes"]) for name, row in rows.items() if name in ("slow", "inner", "late")}
    assert found == {"slow": ("__main__", 1), "inner": ("slow", 1), "late": ("__main__.load", 1)}
    assert rows["slow"]["file"] == str(Path("slow.py").resolve())
    assert 0.2 <= rows["slow"]["own_s"] < 0.3 <= rows["slow"]["total_s"]
    assert rows["inner"]["own_s"] == pytest.approx(rows["inner"]["total_s"])
    assert facts["import_s"] == pytest.approx(rows["slow"]["total_s"] + rows["late"]["total_s"])


def test_table_fits_the_terminal(timeloom):
    timeloom("run", "--quiet", "-o", "run", "app.py")
    lines = timeloom("report", "--imports", "run", LINES="8", COLUMNS="80").stdout.splitlines()
    assert len(lines) < 8 and all(len(line) <= 80 for line in lines)
    assert lines[2].endswith("  slow  < __main__")


def test_run_without_bodies_of_modules(timeloom, program):
    Path("alone.py").write_text("print(1)\n")
    timeloom("run", "--quiet", "-o", "run", "alone.py")
    done = subprocess.run([program, "report", "--imports", "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.rstrip().endswith("[TL093]")
