"""A Python that the installed Timeloom does not support: one line, and the program runs as without Timeloom."""

import ast
import importlib.machinery
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from scripts import pythons
from streams import environment, run_python

import timeloom

PACKAGE = Path(timeloom.__file__).parent
(SUFFIX,) = [s for s in importlib.machinery.EXTENSION_SUFFIXES if (PACKAGE / f"_core{s}").exists()]
THIS = ".".join(map(str, sys.version_info[:3])) + ("t" if "t" in sys.abiflags else "")
INSTALL = f"{shlex.quote(sys.executable)} -m pip install"
NOT_INSTALLED = f"Timeloom is installed for Python 3.9 and 3.99t, not for {THIS}; write: {INSTALL} timeloom"

PROGRAM = """
import sys
print(__name__, __file__, sys.argv, sys.orig_argv, sys.path[0], sys.flags, sorted(sys.modules))
sys.exit(3)
"""


@pytest.fixture
def packages(tmp_path):
    """A directory with a Timeloom for two other versions."""
    directory = tmp_path / "packages"
    shutil.copytree(PACKAGE, directory / "timeloom", ignore=shutil.ignore_patterns("__pycache__"))
    core = directory / "timeloom" / f"_core{SUFFIX}"
    core.with_name("_core.cpython-399t-x86_64-linux-gnu.so").write_bytes(b"")
    core.rename(core.with_name("_core.cpython-39-x86_64-linux-gnu.so"))
    (tmp_path / "program.py").write_text(PROGRAM)
    return directory


def run(packages, *words, **options):
    return run_python(words, packages.parent, env={"PYTHONPATH": str(packages)}, **options)


def said(reason):
    return f"timeloom: nothing is measured: {reason} [TL019]\n"


STARTS = {
    "script": ([], ["program.py", "one", "--two"]),
    "flags": (["-b", "-X", "dev", "-W", "ignore"], ["program.py", "-h"]),
    "module": ([], ["-m", "program", "one"]),
    "command": ([], ["-c", "import sys; print(sys.argv, sys.orig_argv, __name__); raise SystemExit(3)", "one"]),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("options", [[], ["--output", "run", "--exclude=nothing", "--quiet"]])
def test_the_program_runs_as_without_timeloom(start, options, packages):
    flags, program = STARTS[start]
    got = run(packages, *flags, "-m", "timeloom", *options, *program)
    expected = run(packages, *flags, *program)
    assert expected.returncode == 3
    assert (got.returncode, got.stdout, got.stderr) == (3, expected.stdout, said(NOT_INSTALLED) + expected.stderr)
    assert set(os.listdir(packages.parent)) - {"__pycache__"} == {"packages", "program.py"}


def test_it_reads_standard_input(packages):
    got = run(packages, "-m", "timeloom", "-", "one", input=PROGRAM.replace("__file__, ", ""))
    expected = run(packages, "-", "one", input=PROGRAM.replace("__file__, ", ""))
    assert (got.returncode, got.stdout, got.stderr) == (3, expected.stdout, said(NOT_INSTALLED))


@pytest.mark.parametrize("glued", [["-mtimeloom"], ["-bum", "timeloom"], ["-bumtimeloom"]])
def test_flags_are_kept_however_they_are_written(glued, packages):
    got = run(packages, *glued, "program.py")
    expected = run(packages, *(["-bu"] if "b" in glued[0] else []), "program.py")
    assert (got.returncode, got.stdout, got.stderr) == (3, expected.stdout, said(NOT_INSTALLED))


def test_without_site(packages):
    got = run(packages, "-S", str(packages / "timeloom" / "__main__.py"), "program.py")
    expected = run(packages, "-S", "program.py")
    assert (got.returncode, got.stdout, got.stderr) == (3, expected.stdout, said(NOT_INSTALLED))


def test_the_command_runs_it_too(packages, tmp_path):
    command = packages / "timeloom" / "bin" / "timeloom"
    text = (
        "import os, sys\n"
        f"os.environ['TIMELOOM_PYTHON'] = sys.executable\nos.execv({str(command)!r}, ['timeloom', 'run', 'program.py'])\n"
    )
    got = run(packages, "-c", text)
    expected = run(packages, "program.py")
    assert (got.returncode, got.stdout, got.stderr) == (3, expected.stdout, said(NOT_INSTALLED))


def test_wrong_usage_is_said_as_ever(packages):
    got = run(packages, "-m", "timeloom", "--outpt", "program.py")
    assert (got.returncode, got.stdout) == (2, "")
    assert "--outpt" in got.stderr and "measured" not in got.stderr


def test_importing_it_says_what_to_install(packages):
    got = run(packages, "-c", "try: import timeloom\nexcept ImportError as error: print(error)")
    assert (got.returncode, got.stdout, got.stderr) == (0, NOT_INSTALLED + " [TL601]\n", "")


def test_another_module_is_not_taken_for_ours(packages):
    (packages / "spam.py").write_text("import timeloom\n")
    got = run(packages, "-m", "spam")
    assert (got.returncode, got.stderr.splitlines()[-1]) == (1, f"ImportError: {NOT_INSTALLED} [TL601]")


def test_a_newer_python_than_any_that_is_known(packages):
    (packages / "sitecustomize.py").write_text("import sys\nsys.version_info = (3, 16, 1, 'final', 0)\n")
    got = run(packages, "-m", "timeloom", "program.py")
    reason = f"this Timeloom knows Python 3.11 to 3.15, not 3.16.1{'t' if 't' in sys.abiflags else ''}"
    assert (got.returncode, got.stderr) == (3, said(f"{reason}; write: {INSTALL} --upgrade timeloom"))


TOO_OLD = "Timeloom needs Python 3.11 or later, and this is {}; use a newer python3"


@pytest.mark.parametrize("glued", [["-m", "timeloom"], ["-bumtimeloom"]])
def test_an_older_python_than_any_that_is_known(packages, glued):
    """Python has sys.orig_argv from 3.10 on."""
    (packages / "sitecustomize.py").write_text("import sys\nsys.version_info = (3, 8, 18, 'final', 0)\ndel sys.orig_argv\n")
    (packages.parent / "program.py").write_text(PROGRAM.replace("sys.orig_argv, ", ""))
    got = run(packages, *glued, "program.py", "one")
    expected = run(packages, *(["-bu"] if "b" in glued[0] else []), "program.py", "one")
    version = f"3.8.18{'t' if 't' in sys.abiflags else ''}"
    assert (got.returncode, got.stdout, got.stderr) == (3, expected.stdout, said(TOO_OLD.format(version)))


# The files that another Python runs before the line that names it.
EARLY = ["timeloom/__init__.py", "timeloom/_unmeasured.py", "timeloom_follow.py", "timeloom/bootstrap/sitecustomize.py"]


@pytest.mark.parametrize("name", EARLY)
def test_old_pythons_understand_the_first_files(name):
    """Their grammar, and no annotation that they would compute and could not: list[str] is one below 3.9."""
    tree = ast.parse((PACKAGE.parent / name).read_text(), feature_version=(3, 6))
    outside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] + [tree]
    computed = [
        annotation
        for node in outside
        for annotation in (
            [node.returns, *(one.annotation for one in [*node.args.args, *node.args.kwonlyargs])]
            if isinstance(node, ast.FunctionDef)
            else [one.annotation for one in node.body if isinstance(one, ast.AnnAssign)]
        )
    ]
    assert [ast.unparse(one) for one in computed if isinstance(one, (ast.Subscript, ast.BinOp))] == []
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)]


