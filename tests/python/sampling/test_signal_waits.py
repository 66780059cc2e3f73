"""A program that waits for all signals does not get the signal of the samples, and goes on being sampled."""

import json
import subprocess
import sys

import pytest
from streams import environment, run_python

# The thread blocks all signals while it computes, so that one of a sample is pending when it waits.
PROGRAM = """
import json, os, signal, sys, threading, time
SIGNALS = signal.valid_signals()
OWN = signal.SIGUSR1
seen, pending = [], set()

def compute(cpu_seconds):
    end = time.thread_time() + cpu_seconds
    while time.thread_time() < end:
        sum(range(1000))

def take():
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    for wait in (signal.sigwait, lambda all: signal.sigwaitinfo(all).si_signo,
                 lambda all: signal.sigtimedwait(all, 60).si_signo):
        for own in (OWN, %(sent)s):
            compute(0.05)
            pending.update(signal.sigpending())
            signal.pthread_kill(threading.get_ident(), own)
            seen.append(int(wait(SIGNALS)))
    compute(0.05)
    assert signal.sigtimedwait(SIGNALS, 0) is None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

thread = threading.Thread(target=take)
%(start)s
def after():
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        sum(range(1000))
after()
print(json.dumps([seen, sorted(map(int, pending))]))
"""
IN_THREAD = "thread.start(); thread.join()"
SIGNALS = {"urg": ("SIGURG", "SIGWINCH"), "winch": ("SIGWINCH", "SIGURG")}


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("start", [IN_THREAD, "take()"], ids=["thread", "main"])
def test_it_gets_its_own_signals_alone(timeloom, tmp_path, name, start):
    ours, other = SIGNALS[name]
    program = tmp_path / "app.py"
    program.write_text(PROGRAM % {"sent": f"signal.{other}", "start": start})
    plain = run_python([program], tmp_path)
    command = [sys.executable, "-m", "timeloom", "-o", "run", "--sample", "1ms", "--sample-signal", name, program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment())
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert "samples are taken" not in done.stderr  # until the end
    lines = timeloom("report", "run", "--function", "after", "--json", cwd=tmp_path).stdout
    assert json.loads(lines)["native"], "no samples behind the waits"


def test_a_signal_of_the_same_number_is_the_programs(tmp_path):
    """It was sent by the program, and waits while the thread is sampled."""
    program = tmp_path / "app.py"
    program.write_text(PROGRAM % {"sent": "signal.SIGURG", "start": IN_THREAD})
    plain = run_python([program], tmp_path)
    done = run_python(["-m", "timeloom", "--quiet", "-o", "run", "--sample", "1ms", program], tmp_path)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
