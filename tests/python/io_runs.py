"""Runs programs with `--io posix` and reads what `timeloom report --io` says."""

import json
import os
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
