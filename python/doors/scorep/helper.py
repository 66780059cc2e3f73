"""Helpers of the bindings that scripts call."""

from timeloom import _core

with _core.unrecorded():
    import os
    import subprocess
    import sys

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Sequence


def print_err(*args: object) -> None:
    """Print the arguments to stderr, with blanks between them."""
    sys.stderr.write(" ".join(map(str, args)) + "\n")


def call(arguments: "Sequence[str]") -> tuple[int, str, str]:
    """Run a command and return its status, its stdout and its stderr as text."""
    done = subprocess.run(arguments, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def get_python_version() -> str:
    """Return the version of this Python as "3.12"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def get_scorep_version() -> float:
    """Return the version of Score-P whose conventions are followed."""
    return float(_core.SCOREP_VERSION)


def get_scorep_config(config_line: str | None = None) -> list[str] | str | None:
    """Return the lines of ``scorep-info config-summary``, or the first one that contains ``config_line``; otherwise
    None."""
    lines = _core.scorep_summary().split("\n")
    if config_line is None:
        return lines
    return next((line for line in lines if config_line in line), None)


def add_to_ld_library_path(path: str) -> None:
    """Put ``path`` in front of LD_LIBRARY_PATH, unless it is there already."""
    paths = [part for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]
    if path not in paths:
        os.environ["LD_LIBRARY_PATH"] = ":".join([path, *paths])


def generate_compile_deps(config: object) -> tuple[list[str], list[str], list[str], list[str], list[str]]:
    """Return (include, lib, lib_dir, macro, linker_flags), all empty: nothing has to be compiled."""
    return [], [], [], [], []
