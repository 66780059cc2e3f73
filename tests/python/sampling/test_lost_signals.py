"""A program whose threads get no signals of samples any more: a timer takes the place of the event, or the report tells."""

import subprocess
import sys

import pytest
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring"),
]

BURN = """
import os, signal, sys, threading, time

def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: sum(range(500))
"""


def unsampled_seconds(tmp_path, program, text):
    """CPU time that the report tells of as not sampled; and the time of `after` in it."""
    (tmp_path / "program.py").write_text(BURN + text)
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--sampling", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    report = subprocess.run([program, "report", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    told = [line for line in report.stdout.splitlines() if "[TL065]" in line]
    assert len(told) <= 1
    return float(told[0].split()[1]) if told else 0.0, report.stdout


def test_a_program_that_closes_its_descriptors_is_sampled_by_a_timer(tmp_path, timeloom_program):
    text = """
os.closerange(3, 4096)
def after(): burn(2.5)
after()
"""
    unsampled, report = unsampled_seconds(tmp_path, timeloom_program, text)
    # A second and less until it is noticed, more on a machine that is busy.
    assert unsampled < 2
    assert "__main__.burn" in report


def test_a_thread_that_blocks_the_signal(tmp_path, timeloom_program):
    text = """
def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
    burn(0.5)
thread = threading.Thread(target=blocked)
thread.start()
thread.join()
"""
    unsampled, _ = unsampled_seconds(tmp_path, timeloom_program, text)
    assert unsampled == pytest.approx(0.5, abs=0.1)


def test_a_main_thread_that_blocks_the_signal(tmp_path, timeloom_program):
    text = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
burn(0.5)
"""
    unsampled, _ = unsampled_seconds(tmp_path, timeloom_program, text)
    assert unsampled == pytest.approx(0.5, abs=0.1)


def test_nothing_is_told_of_a_program_that_is_sampled(tmp_path, timeloom_program):
    text = """
thread = threading.Thread(target=burn, args=(0.3,))
thread.start()
thread.join()
time.sleep(1.2)
burn(0.3)
"""
    unsampled, report = unsampled_seconds(tmp_path, timeloom_program, text)
    assert unsampled == 0.0 and "[TL065]" not in report
