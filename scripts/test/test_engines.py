"""Runs the tests of engines that `make test` does not have: most of Dask, and Ray, Spark and Celery.

usage: python3 -m scripts.test.test_engines [--only 3.X] [arguments of pytest]

They run with one Python, the newest that the packages of scripts/test/engines.txt support or the given one, in an
environment of its own, build/venv-3.X-engines. Fails if a test fails, or if none could be run.
"""

import argparse
import os
import subprocess
import sys

from scripts import environments, pythons
from scripts.test import run_python_tests

REQUIREMENTS = (str(environments.ROOT / "scripts" / "test" / "engines.txt"),)
NEWEST = "3.13"  # for which Ray has wheels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="3.X")
    options, words = parser.parse_known_args()
    usable = [python for python in pythons.find(dict(os.environ)) if not python.problem]
    usable = [python for python in usable if options.only in (None, python.tag)]
    if not usable:
        sys.exit("test_engines.py: no usable Python; scripts/pythons.py tells why")
    python = environments.newest_supported(usable, NEWEST)
    print(f"== {pythons.describe(python)}: installing", flush=True)
    try:
        interpreter = environments.install(python, "test", REQUIREMENTS, werror=True, variant="engines")
    except subprocess.CalledProcessError as error:
        sys.exit(f"test_engines.py: {error}")
    outcome = run_python_tests.test(python, interpreter, ["-m", "engine_suite", *words])
    print(f"\n== Engines\nPython {python.tag}: {outcome}")
    return 0 if outcome.startswith("tested") else 1


if __name__ == "__main__":
    sys.exit(main())
