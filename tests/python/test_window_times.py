"""Windows by time of a main thread that computes, which each version of Python interrupts in its own way."""

import pytest
from spool_reader import spools_of
from streams import run_python

PROGRAM = """
import time

def step(): return sum(range(1000))  # so that recording a call does not count

def compute():
    end = time.monotonic() + 3
    n = 0
    while time.monotonic() < end:
        step()
        n += 1
    return n

print(compute())
"""


@pytest.mark.parametrize("option", ["--from", "--until"])
def test_a_window_of_a_third_of_the_time(tmp_path, option):
    """Fewer than half of the calls lie in the third before 1 s, more in the two thirds after it."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_python(["-m", "timeloom", "--no-weave", "--quiet", "-o", "run", option, "1s", "program.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    recorded = sum(kind == "enter" and name == "__main__.step" for kind, name, *_ in spool.events(0))
    assert 0 < recorded < int(done.stdout)
    assert (recorded < int(done.stdout) / 2) == (option == "--until")
