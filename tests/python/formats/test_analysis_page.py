"""docs/analysis.md: each snippet prints the output shown on the page."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from archives import MAIN, WORKER, make_archive

PAGE = Path(__file__).parents[3] / "docs" / "analysis.md"
LATER = [(0, "main"), (1, "Solver.step"), (3, "dot"), (15, None), (18, None), (18, "Solver.step"), (19, "dot"),
         (25, None), (32, None), (32, "save"), (40, None), (100, None)]  # fmt: skip


def test_each_snippet_prints_what_the_page_says(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    pytest.importorskip("networkx")
    make_archive(tmp_path / "heat", {"MainThread": MAIN, "worker": WORKER})
    make_archive(tmp_path / "heat-later", {"MainThread": LATER, "worker": WORKER})
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) == PAGE.read_text().count("```python") == 12
    names: dict[str, object] = {}
    for snippet, expected in snippets:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(snippet, names)
        assert output.getvalue() == expected, snippet
