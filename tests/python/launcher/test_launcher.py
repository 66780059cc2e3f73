"""`python -m timeloom` and `timeloom run` against plain python: same output, same end."""

import os
import py_compile
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from launcher_programs import CASES, Case
from streams import said_of_hook

MEASURED = ["-m", "timeloom", "--quiet", "--no-weave"]


def write_files(directory: Path, case: Case):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    for name, content in case.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        if data.startswith(b"zip:"):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("__main__.py", data[4:])
        elif data.startswith(b"pyc:"):
            source = path.with_suffix(".source.py")
            source.write_bytes(data[4:])
            py_compile.compile(str(source), cfile=str(path), dfile="source.py", doraise=True)
        else:
            path.write_bytes(data)
    for name, target in case.links.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, directory / name)


def clean_environment(extra):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TIMELOOM_"))}
    return {**environment, "PYTHONFAULTHANDLER": "", **extra}


def run(command, directory, case):
    environment = clean_environment(case.environment)
    process = subprocess.run(
        command,
        cwd=directory,
        input=case.stdin.encode() if case.stdin is not None else b"",
        capture_output=True,
        env=environment,
        timeout=120,
    )
    # Addresses and thread ids differ from run to run.
    plain = [
        re.sub(rb"0x[0-9a-f]+|started \d+", b"N", out) for out in (process.stdout, process.stderr)
    ]
    return {
        "status": process.returncode,
        "stdout": plain[0].decode(errors="replace"),
        "stderr": plain[1].decode(errors="replace"),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_like_plain_python(case, tmp_path):
    work, result = tmp_path / "work", tmp_path / "run"
    write_files(work, case)
    expected = run([sys.executable, *case.flags, *case.program], work, case)
    write_files(work, case)
    got = run(
        [
            sys.executable,
            *case.flags,
            *MEASURED,
            *case.options,
            f"--output={result}",
            *case.program,
        ],
        work,
        case,
    )
    # From 3.14 on, pdb observes by sys.monitoring.
    beside = case.name == "debugger_beside_trace" and sys.version_info < (3, 14)
    told = said_of_hook("trace", "sys.settrace") if beside else ""
    assert got == {**expected, "stderr": expected["stderr"] + told}
    assert (result / "spool").is_dir(), "nothing was measured"
