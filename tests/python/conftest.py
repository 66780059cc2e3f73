"""What all tests share: the program under test, and an environment without settings of ours."""

import os
import sys
from pathlib import Path

import pytest

# The scripts of the repository are tested like everything else.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))


@pytest.fixture(scope="session")
def timeloom_program() -> str:
    """The `timeloom` program of the environment that runs the tests."""
    program = os.environ.get("TIMELOOM_PROGRAM") or str(Path(sys.executable).with_name("timeloom"))
    assert os.access(program, os.X_OK), f"{program} is missing: `make test-python` installs it"
    return program


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Whoever runs the tests may have settings in the environment; a test sets its own."""
    for name in [name for name in os.environ if name.startswith(("TIMELOOM_", "SCOREP_"))]:
        if name != "TIMELOOM_PROGRAM":
            monkeypatch.delenv(name)
