"""Records that are packed while the program runs: the same events in less space, also of a killed program."""

import json
import mmap
import os
import platform
import random
import shutil
import signal
import struct
import subprocess
import textwrap
from pathlib import Path

import pytest
from packed_segments import unpack
from spool_reader import spools_of, stream
from streams import environment

pytestmark = pytest.mark.any_python

MEGA = 1 << 20
# Waits for the drain between its parts, so that a busy machine packs, too.
CALLS = """
import time

def step(i):
    return i

def part():
    for i in range(20_000):
        step(i)

for _ in range(30):
    part()
    time.sleep(0.01)
"""
THREADS = """
import threading
import time

def work(n):
    for i in range(n):
        deeper(i)
        if i % 2000 == 0:
            time.sleep(0.001)

def deeper(i):
    return i * 2

threads = [threading.Thread(target=work, args=(30_000 + 1000 * i,), name=f"worker {i}") for i in range(4)]
for thread in threads:
    thread.start()
    thread.join()
"""
TASKS = """
import asyncio
import timeloom

async def one(n):
    for i in range(n):
        timeloom.parameter_int("step", -i)
        timeloom.counter("load", i / 7, "items")
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(one(2000 * i) for i in range(1, 5)))

asyncio.run(main())
"""
PROGRAMS = {
    "calls": (CALLS, ()),
    "threads": (THREADS, ()),
    "tasks": (TASKS, ("--async-tasks",)),
}
# Calls a function, and writes after each call how many have ended.
COUNTED = """
import mmap
import os
import sys

file = os.open(sys.argv[1], os.O_RDWR)
done = mmap.mmap(file, 8)

def step():
    pass

i = 0
while True:
    step()
    i += 1
    done[:8] = i.to_bytes(8, "little")
"""


def record(program, text, directory, *options):
    script = directory / "program.py"
    script.write_text(textwrap.dedent(text))
    words = [program, "run", "--quiet", "--no-weave", "-o", "run", *options, script]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=200, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    return directory / "run"


def records_of(run):
    """The events of all locations without their times, in order."""
    (spool,) = spools_of(run)
    assert spool.ended and spool.lost == 0
    return spool, {location: [tuple(event[:3]) for event in spool.events(location)] for location in spool.locations()}


