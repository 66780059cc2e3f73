"""Runs every check, one after the other: the command behind `make test-all`.

usage: python3 -m scripts.test.test_all [--only STEP]...

Continues after a step that fails. Ends with a line for each step, its result and its time, and with
the steps that could not run on this machine; fails if a step failed.
"""

import argparse
import dataclasses
import os
import subprocess
import sys
import time

from scripts import environments, pythons
from scripts.test import test_threads_sanitize


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    command: list[str]
    problem: str = ""  # why it cannot run; "" if it can
    variables: dict[str, str] = dataclasses.field(default_factory=dict)


# Loops over many equal cases are tried in full: tests/unit/support/thorough.hpp and the marker `thorough` of pytest.
THOROUGH = {"THOROUGH": "1"}


def no_chroot() -> str:
    return "" if os.geteuid() == 0 else "a chroot needs root"


def python_tests(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "scripts.test.run_python_tests", *arguments]


def steps(found: list[pythons.Python]) -> list[Step]:
    newest = environments.newest_supported([python for python in found if not python.problem])
    interpreter = str(environments.directory_for(newest) / "bin" / "python")
    no_sanitizer = test_threads_sanitize.unsuitable(os.environ.get("TIMELOOM_TSAN_PYTHON", ""))
    return [
        Step("layers, format, types", ["make", "check"]),
        Step("C++ tests", ["make", "test-cpp"], variables=THOROUGH),
        Step("C++ benchmarks compile", ["sh", "-c", "cmake --preset bench && cmake --build --preset bench"]),
        Step("C++ tests without the door Omnitrace", ["make", "test-doors"]),
        Step("C++ tests under sanitizers", ["make", "test-sanitize"], variables=THOROUGH),
        Step("random inputs for the fuzzers", ["make", "test-fuzz"]),
        Step("Python tests, each with each Python", python_tests("--all"), variables=THOROUGH),
        Step("Python tests in Debian unstable", ["make", "test-debian"], no_chroot()),
        Step("tests of races, 20 times each", python_tests("-m", "race"), variables={"RACE_ROUNDS": "20"}),
        Step(
            "100 cycles of attach in one process",
            python_tests("tests/python/attach/test_attach_debugger.py", "-k", "many_cycles"),
            variables={"ATTACH_CYCLES": "100"},
        ),
        Step("extension under ThreadSanitizer", ["make", "test-threads-sanitize"], no_sanitizer or ""),
        Step("16 and 64 ranks", python_tests("-m", "many_ranks", "-n", "0")),
        Step("CPython's tests", python_tests("-m", "cpython_suite")),
        Step("CPython's tests of threads", python_tests("--only", newest.tag, "-m", "cpython_threads")),
        Step("random damage to runs", [interpreter, "-m", "scripts.trials.fuzz_runs", "--inputs", "1000"]),
        Step("attacks from outside", ["make", "trials"]),
        Step("readers of PyPI and Debian", ["make", "real-readers"]),
        Step("records of CUPTI in NVIDIA's headers", [interpreter, "-m", "scripts.check.check_cupti"]),
        Step("OMPT in the headers of LLVM's runtimes", [interpreter, "-m", "scripts.check.check_ompt"]),
        Step("the viewer's page in Chromium and Firefox", ["make", "test-viewer"]),
        Step("modules of other compilers", ["make", "test-compiled"]),
        Step("engines: Dask, Ray, Spark, Celery", ["make", "test-engines"]),
        Step("notebooks with other versions, and in JupyterLab", ["make", "test-notebooks"]),
        Step("sums of CPU time", [interpreter, "-m", "scripts.trials.sum_rule"]),
        Step("random programs", [interpreter, "-m", "scripts.trials.soak", "--minutes", "5"]),
    ]


def run(step: Step) -> str:
    """Run a step and return its result in words."""
    if step.problem:
        return f"NOT RUN: {step.problem}"
    print(f"\n=== {step.name}", flush=True)
    begin = time.monotonic()
    done = subprocess.run(step.command, cwd=environments.ROOT, env={**os.environ, **step.variables}, check=False)
    outcome = "passed" if done.returncode == 0 else f"FAILED ({done.returncode})"
    return f"{outcome}, {time.monotonic() - begin:.0f} s"


def main() -> int:
    found = pythons.find(dict(os.environ))
    if all(python.problem for python in found):
        sys.exit("test_all.py: no usable Python; scripts/pythons.py says why")
    known = steps(found)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[step.name for step in known], metavar="STEP", default=[])
    only = parser.parse_args().only
    lines = {step.name: run(step) for step in known if not only or step.name in only}
    print("\n=== Results")
    for name, line in lines.items():
        print(f"{name}: {line}")
    for python in found:
        if python.problem:
            print(f"{pythons.describe(python)}: NOT TESTED: {python.problem}")
    for tag in pythons.missing(found):
        print(f"Python {tag}: NOT TESTED: not found on PATH or in TIMELOOM_PYTHONS")
    return 1 if any(line.startswith("FAILED") for line in lines.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
