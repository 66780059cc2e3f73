"""The figures of profile_mode.py for a large CUBE profile and a long trace, from the C++ benchmarks.

BENCH_PROGRAMS names their folder; nothing is measured without it.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import limits
import startup
import weaving

ROUNDS = 3
EVENTS = 10_000_000


def run_benchmark(program: str, *arguments: str) -> list[limits.Figures]:
    """The results of Google Benchmark for each benchmark of a program, all times in ms."""
    command = [os.path.join(os.environ["BENCH_PROGRAMS"], program), "--benchmark_format=json"]
    done = subprocess.run([*command, *arguments], stdout=subprocess.PIPE, check=True)
    results: list[limits.Figures] = json.loads(done.stdout)["benchmarks"]
    return results


def command_on(file: str, *words: str) -> tuple[float, float]:
    """Wall ms and peak MB of a command of Timeloom."""
    command = [startup.program(), *words, file]
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return (time.perf_counter() - begin) * 1e3, usage.ru_maxrss * 1024 / 1e6


def measure_cube(scratch: str) -> limits.Figures:
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        file = os.path.join(directory, "large.cubex")
        times: dict[str, float] = {}
        peaks: dict[str, float] = {}
        for one in run_benchmark("bench_cube", file):
            name = one["name"].split("/")[0]
            times[name] = one["real_time"]
            peaks[name] = one.get("peak_MB", 0) * 1024 * 1024 / 1e6
        for name, words in {"score": ["score"], "report": ["report"], "diff": ["diff", file]}.items():
            runs = [command_on(file, *words) for _ in range(ROUNDS)]
            times[name] = statistics.median(wall for wall, _ in runs)
            peaks[name] = max(peak for _, peak in runs)
    return {
        "cube_ms": {name: round(value) for name, value in times.items()},
        "cube_peak_mb": round(max(peaks["read_values"], peaks["load_call_tree"], peaks["report"])),
    }


def measure_fold(scratch: str) -> limits.Figures:
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        run = weaving.record(pathlib.Path(directory), 1, EVENTS)
        taken = run_benchmark("bench_fold", "--benchmark_enable_random_interleaving=true", str(run))
    medians = {one["run_name"].split("/")[0]: one["cpu_time"] / one["events"]
               for one in taken if one.get("aggregate_name") == "median"}  # fmt: skip
    return {
        "read_ns_per_event": round(medians["read_trace"], 2),
        "fold_ns_per_event": round(medians["fold_trace"] - medians["read_trace"], 2),
    }


def measure(scratch: str) -> limits.Figures:
    if "BENCH_PROGRAMS" not in os.environ:
        return {}
    return {**measure_cube(scratch), **measure_fold(scratch)}
