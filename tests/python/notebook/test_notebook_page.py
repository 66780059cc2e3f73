"""docs/notebook.md: the page equals its notebook's output, except for times and sizes."""

import pytest

pytest.importorskip("nbclient")

from scripts.pages import notebook_page


def test_the_page_is_what_the_notebook_gives():
    assert notebook_page.difference() == ""


def test_the_notebook_is_kept_without_outputs():
    import nbformat

    notebook = nbformat.read(notebook_page.SOURCE, as_version=4)
    nbformat.validate(notebook)
    codes = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert codes and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in codes)


@pytest.mark.parametrize(("one", "other"), [
    ("5 calls, 1.2 ms, CPU 30 µs", "5 calls, 0.3 s, CPU 999 ns"), ("a  b", "a b"),
    ("overhead below 1 %: times are trustworthy", "overhead about 50 %: filter the most called functions"),
    ("memory 80 MB, +1.5 MB in the cell", "memory 1000 MB"), ("timeloom-notebook-20261123-120000/in-5", "timeloom-notebook-20250101-000000/in-5"),
])  # fmt: skip
def test_figures_are_not_compared(one, other):
    assert notebook_page.without_figures(one) == notebook_page.without_figures(other)


def test_counts_are_compared():
    assert notebook_page.without_figures("5 calls, 1.2 ms") != notebook_page.without_figures("6 calls, 1.2 ms")
