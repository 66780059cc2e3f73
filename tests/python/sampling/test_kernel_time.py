"""CPU time in the kernel belongs to the function that has made the system call, whatever the kernel allows."""

import ctypes
import json
import os
import subprocess
import sys

import pytest
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring"),
]

PROGRAM = """
import json, os, time
taken = dict.fromkeys(("load", "compute"), 0)
room = bytearray(1 << 24)

def load():
    with open("sparse", "rb", buffering=0) as file:
        while file.readinto(room): pass

def compute():
    total = 0
    for i in range(300_000): total += i * i % 7

def timed(function):
    before = time.thread_time_ns()
    function()
    taken[function.__name__] += time.thread_time_ns() - before

with open("sparse", "wb") as file: file.truncate(1 << 26)
end = time.thread_time() + 1.5
while time.thread_time() < end:
    for function in (load, compute): timed(function)
print(json.dumps(taken))
"""

CAP_SYS_ADMIN, CAP_PERFMON, PR_CAPBSET_DROP = 21, 38, 24


def all_as_it_is():
    pass


def without_rights():
    """The program that is executed next may have no event that counts in the kernel, even for root."""
    for right in (CAP_SYS_ADMIN, CAP_PERFMON):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        return int(file.read())


def record(tmp_path, prepare):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--sampling", "program.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment(), preexec_fn=prepare
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("prepare", [all_as_it_is, without_rights])
def test_a_function_has_the_time_of_its_system_calls(tmp_path, timeloom_program, prepare):
    taken = record(tmp_path, prepare)
    report = subprocess.run(
        [timeloom_program, "report", "--json", "--tree", "--min-percent", "0", "run"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds = dict.fromkeys(taken, 0.0)
    for row in json.loads(report.stdout)["tree"]["rows"]:
        name = row["name"].removeprefix("__main__.")
        if name in seconds:
            seconds[name] += row["exclusive_s"]
    share = taken["load"] / sum(taken.values())
    assert abs(seconds["load"] / sum(seconds.values()) - share) < 0.1, (seconds, taken)
    info = subprocess.run([timeloom_program, "info", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    if prepare is without_rights and paranoid() == 2:
        assert "by events for user space, and timers for time in the kernel" in info.stdout
    if prepare is all_as_it_is and os.geteuid() == 0 and paranoid() < 3:
        assert "user space" not in info.stdout
