"""The benchmarks' computations, and that they find an installed Score-P and do not take Timeloom for one."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def bindings(monkeypatch):
    spec = importlib.util.spec_from_file_location("bindings", ROOT / "bench" / "bindings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delenv(module.VARIABLE, raising=False)
    return module


def put(directory, text):
    directory.mkdir()
    path = directory / "scorep-config"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_score_p_is_found(bindings, tmp_path, monkeypatch):
    ours = Path(sys.executable).parent
    assert shutil.which("scorep-config", path=str(ours))
    broken = put(tmp_path / "broken", "exit 3")
    theirs = put(tmp_path / "theirs", "echo 8.4")
    path = lambda *directories: os.pathsep.join(map(str, (*directories, "/usr/bin", "/bin")))
    monkeypatch.setenv("PATH", path(ours, broken.parent))
    assert bindings.scorep_config() is None and bindings.python() is None
    monkeypatch.setenv("PATH", path(ours, broken.parent, theirs.parent))
    assert bindings.scorep_config() == str(theirs)
    assert bindings.python() is None  # without an environment that has them
    monkeypatch.setenv(bindings.VARIABLE, "/some/python")
    assert bindings.python() == "/some/python"
    monkeypatch.setenv("PATH", path(ours))
    assert bindings.python() is None


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("scale")


def test_the_figures_of_scale(scale, monkeypatch):
    calls = scale.THREADS * scale.TURNS * scale.TURN_CALLS
    threads = 1 + scale.THREADS
    timed = {
        "processes": [
            ({"1": 1, "8": 4}, {"1": 2, "8": 9.68}),
            ({"1": 1, "8": 5}, {"1": 2, "8": 10}),
        ],
        "threads": [
            (
                {"1": calls * 30e-9, "200": calls * 35e-9, "start": threads * 100e-6},
                {"1": calls * 80e-9, "200": calls * 90e-9, "start": threads * 350e-6},
            )
        ],
        "fork": [({"one": 0.001}, {"one": it}) for it in (0.009, 0.0035, 0.002)],
        "tasks": [({"all": scale.SWITCHES * 1e-6}, {"all": scale.SWITCHES * 1.8e-6})],
    }
    monkeypatch.setattr(scale, "cycles", lambda program, rounds, scratch: timed[program])
    figures = scale.figures(SimpleNamespace(rounds=1, scratch="nowhere"))
    assert list(figures.pop("limits").values()) == [True] * 4
    assert figures == {
        "processes_8_over_1": 1.1,  # the geometric mean of 1.21 and 1
        "thread_added_ns": {"1": 50, "200": 55},
        "threads_200_over_1": 1.1,
        "thread_start_added_us": 250,
        "fork_added_ms": 2.5,
        "task_switch_ns": 1000,
        "tasks_added_over_plain": 0.8,
    }


SMALL = "import scale_work; vars(scale_work).update(CALLS=100, THREADS=20, TURN_CALLS=10, FORKS=2, SWITCHES=1000); "


@pytest.mark.parametrize(
    ("program", "parts"),
    [("processes", "1 8"), ("threads", "start 1 200"), ("fork", "one"), ("tasks", "all")],
)
def test_scale_work_times_each_part_plain_and_measured(program, parts, tmp_path):
    result = tmp_path / "result.json"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SMALL + "scale_work.main()", program, "2", result],
        check=True, cwd=ROOT / "bench", env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    cycles = json.loads(result.read_text())
    assert [list(cycle) for cycle in cycles] == [["plain", "measured"], ["measured", "plain"]]
    for cycle in cycles:
        for seconds in cycle.values():
            assert list(seconds) == parts.split()
            assert all(0 < it < 60 for it in seconds.values())
    assert [it.name for it in tmp_path.iterdir()] == ["result.json"]


def test_a_ratio_is_taken_in_each_process(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    overhead = importlib.import_module("overhead")
    monkeypatch.setattr(overhead, "CYCLES", 3)

    def process(speed, first, second):
        return [{"plain": speed, "a": speed + speed * one, "b": speed + speed * second} for one in first]

    # The second process runs at half the speed, the third was disturbed in every cycle.
    cycles = process(10, (4, 6, 90), 4) + process(20, (5, 6, 7), 4) + process(10, (9, 80, 80), 4)
    assert overhead.ratio(cycles, "a", "b") == 1.5
    assert overhead.ratio(cycles, "a", "missing") is None
    assert overhead.ratio([], "a", "b") is None


def test_limits_that_do_not_hold_are_named(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    limits = importlib.import_module("limits")
    holds = limits.times("a call", 1.35, "the other", 1.35)
    fails = limits.times("a call", 1.36, "the other", 1.35)
    assert (holds.holds, fails.holds, limits.times("a call", None, "the other", 1).holds) == (True, False, None)
    assert (fails.measured, fails.limit) == ("1.36 times", "at most 1.35 × the other")
    start = {"startup_ms": 28.0, "cProfile_startup_ms": 40.0}
    assert limits.startup("start", start, "startup_ms").holds
    assert not limits.startup("start", start | {"startup_ms": 28.1}, "startup_ms").holds
    assert limits.startup("start", {}, "startup_ms").holds is None


@pytest.fixture
def view(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("view")


def test_the_figures_of_a_tour(view):
    steps = [{"kind": "zoom in", "answered": 10 + n, "busy": n} for n in range(20)]
    tour = {"first": 512.34, "peak": 90.06, "held": 60.04, "problems": [], "processors": {"cold": 210, "warm": 105},
            "cold": [*steps, {"kind": "everything", "answered": 999, "busy": 999}],
            "warm": [{"kind": "scroll", "answered": 40, "busy": 30}, *steps]}  # fmt: skip
    assert view.figures_of_tour(tour) == {
        "page_first_ms": 512.3, "cold_answered_p95_ms": 28, "cold_busy_p95_ms": 18, "warm_busy_p95_ms": 19,
        "cold_cpu_mean_ms": 10.0, "warm_cpu_mean_ms": 5.0, "warm_slowest": "scroll, 30.0 ms", "page_heap_mb": 60.0, "page_heap_peak_mb": 90.1,
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="it broke"):
        view.figures_of_tour({**tour, "problems": ["it broke"]})


def test_the_limits_of_the_view(view):
    figures = {
        "locations": 2, "index_times_weave": 1.3, "index_share": 0.4, "first_open_times_weave": 2.9, "later_open_s": 1.01,
        "table_max_ms": 150, "find_max_ms": 21, "building_peak_mb": 100, "serving_peak_mb": 301,
    }  # fmt: skip
    one = {**figures, "locations": 1, "cold_answered_p95_ms": 100, "warm_busy_p95_ms": 17}
    held = {what.rsplit(":", 1)[0]: holds for what, holds in
            view.limits.held(view.limits.check_view({"page_bytes": 250_000, "a": figures, "b": one})).items()}  # fmt: skip
    assert [what for what, holds in held.items() if holds is False] == [
        "a, making the index", "a, opened again", "a, the slowest search for the next call", "a, memory of the server",
        "b, opened again", "b, the slowest search for the next call", "b, memory of the server", "b, a frame that is",
    ]  # fmt: skip
    assert held["the page's file"] and held["b, a frame that is not there yet"]
    assert held["b, making the index"] is None and held["a, memory of the page"] is None


@pytest.mark.parametrize(
    ("case", "options", "locations"),
    [
        ("few-many", ["--events", "4000", "--locations", "4"], [4]),
        ("tasks", ["--tasks", "1000"], range(1004, 1007)),  # with asyncio's own, by its version
    ],
)
def test_a_small_run_is_viewed(case, options, locations, tmp_path):
    command = [sys.executable, "view.py", "--json", "--rounds", "1", "--only", case, "--no-page", "--scratch", tmp_path]
    done = subprocess.run([*command, *options], capture_output=True, check=True, cwd=ROOT / "bench")
    figures = json.loads(done.stdout)
    assert figures[case]["locations"] in locations
    assert all(0 < figures[case][name] < 60 for name in ("weave_s", "first_open_s", "later_open_s", "index_share"))
    assert len(figures["limits"]) == 11
    assert list(tmp_path.iterdir()) == []
