"""Findings about memory: it only grows, or it lies scattered."""

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python


@pytest.fixture(autouse=True)
def in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


LEAK = """
import time
KEPT = []
def remember(size):
    KEPT.append(bytearray(size))
def step(n):
    scratch = bytearray(5_000_000)
    remember(500_000)
    time.sleep(0.002)
for n in range(200):
    step(n)
"""


@pytest.mark.parametrize("mode", [[], ["--profile"]], ids=["trace", "profile"])
def test_memory_that_only_grows_is_a_finding(timeloom, mode):
    for name, text in (("leak", LEAK), ("steady", LEAK.replace("KEPT.append", "len"))):
        Path("program.py").write_text(text)
        timeloom("run", "--quiet", "--memory", *mode, "-o", name, "program.py")
    (finding,) = json.loads(timeloom("report", "--json", "leak").stdout)["findings"]
    assert (finding["rule"], finding["command"]) == ("growing-memory", "timeloom report --memory leak")
    assert finding["text"].startswith("memory only grows, from ") and "is held by __main__.remember" in finding["text"]
    assert finding["evidence"]["to_bytes"] - finding["evidence"]["from_bytes"] == pytest.approx(70_000_000, rel=0.25)
    assert not json.loads(timeloom("report", "--json", "steady").stdout)["findings"]


# Each phase frees its blocks but for a small one between two, and the next phase has larger ones, which fit nowhere.
SCATTER = r"""
#include <stdlib.h>
#include <string.h>
static void *blocks[120000];
void scatter(size_t bytes, size_t all, int keep) {
  size_t count = all / bytes;
  for (size_t i = 0; i < count; ++i) {
    memset(blocks[i] = malloc(bytes), 1, bytes);
  }
  for (size_t i = 0; i < count; ++i) {
    void *rest = realloc(blocks[i], keep ? 24 : 0);  /* a little of each block stays in its place */
    if (rest && !keep) free(rest);
  }
}
"""


def scattered(timeloom, program):
    """Findings of scattered memory in a run of this program, which calls `scatter`."""
    Path("scatter.c").write_text(SCATTER)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "scatter.c", "-o", "scatter.so"], check=True)
    Path("program.py").write_text(
        "import ctypes\n"
        "scatter = ctypes.CDLL('./scatter.so').scatter\n"
        "scatter.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]\n"
        f"{program}"
    )
    timeloom("run", "--quiet", "--memory", "--profile", "-o", "run", "program.py")
    findings = json.loads(timeloom("report", "--json", "run").stdout)["findings"]
    return [finding for finding in findings if finding["rule"] == "scattered-memory"]


@pytest.mark.parametrize("keep", [0, 1])
def test_scattered_memory_is_a_finding(timeloom, keep):
    program = f"def phases():\n    for power in range(6):\n        scatter(1000 << power, 90_000_000, {keep})\nphases()\n"
    found = scattered(timeloom, program)
    assert len(found) == keep, found
    for finding in found:
        assert finding["command"] == "timeloom report --memory run" and finding["text"].startswith("the resident memory reached ")
        resident, held = finding["evidence"]["resident_bytes"], finding["evidence"]["held_bytes"]
        assert 90_000_000 < held < 130_000_000 and resident > 200_000_000 + 2 * held


@pytest.mark.parametrize("keep", [0, 1])
def test_memory_that_stays_scattered_after_the_peak_is_a_finding(timeloom, keep):
    """The peak itself is made of blocks."""
    found = scattered(timeloom, f"def phase():\n    scatter(4000, 400_000_000, {keep})\nphase()\n")
    (process,) = json.loads(timeloom("report", "--memory", "--json", "run").stdout)["processes"]
    assert len(found) == keep and process["peak_bytes"] > 400_000_000
    for finding in found:
        assert finding["text"].startswith("the resident memory was ")
        assert finding["evidence"]["held_bytes"] == process["end_bytes"] < 60_000_000
        assert finding["evidence"]["resident_bytes"] > 350_000_000
