"""All instrumenters record the same regions as a profile function in Python does."""

import sys

import pytest
from streams import INSTRUMENTERS, assert_same, measure, plain, reference, without_closed

# Here CPython closes a generator that waits outside of try blocks without running it, and a profile function does not
# see it.
CLOSES_UNSEEN = (3, 13) <= sys.version_info[:3] < (3, 13, 10) or sys.version_info[:3] == (3, 14, 0)
CLOSED = {"coroutines.py": ["__main__.Step.__await__"]} if CLOSES_UNSEEN else {}
PROGRAMS = ["generators.py", "coroutines.py", "exceptions.py", "dynamic_code.py", "threads.py"]


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_same_as_reference(program, instrumenter, tmp_path):
    expected = reference(program, tmp_path)
    got, process = measure(program, instrumenter, tmp_path)
    undisturbed = plain(program, tmp_path)
    assert (process.stdout, process.stderr) == (undisturbed.stdout, undisturbed.stderr)
    assert process.returncode == 0
    if program in CLOSED:
        (stream,), (one,) = got, expected
        got = [without_closed(stream, one, CLOSED[program])]
    assert_same(got, expected)