def old_python(version):
    """A Python of that version on this machine; skips the test if there is none."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [shutil.which(f"python{version}"), *root.glob(f"versions/{version}.*/bin/python3")]
    for place in filter(None, places):
        done = subprocess.run([place, "-c", "import sys; print(*sys.version_info[:3], sep='.')"], capture_output=True, text=True)
        if done.returncode == 0:
            return str(place), done.stdout.strip()
    return pytest.skip("this machine has no such Python")


@pytest.mark.any_python
@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.9", "3.10"])
def test_real_old_pythons(packages, tmp_path, version):
    """As the program, and as a child of one that is measured."""
    python, full = old_python(version)
    (tmp_path / "program.py").write_text("print('ran')\n")
    (tmp_path / "parent.py").write_text(f"import subprocess\nsubprocess.run([{python!r}, 'program.py'], check=True)\n")
    done = subprocess.run([python, "-m", "timeloom", "program.py"], cwd=tmp_path, capture_output=True, text=True,
                          env=environment({"PYTHONPATH": str(packages)}))  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", said(TOO_OLD.format(full)))
    shutil.copytree(PACKAGE, tmp_path / "other" / "timeloom", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGE.parent / "timeloom_follow.py", tmp_path / "other")
    child = run_python(["-m", "timeloom", "-o", "run", "parent.py"], tmp_path, env={"PYTHONPATH": str(tmp_path / "other")})
    assert (child.returncode, child.stdout) == (0, "ran\n"), child.stderr
    assert child.stderr.splitlines()[1:-1] == ["timeloom: 1 Python process not measured: --follow all [TL001]"]


@pytest.mark.parametrize(("kind", "name"), [("pypy", "PyPy"), ("other", "other")])
def test_another_implementation_of_python(packages, kind, name):
    (packages / "sitecustomize.py").write_text(
        f"import sys\nsys.implementation.name = {kind!r}\n"  # the cache tag stays
    )
    got = run(packages, "-m", "timeloom", "program.py")
    assert got.returncode == 3
    assert got.stderr == said(f"Timeloom measures CPython, and this is {name} {THIS}; use python3 of CPython")


def test_an_extension_that_does_not_load(packages):
    (packages / "timeloom" / f"_core{SUFFIX}").write_bytes(b"")
    got = run(packages, "-m", "timeloom", "program.py")
    assert got.returncode == 3
    pattern = "its extension does not load: .*file too short; write: .* -m pip install --force-reinstall timeloom"
    assert re.fullmatch(rf"timeloom: nothing is measured: {pattern} \[TL019\]\n", got.stderr)


@pytest.mark.any_python
def test_every_place_knows_the_same_versions():
    root = Path(__file__).resolve().parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    mark = "Programming Language :: Python :: "
    assert [text.removeprefix(mark) for text in project["classifiers"] if text.startswith(mark)] == list(pythons.SUPPORTED)
    oldest, newest = pythons.SUPPORTED[0], pythons.SUPPORTED[-1]
    after = f"3.{int(newest.partition('.')[2]) + 1}"
    assert project["requires-python"] == f">={oldest},<{after}"
    compat = (root / "src/python/interpreter/compat.hpp").read_text()
    assert f"Timeloom knows CPython {oldest} to {newest} only" in compat
    text = (root / "python/timeloom/_unmeasured.py").read_text()
    assert "_OLDEST, _NEWEST = {}, {}  #".format(*(tuple(map(int, v.split("."))) for v in (oldest, newest))) in text
    assert f"CPython {oldest} to {newest}" in (root / "README.md").read_text()
