"""The files by which each Python starts: timeloom.pth and, from Python 3.15 on in its place, timeloom.start (PEP 829).

They let children of a measured program be measured, wherever Timeloom is installed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from interpreter_runs import COMMON, calls_by_interpreter
from process_runs import Run
from streams import environment

import timeloom

SITE = Path(timeloom.__file__).parent.parent
SOURCE = Path(__file__).resolve().parents[3] / "python"
HAS_ENTRY_POINTS = sys.version_info >= (3, 15)  # Python reads files such as timeloom.start

PROGRAM = """
import subprocess, sys
def leaf(): pass
child = "def leaf(): pass\\nfor _ in range(100): leaf()"
leaf()
done = subprocess.run([*sys.argv[1:], "-c", child], capture_output=True, text=True)
print([done.returncode, done.stdout, done.stderr])
"""
MODULES = "import sys, json; print(json.dumps(sorted(sys.modules)))"
# In the place of timeloom_follow: notes which of its functions the start of Python calls.
NOTES = """
import os, sys
def note(name):
    with open(os.environ["TIMELOOM_NOTES"], "a") as file:
        file.write(name + "\\n")
def follow(): note("follow")
def start(): note("start")
"""


def environment_at(directory, *options):
    """Make an environment; return its Python and its site-packages."""
    command = [sys.executable, "-m", "venv", "--without-pip", *options, directory]
    subprocess.run(command, check=True)
    (site,) = (directory / "lib").glob("python*/site-packages")
    return directory / "bin" / "python", site


def put_package(site, *names):
    site.mkdir(parents=True, exist_ok=True)
    (site / "timeloom").symlink_to(SITE / "timeloom")
    shutil.copy(SITE / "timeloom_follow.py", site)
    for name in names:
        shutil.copy(SOURCE / name, site)


@pytest.fixture
def visits(tmp_path, timeloom_program):
    """Measure a program that starts a Python; return the visits of a function in each process of the run."""

    def visits(python, *flags, extra=None, child=None):
        (tmp_path / "program.py").write_text(PROGRAM)
        command = [python, "-m", "timeloom", "--quiet", "--follow", "all", "-o", "run", "program.py"]
        done = subprocess.run([*command, child or python, *flags], cwd=tmp_path, capture_output=True, text=True,
                              env=environment(extra))  # fmt: skip
        assert (done.returncode, done.stdout) == (0, "[0, '', '']\n"), done.stderr
        return sorted(Run(tmp_path / "run", timeloom_program).visits("__main__.leaf"))

    return visits


def started_by(python, tmp_path, **variables):
    """Return the functions of a stand-in for timeloom_follow that the start of Python has called.

    It may read a directory twice, by two of its names.
    """
    notes = tmp_path / "notes"
    notes.write_text("")
    command = [python, "-c", "pass"]
    done = subprocess.run(command, env=environment({**variables, "TIMELOOM_NOTES": str(notes)}), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return set(notes.read_text().split())


def test_exactly_one_of_the_files_acts(tmp_path):
    python, site = environment_at(tmp_path / "env")
    for name in ("timeloom.pth", "timeloom.start"):
        shutil.copy(SOURCE / name, site)
    (site / "timeloom_follow.py").write_text(NOTES)
    measured = {"TIMELOOM_PARENT": "1"}
    assert started_by(python, tmp_path, **measured) == {"start" if HAS_ENTRY_POINTS else "follow"}
    (site / "timeloom.start").unlink()
    assert started_by(python, tmp_path, **measured) == {"follow"}
    assert started_by(python, tmp_path) == set()


@pytest.mark.parametrize("names", [["timeloom.pth"], ["timeloom.pth", "timeloom.start"]])
def test_children_are_measured_by_either(tmp_path, visits, names):
    python, site = environment_at(tmp_path / "env")
    put_package(site, *names)
    assert visits(python) == [1, 100]


@pytest.mark.parametrize("names", [["timeloom.pth"], ["timeloom.pth", "timeloom.start"]])
def test_without_a_measurement_they_leave_nothing(tmp_path, names):
    python, site = environment_at(tmp_path / "env")
    put_package(site, *names)
    done = subprocess.run([python, "-c", MODULES], env=environment(), capture_output=True, text=True, check=True)
    assert not [name for name in json.loads(done.stdout) if name.startswith("timeloom")]


def test_the_one_that_doubles_the_start_is_not_installed():
    """Before Python 3.18, for which the line of timeloom.pth does nothing."""
    assert (SITE / "timeloom.pth").is_file()
    assert (SITE / "timeloom.start").exists() == (sys.version_info >= (3, 18))


def test_isolated_children_are_measured(tmp_path, visits):
    """-I reads site-packages, and ignores variables of Python alone."""
    python, site = environment_at(tmp_path / "env")
    put_package(site, "timeloom.pth")
    assert visits(python, "-I") == [1, 100]


def test_children_without_site_are_not(tmp_path, visits):
    """-S reads no site-packages: the child runs as always."""
    python, site = environment_at(tmp_path / "env")
    put_package(site, "timeloom.pth")
    assert visits(python, "-S") == [1]


def test_a_directory_on_pythonpath(tmp_path, visits):
    """As after pip install --target: Python reads no start files there."""
    python, _ = environment_at(tmp_path / "env")
    put_package(tmp_path / "target", "timeloom.pth", "timeloom.start")
    assert visits(python, extra={"PYTHONPATH": str(tmp_path / "target")}) == [1, 100]


INTERPRETERS = COMMON + """
CALLS = "import sys\\ndef inner(): pass\\nfor _ in range(100): inner()\\nprint(sys.path)"
for isolated in (True, False): in_other(CALLS, isolated)
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sub-interpreters are not recorded")
@pytest.mark.parametrize("on_path", [True, False])
def test_sub_interpreters_that_read_no_start_files(tmp_path, on_path):
    """They search where they do without Timeloom, and run the sitecustomize of the program."""
    python, _ = environment_at(tmp_path / "env")
    put_package(tmp_path / "target")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('own')\n")
    (tmp_path / "program.py").write_text(INTERPRETERS)
    path = [tmp_path / "target", tmp_path / "own"] if on_path else [tmp_path / "own"]
    start = ["-m", "timeloom"] if on_path else [tmp_path / "target" / "timeloom" / "__main__.py"]
    outputs = [
        subprocess.run([python, *words, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
                       env=environment({"PYTHONPATH": os.pathsep.join(map(str, path))}))
        for words in ([*start, "-o", "run"], [])
    ]  # fmt: skip
    assert outputs[0].stdout == outputs[1].stdout
    assert "not recorded" not in outputs[0].stderr
    assert calls_by_interpreter(tmp_path / "run", "inner") == {"interpreter 1": 100, "interpreter 2": 100}


def test_an_environment_made_in_another_one(tmp_path, visits):
    """It sees what the interpreter below both has, so its Python has no Timeloom, and runs as always."""
    python, site = environment_at(tmp_path / "env")
    put_package(site, "timeloom.pth")
    subprocess.run([python, "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "inner"], check=True)
    assert visits(python, child=tmp_path / "inner" / "bin" / "python") == [1]
    (inner,) = (tmp_path / "inner" / "lib").glob("python*/site-packages")
    put_package(inner, "timeloom.pth", "timeloom.start")
    os.rename(tmp_path / "run", tmp_path / "first")
    assert visits(python, child=tmp_path / "inner" / "bin" / "python") == [1, 100]
