"""A word in place of the program that is not a Python program: a line with the intended command, and no run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

COMMANDS = Path(sys.executable).parent
DOORS = {
    "run": ["timeloom", "run"],
    "module": ["python", "-m", "timeloom"],
    "scorep": ["python", "-m", "scorep"],
    "omnitrace": ["omnitrace-python", "--"],
}

INTERPRETER = "{0} is the interpreter, not a program for it; write: "
NOT_PYTHON = "{0} is not a program of Python; write: "

# The words, and the line for each door; @ stands for its start, with its options.
MEANT = {
    "python": (["python", "app.py", "-x"], INTERPRETER + "@ app.py -x"),
    "version": (["python3.99", "app.py"], INTERPRETER + "@ app.py"),
    "path": (["env/bin/python", "-u", "app.py"], INTERPRETER + "env/bin/python -u -m {module} {options}app.py"),
    "module": (["python", "-m", "app", "a b"], INTERPRETER + "@ -m app 'a b'"),
    "alone": (["python"], INTERPRETER + "@ script.py"),
    "env": (["/usr/bin/env", "python3", "app.py"], NOT_PYTHON + "@ app.py"),
    "variable": (["env", "A=1", "python3", "app.py"], NOT_PYTHON + "env A=1 @ app.py"),
    "mpirun": (["mpirun", "-n", "2", "python", "app.py"], NOT_PYTHON + "mpirun -n 2 @ app.py"),
    "ranks": (["mpirun", "-n", "2", "./app.py", "x.py"], NOT_PYTHON + "mpirun -n 2 @ ./app.py x.py"),
    "uv": (["uv", "run", "app.py", "-x"], NOT_PYTHON + "uv run @ app.py -x"),
    "one_word": (["app.py --flag", "x y"], "there is no file '{0}'; write: @ app.py --flag 'x y'"),
    "one_word_python": (["python -m app --flag", "x y"], "there is no file '{0}'; write: @ -m app --flag 'x y'"),
    "shell": (["./run.sh", "x"], "{0} is a script of bash, not of Python; write {command} in it, in the place of python"),
}  # fmt: skip
# This door removes an interpreter itself, and reads the words behind it.
STRIPPED = {"omnitrace": {"python", "version", "path", "module", "alone"}}


@pytest.fixture
def work(tmp_path):
    (tmp_path / "app.py").write_text("print('ran')\n")
    (tmp_path / "run.sh").write_text("#!/usr/bin/env bash\npython app.py\n")
    (tmp_path / "env" / "bin").mkdir(parents=True)
    shutil.copy("/bin/true", tmp_path / "env" / "bin" / "python")
    shutil.copy("/bin/true", tmp_path / "mpirun")
    shutil.copy("/bin/true", tmp_path / "compiled")
    (tmp_path / "run.sh").chmod(0o755)
    return tmp_path


def run(work, door, *words, options=()):
    start = DOORS[door]
    first = [sys.executable] if start[0] == "python" else [str(COMMANDS / start[0])]
    variables = {**os.environ, "PATH": f"{work}:{COMMANDS}:/usr/bin:/bin", "SCOREP_EXPERIMENT_DIRECTORY": str(work / "run"),
                 "OMNITRACE_OUTPUT_PATH": str(work / "run"), "OMNITRACE_VERBOSE": "-1"}  # fmt: skip
    return subprocess.run([*first, *start[1:], *options, *words], cwd=work, env=variables, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)  # fmt: skip


def refused(work, door, line, *words, options=()):
    before = sorted(os.listdir(work))
    done = run(work, door, *words, options=options)
    name = DOORS[door][-1] if door in ("module", "scorep") else {"run": "timeloom"}.get(door, door)
    assert (done.stdout, done.stderr) == ("", f"{name}: {line} [TL124]\n")
    assert done.returncode == (1 if door == "scorep" else 2) and sorted(os.listdir(work)) == before


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", MEANT)
def test_the_command_that_was_meant(case, door, work):
    if case in STRIPPED.get(door, ()):
        pytest.skip("takes an interpreter")
    words, line = MEANT[case]
    options = {"run": ["--output=out"], "module": ["-o", "out"]}.get(door, [])
    shown = {"run": "--output=out ", "module": "-o out "}.get(door, "")
    command = " ".join(DOORS[door])
    line = line.replace("@", f"{command} {shown}".rstrip())
    name = command.removesuffix(" --")
    module = {"run": "timeloom", "module": "timeloom"}.get(door, door)
    refused(work, door, line.format(words[0], module=module, options=shown, command=name), *words, options=options)


def test_flags_of_the_interpreter_stay(work):
    refused(work, "run", INTERPRETER.format("python") + "timeloom run -X dev -u app.py", "python", "-u", "app.py",
            options=["-X", "dev"])  # fmt: skip
    refused(work, "module", INTERPRETER.format("python") + "python -u -m timeloom app.py", "python", "-u", "app.py")


def test_a_compiled_program(work):
    line = "./compiled is a compiled program, not one of Python"
    refused(work, "run", f"{line}; write: timeloom run --program ./compiled x", "./compiled", "x")
    refused(work, "scorep", line, "./compiled", "x")
    refused(work, "scorep", line, "./compiled", "app.py")


def test_the_command_itself(work):
    refused(work, "run", "timeloom run is here already; write: timeloom run --output=out app.py x", "timeloom", "run", "app.py", "x",
            options=["-o", "out"])  # fmt: skip


SCRIPTS = {
    "shebang": "#!/usr/bin/env python3\nprint('ran')\n",
    "plain": "print('ran')\n",
    "python": "print('ran')\n",
    "other.py": "#!/bin/bash\nprint('ran')\n",
    "polyglot": "#!/bin/sh\n'''exec' python3 \"$0\" \"$@\"\n' '''\nprint('ran')\n",
    "uv": "#!/usr/bin/env -S uv run --script\nprint('ran')\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("door", ["run", "scorep"])
def test_what_is_python_runs(name, door, work):
    (work / name).write_text(SCRIPTS[name])
    options = {"run": ["--quiet", "--no-weave"]}.get(door, [])
    done = run(work, door, name, options=options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")


@pytest.mark.parametrize("words, line", [
    (["app.py", "--flag"], "there is no command 'app.py'; write: timeloom run app.py --flag [TL402]"),
    (["python3", "-m", "app"], "there is no command 'python3'; write: timeloom run -m app [TL402]"),
    (["-m", "app", "x"], "there is no command '-m'; write: timeloom run -m app x [TL402]"),
    (["-c", "print(1)"], "there is no command '-c'; write: timeloom run -c 'print(1)' [TL402]"),
    (["-m"], "unknown option '-m'; see 'timeloom --help' [TL401]"),
    (["reprot"], "there is no command 'reprot'; see 'timeloom --help' [TL401]"),
])
def test_a_program_in_the_place_of_a_command(words, line, work):
    done = subprocess.run([COMMANDS / "timeloom", *words], cwd=work, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"timeloom: {line}\n")
