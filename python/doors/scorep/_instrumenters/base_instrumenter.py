"""The bindings' name for the base class of all instrumenters."""

from scorep.instrumenter import Instrumenter as BaseInstrumenter

__all__ = ["BaseInstrumenter"]
