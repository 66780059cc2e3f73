"""The directories for the runs of cells."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from pathlib import Path

from timeloom import Error, _core
from timeloom._launch import _read_pyproject as read_pyproject

_VARIABLE = "SCOREP_EXPERIMENT_DIRECTORY"


class Places:
    """The directory of this kernel's runs: in the current directory, or in the setting ``output``."""

    def __init__(self) -> None:
        self._base: Path | None = None

    def of_cell(self, number: int) -> str:
        """Return a new directory for the run of a cell. Raises Error."""
        if self._base is None:
            self._base = _make_base()
        for count in itertools.count(1):
            path = self._base / (f"in-{number}" if count == 1 else f"in-{number}-{count}")
            if not os.path.lexists(path):
                return str(path)
        raise AssertionError

    def has(self, run: str) -> bool:
        """True if the run is in the directory of this kernel's runs."""
        return self._base is not None and Path(run).parent == self._base


def _make_base() -> Path:
    output = _core.output_of_block({}, read_pyproject())
    name = output or time.strftime("timeloom-notebook-%Y%m%d-%H%M%S")
    for base in (Path(name), Path(f"{name}-{os.getpid()}")):
        try:
            base.mkdir(parents=True, exist_ok=bool(output))
            return base.absolute()
        except FileExistsError:
            continue
        except OSError:
            break
    try:
        return Path(tempfile.mkdtemp(prefix="timeloom-notebook-"))
    except OSError as error:
        raise Error(f"there is no directory for the runs of cells: {error} [TL637]") from None


def scorep_wants_results() -> bool:
    """True if the variables of Score-P request a profile or a trace."""
    return _is_on("SCOREP_ENABLE_PROFILING", "true") or _is_on("SCOREP_ENABLE_TRACING", "false")


def _is_on(variable: str, default: str) -> bool:
    return os.environ.get(variable, default).strip().lower() not in ("false", "no", "off", "0")


def of_scorep() -> tuple[str, str]:
    """Return the experiment directory that the variables of Score-P request: its path, and its name as the user wrote
    it.

    A run that has the name already is renamed, as in Score-P. Raises Error if it must not be.
    """
    named = os.environ.get(_VARIABLE, "")
    if not named:
        path = os.path.abspath(_stamped("scorep"))
        return path, path
    if os.path.lexists(named):
        _make_room(named)
    return named, named


def _stamped(name: str, when: float | None = None) -> str:
    stamp = time.strftime("%Y%m%d_%H%M", time.localtime(when))
    return f"{name}-{stamp}_{time.perf_counter_ns()}"


def _make_room(named: str) -> None:
    if not _is_on("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY", "true"):
        raise Error(
            f"{named} exists; choose another {_VARIABLE}, "
            "or allow SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY [TL637]"
        )
    if not os.path.isfile(os.path.join(named, "scorep.cfg")):
        return  # an empty directory is used, another one refused
    os.rename(named, _stamped(named.rstrip("/"), os.stat(named).st_mtime))
