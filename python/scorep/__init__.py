"""The interface of the Score-P Python bindings, served by Timeloom.

Programs that use the bindings run unchanged: ``python -m scorep script.py``
measures, the functions of :mod:`scorep.user` and :mod:`scorep.instrumenter` mark
and steer what is recorded. Without ``-m scorep`` each of them does nothing.

(PYTEST_DONT_REWRITE: see the package timeloom.)
"""

__version__ = "4.5.1"  # of the bindings whose interface this is

__all__ = ["user", "instrumenter", "__version__"]

from scorep import instrumenter, user  # noqa: E402,F401


def __getattr__(name):
    # What the bindings have loaded by the time that a program runs; loaded here when it is asked for.
    if name not in ("_bindings", "helper", "subsystem"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return importlib.import_module(f"scorep.{name}")
