"""scripts/check/line_ends.py: the lines of documents that are too long, those that may be, and how they are wrapped."""

import sys

import pytest
from scripts.check import line_ends

pytestmark = pytest.mark.any_python

WORD = "fourteen-bytes "  # with the blank 15 bytes; eight fit in a line
LONG = (WORD * 9).rstrip()
KEPT, REST = (WORD * 8).rstrip(), WORD.rstrip()

# What may be wider: {name: lines}.
WIDE = {
    "a table": ["| " + LONG + " |"],
    "a heading": ["# " + LONG],
    "a picture": ["![" + LONG + "](a.png)"],
    "a quotation": ["> " + LONG],
    "a block of code": ["```console", LONG, "```"],
    "an indented block": ["    " + LONG],
    "no blank to end at": ["x" * 121],
    "no blank but in code": ["`" + LONG + "`"],
    "exactly as many": ["x" * 60 + " " + "x" * 59],
}
# Lines that are wrapped: {name: (lines, wrapped lines)}.
WRAPPED = {
    "a paragraph": ([LONG], [KEPT, REST]),
    "into the next line": ([LONG, "more"], [KEPT, REST + " more"]),
    "not across paragraphs": ([LONG, "", "more"], [KEPT, REST, "", "more"]),
    "not into a list": ([LONG, "* more"], [KEPT, REST, "* more"]),
    "an item": (["* " + LONG], ["* " + (WORD * 7).rstrip(), "  " + (WORD * 2).rstrip()]),
    "a numbered item": (["1. " + LONG, "   more"], ["1. " + (WORD * 7).rstrip(), "   " + (WORD * 2).rstrip() + " more"]),
    "line by line": ([LONG, (WORD * 8).rstrip()], [KEPT, REST + " " + (WORD * 7).rstrip(), REST]),
    "before a mark": (["x" * 117 + " - more"], ["x" * 117 + " -", "more"]),
    "before code": (["x" * 113 + " `in code` more"], ["x" * 113, "`in code` more"]),
    "one byte too many": (["x" * 60 + " " + "x" * 60], ["x" * 60, "x" * 60]),
    "after a block of code": (["```", LONG, "```", LONG], ["```", LONG, "```", KEPT, REST]),
}


@pytest.mark.parametrize("name", WIDE)
def test_lines_that_may_be_wider(name):
    assert line_ends.too_long(WIDE[name]) == []


@pytest.mark.parametrize("name", WRAPPED)
def test_lines_that_are_wrapped(name):
    lines, wrapped = WRAPPED[name]
    assert line_ends.too_long(lines)
    line_ends.wrap(lines := list(lines))
    assert lines == wrapped and line_ends.too_long(lines) == []
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(WRAPPED[name][0]).split())


def test_a_tree(tmp_path, monkeypatch, capsys):
    """Documents at the root and in the folders of documents; files that programs write are left out."""
    (tmp_path / "docs" / "node_modules").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    for name in ("README.md", "docs/a.md", "docs/settings.md", "docs/node_modules/a.md", "docs/a.txt", "src/a.md"):
        (tmp_path / name).write_text(f"# {LONG}\n{LONG}\n")
    monkeypatch.setattr(line_ends, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["line_ends.py"])
    assert line_ends.main()
    said = "{}:2: 134 characters, 120 fit; --wrap ends it\n"
    assert capsys.readouterr().out == said.format("README.md") + said.format("docs/a.md")
    monkeypatch.setattr(sys, "argv", ["line_ends.py", "--wrap"])
    assert not line_ends.main()
    assert capsys.readouterr().out == ""
    assert (tmp_path / "docs" / "a.md").read_text() == f"# {LONG}\n{KEPT}\n{REST}\n"
    assert (tmp_path / "docs" / "settings.md").read_text() == f"# {LONG}\n{LONG}\n"
