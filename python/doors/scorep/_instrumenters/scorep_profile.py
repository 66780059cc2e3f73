"""The bindings' name for the instrumenter profile."""

from scorep.instrumenter import Instrumenter as ScorepProfile

__all__ = ["ScorepProfile"]
