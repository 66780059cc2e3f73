"""The peak of the resident memory, which each run has: as the kernel tells it, in the head of the report and in JSON."""

import json
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python
MB = 1 << 20
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""


@pytest.fixture(autouse=True)
def in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def facts_of(timeloom):
    return json.loads(timeloom("report", "--json", "run").stdout)


@pytest.mark.parametrize("mode", [[], ["--profile"]], ids=["trace", "profile"])
def test_peak_is_the_kernels(timeloom, mode):
    Path("app.py").write_text(PEAK + f"block = bytearray(100 * {MB})\ndel block\nprint(peak())\n")
    told = int(timeloom("run", "--quiet", *mode, "-o", "run", "app.py").stdout)
    peak = facts_of(timeloom)["peak_rss_bytes"]
    assert told <= peak < told + 16 * MB  # the end of the measurement comes after the program's look
    (shown,) = re.findall(r"peak RSS ([0-9.]+ MB)", timeloom("report", "run").stdout)
    assert float(shown.split()[0]) == pytest.approx(peak / 1e6, rel=0.01)


def test_process_with_the_most_counts(timeloom):
    Path("app.py").write_text(
        PEAK + "import os\n"
        f"if os.fork() == 0:\n    block = bytearray(150 * {MB})\n    print(peak(), flush=True)\nelse:\n    os.wait()\n"
    )
    told = int(timeloom("run", "--quiet", "-o", "run", "app.py").stdout)
    assert told <= facts_of(timeloom)["peak_rss_bytes"] < told + 16 * MB
    assert "largest RSS" in timeloom("report", "run").stdout


def test_killed_process_leaves_its_peak(program, timeloom):
    Path("app.py").write_text(
        f"import os, time\nblock = bytearray(200 * {MB})\ntime.sleep(2.5)\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([program, "run", "--quiet", "-o", "run", "app.py"], check=False)
    assert 200 * MB < facts_of(timeloom)["peak_rss_bytes"] < 250 * MB
