"""`timeloom run`: it becomes the interpreter, without a difference for the program."""

import os
import re
import shutil
import sys
from pathlib import Path
from subprocess import DEVNULL, run

import pytest
from launcher_programs import CASES
from test_launcher import run as run_case
from test_launcher import write_files

WITH_FLAGS = [case for case in CASES if case.flags]
OTHERS = [
    "state",
    "state_module",
    "state_command",
    "state_stdin",
    "state_directory",
    "state_zip",
    "safe_path_variable",
    "exit_2",
    "killed_by_SIGTERM",
    "keyboard_interrupt",
]


@pytest.mark.parametrize(
    "case",
    [*WITH_FLAGS, *(case for case in CASES if case.name in OTHERS)],
    ids=lambda case: case.name,
)
def test_like_plain_python(case, tmp_path, timeloom_program):
    python = Path(sys.executable).with_name("python3")  # the name by which it is started
    work, result = tmp_path / "work", tmp_path / "run"
    write_files(work, case)
    expected = run_case([python, *case.flags, *case.program], work, case)
    write_files(work, case)
    words = ["--quiet", "--no-weave", *case.options, f"--output={result}", *case.program]
    got = run_case([timeloom_program, "run", *case.flags, *words], work, case)
    assert got == expected
    assert (result / "spool").is_dir(), "nothing was measured"


def test_without_site(tmp_path, timeloom_program):
    """-S leaves out installed packages; Timeloom's is found nevertheless, and not left on the path."""
    python = Path(sys.executable).with_name("python3")
    show = "import sys; print(sys.flags, sys.path, sys.orig_argv, sys.argv)\n"
    show += "print([name for name in sys.modules if not name.startswith('timeloom')])"
    (tmp_path / "app.py").write_text(show)
    settings = {"cwd": tmp_path, "capture_output": True, "text": True, "stdin": DEVNULL}
    plain = run([python, "-S", "-E", "app.py", "a"], **settings)
    options = ["--quiet", "--no-weave", "--output=run"]
    got = run([timeloom_program, "run", "-S", "-E", *options, "app.py", "a"], **settings)
    assert (got.returncode, got.stdout, got.stderr) == (0, plain.stdout, plain.stderr)
    assert (tmp_path / "run" / "spool").is_dir()


def fake_python(path: Path):
    """A program that prints its command line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\necho "$0" "$@"\n')
    path.chmod(0o755)


def has_package(packages: Path):
    (packages / "timeloom").mkdir(parents=True)
    (packages / "timeloom" / "__main__.py").touch()


@pytest.fixture
def installed(tmp_path, timeloom_program):
    """A copy of the program in an environment without anything else."""
    program = tmp_path / "env" / "bin" / "timeloom"
    program.parent.mkdir(parents=True)
    shutil.copy(timeloom_program, program)
    return program


def started(program, *words, path="/nowhere", **variables):
    """Return the command that it becomes, with MODULE for the path of the package's __main__.py."""
    environment = {"PATH": str(path), **{k: str(v) for k, v in variables.items()}}
    process = run([program, "run", *words], env=environment, capture_output=True, text=True)
    assert process.stderr == "", process.stderr
    return re.sub(r"/\S+/env/lib/python3\.\d+/site-packages/timeloom/__main__\.py", "MODULE", process.stdout.rstrip("\n"))


def test_interpreter_beside_the_program_comes_first(installed, tmp_path):
    env = tmp_path / "env"
    fake_python(env / "bin" / "python3")
    has_package(env / "lib" / "python3.12" / "site-packages")
    fake_python(tmp_path / "other" / "python3")
    said = started(
        installed, "app.py", path=tmp_path / "other", TIMELOOM_PYTHON=tmp_path / "other/python3"
    )
    assert said == f"{env}/bin/python3 MODULE app.py"


def test_program_reached_by_a_link(installed, tmp_path):
    env = tmp_path / "env"
    fake_python(env / "bin" / "python3")
    has_package(env / "lib" / "python3.12" / "site-packages")
    link = tmp_path / "home" / "timeloom"
    link.parent.mkdir()
    link.symlink_to(installed)
    assert started(link, "app.py") == f"{env}/bin/python3 MODULE app.py"


def test_version_that_has_the_package(installed, tmp_path):
    env = tmp_path / "env"
    for name in ("python3.11", "python3.12", "python3.13"):
        fake_python(env / "bin" / name)
    (env / "bin" / "python3").symlink_to("python3.13")
    has_package(env / "lib" / "python3.12" / "site-packages")
    assert started(installed, "app.py") == f"{env}/bin/python3.12 MODULE app.py"
    has_package(env / "lib" / "python3.13" / "site-packages")
    assert started(installed, "app.py") == f"{env}/bin/python3 MODULE app.py"


