#!/usr/bin/env python3
"""Installs Timeloom for every usable Python of this machine and runs tests/python with each.

usage: scripts/run_python_tests.py [--only 3.X[,3.Y]] [arguments of pytest]

Ends with one line for each version: what came of it, or why it was not tested. Fails if
a test fails, an installation fails, or no Python is usable.
"""

import os
import subprocess
import sys
import time

import environments
import pythons


def chosen(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The versions of --only (none: all) and the arguments for pytest."""
    if arguments and arguments[0].startswith("--only="):
        return arguments[0].removeprefix("--only=").split(","), arguments[1:]
    if len(arguments) > 1 and arguments[0] == "--only":
        return arguments[1].split(","), arguments[2:]
    return [], arguments


def test(python: pythons.Python, pytest_arguments: list[str]) -> str:
    """What is wrong, "" if nothing is."""
    print(f"\n== {pythons.describe(python)}: installing", flush=True)
    try:
        interpreter = environments.install(python, "test")
    except subprocess.CalledProcessError:
        return "could not be installed"
    program = interpreter.with_name("timeloom")
    variables = {**environments.clean_environment(), "TIMELOOM_PROGRAM": str(program)}
    workers = ["-n", str(os.cpu_count())]  # in front, so that -n0 among the arguments wins
    command = [str(interpreter), "-m", "pytest", *workers, *pytest_arguments]
    print(f"== {pythons.describe(python)}: testing", flush=True)
    done = subprocess.run(command, env=variables, cwd=environments.ROOT)
    return "" if done.returncode == 0 else f"tests failed (pytest ended with {done.returncode})"


def main() -> int:
    only, pytest_arguments = chosen(sys.argv[1:])
    found = pythons.find(dict(os.environ))
    lines, sound, tested = [], True, 0
    for python in found:
        name = pythons.describe(python)
        if only and python.tag not in only:
            lines.append(f"{name}: not tested: not among --only")
        elif python.problem:
            lines.append(f"{name}: not tested: {python.problem}")
        else:
            begin = time.monotonic()
            wrong = test(python, pytest_arguments)
            sound, tested = sound and not wrong, tested + 1
            lines.append(f"{name}: {wrong or 'tested, all is well'}, {time.monotonic() - begin:.0f} s")
    for tag in pythons.missing(found):
        lines.append(f"Python {tag}: NOT TESTED: not found on PATH or in TIMELOOM_PYTHONS")
    print("\n== Pythons", *lines, sep="\n", flush=True)
    if not tested:
        sys.exit("run_python_tests.py: no Python was tested")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
