"""CPython's own tests of what an instrumenter touches pass as without it.

Takes a minute or so an instrumenter: deselect with `-m "not cpython_suite"`.
"""

import importlib.util
import re
import sys

import pytest
from streams import INSTRUMENTERS, run_python, streams_of

MODULES = ["test_generators", "test_coroutines", "test_contextlib", "test_exceptions"]

pytestmark = [
    pytest.mark.cpython_suite,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("test", "test.test_generators")),
        reason="this interpreter comes without CPython's test package",
    ),
]


def outcome(process):
    """The exit status and the counts that the suite prints at its end."""
    totals = re.search(r"^Total tests: .*$", process.stdout, re.M)  # 3.12 and later
    ran = re.findall(r"^\d+ tests? (?:OK|failed|skipped).*$|^All \d+ tests OK\.$|^Result: \w+$", process.stdout, re.M)
    return process.returncode, totals and totals.group(), ran


@pytest.fixture(scope="module")
def plain_outcome(tmp_path_factory):
    return outcome(run_python(["-m", "test", *MODULES], tmp_path_factory.mktemp("plain")))


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_same_result(instrumenter, plain_outcome, tmp_path):
    process = run_python(
        ["-m", "timeloom", "--instrumenter", instrumenter, "--quiet", "--no-weave", "--output", "RUN", "-m", "test", *MODULES],
        tmp_path,
    )
    assert outcome(process) == plain_outcome, process.stdout + process.stderr
    assert plain_outcome[2], "the suite printed no result"
    recorded = streams_of(tmp_path / "RUN", keep=lambda name: name.startswith("test.test_generators."))
    assert sum(map(len, recorded)) > 1000
