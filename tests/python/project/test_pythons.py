"""scripts/pythons.py on made-up interpreters: small programs that answer like real ones."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import pythons

pytestmark = pytest.mark.any_python

SCRIPT = Path(pythons.__file__)
WELL = {"implementation": "cpython", "free_threaded": False, "headers": True, "venv": True}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def interpreter(path: Path, version: str, **facts) -> Path:
    numbers = [int(number) for number in version.split(".")]
    answer = json.dumps({**WELL, "executable": str(path), "version": numbers, **facts})
    return put(path, f"#!/bin/sh\necho '{answer}'\n")


def shim(path: Path) -> Path:
    return put(path, f"#!/bin/sh\necho 'pyenv: {path.name}: command not found' >&2\nexit 127\n")


def find(path: list[Path], named: str = "") -> list[pythons.Python]:
    return pythons.find({"PATH": os.pathsep.join(map(str, path)), "TIMELOOM_PYTHONS": named})


def told(found: list[pythons.Python]) -> list[tuple[str, str, str]]:
    return [(python.tag, python.path, python.problem) for python in found]


def test_one_of_each_version_in_order_of_versions(tmp_path):
    newer = interpreter(tmp_path / "a/python3.13", "3.13.1")
    interpreter(tmp_path / "a/python3.12-config", "3.12.0")
    first = interpreter(tmp_path / "b/python3.12", "3.12.4")
    interpreter(tmp_path / "c/python3.12", "3.12.9")
    assert told(find([tmp_path / "a", tmp_path / "b", tmp_path / "c"])) == [
        ("3.12", str(first), ""),
        ("3.13", str(newer), ""),
    ]


def test_python3_counts_by_what_it_is(tmp_path):
    path = interpreter(tmp_path / "python3", "3.11.2")
    assert told(find([tmp_path])) == [("3.11", str(path), "")]


def test_python3_is_not_a_second_one(tmp_path):
    path = interpreter(tmp_path / "python3.11", "3.11.2")
    interpreter(tmp_path / "python3", "3.11.2", executable=str(path))
    assert told(find([tmp_path])) == [("3.11", str(path), "")]


def test_a_shim_that_refuses_hides_nothing(tmp_path):
    shim(tmp_path / "x/python3.12")
    shim(tmp_path / "x/python3.13")
    real = interpreter(tmp_path / "usr/python3.12", "3.12.4")
    assert told(find([tmp_path / "x", tmp_path / "usr"])) == [
        ("", str(tmp_path / "x/python3.13"), "does not run: pyenv: python3.13: command not found"),
        ("3.12", str(real), ""),
    ]


def test_what_lies_behind_a_shim_is_found(tmp_path):
    shim(tmp_path / "shims/python3.12")
    real = interpreter(tmp_path / "versions/3.12.4/bin/python3.12", "3.12.4")
    interpreter(tmp_path / "versions/3.8.1/bin/python3", "3.8.1")
    interpreter(tmp_path / "versions/3.8.1/bin/python3.8", "3.8.1")
    assert told(find([tmp_path / "shims"])) == [("3.12", str(real), "")]


def test_named_ones_come_first(tmp_path):
    interpreter(tmp_path / "path/python3.12", "3.12.1")
    named = interpreter(tmp_path / "mine/my-python", "3.12.7")
    home = interpreter(tmp_path / "home/bin/python3.14", "3.14.0")
    folder = interpreter(tmp_path / "folder/python3.13", "3.13.0")
    expected = [("3.12", str(named), ""), ("3.13", str(folder), ""), ("3.14", str(home), "")]
    for separator in (":", " ", " : "):
        words = separator.join([str(named), str(tmp_path / "home"), str(tmp_path / "folder")])
        assert told(find([tmp_path / "path"], words)) == expected


def test_a_named_one_that_is_missing_is_said(tmp_path):
    missing = tmp_path / "nowhere"
    (found,) = find([], str(missing))
    assert (found.path, found.problem.split(":")[0]) == (str(missing), "does not run")
    assert "No such file" in found.problem


def test_what_cannot_be_read_is_passed_over(tmp_path):
    real = interpreter(tmp_path / "real/python3.12", "3.12.1")
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder/python3.13").mkdir(parents=True)
    path = [tmp_path / name for name in ("closed", "file", "nowhere", "folder", "real")]
    assert told(find(path)) == [("3.12", str(real), "")]


def test_free_threaded_is_a_version_of_its_own(tmp_path):
    plain = interpreter(tmp_path / "python3.13", "3.13.1")
    free = interpreter(tmp_path / "python3.13t", "3.13.1", free_threaded=True)
    assert told(find([tmp_path])) == [("3.13", str(plain), ""), ("3.13t", str(free), "")]


def test_why_one_cannot_be_used(tmp_path):
    interpreter(tmp_path / "python3.11", "3.11.2", headers=False)
    interpreter(tmp_path / "python3.12", "3.12.1", venv=False)
    interpreter(tmp_path / "python3.13", "3.13.1", implementation="pypy")
    interpreter(tmp_path / "python3", "3.10.1")
    put(tmp_path / "python3.14", "#!/bin/sh\necho no JSON\n")
    put(tmp_path / "python3.15", "#!/bin/sh\nexit 1\n")
    assert {(p.tag, p.problem.split(": ")[0]) for p in find([tmp_path])} == {
        ("", "does not run"),
        ("3.10", "is older than 3.11"),
        ("3.11", "lacks its headers (Debian"),
        ("3.12", "lacks venv or ensurepip (Debian"),
        ("3.13", "is pypy, not CPython"),
    }


def test_what_is_missing(tmp_path):
    interpreter(tmp_path / "python3.12", "3.12.1")
    shim(tmp_path / "python3.13")
    assert pythons.missing(find([tmp_path])) == ["3.11", "3.14", "3.15"]


def run(path: Path, *arguments) -> subprocess.CompletedProcess:
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": str(path)})


def test_the_program_lists_all_and_paths(tmp_path):
    usable = interpreter(tmp_path / "python3.12", "3.12.1")
    put(tmp_path / "python3.13", "#!/bin/sh\necho broken >&2\nexit 1\n")
    listing = run(tmp_path)
    assert listing.returncode == 0
    assert listing.stdout.splitlines() == [
        f"{tmp_path}/python3.13: does not run: broken",
        f"Python 3.12.1 ({usable}): usable",
        *(f"Python 3.{minor}: not found on PATH or in TIMELOOM_PYTHONS" for minor in (11, 14, 15)),
    ]
    assert run(tmp_path, "--paths").stdout == f"{usable}\n"


def test_the_program_fails_without_a_usable_one(tmp_path):
    assert run(tmp_path).returncode == 1


def test_this_interpreter_is_recognised():
    found = pythons.examine(sys.executable)
    assert found.version == sys.version_info[:3]
    assert found.tag.rstrip("t") == f"3.{sys.version_info[1]}"
