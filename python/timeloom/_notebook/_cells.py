"""Recognizes Timeloom's magics in the first line of a cell. Pure functions of the text."""

from __future__ import annotations

import re
from typing import NamedTuple

MEASURING = ("execute_with_scorep", "timeloom")
SETTING = (
    "scorep_env",
    "scorep_python_binding_arguments",
    "serializer_settings",
    "marshalling_settings",
    "enable_multicellmode",
    "finalize_multicellmode",
    "abort_multicellmode",
    "start_writefile",
    "end_writefile",
    "abort_writefile",
    "enable_vampir_launch_on_scorep_instrumented",
    "disable_vampir_launch",
    "kernel_debug",
)

# Blank lines and comments may come first. A question mark asks IPython for help.
_EMPTY = r"(?:[ \t]*(?:#[^\n]*)?\n)*"
_FIRST = re.compile(rf"({_EMPTY})[ \t]*%%(\w+)(?![\w?])([^\n]*)(?:\n|$)")
# IPython's own magics that run the lines below them; one of Timeloom's may follow.
_AROUND = re.compile(rf"{_EMPTY}[ \t]*(%%(?:capture|prun|time|timeit)(?![\w?])[^\n]*\n){_EMPTY}")


class Cell(NamedTuple):
    """A cell that begins with one of Timeloom's magics."""

    magic: str
    line: str  # the rest of the line of the magic
    before: str  # the lines in front of it
    body: str


def parse(raw: str) -> Cell | None:
    """Return the parts of a cell; None if its first line is not one of Timeloom's magics.

    A measuring magic directly below ``%%time`` and similar ones counts as if it stood above.
    """
    around = _AROUND.match(raw)
    if around is not None:
        inner = parse(raw[around.end() :])
        if inner is None or inner.magic not in MEASURING:
            return None
        return inner._replace(before="", body=around[1] + inner.body)
    found = _FIRST.match(raw)
    if found is None or found[2] not in (*MEASURING, *SETTING):
        return None
    return Cell(found[2], found[3].strip(), found[1], raw[found.end() :])


def transform(lines: list[str]) -> list[str]:
    """An input transformer of IPython: removes the magic of measured cells, and turns other magics of Timeloom into
    calls.

    It has no side effect: IPython also calls it to find out whether a cell is complete.
    """
    cell = parse("".join(lines))
    if cell is None:
        return lines
    if cell.magic in MEASURING:
        return _without_magic(cell).splitlines(keepends=True)
    return [call_of(cell)]


def _without_magic(cell: Cell) -> str:
    """Return the cell with unchanged line numbers; a cell magic that follows stands in the first line."""
    if cell.body.lstrip().startswith("%%"):
        return cell.body.lstrip()
    return f"{cell.before}\n{cell.body}"


def code_of(raw: str) -> str:
    """Return the code that a cell runs: itself, or the lines below a measuring magic."""
    cell = parse(raw)
    return raw if cell is None or cell.magic not in MEASURING else cell.body


def is_special(cell: Cell) -> bool:
    """True if the magic requests something other than running the cell here: help, or another process."""
    words = cell.line.split()
    return any(word.split("=")[0] in ("--help", "-h", "--fresh", "--ranks") for word in words)


def call_of(cell: Cell) -> str:
    """Return the cell as a call of its magic; IPython would not call it for an empty body."""
    body = cell.body if cell.body.strip() else "\n"
    return f"get_ipython().run_cell_magic({cell.magic!r}, {cell.line!r}, {body!r})\n"
