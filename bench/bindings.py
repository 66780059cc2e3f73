"""The Python bindings of Score-P from PyPI, for a comparison: finds out whether they can be measured here.

They need a Score-P installation, known by its `scorep-config` on PATH, and a separate environment,
since Timeloom's has a package of the same name. scripts/bench.sh creates it and passes its
interpreter in BENCH_SCOREP_PYTHON.

usage: python bench/bindings.py    prints the scorep-config that is not Timeloom's, or fails
"""

import os
import pathlib
import subprocess
import sys

VARIABLE = "BENCH_SCOREP_PYTHON"


def is_of_score_p(program: pathlib.Path) -> bool:
    """False for a scorep-config that is Timeloom's (a script that starts timeloom) or cannot be run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=30)
        return done.returncode == 0 and b"timeloom" not in program.read_bytes()
    except (OSError, subprocess.TimeoutExpired):
        return False


def scorep_config() -> str | None:
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        program = pathlib.Path(directory) / "scorep-config"
        if directory and os.access(program, os.X_OK) and is_of_score_p(program):
            return str(program)
    return None


def python() -> str | None:
    """The interpreter that has the bindings; None if they cannot be measured."""
    named = os.environ.get(VARIABLE)
    return named if named and scorep_config() else None


if __name__ == "__main__":
    found = scorep_config()
    print(found or "there is no Score-P on PATH", file=sys.stdout if found else sys.stderr)
    sys.exit(0 if found else 1)
