"""Runs five programs from PyPI with a trace and with --profile, and compares all visits.

usage: PYTHON -m scripts.trials.real_programs [--scratch DIR] [--output FILE]

PYTHON is the interpreter of an environment with Timeloom; `make real-programs` creates one. The
programs are installed into DIR, in the versions of scripts/trials/real_programs.txt. Writes the table
of docs/profiles.md to FILE.

Each program runs three times in a separate process: once without Timeloom, for the caches of
bytecode; once with a trace; once with --profile, which sums events up in the process instead of keeping them. The
visits of every region and every call path are compared: from the trace, read from the archive itself; from the
profile.cubex that was made from it while weaving; and from the run with --profile. The exit status is 1 if any of them
differ.
"""

import argparse
import collections
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

from scripts import environments

HERE = pathlib.Path(__file__).resolve().parent
ROOT = environments.ROOT
REQUIREMENTS = HERE / "real_programs.txt"
BEGIN, END = "<!-- scripts/trials/real_programs.py writes from here -->", "<!-- to here -->"

PATHS = """\
import networkx as nx
graph = nx.karate_club_graph()
print(sorted(nx.betweenness_centrality(graph, weight="weight").items())[:3])
print(len(nx.minimum_cycle_basis(nx.hexagonal_lattice_graph(3, 3))))
print(nx.is_isomorphic(nx.petersen_graph(), nx.relabel_nodes(nx.petersen_graph(), lambda n: -n)))
"""
NUMBERS = """\
from mpmath import mp, identify, lu_solve, matrix, nsum, pi, quad, sin, zetazero
mp.dps = 30
print(pi, zetazero(1), quad(lambda x: sin(x) / x, [0, pi]))
print(nsum(lambda n: 1 / n**2, [1, mp.inf]), identify(mp.sqrt(2) + 1, ["sqrt(2)"]))
print(lu_solve(matrix([[2, 1], [1, 3]]), matrix([3, 5])))
"""
BOOK = """\
A book
======

.. toctree::

   one
   two
"""
CHAPTER = """\
Chapter {0}
{1}

.. index:: chapter {0}

A *first* paragraph that names :doc:`{2}` and ``code``.

.. code-block:: python

   def f(n):
       return n + {0}

==== ====
 a    b
==== ====
 1    2
==== ====
"""


class Program(typing.NamedTuple):
    package: str
    what: str
    words: list[str]
    files: Mapping[str, str] = types.MappingProxyType({})


PROGRAMS = [
    Program("sphinx", "builds a small book", ["-m", "sphinx", "-q", "-E", "-b", "html", "book", "html"],
            {"book/conf.py": "project = 'Book'\ncopyright = '2026'\n", "book/index.rst": BOOK,
             "book/one.rst": CHAPTER.format(1, "=========", "two"),
             "book/two.rst": CHAPTER.format(2, "=========", "one")}),
    Program("pyflakes", "reads sources of networkx", ["-m", "pyflakes", "{site}/networkx/algorithms/flow"]),
    Program("networkx", "paths, cycles and isomorphism of graphs", ["paths.py"], {"paths.py": PATHS}),
    Program("mpmath", "integrals, sums, a zero of zeta", ["numbers_of.py"], {"numbers_of.py": NUMBERS}),
    Program("pytest", "runs tests of networkx", ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs",
                                                 "networkx.algorithms.tests.test_dag"]),
]  # fmt: skip


Key = tuple[str, str, int]  # of a region: name, file, line


class Visits(typing.NamedTuple):
    regions: collections.Counter[Key]
    call_paths: collections.Counter[tuple[Key, ...]]


def key_of(row: dict[str, Any]) -> Key:
    """The region of a row of ``timeloom report --json``."""
    return row["name"], row["file"], row["line"]


