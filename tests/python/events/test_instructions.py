"""The instructions of an event: no increase goes unnoticed. bench/instructions.py counts them."""

import json
import shutil

import pytest
from bench import instructions

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")]


def test_no_operation_has_become_dearer():
    known = json.loads(instructions.FILE.read_text()).get(instructions.compiler())
    if known is None:
        pytest.skip(f"{instructions.FILE.name} has no numbers for {instructions.compiler()}")
    found = instructions.all_counts()
    assert found.keys() == known.keys()
    assert instructions.more_than(known, found) == []


def test_what_is_dearer_is_named():
    known, found = {"a plain": 80.0, "b plain": 90.0}, {"a plain": 82.1, "b plain": 92.0}
    (line,) = instructions.more_than(known, found)
    assert line.startswith("a plain: 82.1 instructions a call, 80.0 in instructions.json; ")
