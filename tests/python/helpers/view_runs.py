"""Copies of recorded runs, with a viewer of them where a test asks for one."""

import shutil

import pytest
from converted import each_run, recorded
from view_client import NONE, Viewer

__all__ = ["each_run"]


@pytest.fixture
def run(each_run, tmp_path):
    """A copy: an index is written beside it."""
    return shutil.copytree(each_run, tmp_path / "run")


@pytest.fixture
def one_run(program, tmp_path):
    return shutil.copytree(recorded("threads", program), tmp_path / "run")


@pytest.fixture
def viewer(program, run):
    with Viewer(program, run) as viewer:
        yield viewer.wait()



def named_table(viewer, description, *arguments):
    """A table by call path, as names."""
    paths, regions = viewer.paths(), description["regions"]

    def names(path):
        parent, region = paths[path]
        return (() if parent == NONE else names(parent)) + (regions[region]["name"],)

    table = {}
    for path, row in viewer.table(*arguments).items():
        known = table.get(names(path))  # regions may have the same name
        sums = [a + b for a, b in zip(row[:5], known[:5], strict=True)] if known else row[:5]
        shortest, longest = known[5:] if known else row[5:]
        table[names(path)] = (*sums, min(shortest, row[5]), max(longest, row[6]))
    return table

