"""The cost of an empty program under Timeloom: start and finish, weaving included."""

import os
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


def wall_ms(command: list[str], **variables: str) -> float:
    environment = {**os.environ, **variables}
    begin = time.perf_counter_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return (time.perf_counter_ns() - begin) / 1e6


def measure(scratch: pathlib.Path) -> dict[str, float]:
    """Medians of interleaved runs, in milliseconds."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        empty = pathlib.Path(directory) / "empty.py"
        empty.write_text("", encoding="utf-8")
        plain, added, door, profiler, version = [], [], [], [], []
        for number in range(ROUNDS):
            run = str(pathlib.Path(directory) / f"run-{number}")
            plain.append(wall_ms([sys.executable, str(empty)]))
            measured = wall_ms([program(), "run", "--quiet", "-o", run, str(empty)])
            added.append(measured - plain[-1])
            settings = {"SCOREP_EXPERIMENT_DIRECTORY": run + "-scorep"}
            command = [sys.executable, "-m", "scorep", str(empty)]
            door.append(wall_ms(command, **settings) - plain[-1])
            command = [sys.executable, "-m", "cProfile", str(empty)]
            profiler.append(wall_ms(command) - plain[-1])
            version.append(wall_ms([program(), "--version"]))
    return {
        "startup_ms": round(statistics.median(added), 2),
        "scorep_startup_ms": round(statistics.median(door), 2),
        "cProfile_startup_ms": round(statistics.median(profiler), 2),
        "plain_startup_ms": round(statistics.median(plain), 2),
        "timeloom_version_ms": round(statistics.median(version), 2),
    }
