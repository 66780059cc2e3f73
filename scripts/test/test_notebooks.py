"""Runs the tests of notebooks with versions of IPython and Jupyter that `make test` does not have.

usage: python3 -m scripts.test.test_notebooks [--only SET[,SET]] [arguments of pytest]

Each set of versions, scripts/test/notebooks/SET.txt, has a separate environment for each Python that it
supports, build/venv-3.X-SET. The set `lab` opens notebooks in JupyterLab, in Debian's Chromium or in the
browser that TIMELOOM_CHROMIUM names. Ends with a line for each; fails if a test or an installation
fails, or if none could be run.
"""

import argparse
import dataclasses
import os
import subprocess
import sys

from scripts import environments, pythons
from scripts.test import run_python_tests

TESTS = environments.ROOT / "tests" / "python" / "notebook"
REQUIREMENTS = environments.ROOT / "scripts" / "test" / "notebooks"


@dataclasses.dataclass(frozen=True)
class Set:
    name: str
    tags: tuple[str, ...]  # of the Pythons that it is tested with
    marked: str = ""  # all tests, or those with a marker


# Python 3.12 has the newest versions in `make test`, without the tests marked notebook_suite.
SETS = (
    Set("newest", tuple(tag for tag in pythons.SUPPORTED if tag != "3.12")),
    Set("debian12", ("3.11",)),
    Set("oldest", ("3.12",)),
    Set("colab", ("3.12",)),
    Set("lab", ("3.12",), "notebook_suite"),
)


def test(one: Set, python: pythons.Python, arguments: list[str]) -> str:
    """The result in words."""
    name = f"{one.name}, {pythons.describe(python)}"
    print(f"\n== {name}: installing", flush=True)
    requirements = (str(REQUIREMENTS / f"{one.name}.txt"),)
    try:
        interpreter = environments.install(python, "", requirements, werror=True, variant=one.name)
    except subprocess.CalledProcessError:
        return "could not be installed"
    files = map(str, sorted(TESTS.glob("test_notebook_*.py")))
    return run_python_tests.test(python, interpreter, ["-m", one.marked, *files, *arguments])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    names = [one.name for one in SETS]
    parser.add_argument("--only", default=",".join(names), help="sets, separated by commas")
    options, arguments = parser.parse_known_args()
    if unknown := set(options.only.split(",")) - set(names):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    usable = {python.tag: python for python in pythons.find(dict(os.environ)) if not python.problem}
    outcomes = {}
    for one in SETS:
        for tag in one.tags if one.name in options.only.split(",") else ():
            python = usable.get(tag)
            outcomes[f"{one.name}, {tag}"] = test(one, python, arguments) if python else "NOT TESTED: no such Python"
    print("\n== Notebooks")
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome}")
    tested = [outcome for outcome in outcomes.values() if not outcome.startswith("NOT TESTED")]
    return 0 if tested and all(outcome.startswith("tested") for outcome in tested) else 1


if __name__ == "__main__":
    sys.exit(main())
