"""The name in the bindings of the instrumenter cProfile."""

from scorep.instrumenter import Instrumenter as ScorepCProfile

__all__ = ["ScorepCProfile"]
