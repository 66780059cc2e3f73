"""User regions, parameters, and the switch for all recording.

All functions may be called from any thread and do nothing without a measurement. Names are ``str``; another type raises
TypeError. The region of ``name`` is called ``user:name`` in the results.
"""

from timeloom import _core
from timeloom._core import scorep_region as region

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])
    _Decorating = Callable[[], Callable[[_F], _F]]

__all__ = [
    "disable_recording",
    "enable_recording",
    "force_finalize",
    "instrument_function",
    "instrument_module",
    "parameter_int",
    "parameter_string",
    "parameter_uint",
    "region",
    "region_begin",
    "region_end",
    "reregister_exit_handler",
    "rewind_begin",
    "rewind_end",
]


def region_begin(name: str, file_name: str | None = None, line_number: int | None = None) -> None:
    """Enter ``user:name``. Its source position is the caller's unless both a file and a line are given."""
    _core.scorep_begin("user", name, file_name, line_number)


def region_end(name: str) -> None:
    """Leave ``user:name``; one that was never entered is recorded as ``error_region``."""
    _core.scorep_end("user", name)


def instrument_function(fun: "_F", instrumenter_fun: "_Decorating[_F]" = region) -> "_F":
    """Return ``fun`` decorated: as a separate region, or with ``instrumenter.enable`` or ``disable``."""
    return instrumenter_fun()(fun)


def instrument_module(module: "ModuleType", instrumenter_fun: "_Decorating[Any]" = region) -> None:
    """Replace every Python function in the namespace of ``module`` by its ``instrument_function()``."""
    function = type(instrument_module)
    for name, value in list(vars(module).items()):
        if isinstance(value, function):
            setattr(module, name, instrument_function(value, instrumenter_fun))


def rewind_begin(name: str, file_name: str | None = None, line_number: int | None = None) -> None:
    """Begin a part of this thread's trace that ``rewind_end(name, ...)`` may discard.

    The file and the line are accepted, as in the bindings, but not recorded.
    """
    _core.rewind_begin(name)


def rewind_end(name: str, value: object) -> None:
    """End the part of that name; a true ``value`` removes this thread's events since its start from the trace."""
    _core.rewind_end(name, bool(value))


def enable_recording() -> None:
    """Record again, on all threads, after ``disable_recording()``."""
    _core.enable_recording()


def disable_recording() -> None:
    """Record nothing on any thread until ``enable_recording()``."""
    _core.disable_recording()


def parameter_int(name: str, val: int) -> None:
    """Attach a signed 64-bit integer to the current region; a larger one is recorded as its text."""
    _core.parameter_int(name, val)


def parameter_uint(name: str, val: int) -> None:
    """Attach an unsigned 64-bit integer to the current region; any other is recorded as its text."""
    _core.parameter_uint(name, val)


def parameter_string(name: str, string: str) -> None:
    """Attach a text to the current region."""
    _core.parameter_string(name, string)


def force_finalize() -> None:
    """Write the results now; later events are not recorded."""
    _core.finish_run_now()


def reregister_exit_handler() -> None:
    """Write the results before the exit handlers that are registered when this is called."""
    _core.finish_run_earlier()
