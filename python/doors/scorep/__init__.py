"""The interface of the Score-P Python bindings, implemented by Timeloom.

Programs that use the bindings run unchanged: ``python -m scorep script.py`` measures a program, and the functions of
:mod:`scorep.user` and :mod:`scorep.instrumenter` mark regions and control recording. Without ``-m scorep`` each of them
does nothing.

(PYTEST_DONT_REWRITE: see the package timeloom.)
"""

__all__ = ["__version__", "instrumenter", "user"]

from scorep import _door as _door
from scorep import instrumenter, user
from scorep._version import __version__

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from types import ModuleType


def __getattr__(name: str) -> "ModuleType":
    # The original bindings load these modules before a program runs; here the first use loads them.
    if name not in ("_bindings", "_instrumenters", "helper", "subsystem"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from timeloom import _core

    with _core.unrecorded():
        import importlib

    return importlib.import_module(f"scorep.{name}")
