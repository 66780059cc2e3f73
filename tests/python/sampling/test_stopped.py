"""Between `timeloom.stop()` and `timeloom.start()` nothing is sampled."""

import json
import subprocess
import sys

import pytest
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring"),
]

PROGRAM = """
import threading, time, timeloom

def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: sum(range(500))

def wanted(): burn(0.3)
def unwanted(): burn(0.6)

def other():
    go.wait()
    unwanted()

go = threading.Event()
thread = threading.Thread(target=other)
thread.start()
wanted()
timeloom.stop()
unwanted()
go.set()
thread.join()
timeloom.start()
wanted()
"""


@pytest.mark.parametrize("options", [("--sampling",), ("--sample", "1ms")])
def test_a_stopped_stretch_has_no_samples(tmp_path, timeloom_program, options):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    native = subprocess.run(
        [timeloom_program, "report", "--native", "--json", "run"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    callers = [caller for function in json.loads(native.stdout)["functions"] for caller in function["callers"]]
    # The stretches that are stopped take 1.2 s.
    assert 0.5 < sum(caller["seconds"] for caller in callers) < 0.8, callers
    assert not [caller for caller in callers if "unwanted" in (caller["function"] or "")]
