"""Checks that the lines of documents end at 120 characters.

usage: python3 -m scripts.check.line_ends [--wrap]

Tables, headings, pictures and blocks of code may be wider, and so may a line without a blank to end at. --wrap ends
longer lines at a blank and puts the rest in front of the next line of the paragraph. Files that a program or a test
writes are left out: they follow when the program changes.
"""

import itertools
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 120
FOLDERS = ("docs", "bench", "examples", "packaging", "tests", "viewer")
WRITTEN = {"docs/settings.md", "docs/notebook.md", "docs/profiles.md", "bench/RESULTS.md"}
# At the start of a line these make a list, a heading, a table, a quotation or a picture of it.
MARK = re.compile(r"(?:[-+*]|\d+[.)])(?:\s|$)|#+\s|[|>]|!\[|```|<!--")
ITEM = re.compile(r"(?:[-+*]|\d+[.)])\s+")


def documents(root: pathlib.Path) -> Iterator[pathlib.Path]:
    nested = (path for folder in FOLDERS for path in (root / folder).rglob("*.md"))
    for path in sorted(itertools.chain(root.glob("*.md"), nested)):
        name = path.relative_to(root)
        if name.as_posix() not in WRITTEN and not {"node_modules", "build"} & set(name.parts):
            yield path


def prose(lines: list[str]) -> Iterator[int]:
    """The indices of the lines that are text."""
    in_code = False
    for index, line in enumerate(lines):
        fence = line.lstrip().startswith("```")
        in_code ^= fence
        if not (in_code or fence or line.startswith(("    ", "|", "#", "![", ">"))):
            yield index


def end_of(line: str) -> int:
    """The last blank at which `line` can end, outside of `code`; 0 if there is none."""
    start = len(line) - len(line.lstrip())
    item = ITEM.match(line, start)
    for at in range(min(WIDTH, len(line) - 1), item.end() if item else start, -1):
        if line[at] == " " and line.count("`", 0, at) % 2 == 0 and not MARK.match(line, at + 1):
            return at
    return 0


def too_long(lines: list[str]) -> list[int]:
    return [index for index in prose(lines) if len(lines[index]) > WIDTH and end_of(lines[index])]


def indentation(line: str) -> str:
    """The blanks before the next line of the paragraph of `line`."""
    start = len(line) - len(line.lstrip())
    item = ITEM.match(line, start)
    return " " * (item.end() if item else start)


def wrap(lines: list[str]) -> None:
    while wide := too_long(lines):
        at = wide[0]
        end = end_of(lines[at])
        rest, lines[at] = lines[at][end + 1 :], lines[at][:end]
        goes_on = at + 1 in prose(lines) and lines[at + 1].strip() and not MARK.match(lines[at + 1].lstrip())
        if goes_on:
            blanks = len(lines[at + 1]) - len(lines[at + 1].lstrip())
            lines[at + 1] = f"{lines[at + 1][:blanks]}{rest} {lines[at + 1].lstrip()}"
        else:
            lines.insert(at + 1, indentation(lines[at]) + rest)


def main() -> int:
    failed = False
    for path in documents(ROOT):
        lines = path.read_text().splitlines()
        if sys.argv[1:] == ["--wrap"] and too_long(lines):
            wrap(lines)
            path.write_text("".join(f"{line}\n" for line in lines))
        for index in too_long(lines):
            failed = True
            print(f"{path.relative_to(ROOT)}:{index + 1}: {len(lines[index])} characters, {WIDTH} fit; --wrap ends it")
    return failed


if __name__ == "__main__":
    sys.exit(main())