def of_program(events):
    """Without what a loop of asyncio does, which depends on time."""
    return [event for event in events if str(event[1]).startswith(("__main__.", "step", "load")) or event[0] == "track"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_events_raw_and_packed(name, tmp_path, program):
    text, options = PROGRAMS[name]
    found = {}
    for how in ("--no-pack-early", "--pack-early"):
        directory = tmp_path / how
        directory.mkdir()
        run = record(program, text, directory, how, *options)
        spool, events = records_of(run)
        assert (spool.packed > 0) == (how == "--pack-early")
        found[how] = {location: of_program(one) for location, one in events.items()}
    assert found["--pack-early"] == found["--no-pack-early"]
    assert sum(map(len, found["--pack-early"].values())) > 10_000


def test_every_answer_is_from_the_same_numbers(tmp_path, program, timeloom):
    """The spool is unpacked by hand: both forms have the same times, and become the same bytes."""
    run = record(program, THREADS, tmp_path, "--pack-early")
    raw = Path(shutil.copytree(run, tmp_path / "raw"))
    (spool,) = spools_of(run)
    assert spool.packed > 0
    unpack_log(next((raw / "spool").glob("*/log")))
    assert spools_of(raw)[0].packed == 0
    answers = []
    for one in (run, raw):
        timeloom("weave", one)
        here = one.parent / "run"
        if one != here:
            shutil.rmtree(here)
            one.rename(here)
        answers.append([
            timeloom("report", "--full", here).stdout, timeloom("report", "--slowest", here).stdout,
            timeloom("convert", here, "--to", "csv", "--events", "-o", "-").stdout,
            {path.name: path.read_bytes() for path in (here / "traces").iterdir()},
        ])  # fmt: skip
    assert answers[0] == answers[1]


def unpack_log(log):
    """Replaces packed segments by the records that they contain, with the sums that a segment has."""
    data, offset, result = log.read_bytes(), 0, b""
    while offset < len(data):
        head = list(struct.unpack_from("<4sIIIQQQQQQ", data, offset))
        packed = head[0] == b"LPAK"
        stored = head[1] if packed else head[3]
        body = data[offset + 64 : offset + 64 + stored]
        if packed:
            words = unpack(body)
            body = struct.pack(f"<{len(words)}Q", *words)
            head[0], head[1] = b"LSEG", 2
            head[8] = mix(mix(head[6], head[3]), head[7])
        result += struct.pack("<4sIIIQQQQQQ", *head) + body
        offset += 64 + (stored + 7) // 8 * 8
    log.write_bytes(result)
    defs = log.parent / "defs"
    defs.write_bytes(with_size_of_log(defs.read_bytes(), len(result)))


def mix(value, part):
    value = (value ^ part) * 0xFF51AFD7ED558CCD % 2**64
    return value ^ (value >> 32)


def with_size_of_log(defs, size_of_log):
    """The definitions, with another size in the record of the end."""
    offset = 16
    while offset < len(defs):
        size, kind = struct.unpack_from("<IH", defs, offset)
        if kind == 10:
            payload = defs[offset + 12 : offset + 12 + size]
            payload = payload[:8] + struct.pack("<Q", size_of_log) + payload[16:]
            check = 2166136261
            for byte in defs[offset : offset + 8] + payload:
                check = (check ^ byte) * 16777619 % 2**32
            defs = defs[: offset + 8] + struct.pack("<I", check) + payload + defs[offset + 12 + size :]
        offset += 12 + size
    return defs


def completed_calls(run, done):
    """Checks a killed run against the number of calls that had ended, and returns how many segments were packed."""
    calls = int.from_bytes(done[:8], "little")
    (spool,) = spools_of(run)
    assert not spool.ended
    kinds = [kind for kind, name, *_ in spool.events(0) if name == "__main__.step"]
    assert kinds[::2] == ["enter"] * len(kinds[::2]) and kinds[1::2] == ["leave"] * len(kinds[1::2])
    assert calls <= kinds.count("leave") <= calls + 1
    return spool.packed


def start_counted(program, directory, *before, options=("--pack-early",)):
    (directory / "program.py").write_text(COUNTED)
    (directory / "done").write_bytes(bytes(8))
    words = [*before, program, "run", "--quiet", "--no-weave", "-o", "run", *options, "program.py", "done"]
    process = subprocess.Popen(words, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment())
    with open(directory / "done", "r+b") as file:
        return process, mmap.mmap(file.fileno(), 8)


@pytest.mark.parametrize("how", ["--pack-early", "--no-pack-early"])
def test_a_kill_at_any_instant_loses_nothing(how, tmp_path, program):
    packed = 0
    for attempt in range(6 if os.environ.get("THOROUGH") else 3):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        process, done = start_counted(program, directory, options=(how,))
        enough = random.Random(attempt).randrange(1, 400_000)
        while int.from_bytes(done[:8], "little") < enough:
            assert process.poll() is None, process.stdout.read()
        process.send_signal(signal.SIGKILL)
        process.wait()
        packed += completed_calls(directory / "run", done)
    assert (packed > 0) == (how == "--pack-early")


def can_trace():
    probe = ["strace", "-qq", "-o", os.devnull, "-e", "trace=pwrite64", "true"]
    return shutil.which("strace") is not None and subprocess.run(probe, capture_output=True).returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(not can_trace(), reason="no strace, or tracing is not allowed here")
def test_a_kill_at_a_write_of_the_drain_loses_nothing(tmp_path, program):
    """The kernel kills the program when a thread of it is about to write for the nth time."""
    packed = 0
    for when in (25, 60, 100, 150) if os.environ.get("THOROUGH") else (60, 150):
        directory = tmp_path / str(when)
        directory.mkdir()
        inject = f"inject=pwrite64:signal=SIGKILL:when={when}"
        before = ("strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=pwrite64", "-e", inject)
        process, done = start_counted(program, directory, *before)
        assert process.wait(200) != 0
        if int.from_bytes(done[:8], "little") > 0:
            packed += completed_calls(directory / "run", done)
    assert packed > 0


@pytest.fixture
def sizes(tmp_path, program):
    """The number of steps in a run with a size limit, and the bytes of its log."""

    def sizes(name, *options):
        directory = tmp_path / name
        directory.mkdir()
        run = record(program, CALLS.replace("range(30)", "range(60)"), directory, "--max-size", "4M", *options)
        (spool,) = spools_of(run)
        logs = sum(path.stat().st_size for path in (run / "spool").glob("*/log*"))
        return sum(kind == "enter" for kind, *_ in spool.events(0)), logs, spool.packed

    return sizes


def test_a_size_limit_counts_what_is_on_the_disk(sizes):
    raw_steps, raw_bytes, _ = sizes("raw", "--no-pack-early")
    steps, stored, packed = sizes("packed")
    assert 200_000 < raw_steps < 530_000 and stored <= 4 * MEGA and raw_bytes <= 4 * MEGA
    assert packed > 0 and steps > 1.5 * raw_steps


def test_a_limited_overhead_is_not_spent_unasked(sizes):
    assert sizes("limited", "--overhead", "90%")[2] == 0
    assert sizes("asked", "--overhead", "90%", "--pack-early")[2] > 0


def test_a_version_before_refuses_the_run_with_one_line(tmp_path, program):
    run = record(program, "pass", tmp_path)
    defs = next((run / "spool").glob("*/defs"))
    assert int.from_bytes(defs.read_bytes()[8:10], "little") == 3


def test_info_tells_what_packing_would_save(tmp_path, program, timeloom):
    run = record(program, CALLS, tmp_path)
    timeloom("weave", run)
    packing = json.loads(timeloom("info", "--json", run).stdout)["packing"]
    (line,) = [line.strip() for line in timeloom("info", run).stdout.splitlines() if "timeloom pack" in line]
    assert line.startswith("timeloom pack: traces of about ") and line.endswith(" % less")
    before = packing["trace_bytes"]
    assert before == sum(path.stat().st_size for path in run.rglob("traces*/**/*") if path.is_file()) + sum(
        path.stat().st_size for path in run.glob("traces.*") if path.is_file()
    )
    timeloom("pack", run)
    after = (run / "traces.packed").stat().st_size
    assert after / 2 < packing["packed_bytes"] < 1.2 * after
    assert json.loads(timeloom("info", "--json", run).stdout)["packing"] is None
    assert "timeloom pack" not in timeloom("info", run).stdout




# Ends at a call of renameat2, by which a packed file of the log takes the place of another.
FORBIDS_AN_EXCHANGE = """
import ctypes, os, struct, threading, time

def step(): pass
def steps(n):
    for _ in range(n): step()
for thread in os.listdir("/proc/self/task"):  # the drain falls behind
    if int(thread) != os.getpid(): os.setpriority(os.PRIO_PROCESS, int(thread), 19)
threads = [threading.Thread(target=steps, args=(300_000,)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc = ctypes.CDLL(None)
def statement(code, yes, no, value): return struct.pack("HBBI", code, yes, no, value)
filter = ctypes.create_string_buffer(statement(0x20, 0, 0, 0) + statement(0x15, 0, 1, 316)
                                     + statement(6, 0, 0, 0x80000000) + statement(6, 0, 0, 0x7FFF0000))
class Program(ctypes.Structure): _fields_ = [("size", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc.prctl(38, 1, 0, 0, 0)
assert libc.syscall(317, 1, 1, ctypes.byref(Program(4, ctypes.addressof(filter)))) == 0
time.sleep(0.5)
print("alive")
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of calls are the ones of x86-64")
def test_a_program_that_forbids_the_exchange_of_files_lives(program, tmp_path):
    (tmp_path / "app.py").write_text(FORBIDS_AN_EXCHANGE)
    words = [program, "run", "--max-size", "100MB", "--buffer-size", "2MB", "--no-weave", "-o", "run", "app.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
    (spool,) = spools_of(tmp_path / "run")
    assert sum(len(stream(spool, one, lambda name: name == "__main__.step")) for one in spool.locations()) == 2 * 8 * 300_000
