"""Runs the tests of compiled modules whose compilers `make test` does not have.

usage: python3 -m scripts.test.test_compiled [--only 3.X[,3.Y]] [arguments of pytest]

Each Python has an environment of its own with the packages of scripts/test/compiled.txt, build/venv-3.X-compiled.
A Python that one of them does not support yet is not tested. Ends with a line for each; fails if a test fails, or if
none could be run.
"""

import argparse
import os
import subprocess
import sys

from scripts import environments, pythons
from scripts.test import run_python_tests

REQUIREMENTS = (str(environments.ROOT / "scripts" / "test" / "compiled.txt"),)


def test(python: pythons.Python, arguments: list[str]) -> str:
    """The result in words."""
    print(f"\n== {pythons.describe(python)}: installing", flush=True)
    try:
        interpreter = environments.install(python, "test", REQUIREMENTS, werror=True, variant="compiled")
    except subprocess.CalledProcessError:
        return "NOT TESTED: could not be installed"
    return run_python_tests.test(python, interpreter, ["-m", "compiled_suite", *arguments])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", default="", help="versions, separated by commas")
    options, arguments = parser.parse_known_args()
    only = [tag for tag in options.only.split(",") if tag]
    usable = [python for python in pythons.find(dict(os.environ)) if not python.problem]
    outcomes = {python.tag: test(python, arguments) for python in usable if not only or python.tag in only}
    print("\n== Compiled modules")
    for tag, outcome in outcomes.items():
        print(f"Python {tag}: {outcome}")
    tested = [outcome for outcome in outcomes.values() if not outcome.startswith("NOT TESTED")]
    return 0 if tested and all(outcome.startswith("tested") for outcome in tested) else 1


if __name__ == "__main__":
    sys.exit(main())
