"""What an empty program costs under Timeloom: start and finish, weaving included."""

import pathlib
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

ROUNDS = 21


def program() -> str:
    """The `timeloom` program that was installed with this interpreter."""
    return str(pathlib.Path(sysconfig.get_path("scripts")) / "timeloom")


def wall_ms(command: list[str]) -> float:
    begin = time.perf_counter_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter_ns() - begin) / 1e6


def measure(scratch: pathlib.Path) -> dict:
    """Medians of interleaved runs, in milliseconds."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        empty = pathlib.Path(directory) / "empty.py"
        empty.write_text("", encoding="utf-8")
        plain, added, version = [], [], []
        for number in range(ROUNDS):
            run = str(pathlib.Path(directory) / f"run-{number}")
            plain.append(wall_ms([sys.executable, str(empty)]))
            measured = wall_ms([program(), "run", "--quiet", "-o", run, str(empty)])
            added.append(measured - plain[-1])
            version.append(wall_ms([program(), "--version"]))
    return {
        "startup_ms": round(statistics.median(added), 2),
        "plain_startup_ms": round(statistics.median(plain), 2),
        "timeloom_version_ms": round(statistics.median(version), 2),
    }
