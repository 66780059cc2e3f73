"""The bindings' name for the base class of instrumenters that observe."""

from scorep.instrumenter import Instrumenter as ScorepInstrumenter

__all__ = ["ScorepInstrumenter"]
