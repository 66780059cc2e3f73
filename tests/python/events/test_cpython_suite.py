"""CPython's own tests of everything that an instrumenter touches have the same results as without it.

They take minutes, so only `make test-cpython` and `make test-cpython-threads` run them.
"""

import importlib.util
import json
import re
import subprocess

import pytest
from streams import INSTRUMENTERS, run_python, streams_of

MODULES = ["test_generators", "test_coroutines", "test_contextlib", "test_exceptions"]
THREAD_MODULES = ["test_threading", "test_asyncio"]

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("test", "test.test_generators")),
    reason="this interpreter comes without CPython's test package",
)


def outcome(process):
    """Return the exit status and the counts that the suite prints at its end."""
    totals = re.search(r"^Total tests: .*$", process.stdout, re.M)  # 3.12 and later
    ran = re.findall(r"^\d+ tests? (?:OK|failed|skipped).*$|^All \d+ tests OK\.$|^Result: \w+$", process.stdout, re.M)
    return process.returncode, totals and totals.group(), ran


def run_suite(modules, directory, *launcher):
    return run_python([*launcher, "-m", "test", *modules], directory, timeout=1500)


def launcher(instrumenter):
    return ["-m", "timeloom", "--instrumenter", instrumenter, "--quiet", "--no-weave", "--output", "RUN"]


@pytest.fixture(scope="module")
def plain_outcome(tmp_path_factory):
    return outcome(run_suite(MODULES, tmp_path_factory.mktemp("plain")))


@pytest.mark.cpython_suite
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_same_result(instrumenter, plain_outcome, tmp_path):
    process = run_suite(MODULES, tmp_path, *launcher(instrumenter))
    assert outcome(process) == plain_outcome, process.stdout + process.stderr
    assert plain_outcome[2], "the suite printed no result"
    recorded = streams_of(tmp_path / "RUN", keep=lambda name: name.startswith("test.test_generators."))
    assert sum(map(len, recorded)) > 1000


# Each in a separate process: tracing left on by test_threading makes test_asyncio of 3.11 hang, even alone, when a
# signal comes while its main thread waits for a lock.
@pytest.fixture(scope="module", params=THREAD_MODULES)
def module_of_threads(request, tmp_path_factory):
    """Return one of the modules, and its results without Timeloom."""
    return request.param, outcome(run_suite([request.param], tmp_path_factory.mktemp("plain")))


@pytest.mark.cpython_threads
@pytest.mark.timeout(3100)
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_same_result_of_threads(instrumenter, module_of_threads, tmp_path, timeloom_program):
    module, plain = module_of_threads
    process = run_suite([module], tmp_path, *launcher(instrumenter))
    assert outcome(process) == plain, process.stdout + process.stderr
    assert plain[2], "the suite printed no result"
    done = subprocess.run([timeloom_program, "info", "--json", "RUN"], cwd=tmp_path, capture_output=True, text=True)
    info = json.loads(done.stdout)
    # Timeloom reports that processes and sub-interpreters started by the suite are not recorded.
    lost = [line for line in info["losses"] if not re.fullmatch(r"\d+ (Python process(es)? not measured: .*|sub-interpreters? not recorded \[TL002\])", line)]
    assert info["threads"] > 100 and lost == []
