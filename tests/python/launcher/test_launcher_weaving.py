"""The process that weaves when a program ends: where its program is missing, where it fails, and what it gets."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from test_launcher_end import CALLS, SUMMARY, run, runs_in, work  # noqa: F401

import timeloom

pytestmark = pytest.mark.any_python


@pytest.fixture
def package_alone(tmp_path):
    """The package without the program, for an interpreter that has no `timeloom` beside it."""
    python = Path(sys._base_executable)  # type: ignore[attr-defined]
    if (python.parent / "timeloom").exists():
        pytest.skip("the base interpreter has a timeloom program")
    package = tmp_path / "path" / "timeloom"
    source = Path(timeloom.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("bin", "__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PATH": "/nowhere"}
    return {"python": str(python), "env": environment}, package


def test_without_the_program_the_run_stays_unfinished(work, package_alone):
    process = run(work, CALLS, **package_alone[0])
    assert (process.returncode, process.stdout) == (0, "out\n")
    assert SUMMARY.fullmatch(process.stderr)["more"] == (
        "timeloom: not woven: the program timeloom was not found; its next command does it [TL047]\n"
    )
    assert (runs_in(work)[0] / "spool").is_dir()


@pytest.mark.parametrize(
    "program", ["#!/bin/sh\necho lost; echo why >&2; exit 3\n", "no program at all"]
)
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_weaving_that_fails_is_said(work, package_alone, program, quiet):
    settings, package = package_alone
    (package / "bin").mkdir()
    (package / "bin" / "timeloom").write_text(program)
    (package / "bin" / "timeloom").chmod(0o755)
    process = run(work, CALLS, *quiet, **settings)
    assert (process.returncode, process.stdout) == (0, "out\n")
    name = runs_in(work)[0].name
    line = f"timeloom: not woven: timeloom weave {name} failed; everything recorded is still in the run [TL045]\n"
    if quiet:
        assert process.stderr == line
    else:
        reason = "why\n" if program.startswith("#!") else ""
        assert process.stderr.startswith(reason)
        assert SUMMARY.fullmatch(process.stderr.removeprefix(reason))["more"] == line


def test_what_the_child_that_weaves_gets(work, package_alone):
    settings, package = package_alone
    (package / "bin").mkdir()
    (package / "bin" / "timeloom").write_text(f"""#!{sys.executable}
import os, signal, sys
fds = sorted(int(n) for n in os.listdir('/proc/self/fd') if int(n) < 200)
links = [os.readlink(f'/proc/self/fd/{{n}}') for n in (0, 1)]
# What python itself ignores says nothing of what it was given.
ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
print(sys.argv[1:], fds[:3], links, signal.pthread_sigmask(signal.SIG_BLOCK, []), ignored, os.getcwd(), file=open({str(work / "seen")!r}, 'w'))
""")
    (package / "bin" / "timeloom").chmod(0o755)
    run(
        work,
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "--keep-spool",
        **settings,
    )
    (run_directory,) = runs_in(work)
    seen = re.sub("'--run-id', '[0-9a-f-]+', ", "", (work / "seen").read_text(), count=1)
    assert seen == (
        f"['weave', '--numbers', '--keep-spool', '{run_directory}'] [0, 1, 2] "
        f"['/dev/null', '/memfd:timeloom-weave (deleted)'] set() False {work}\n"
    )
