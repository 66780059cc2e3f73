"""The name in the bindings of what instrumenters that observe have."""

from scorep.instrumenter import Instrumenter as ScorepInstrumenter

__all__ = ["ScorepInstrumenter"]
