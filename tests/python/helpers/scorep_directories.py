"""The directory in which a test of the Score-P door runs its program, and its contents afterwards."""

import pytest

STAMP = r"\d{8}_\d{4}_\d+"
APP = "def f():\n    pass\nf()\n"


@pytest.fixture
def app(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def directories(path):
    return sorted(entry.name for entry in path.iterdir() if entry.is_dir())


def contents(path):
    return sorted(entry.name for entry in path.iterdir())
