"""Whether the benchmark finds a Score-P that is installed, and does not take ours for one."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bindings(monkeypatch):
    spec = importlib.util.spec_from_file_location("bindings", ROOT / "bench" / "bindings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delenv(module.VARIABLE, raising=False)
    return module


def put(directory, text):
    directory.mkdir()
    path = directory / "scorep-config"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_score_p_is_found(bindings, tmp_path, monkeypatch):
    ours = Path(sys.executable).parent
    assert shutil.which("scorep-config", path=str(ours))
    broken = put(tmp_path / "broken", "exit 3")
    theirs = put(tmp_path / "theirs", "echo 8.4")
    path = lambda *directories: os.pathsep.join(map(str, (*directories, "/usr/bin", "/bin")))
    monkeypatch.setenv("PATH", path(ours, broken.parent))
    assert bindings.scorep_config() is None and bindings.python() is None
    monkeypatch.setenv("PATH", path(ours, broken.parent, theirs.parent))
    assert bindings.scorep_config() == str(theirs)
    assert bindings.python() is None  # without an environment that has them
    monkeypatch.setenv(bindings.VARIABLE, "/some/python")
    assert bindings.python() == "/some/python"
    monkeypatch.setenv("PATH", path(ours))
    assert bindings.python() is None
