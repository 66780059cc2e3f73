"""The name in the bindings of the instrumenter trace."""

from scorep.instrumenter import Instrumenter as ScorepTrace

__all__ = ["ScorepTrace"]
