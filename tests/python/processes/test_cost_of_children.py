"""The cost of measuring that child processes record."""

import sys
import textwrap

import pytest
from spool_reader import spools_of

pytestmark = pytest.mark.any_python


def costs_of(timeloom, tmp_path, program):
    """Return the costs of each process, the first one in front, and the program's output."""
    (tmp_path / "app.py").write_text(textwrap.dedent(program))
    done = timeloom("run", "--follow", "all", "--no-weave", "--quiet", "-o", tmp_path / "run", tmp_path / "app.py")
    spools = spools_of(tmp_path / "run")
    texts = [spool.properties["timeloom::process_cost"] for spool in spools]
    costs = [{name: float(value) for name, value in (word.split("=") for word in text.split())} for text in texts]
    costs.sort(key=lambda cost: -cost["event"])
    return costs, done.stdout.split()


def test_all_of_a_followed_child_counts(timeloom, tmp_path):
    child = "def step(): pass\nfor _ in range(20000): step()\nimport time; print(time.process_time())"
    (first, second), printed = costs_of(timeloom, tmp_path, f"""
        import subprocess
        subprocess.run([{sys.executable!r}, "-c", {child!r}], check=True)
    """)
    assert second["cpu"] >= float(printed[0])  # with the start of its interpreter
    assert second["event"] == 0
    assert second["events"] > 40_000
    assert second["timed"] >= 100
    assert second["callback"] > 0
    assert second["sights"] >= 2  # step() and the module
    units = ["event", "quick_event", "quick_callback", "per_tick"]
    if sys.version_info >= (3, 12):  # the frame hook of 3.11 does no more at the first call of a function than at others
        units.append("sight")
    assert [name for name in units if first[name] <= 0] == []
    assert first["sights"] == first["callbacks"] == 0  # they are in its sums


def test_a_forked_child_has_its_own_counts_alone(timeloom, tmp_path):
    (first, second), printed = costs_of(timeloom, tmp_path, """
        import os, time
        def step(): pass
        def other(): pass
        for _ in range(20000): step()
        if os.fork() == 0:
            other()
            print(time.process_time(), flush=True)
        else:
            os.wait()
    """)
    assert second["cpu"] >= float(printed[0])
    assert first["timed"] >= 100
    assert second["timed"] == second["callback"] == 0
    assert second["sights"] >= 1
