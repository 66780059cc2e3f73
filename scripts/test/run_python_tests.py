"""Installs Timeloom for every usable Python of this machine and runs tests/python with each.

usage: python3 -m scripts.test.run_python_tests [--only 3.X[,3.Y]] [--all] [--no-werror] [--one-by-one]
                                                [arguments of pytest]

Installs for two Pythons at once, and tests with the first one while others are installed; with --one-by-one
installs for one at a time, so that shared files are compiled once if the compiler cache is empty. With
--no-werror warnings of a newer compiler or library are not errors. Tests marked any_python run with the newest
Python only, with --all with every one. At most AGAIN tests that fail run once more, alone: on a busy machine
a program may be too late for what a test waits for. Ends with one line for each version: its result, which
names the tests that passed only the second time, or why it was not tested. Fails if a test fails twice, an
installation fails, or no Python is usable.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from scripts import environments, pythons

# Left out for all but the newest Python.
WITHOUT_ANY_PYTHON = "--without-any-python"

# The number of installations at once: one compiles while another one waits for the network.
INSTALLATIONS = 2

# More than processors: a test often waits for a program that sleeps, or for a disk.
WORKERS = (os.cpu_count() or 1) * 3 // 2

# More failures than this have a cause other than a busy machine.
AGAIN = 5


def install(python: pythons.Python, werror: bool) -> pathlib.Path | None:
    """The interpreter of an environment with Timeloom; with `werror`, compiled like build/release."""
    print(f"== {pythons.describe(python)}: installing", flush=True)
    try:
        return environments.install(python, "test", werror=werror)
    except subprocess.CalledProcessError:
        return None


def test(python: pythons.Python, interpreter: pathlib.Path, pytest_arguments: list[str]) -> str:
    """Run the tests with one Python; return the result in words, which start with "tested" if all passed."""
    print(f"\n== {pythons.describe(python)}: testing", flush=True)
    variables = {**environments.clean_environment(), "TIMELOOM_PROGRAM": str(interpreter.with_name("timeloom"))}
    cache = environments.ROOT / "build" / f"pytest-{python.tag}"
    shutil.rmtree(cache, ignore_errors=True)

    def ended(*own: str, last: tuple[str, ...] = ()) -> int:
        # In front, so that -n0 among the arguments takes precedence.
        command = [str(interpreter), "-m", "pytest", "-o", f"cache_dir={cache}", *own, *pytest_arguments, *last]
        return subprocess.run(command, env=variables, cwd=environments.ROOT).returncode

    status = ended("-n", str(WORKERS), "--dist=worksteal", "--durations=30")
    failed = failed_tests(cache) if status == 1 else []
    if 0 < len(failed) <= AGAIN:
        print(f"\n== {pythons.describe(python)}: again, alone: {', '.join(failed)}", flush=True)
        status = ended("--last-failed", last=("-n0",))
    # With this Python all requested tests may be left out; pytest then ends with 5.
    if status not in ((0, 5) if WITHOUT_ANY_PYTHON in pytest_arguments else (0,)):
        return f"tests failed (pytest ended with {status})"
    return f"tested, PASSED ONLY THE SECOND TIME: {', '.join(failed)}" if failed else "tested, all is well"


def failed_tests(cache: pathlib.Path) -> list[str]:
    """The tests that failed, as the cache of pytest has them."""
    record = cache / "v" / "cache" / "lastfailed"
    return list(json.loads(record.read_text())) if record.exists() else []


def test_all(
    chosen: list[pythons.Python], arguments: argparse.Namespace, pytest_arguments: list[str]
) -> dict[str, str]:
    """The result of each version, by its tag."""
    newest = environments.newest_supported(chosen)
    outcomes = {}
    with concurrent.futures.ThreadPoolExecutor(1 if arguments.one_by_one else INSTALLATIONS) as pool:
        installations = [pool.submit(install, python, not arguments.no_werror) for python in chosen]
        for python, installation in zip(chosen, installations):
            interpreter = installation.result()
            begin = time.monotonic()
            left_out = [] if arguments.all or python is newest else [WITHOUT_ANY_PYTHON]
            if interpreter is None:
                outcomes[python.tag] = "could not be installed"
                continue
            result = test(python, interpreter, [*left_out, *pytest_arguments])
            outcomes[python.tag] = f"{result}, {time.monotonic() - begin:.0f} s"
    return outcomes


def arguments_of(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The script's arguments, and the arguments for pytest."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", default="", help="versions, separated by commas")
    parser.add_argument("--all", action="store_true", help="every test with every Python")
    parser.add_argument("--no-werror", action="store_true", help="warnings of the compiler are no errors")
    parser.add_argument("--one-by-one", action="store_true", help="one installation at a time")
    return parser.parse_known_args(words)


def main() -> int:
    arguments, pytest_arguments = arguments_of(sys.argv[1:])
    only = [tag for tag in arguments.only.split(",") if tag]
    found = pythons.find(dict(os.environ))
    chosen = [python for python in found if not python.problem and (not only or python.tag in only)]
    if not chosen:
        sys.exit("run_python_tests.py: no Python was tested")
    outcomes = test_all(chosen, arguments, pytest_arguments)
    print("\n== Pythons")
    for python in found:
        why_not = "not among --only" if not python.problem else python.problem
        print(f"{pythons.describe(python)}: {outcomes.get(python.tag, f'not tested: {why_not}')}")
    for tag in pythons.missing(found):
        print(f"Python {tag}: NOT TESTED: not found on PATH or in TIMELOOM_PYTHONS")
    return 0 if all(outcome.startswith("tested") for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
