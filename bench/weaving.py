"""Records runs of a known number of events and measures weaving them.

Wall time is reported because users wait for it; processor time of the same weaves stands beside it. Each weave works on
a fresh copy of the run made of hard links, so that the same spool is woven repeatedly.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import typing

import startup

ROUNDS = 7
MAIN_KEYS = ("bytes_per_event_spool", "bytes_per_event_otf2", "weave_ns_per_event")

# A call is two events.
PROGRAM = textwrap.dedent("""\
    import itertools
    import sys
    import threading

    def nothing():
        pass

    def loop(calls):
        for _ in itertools.repeat(None, calls):
            nothing()

    threads = int(sys.argv[1])
    calls = int(sys.argv[2]) // 2 // threads
    workers = [threading.Thread(target=loop, args=(calls,)) for _ in range(threads - 1)]
    for worker in workers:
        worker.start()
    loop(calls)
    for worker in workers:
        worker.join()
""")


class Weave(typing.NamedTuple):
    wall: float  # seconds
    processor: float
    peak_mb: float


def record(directory: pathlib.Path, threads: int, events: int) -> pathlib.Path:
    """A run of about `events` events, not woven."""
    script = directory / "calls.py"
    script.write_text(PROGRAM, encoding="utf-8")
    run = directory / f"recorded-{threads}"
    options = ["--quiet", "--no-weave", "-o", str(run)]
    command = [sys.executable, "-m", "timeloom", *options, str(script), str(threads), str(events)]
    subprocess.run(command, check=True)
    return run


def weave(run: pathlib.Path, threads: int) -> Weave:
    command = [startup.program(), "weave", str(run), "--threads", str(threads), "--keep-spool"]
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Weave(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def weave_copy(recorded: pathlib.Path, threads: int) -> tuple[Weave, int]:
    """Weaves a copy; also returns the bytes of its trace."""
    copy = recorded.with_name(f"{recorded.name}-copy")
    shutil.copytree(recorded, copy, copy_function=os.link)
    try:
        taken = weave(copy, threads)
        trace = [copy / "traces.otf2", copy / "traces.def", *(copy / "traces").iterdir()]
        return taken, sum(file.stat().st_size for file in trace)
    finally:
        shutil.rmtree(copy)


def size_of(directory: pathlib.Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def measure(scratch: pathlib.Path, events: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        one = record(pathlib.Path(name), 1, events)
        two = record(pathlib.Path(name), 2, events)
        alone, serial, parallel = [], [], []
        for _ in range(ROUNDS):
            taken, trace_bytes = weave_copy(one, 1)
            alone.append(taken)
            serial.append(weave_copy(two, 1)[0].wall)
            parallel.append(weave_copy(two, 2)[0].wall)
        spool_bytes = size_of(one)
    wall = statistics.median(each.wall for each in alone)
    processor = statistics.median(each.processor for each in alone)
    return {
        "bytes_per_event_spool": round(spool_bytes / events, 3),
        "bytes_per_event_otf2": round(trace_bytes / events, 3),
        "weave_ns_per_event": round(wall / events * 1e9, 2),
        "weave_cpu_ns_per_event": round(processor / events * 1e9, 2),
        "weave_speedup_2": round(statistics.median(serial) / statistics.median(parallel), 2),
        "weave_peak_mb": round(max(each.peak_mb for each in alone), 1),
        "weave_events": events,
    }
