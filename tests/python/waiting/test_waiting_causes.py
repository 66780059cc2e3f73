"""Causes of waiting: each function of a program waits for one thing, and measures for how long itself."""

import json
import struct
import sys
from pathlib import Path

import pytest
from streams import run_python

# Every function waits at least five times 40 ms. Its own time less its CPU time is what it waited.
PREFIX = """
import json, os, select, socket, subprocess, sys, threading, time

times = {}

def measured(function):
    wall, cpu = time.perf_counter(), time.thread_time()
    function()
    times[function.__name__] = time.perf_counter() - wall - (time.thread_time() - cpu)

def later(function):
    threading.Timer(0.2, function).start()
"""

SUFFIX = """
print(json.dumps(times))
"""

ALONE = {
    "time": "def waits():\n    for _ in range(5): time.sleep(0.04)",
    "lock": """
lock = threading.Lock()
lock.acquire()
later(lock.release)
def waits():
    lock.acquire()
""",
    "thread": """
def waits():
    subprocess.run([sys.executable, "-I", "-S", "-c", "import time; time.sleep(0.2)"])
""",
    "io": """
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
def send():
    peer, _ = server.accept()
    time.sleep(0.2)
    peer.send(b"x")
threading.Thread(target=send).start()
def waits():
    client.recv(1)
""",
}

PIPE = """
ends = os.pipe()
later(lambda: os.write(ends[1], b"x"))
def waits():
    os.read(ends[0], 1)
"""

SELECT = """
def waits():
    for _ in range(5): select.select([], [], [], 0.04)
"""

JOIN = """
thread = threading.Thread(target=time.sleep, args=(0.2,))
thread.start()
def waits():
    thread.join()
"""

TASKS = """
import asyncio
async def rest():
    for _ in range(5): await asyncio.sleep(0.04)
def waits():
    asyncio.run(rest())
"""


def program(*parts):
    calls = [f"measured({name})" for name in ("waits", "rests", "locks") if any(f"def {name}()" in one for one in parts)]
    return "\n".join([PREFIX, *parts, *calls, SUFFIX])


def recorded(directory, text, *options):
    """The run, and what its functions measured."""
    path = directory / "program.py"
    path.write_text(text)
    arguments = ["-m", "timeloom", "--quiet", "--causes", "-o", directory / "run", *options, path]
    process = run_python(arguments, directory)
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    return directory / "run", json.loads(process.stdout)


def causes_of(timeloom, run, *names):
    """Seconds by cause, of the main thread's functions."""
    rows = []
    for name in names:
        output = timeloom("report", "--json", "--function", name, run).stdout
        rows.append(json.loads(output)["waiting_causes_s"])
    return {cause: sum(row[cause] for row in rows) for cause in rows[0]}


def check(causes, expected, seconds, of=1.0):
    """All but a tenth has the cause, or came later than it should for want of a processor."""
    right = causes[expected] + causes["processor"]
    assert sum(causes.values()) == pytest.approx(seconds, rel=0.1, abs=0.01), causes
    assert right >= 0.9 * of * sum(causes.values()), causes
    assert causes[expected] >= 0.5 * right, causes


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
@pytest.mark.parametrize("cause", ALONE)
def test_cause_alone(cause, options, tmp_path, timeloom):
    run, seconds = recorded(tmp_path, program(ALONE[cause]), *options)
    causes = causes_of(timeloom, run, "waits" if cause != "thread" else "subprocess.*")
    check(causes, cause, seconds["waits"])


def test_looks_are_packed_while_the_program_runs(tmp_path, timeloom):
    run, seconds = recorded(tmp_path, program(ALONE["lock"]), "--pack-early", "--keep-spool")
    check(causes_of(timeloom, run, "waits"), "lock", seconds["waits"])
    (file,) = (run / "spool").glob("*/waits")
    assert struct.unpack_from("<H", file.read_bytes(), 8) == (2,)


@pytest.mark.parametrize(("text", "cause"), [(PIPE, "thread"), (SELECT, "time")], ids=["pipe", "select"])
def test_descriptors(text, cause, tmp_path, timeloom):
    run, seconds = recorded(tmp_path, program(text))
    check(causes_of(timeloom, run, "waits"), cause, seconds["waits"])


def test_join(tmp_path, timeloom):
    run, seconds = recorded(tmp_path, program(JOIN))
    causes = causes_of(timeloom, run, "threading.Thread.*")
    assert causes["thread"] + causes["processor"] >= 0.9 * seconds["waits"], causes


def test_task_loop(tmp_path, timeloom):
    """A loop that waits for its next timer waits for a time, in the function of its selector."""
    run, seconds = recorded(tmp_path, program(TASKS))
    check(causes_of(timeloom, run, "selectors.*"), "time", seconds["waits"])


