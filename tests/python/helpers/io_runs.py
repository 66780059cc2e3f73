"""Runs programs with `--io posix` and reads the output of `timeloom report --io`."""

import json
import os
import re
import subprocess
import textwrap

import pytest
from streams import environment


@pytest.fixture
def data(tmp_path):
    """The folder of the files of a program."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture
def record(tmp_path, data, timeloom_program):
    """Runs a program under Timeloom; the folder of its files is its first argument."""

    def record(text, *options, io=("--io", "posix"), status=0, said="", **variables):
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(text))
        done = subprocess.run(
            [timeloom_program, "run", "--quiet", "-o", tmp_path / "run", *io, *options, program, data],
            cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(variables),
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (status, said)
        return tmp_path / "run"

    return record


@pytest.fixture
def io_of(timeloom_program):
    def io_of(run):
        done = subprocess.run(
            [timeloom_program, "report", "--io", "--json", run], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return io_of


def by_file(report, folder):
    """(operations, bytes, smallest, largest) of files in the folder, by name and operation."""
    return {
        (os.path.relpath(row["file"], folder), row["operation"]):
            (row["operations"], row["bytes"], row["smallest"], row["largest"])
        for row in report["files"] if row["file"].startswith(f"{folder}/")
    }  # fmt: skip


# Functions that every wrapper library wraps, to record how a process ends and where handlers run.
OF_EVERY_LIBRARY = {"_exit", "_Exit", "quick_exit", "vfork", "sigaltstack", "fexecve", "execv", "execve", "execvp", "execvpe",
                    "execl", "execle", "execlp"}


def plain_name(symbol):
    """The function of which a symbol is a variant, as docs/wrappers.md describes variants."""
    name = re.sub(r"^__(isoc99_|isoc23_)?(?=.)|(_chk|_2|_unlocked)$", "", symbol)
    return name.replace("64v2", "2").replace("64", "")


def wrapped_functions(timeloom_program):
    """The functions that the library of `--io posix` wraps, without their variants."""
    command = [timeloom_program, "preload", "--print", "--io", "posix"]
    library = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    symbols = {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()}
    return {plain_name(symbol) for symbol in symbols - OF_EVERY_LIBRARY if not symbol.startswith("_Z")}
