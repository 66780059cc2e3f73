"""Copies of recorded runs, with a viewer of them where a test asks for one."""

import shutil
import struct

import pytest
from converted import each_run, recorded
from view_client import EVER, NONE, Fields, Viewer

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


def single_samples(viewer, begin=0.0, end=EVER, tracks=(), limit=100_000, columns=4096):
    """[{track, name of the function, of the call around it, line, time, samples, most, nanoseconds}]"""
    body = viewer.ask("sampled", struct.pack(f"<2I2d2I{len(tracks)}I", limit, columns, begin, end, len(tracks), 0, *tracks))
    fields = Fields(body)
    count, _ = fields.u32(2)
    samples, first, last, ticks, most = [fields.f64(count) for _ in range(5)]
    track, hit, region, line = [fields.u32(count) for _ in range(4)]
    names = [one["name"] for one in viewer.description()["regions"]] + body[fields.at :].decode().split("\n")[:-1]
    named = [[None if one == NONE else names[one] for one in numbers] for numbers in (hit, region)]
    keys = ("track", "hit", "region", "line", "first", "last", "samples", "most", "ns")
    return [dict(zip(keys, one, strict=True)) for one in zip(track, *named, line, first, last, samples, most, ticks, strict=True)]
