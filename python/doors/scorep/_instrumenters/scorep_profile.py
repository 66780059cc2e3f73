"""The name in the bindings of the instrumenter profile."""

from scorep.instrumenter import Instrumenter as ScorepProfile

__all__ = ["ScorepProfile"]
