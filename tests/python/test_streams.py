"""All instrumenters record the same regions as a profile function in Python does."""

import pytest
from streams import INSTRUMENTERS, assert_same, measure, plain, reference

PROGRAMS = ["generators.py", "coroutines.py", "exceptions.py", "dynamic_code.py", "threads.py"]


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_same_as_reference(program, instrumenter, tmp_path):
    expected = reference(program, tmp_path)
    got, process = measure(program, instrumenter, tmp_path)
    undisturbed = plain(program, tmp_path)
    assert (process.stdout, process.stderr) == (undisturbed.stdout, undisturbed.stderr)
    assert process.returncode == 0
    assert_same(got, expected)
