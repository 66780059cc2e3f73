"""Fixtures that all tests share: the program under test, and an environment without settings of Timeloom."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import streams
from archives import MAIN, WORKER, make_archive
from cpu_seconds import pytest_runtest_logstart, pytest_runtest_makereport, pytest_terminal_summary  # noqa: F401

# nohup and a shell's & change these signals; tests examine the effect of a signal on a program.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.update(streams.NO_COLLECTIONS)  # tests of collections switch them on

# The scripts of the repository are tested like everything else.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def pytest_addoption(parser):
    parser.addoption("--without-any-python", action="store_true", help="leave out the tests marked any_python")


def pytest_ignore_collect(collection_path, config):
    """Modules that are left out as a whole are not even imported, which takes some seconds."""
    given = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    if not config.getoption("--without-any-python") or collection_path in given or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text()
    of_module = re.search(r"^pytestmark = (\[[^]]*\]|.*)", text, re.MULTILINE)
    return True if of_module and "mark.any_python" in of_module[1] and "one_python" not in text else None


def pytest_collection_modifyitems(config, items):
    """Leaves out tests that run elsewhere.

    Tests that do not depend on the version of Python run once (scripts/test/run_python_tests.py); tests marked
    thorough run where THOROUGH is set, as in `make test-all`."""

    def runs_elsewhere(item):
        once = item.get_closest_marker("any_python") and not item.get_closest_marker("one_python")
        if once and config.getoption("--without-any-python"):
            return True
        return bool(item.get_closest_marker("thorough")) and not os.environ.get("THOROUGH")

    elsewhere = [runs_elsewhere(item) for item in items]
    left_out = [item for item, out in zip(items, elsewhere) if out]
    items[:] = [item for item, out in zip(items, elsewhere) if not out]
    config.hook.pytest_deselected(items=left_out)


def pytest_generate_tests(metafunc):
    """Tests of races run RACE_ROUNDS times (`make test-races`)."""
    rounds = int(os.environ.get("RACE_ROUNDS", "1"))
    if rounds > 1 and metafunc.definition.get_closest_marker("race"):
        metafunc.fixturenames.append("round_of_race")
        metafunc.parametrize("round_of_race", range(rounds))


@pytest.fixture(scope="session")
def timeloom_program() -> str:
    """The `timeloom` program of the environment that runs the tests."""
    program = os.environ.get("TIMELOOM_PROGRAM") or str(Path(sys.executable).with_name("timeloom"))
    assert os.access(program, os.X_OK), f"{program} is missing: `make test-python` installs it"
    return program


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Removes the tester's settings from the environment; a test sets its own."""
    for name in [name for name in os.environ if name.startswith(("TIMELOOM_", "SCOREP_"))]:
        if name != "TIMELOOM_PROGRAM" and name not in streams.NO_COLLECTIONS:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def references(tmp_path_factory):
    """All workers of a session share the results of programs without Timeloom."""
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "references"
    directory.mkdir(exist_ok=True)
    streams.REFERENCES[:] = [directory]


@pytest.fixture(scope="session")
def program(timeloom_program):
    return timeloom_program


@pytest.fixture
def timeloom(program):
    def run(*arguments, status=0, cwd=None, stdin=None, **variables):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                              cwd=cwd, stdin=stdin, env={**environment, **variables}, timeout=60)
        assert done.returncode == status, (done.stdout, done.stderr)
        return done

    return run


@pytest.fixture(scope="session")
def woven(tmp_path_factory):
    return make_archive(tmp_path_factory.mktemp("runs") / "run",
                        {"MainThread": MAIN, "worker": WORKER})


@pytest.fixture
def run(woven, tmp_path):
    return Path(shutil.copytree(woven, tmp_path / "run"))
