"""Windows by time of a main thread that computes, which each version of Python interrupts in its own way."""

import pytest
from spool_reader import spools_of
from streams import run_python

PROGRAM = """
import time

def step(): return sum(range(1000))  # so that recording a call does not count

def compute():
    begin = time.monotonic()
    calls = [0, 0, 0]  # before 1 s, until 3 s, and after that
    while (now := time.monotonic()) < begin + 4:
        step()
        calls[(now > begin + 1) + (now > begin + 3)] += 1
    return calls

print(*compute())
"""


@pytest.mark.parametrize("option", ["--from", "--until"])
def test_a_window_of_half_of_the_time(tmp_path, option):
    """The calls of the first second lie before 2 s, those after the third behind it: up to a second is for the start."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_python(["-m", "timeloom", "--no-weave", "--quiet", "-o", "run", option, "2s", "program.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    recorded = sum(kind == "enter" and name == "__main__.step" for kind, name, *_ in spool.events(0))
    before, around, after = map(int, done.stdout.split())
    inside = after if option == "--from" else before
    assert inside <= recorded <= inside + around
