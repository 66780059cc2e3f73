"""The name in the bindings of no instrumenter."""

from scorep.instrumenter import Instrumenter as ScorepDummy

__all__ = ["ScorepDummy"]
