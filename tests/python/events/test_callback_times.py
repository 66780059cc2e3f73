"""The cost of callbacks is timed in the program itself, without any other effect."""

import json
import sys

import pytest
from streams import INSTRUMENTERS


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_callbacks_are_timed_in_the_program(timeloom, tmp_path, instrumenter):
    """Where a thread takes new space: six times in 1.6 MB, 200 of 400 callbacks each time; a profile, which takes none,
    when it looks for waiting, at once and from 6.4 ms to 6.4 ms."""
    (tmp_path / "app.py").write_text("def f(): pass\nfor i in range(100000): f()\n")
    timed = instrumenter in ("monitoring", "frame") and "t" not in sys.abiflags
    for options, least, most in (([], 1000, 3000), (["--profile"], 100, 100_000), (["--profile", "--no-waiting"], 200, 200)):
        timeloom("run", "--quiet", "--force", *options, "--instrumenter", instrumenter, "-o", "run", "app.py", cwd=tmp_path)
        overhead = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["overhead"]
        callbacks = overhead["timed_callbacks"]
        assert least <= callbacks <= most if timed else callbacks == 0
        narrow = overhead["most_share_of_cpu"] < min(2.5 * overhead["share_of_cpu"], 0.99)
        assert narrow is (callbacks >= 1000) or overhead["share_of_cpu"] > 0.33
        timeloom("check", "run", "visits(__main__.f) == 100000", cwd=tmp_path)


@pytest.mark.skipif(sys.version_info < (3, 12) or "t" in sys.abiflags, reason="needs sys.monitoring, and a GIL")
def test_callbacks_are_timed_when_the_cost_is_calibrated_at_the_start(timeloom, tmp_path):
    """With a limit for the overhead: the callbacks of the calibration are then the first ones."""
    (tmp_path / "app.py").write_text("def f(): return sum(range(200))\nfor i in range(100000): f()\n")
    timeloom("run", "--quiet", "--overhead", "90%", "-o", "run", "app.py", cwd=tmp_path)
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    assert not info["given_up"] and 1000 < info["overhead"]["timed_callbacks"] < 3000
    timeloom("check", "run", "visits(__main__.f) == 100000", cwd=tmp_path)


def test_metrics_are_counted_once_for_each_event(timeloom, tmp_path):
    """One sample is taken inside a visit, one after it, and the callbacks that are timed have them, too."""
    (tmp_path / "app.py").write_text("def f(): pass\nfor i in range(20000): f()\n")
    metrics = ["--metric-rusage=all", "--metric-rusage-per-process=all"]
    costs = []
    for mode in ([], ["--profile"]) * 3:
        timeloom("run", "--quiet", "--force", *mode, *metrics, "-o", "run", "app.py", cwd=tmp_path)
        properties = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["properties"]
        cost = {key: float(value) for key, value in (word.split("=") for word in properties["timeloom::cost"].split())}
        assert 0.25 < cost["inside"] / (2 * cost["event"]) < 0.75, cost
        assert 40_000 <= round(cost["events"] / cost["event"]) < 42_000
        costs.append(cost["event"])
    assert min(costs[::2]) < 2 * max(costs[1::2])


def test_space_that_is_taken_without_the_gil(timeloom, tmp_path):
    """By native code, with a sub-interpreter, after which CPython reports that every thread has the GIL."""
    (tmp_path / "app.py").write_text("""
import ctypes, importlib, pathlib, sys, timeloom
try:
    interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    interpreters.destroy(interpreters.create())
except ImportError: pass
libraries = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libtimeloom." in line}
native = ctypes.CDLL(*libraries)
for _ in range(60000):
    native.timeloom_region_begin(b"native")
    native.timeloom_region_end(b"native")
def f(): pass
for _ in range(60000): f()
""")
    timeloom("run", "--quiet", "--instrumenter", "frame", "-o", "run", "app.py", cwd=tmp_path)
    timeloom("check", "run", "visits(native) == 60000", "visits(__main__.f) == 60000", cwd=tmp_path)
