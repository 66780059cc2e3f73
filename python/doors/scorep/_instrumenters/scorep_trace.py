"""The bindings' name for the instrumenter trace."""

from scorep.instrumenter import Instrumenter as ScorepTrace

__all__ = ["ScorepTrace"]
