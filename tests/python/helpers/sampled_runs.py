"""Sampled runs of programs that spend known shares of CPU time in the functions of native/busy.c."""

import subprocess
import sys
import textwrap

from native_programs import NATIVE
from streams import environment


def recorder(tmp_path_factory, opened, default):
    """Return record(*options, text=default), which records each program once and opens its run by opened(run)."""
    runs = {}

    def record(*options, text=default):
        if (options, text) not in runs:
            directory = tmp_path_factory.mktemp("sampled")
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", NATIVE / "busy.c", "-o", directory / "busy.so"], check=True)
            (directory / "app.py").write_text(textwrap.dedent(text))
            command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "app.py"]
            done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300, env=environment())
            assert done.returncode == 0 and "samples are taken" not in done.stderr, done.stderr
            runs[options, text] = opened(directory / "run")
        return runs[options, text]

    return record
