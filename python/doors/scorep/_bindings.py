"""The names of the bindings' extension module."""

from scorep.user import force_finalize, reregister_exit_handler
from timeloom import _core
from timeloom._core import (
    disable_recording,
    enable_recording,
    parameter_int,
    parameter_string,
    parameter_uint,
    rewind_end,
)
from timeloom._core import rewind_begin as _rewind_begin
from timeloom._core import scorep_try_begin as try_region_begin
from timeloom._core import scorep_try_end as try_region_end

with _core.unrecorded():
    import os

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from types import CodeType
    from typing import Self

__all__ = [
    "CInstrumenter",
    "abspath",
    "disable_recording",
    "enable_recording",
    "force_finalize",
    "get_experiment_dir_name",
    "parameter_int",
    "parameter_string",
    "parameter_uint",
    "region_begin",
    "region_end",
    "reregister_exit_handler",
    "rewind_begin",
    "rewind_end",
    "try_region_begin",
    "try_region_end",
]


def region_begin(
    module: str, function: str, file_name: str, line_number: int, code_object: "CodeType | None" = None
) -> None:
    """Enter the region ``module:function``; the code object is not used."""
    _core.scorep_begin(module, function, file_name, line_number)


def region_end(module: str, function: str, code_object: "CodeType | None" = None) -> None:
    """Leave the region ``module:function``; one that was never entered is recorded as ``error_region``."""
    _core.scorep_end(module, function)


def rewind_begin(name: str, file_name: str | None = None, line_number: int | None = None) -> None:
    """Begin a part of this thread's trace that ``rewind_end(name, ...)`` may discard."""
    _rewind_begin(name)


def get_experiment_dir_name() -> str:
    """Return the directory of the current measurement; empty without one."""
    measurement = _core.so_far()
    return "" if measurement is None else measurement["run"]


def abspath(path: str) -> str:
    """Return the absolute form of ``path``, as ``os.path.abspath()``."""
    return os.path.abspath(path)


class CInstrumenter:
    """The switch of the automatic instrumentation. The ``interface``, "Profile" or "Trace", has no effect.

    Raises TypeError for another interface.
    """

    def __init__(self, interface: str = "Profile") -> None:
        if interface not in ("Profile", "Trace"):
            raise TypeError(f"interface must be Trace or Profile, not {interface}")
        self.interface = interface

    def _enable_instrumenter(self) -> None:
        _core.resume()

    def _disable_instrumenter(self) -> None:
        _core.pause()

    def __call__(self, frame: object, event: str, arg: object) -> "Self":
        return self
