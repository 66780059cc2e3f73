"""Windows by time for a main thread that computes; each version of Python interrupts it differently."""

from spool_reader import spools_of
from streams import run_python

PROGRAM = """
import time

def step(): return sum(range(1000))  # so that recording a call does not count

def compute():
    begin = time.monotonic()
    calls = [0] * 6  # in each second
    while (now := time.monotonic()) < begin + 5:
        step()
        calls[int(now - begin)] += 1
    return calls

print(*compute())
"""


def test_a_window_of_two_seconds(tmp_path):
    """Calls of the third second lie between 2 s and 4 s, those of the first and the fifth do not: up to a second is for
    the start."""
    (tmp_path / "program.py").write_text(PROGRAM)
    options = ["--no-weave", "--quiet", "-o", "run", "--from", "2s", "--until", "4s"]
    done = run_python(["-m", "timeloom", *options, "program.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    recorded = sum(kind == "enter" and name == "__main__.step" for kind, name, *_ in spool.events(0))
    calls = list(map(int, done.stdout.split()))
    assert calls[2] <= recorded <= sum(calls[1:4])
