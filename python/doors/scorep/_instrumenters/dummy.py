"""The bindings' name for the instrumenter that observes nothing."""

from scorep.instrumenter import Instrumenter as ScorepDummy

__all__ = ["ScorepDummy"]