def test_several(tmp_path, timeloom):
    """One function after another, and two causes in one function without a call between them."""
    lock = ALONE["lock"].replace("def waits", "def locks")
    mixed = "def waits():\n    for _ in range(5):\n        time.sleep(0.04)\n        select.select([ends[0]], [], [], 0.04)"
    rests = "def rests():\n    for _ in range(5): time.sleep(0.04)"
    run, seconds = recorded(tmp_path, program("ends = os.pipe()", mixed, rests, lock))
    check(causes_of(timeloom, run, "rests"), "time", seconds["rests"])
    check(causes_of(timeloom, run, "locks"), "lock", seconds["locks"])
    causes = causes_of(timeloom, run, "waits")
    assert sum(causes.values()) == pytest.approx(seconds["waits"], rel=0.1, abs=0.01)
    assert causes["time"] + causes["thread"] + causes["processor"] >= 0.9 * seconds["waits"], causes
    assert min(causes["time"], causes["thread"]) >= 0.2 * seconds["waits"], causes


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has no GIL")
def test_gil(tmp_path, timeloom):
    text = """
def spin():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        sum(range(2000))
def waits(): spin()
threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads: thread.start()
"""
    run, seconds = recorded(tmp_path, program(text))
    causes = causes_of(timeloom, run, "spin")
    assert causes["gil"] + causes["processor"] >= 0.9 * sum(causes.values()), causes
    assert causes["gil"] >= 0.25 * sum(causes.values()), causes
    assert causes["lock"] <= 0.05 * sum(causes.values()), causes


def test_report_has_them(tmp_path, timeloom):
    run, _ = recorded(tmp_path, program(ALONE["time"]))
    answer = timeloom("report", run).stdout
    (title,) = [line for line in answer.splitlines() if " waited" in line]
    assert " cause " in title and ": time " in title
    (row,) = [line for line in answer.splitlines() if "__main__.waits" in line and " time" in line]
    assert "Waiting by cause" in timeloom("report", "--full", run).stdout
    assert "waiting (time" in timeloom("report", "--function", "waits", run).stdout
    assert json.loads(timeloom("report", "--json", run).stdout)["waiting_causes_s"]["time"] > 0.15


def test_a_part_of_the_run(tmp_path, timeloom):
    """Of a wait that reaches beyond the part, the same share of its causes is inside."""
    run, _ = recorded(tmp_path, program(ALONE["lock"]))
    whole = causes_of_part(timeloom, run)
    all_of_it = causes_of_part(timeloom, run, "--from", "0s")
    assert all_of_it["lock"] == pytest.approx(whole["lock"], rel=0.02) and whole["lock"] > 0.1
    length = json.loads(timeloom("info", "--json", run).stdout)["wall_s"]
    steps = [f"{length * part / 4:.6f}s" for part in range(5)]
    parts = [causes_of_part(timeloom, run, "--from", steps[i], "--to", steps[i + 1]) for i in range(4)]
    assert sum(part["lock"] for part in parts) == pytest.approx(all_of_it["lock"], rel=0.02)


def causes_of_part(timeloom, run, *options):
    """Seconds by cause of all functions."""
    return json.loads(timeloom("report", "--json", *options, run).stdout)["waiting_causes_s"]


def test_without_causes(tmp_path, timeloom):
    """Nothing is looked at: names alone count."""
    for option in ("--no-causes", "--no-waiting"):
        (tmp_path / option).mkdir()
        run, _ = recorded(tmp_path / option, program(ALONE["time"]), option)
        assert " cause " not in timeloom("report", run).stdout
        causes = json.loads(timeloom("report", "--json", run).stdout)["waiting_causes_s"]
        assert causes["lock"] == causes["gil"] == 0


def test_forked_child(tmp_path, timeloom):
    text = """
def rests():
    for _ in range(5): time.sleep(0.04)
def waits():
    child = os.fork()
    if child == 0:
        time.sleep(0.2)
        rests()
        sys.exit()
    os.waitpid(child, 0)
measured(waits)
"""
    run, seconds = recorded(tmp_path, "\n".join([PREFIX, text, SUFFIX]))
    causes = causes_of(timeloom, run, "rests")
    assert causes["time"] + causes["processor"] >= 0.18, causes
    of_parent = causes_of(timeloom, run, "waits")
    assert of_parent["thread"] + of_parent["processor"] >= 0.3, of_parent


def test_no_free_processor(tmp_path, timeloom):
    """A loop beside a process that spins on the same processor: the kernel tells how long it was ready."""
    text = """
import signal
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
ends = os.pipe()
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    os.write(ends[1], b"x")
    while True: pass
os.read(ends[0], 1)
delays = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
def waits():
    start = now = int(os.pread(delays, 99, 0).split()[1])
    while now - start < 500_000_000:
        for _ in range(100000): pass
        now = int(os.pread(delays, 99, 0).split()[1])
    times["kernel"] = (now - start) / 1e9
waits()
os.kill(child, signal.SIGTERM)
os.waitpid(child, 0)
"""
    if not Path("/proc/thread-self/schedstat").exists():
        pytest.skip("the kernel does not tell it")
    for options in ((), ("--profile",)):
        directory = tmp_path / "-".join(["run", *options])
        directory.mkdir()
        run, seconds = recorded(directory, "\n".join([PREFIX, text, SUFFIX]), *options)
        causes = causes_of(timeloom, run, "waits")
        assert causes["processor"] == pytest.approx(seconds["kernel"], rel=0.1), causes