def test_package_that_lies_elsewhere(installed, tmp_path):
    """An editable install leaves only its record."""
    env = tmp_path / "env"
    fake_python(env / "bin" / "python3")
    (env / "lib" / "python3.12" / "site-packages" / "timeloom-0.1.0.dist-info").mkdir(parents=True)
    assert started(installed, "app.py") == f"{env}/bin/python3 -P -m timeloom app.py"


def test_program_inside_the_package(tmp_path, timeloom_program):
    env = tmp_path / "env"
    fake_python(env / "bin" / "python3.12")
    packages = env / "lib" / "python3.12" / "site-packages"
    has_package(packages)
    (packages / "timeloom" / "bin").mkdir()
    program = packages / "timeloom" / "bin" / "timeloom"
    shutil.copy(timeloom_program, program)
    assert started(program, "app.py") == f"{env}/bin/python3.12 MODULE app.py"


def test_interpreter_without_the_package_is_passed_over(installed, tmp_path):
    fake_python(tmp_path / "env" / "bin" / "python3")
    (tmp_path / "env" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    named, other = tmp_path / "named" / "my-python", tmp_path / "other" / "python3"
    fake_python(named)
    fake_python(other)
    assert started(installed, "app.py", path=other.parent) == f"{other} -P -m timeloom app.py"
    assert (
        started(installed, "app.py", path=other.parent, TIMELOOM_PYTHON=named)
        == f"{named} -P -m timeloom app.py"
    )
    path = f"/nowhere:{named.parent}:{other.parent}"
    assert (
        started(installed, "app.py", path=path, TIMELOOM_PYTHON="my-python")
        == f"{named} -P -m timeloom app.py"
    )


def test_user_install_takes_its_own_version(installed, tmp_path):
    """~/.local has packages, but no interpreter."""
    has_package(tmp_path / "env" / "lib" / "python3.12" / "site-packages")
    for name in ("python3", "python3.12"):
        fake_python(tmp_path / "usr" / name)
    said = started(installed, "app.py", path=tmp_path / "usr")
    assert said == f"{tmp_path}/usr/python3.12 MODULE app.py"


def test_words_are_handed_on(installed, tmp_path):
    env = tmp_path / "env"
    fake_python(env / "bin" / "python3")
    has_package(env / "lib" / "python3.12" / "site-packages")
    flags = ["-X", "dev", "-OO", "-Wignore", "-uoDIR"]
    words = ["--no-weave", "--exclude", "a.*", "--include=b", "-m", "mod", "--quiet", "-X", ""]
    assert started(installed, *flags, *words) == (
        f"{env}/bin/python3 -X dev -OO -Wignore -u MODULE --output=DIR --weave=off "
        "--exclude=a.* --include=b -m mod --quiet -X "
    )
    assert started(installed, "-SI", "-") == f"{env}/bin/python3 -SI MODULE -"
    assert started(installed, "--", "-a.py") == f"{env}/bin/python3 MODULE -- -a.py"


def test_no_python_at_all(installed):
    for variables, line in (
        ({}, "no Python found; put python3 on PATH or name one in TIMELOOM_PYTHON [TL425]"),
        (
            {"TIMELOOM_PYTHON": "/gone"},
            "variable TIMELOOM_PYTHON: '/gone' is not a program; "
            "name a Python in which Timeloom is installed [TL424]",
        ),
    ):
        environment = {"PATH": "/nowhere", **variables}
        process = run([installed, "run", "app.py"], env=environment, capture_output=True, text=True)
        assert (process.returncode, process.stdout, process.stderr) == (
            2,
            "",
            f"timeloom: {line}\n",
        )


def test_interpreter_that_cannot_be_started(installed, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/gone/interpreter\n")
    python.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "TIMELOOM_PYTHON": str(python)}
    process = run([installed, "run", "app.py"], env=environment, capture_output=True, text=True)
    line = f"timeloom: cannot start {python}: No such file or directory [TL430]\n"
    assert (process.returncode, process.stdout, process.stderr) == (2, "", line)


def test_interpreter_without_timeloom(installed, tmp_path):
    """It is asked before the program is started, and the program's input is left alone."""
    python = tmp_path / "a python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "TIMELOOM_PYTHON": str(python)}
    process = run([installed, "run", "-"], env=environment, capture_output=True, text=True, input="print(1)")
    line = f"timeloom: {python} has no Timeloom; install it there: '{python}' -m pip install timeloom [TL429]\n"
    assert (process.returncode, process.stdout, process.stderr) == (2, "", line)
