"""Which functions of compiled modules each instrumenter records: the table of docs/native.md, row by row."""

import functools
import itertools
import re
import sys
from pathlib import Path

import pytest
from compiled_kinds import KINDS, LARGE_BUILDERS, SMALL_BUILDERS, SOURCES
from spool_reader import spools_of
from streams import C_INSTRUMENTERS, INSTRUMENTERS, assert_balanced, run_python

PAGE = Path(__file__).resolve().parents[3] / "docs" / "native.md"
LARGE = ("nanobind", "PyO3", "f2py", "cffi", "numba")  # their packages are in scripts/test/compiled.txt only
WAYS = [*((name, ()) for name in INSTRUMENTERS), *((name, ("--c-functions",)) for name in C_INSTRUMENTERS)]


def cells_of(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@functools.cache
def table():
    """The cells, by the texts of the first two columns and then by the instrumenter and options of their column."""
    header, _, *lines = PAGE.read_text().partition("\n| made with | functions |")[2].partition("\n\n")[0].splitlines()
    columns = [cell.strip("`").split() for cell in cells_of(header)]
    ways = [(name, tuple(options)) for name, *options in columns]
    rows = map(cells_of, lines)
    return {(made_with, functions): dict(zip(ways, cells, strict=True)) for made_with, functions, *cells in rows}


def recorded(cell):
    """Whether this Python's calls are recorded; None: the page leaves it open."""
    if cell in ("yes", "no"):
        return cell == "yes"
    word, version, rest = re.fullmatch(r"(from|until) 3\.(\d+)(; then not always)?", cell).groups()
    if word == "from":
        return sys.version_info >= (3, int(version))
    within = sys.version_info[:2] <= (3, int(version))
    return True if within else None if rest else False


def test_the_table_has_a_row_for_each_kind():
    assert list(table()) == list(KINDS)


PROGRAM = """
import {modules}

def after(): pass
def call_{number}():
    try: {call}
    except Exception: pass
    after()
call_{number}()
"""


def program_of(cases):
    texts = (PROGRAM.format(modules=case.call.partition(".")[0], call=case.call, number=number)
             for number, case in enumerate(cases))  # fmt: skip
    return "".join(texts)


def calls_in(spool):
    """The regions in each of the functions call_N, and whether `after` is called by that function itself."""
    found, path = {}, []
    for kind, name, *_ in spool.events(0):
        if kind == "leave":
            path.pop()
            continue
        path.append(name)
        inside = [*itertools.dropwhile(lambda name: not name.startswith("__main__.call_"), path)]
        if inside:
            names, below = found.setdefault(inside[0], ([], []))
            names.append(name)
            if name == "__main__.after":
                below.append(len(inside) == 2)
    return found


def is_of_package(case):
    """Whether the function is one of Python in an installed package, whose lines are not known here."""
    return case.region.startswith("numba.")


def place_of(case):
    """File and first line of the function, with its decorators; ("", 0): it has none."""
    if not case.line:
        return ("", 0)
    file = next(path for path in SOURCES.iterdir() if path.stem == case.region.partition(".")[0])
    lines = [line.strip() for line in file.read_text().splitlines()]
    number = next(number for number, line in enumerate(lines) if line.startswith(case.line))
    while lines[number - 1].startswith("@"):
        number -= 1
    return (file.name, number + 1)


def wrong_calls(spool, cases, cells):
    """The calls that are not recorded as the cells have it, or at another place."""
    assert_balanced(spool, 0)
    places = {}
    for region in spool.regions.values():
        places.setdefault(region["name"], set()).add((Path(region["file"]).name if region["file"] else "", region["first"]))
    found, wrong = calls_in(spool), []
    for number, case in enumerate(cases):
        names, below = found[f"__main__.call_{number}"]
        expected = recorded(cells[number])
        if names.count(f"__main__.call_{number}") != 1:
            wrong.append((case.call, names))
        elif below != [True] or (expected is not None and (case.region in names) != expected):
            wrong.append((case.call, names, below))
        elif expected and not is_of_package(case) and place_of(case) not in places[case.region]:
            wrong.append((case.region, places[case.region]))
    return wrong


def kinds(large):
    return {kind: cases for kind, cases in KINDS.items() if kind[0].startswith(LARGE) == large}


def measured(directory, chosen, way, **variables):
    instrumenter, options = way
    cases = [(case, table()[kind][way]) for kind, cases in chosen.items() for case in cases]
    (directory / "program.py").write_text(program_of([case for case, _ in cases]))
    done = run_python(
        ["-m", "timeloom", "--quiet", "--no-weave", "--force", "--instrumenter", instrumenter, *options, "-o", "run",
         "program.py"],
        directory, env={"PYTHONPATH": f"{directory}:{SOURCES}", "PYTHONDONTWRITEBYTECODE": "1", **variables},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (spool,) = spools_of(directory / "run")
    assert (way, wrong_calls(spool, *zip(*cases))) == (way, [])


# All ways in one test: its process is the only one that builds the modules.
@pytest.mark.any_python
def test_small_modules_are_recorded_as_the_page_has_it(tmp_path):
    for build in SMALL_BUILDERS:
        build(tmp_path)
    for way in WAYS:
        measured(tmp_path, kinds(large=False), way)


REPORTED = ("numba, `NUMBA_ENABLE_SYS_MONITORING=1`", "functions that Python calls")
UNREPORTED = ("numba", "compiled functions")


@pytest.mark.compiled_suite
@pytest.mark.parametrize("events, without", [("0", REPORTED), ("1", UNREPORTED)])
def test_large_modules_are_recorded_as_the_page_has_it(tmp_path, events, without):
    for build in LARGE_BUILDERS:
        build(tmp_path)
    chosen = {kind: cases for kind, cases in kinds(large=True).items() if kind != without}
    for way in WAYS:
        measured(tmp_path, chosen, way, NUMBA_ENABLE_SYS_MONITORING=events)