class Place:
    """The directories in which the programs are installed and run, and their Python."""

    def __init__(self, python: pathlib.Path, scratch: pathlib.Path) -> None:
        self.python, self.scratch, self.site = python, scratch, scratch / "site"
        self.program = python.with_name("timeloom")

    def install(self) -> None:
        if self.site.exists() and (self.site / "pins").read_text() == REQUIREMENTS.read_text():
            return
        shutil.rmtree(self.site, ignore_errors=True)
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--target", str(self.site), "-r", str(REQUIREMENTS)]  # fmt: skip
        subprocess.run(command, check=True, stdout=sys.stderr)
        (self.site / "pins").write_text(REQUIREMENTS.read_text())

    def run(self, program: Program, *options: str) -> None:
        """In a directory that has the same path every time."""
        work = self.scratch / "work"
        shutil.rmtree(work, ignore_errors=True)
        for name, text in program.files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        work.mkdir(exist_ok=True)
        words = [word.format(site=self.site) for word in program.words]
        variables = {**environments.clean_environment(), "PYTHONPATH": str(self.site), "PYTHONHASHSEED": "0",
                     "COLUMNS": "80", "SOURCE_DATE_EPOCH": "1767225600"}  # fmt: skip
        done = subprocess.run([self.python, *options, *words], cwd=work, env=variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        if done.returncode not in (0, 1):  # pyflakes has found something
            raise SystemExit(f"{program.package} ended with status {done.returncode}:\n{done.stdout}")

    def measure(self, program: Program, kind: str, *options: str) -> pathlib.Path:
        run = self.scratch / f"{program.package}-{kind}"
        self.run(program, "-m", "timeloom", "--quiet", "--force", "-o", str(run), *options)
        return run

    def visits(self, run: pathlib.Path) -> Visits:
        text = subprocess.run([self.program, "report", "--json", run], check=True, stdout=subprocess.PIPE,
                              text=True).stdout  # fmt: skip
        report = json.loads(text)
        found = Visits(collections.Counter(), collections.Counter())
        for row in report["flat"]["rows"]:
            found.regions[key_of(row)] += row["visits"]
        paths: dict[int | None, tuple[Key, ...]] = {None: ()}
        for row in report["tree"]["rows"]:
            paths[row["id"]] = (*paths[row["parent"]], key_of(row))
            found.call_paths[paths[row["id"]]] += row["visits"]
        return found


def only_trace(run: pathlib.Path) -> pathlib.Path:
    """The run without its woven profile, so that the archive itself is read."""
    copy = run.with_name(run.name + "-archive")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("profile.cubex"))
    return copy


def differences(one: collections.Counter[Any], other: collections.Counter[Any]) -> list[str]:
    def name(key: tuple[Any, ...]) -> str:
        return key[0] if isinstance(key[0], str) else f"a call path to {key[-1][0]}"

    return [f"{name(key)}: {one[key]} and {other[key]}" for key in one.keys() | other.keys() if one[key] != other[key]]


def compare(place: Place, program: Program) -> tuple[Visits, list[str]]:
    place.run(program)
    traced = place.measure(program, "trace")
    of_trace = place.visits(only_trace(traced))
    found = []
    for run in (traced / "profile.cubex", place.measure(program, "profile", "--profile")):
        of_run = place.visits(run)
        found += differences(of_trace.regions, of_run.regions)
        found += differences(of_trace.call_paths, of_run.call_paths)
    return of_trace, found


def version_of(place: Place, package: str) -> str:
    (directory,) = place.site.glob(f"{package}-*.dist-info")
    return directory.name.removeprefix(f"{package}-").removesuffix(".dist-info")


def table_of(place: Place) -> tuple[str, bool]:
    lines = ["| program | what it does | regions | call paths | visits | visits that differ |"]
    lines.append("|---|---|---|---|---|---|")
    good = True
    for program in PROGRAMS:
        print(f"real_programs: {program.package}", file=sys.stderr)
        visits, found = compare(place, program)
        for one in found[:20]:
            print(f"real_programs: {program.package}: {one}", file=sys.stderr)
        good = good and not found
        counts = (len(visits.regions), len(visits.call_paths), visits.regions.total(), len(found))
        cells = [f"{program.package} {version_of(place, program.package)}", program.what]
        lines.append(f"| {' | '.join([*cells, *(f'{count:,}' for count in counts)])} |")
    lines += ["", f"Python {platform.python_version()}."]
    return "\n".join(lines) + "\n", good


def write(page: pathlib.Path, table: str) -> None:
    text = page.read_text()
    head, rest = text.split(BEGIN)
    page.write_text(f"{head}{BEGIN}\n\n{table}\n{END}{rest.split(END)[1]}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT / "build" / "real-programs")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "profiles.md")
    arguments = parser.parse_args()
    place = Place(pathlib.Path(sys.executable), arguments.scratch.resolve())
    place.scratch.mkdir(parents=True, exist_ok=True)
    place.install()
    table, good = table_of(place)
    write(arguments.output, table)
    print(table, end="")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
