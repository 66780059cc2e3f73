"""The name in the bindings of what all instrumenters have."""

from scorep.instrumenter import Instrumenter as BaseInstrumenter

__all__ = ["BaseInstrumenter"]
