"""No command runs a file of the user's current directory, and the program finds Python as without Timeloom."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = Path(sys.executable).parent
OURS = ("timeloom", "timeloom_follow", "timeloom_kernel", "scorep", "omnitrace", "rocprofsys", "sitecustomize", "pytest")

SHOW = """
import os, sys

def show(where):
    variables = {name: os.environ.get(name) for name in ("PYTHONSAFEPATH", "PYTHONPATH", "LD_PRELOAD")}
    print(where, sys.path, sys.flags, sys.argv, sys.orig_argv, variables, flush=True)
"""
APP = f"{SHOW}\nshow('program')\n"
CHILDREN = """
import multiprocessing, subprocess, sys
from show import show

if __name__ == "__main__":
    show("program")
    for method in sys.argv[2:]:
        child = multiprocessing.get_context(method).Process(target=show, args=(method,))
        child.start()
        child.join()
    subprocess.run([sys.executable, sys.argv[1]])
"""


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    directory = tmp_path_factory.mktemp("apps")
    for name, text in (("app", APP), ("show", SHOW), ("children", CHILDREN)):
        (directory / f"{name}.py").write_text(text)
    return directory


@pytest.fixture(scope="module")
def hostile_files(tmp_path_factory):
    """(directory, file): in the directory lies a module of every name that is imported; the file names those that ran."""
    directory = tmp_path_factory.mktemp("hostile")
    mark = directory.with_name("ran")
    for name in (*OURS, *sys.stdlib_module_names):
        (directory / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r} + ' ')\nraise ImportError({name!r})\n")
    (directory / "pyproject.toml").write_text("[tool.timeloom]\nquiet = true\n")  # is read by a module of Python
    return directory, mark


@pytest.fixture
def hostile(hostile_files):
    """Run a command there; return its process and the files of that directory that it has run."""
    directory, mark = hostile_files

    def run(*command, status=0, **variables):
        mark.unlink(missing_ok=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SCOREP_", "OMNITRACE_"))}
        done = subprocess.run([*map(str, command)], cwd=directory, capture_output=True, text=True, timeout=60,
                              env={**environment, **variables}, stdin=subprocess.DEVNULL)  # fmt: skip
        assert done.returncode == status, done.stderr
        return done, mark.read_text().split() if mark.exists() else []

    return run


@pytest.mark.parametrize("options", [[], ["-S"], ["-X", "dev", "--io", "posix", "--function-exclude", "x"]], ids=" ".join)
def test_timeloom_run(options, hostile, apps, tmp_path, timeloom_program):
    flags = [option for option in options if option in ("-X", "dev", "-S")]
    plain, ran = hostile(COMMANDS / "python3", *flags, apps / "app.py", "a")
    assert ran == []
    done, ran = hostile(timeloom_program, "run", *options, "-o", tmp_path / "run", apps / "app.py", "a")
    assert (ran, done.stdout, done.stderr) == ([], plain.stdout, plain.stderr)
    assert (tmp_path / "run" / "traces.otf2").exists()


def test_code_on_the_command_line(hostile, tmp_path, timeloom_program):
    """Python itself has the current directory first then."""
    code = "import sys; print(sys.path, sys.flags)"
    imports = (3, 13) <= sys.version_info < (3, 15)  # before the code, from there
    plain, expected = hostile(COMMANDS / "python3", "-c", code, status=1 if imports else 0)
    assert expected[:1] == ["linecache"] * imports
    words = ["--function-exclude", "x", "-o", tmp_path / "run", "-c", code]
    done, ran = hostile(timeloom_program, "run", *words, status=plain.returncode)
    assert (ran, done.stdout) == (expected, plain.stdout)


@pytest.mark.any_python
@pytest.mark.parametrize("missing", [False, True])
def test_python_that_has_to_be_asked(missing, hostile, apps, tmp_path, timeloom_program):
    """A program that lies elsewhere than the package."""
    program = tmp_path / "bin" / "timeloom"
    program.parent.mkdir()
    shutil.copy(timeloom_program, program)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {"-S" if missing else ""} "$@"\n')
    python.chmod(0o755)
    words = [program, "run", "-o", tmp_path / "run", apps / "app.py"]
    done, ran = hostile(*words, TIMELOOM_PYTHON=str(python), status=2 if missing else 0)
    assert ran == []
    assert ("has no Timeloom" in done.stderr) == missing
    assert ("safe_path=False" in done.stdout) != missing


def without_limit(shown):
    """The output of the program, whether Python was given its own limit of digits (which 3.11 shows as -1) or not."""
    shown = shown.replace("'-X', 'int_max_str_digits=4300', ", "").replace("int_max_str_digits=-1", "int_max_str_digits=4300")
    return shown.replace("/bin/python'", "/bin/python3'")


@pytest.mark.any_python
def test_commands_of_other_doors(hostile, apps, tmp_path):
    app = apps / "app.py"
    plain, _ = hostile(COMMANDS / "python3", app)
    scorep = {"SCOREP_EXPERIMENT_DIRECTORY": str(tmp_path / "scorep"), "SCOREP_FORCE_CFG_FILES": "false"}
    omnitrace = {"OMNITRACE_OUTPUT_PATH": str(tmp_path / "omnitrace"), "OMNITRACE_VERBOSE": "-1"}
    for words in (["scorep-python", app], ["scorep", "--thread=none", app], ["scorep", "--io=posix", app],
                  ["omnitrace-python", "--", app], ["rocprof-sys-python", "--", "python3", "-X", "int_max_str_digits=4300", app]):  # fmt: skip
        shutil.rmtree(tmp_path / "scorep", ignore_errors=True)
        done, ran = hostile(COMMANDS / words[0], *words[1:], **scorep, **omnitrace)
        assert (words, ran, without_limit(done.stdout)) == (words, [], without_limit(plain.stdout))


@pytest.mark.any_python
def test_attach(hostile, timeloom_program):
    done, ran = hostile(timeloom_program, "attach", "999999999", status=1)
    assert (ran, done.stdout) == ([], "") and "process 999999999" in done.stderr


@pytest.mark.any_python
def test_a_run_within_a_run_is_not_followed(hostile, apps, tmp_path, timeloom_program):
    """It counts as one, though it is not a module on its Python's command line."""
    outer = tmp_path / "outer.py"
    inner = [timeloom_program, "run", "-o", str(tmp_path / "inner"), str(apps / "app.py")]
    outer.write_text(f"import subprocess\nsubprocess.run({inner!r}, check=True)\n")
    done, ran = hostile(timeloom_program, "run", "--follow=all", "-o", tmp_path / "outer", outer)
    assert (ran, done.stderr) == ([], "")
    for name in ("outer", "inner"):
        told, _ = hostile(timeloom_program, "info", "--json", tmp_path / name)
        assert len(json.loads(told.stdout)["groups"]) == 1


@pytest.mark.parametrize("flags, methods", [([], ["spawn", "forkserver"]), (["-P"], ["spawn"])], ids=["", "safe_path"])
def test_children_are_as_under_python(flags, methods, apps, tmp_path, timeloom_program):
    def run(*command):
        words = [*map(str, command), str(apps / "children.py"), str(apps / "app.py"), *methods]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": str(apps)})  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        # Numbers of descriptors and processes.
        return [line.split("'-c'")[0] for line in done.stdout.splitlines()]

    got = run(timeloom_program, "run", *flags, "--quiet", "--follow=all", "-o", tmp_path / "run")
    assert got == run(COMMANDS / "python3", *flags)
    assert len(got) == len(methods) + 2 and (tmp_path / "run" / "traces.otf2").exists()
