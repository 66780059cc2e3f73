"""The bindings' name for the instrumenter cProfile."""

from scorep.instrumenter import Instrumenter as ScorepCProfile

__all__ = ["ScorepCProfile"]
