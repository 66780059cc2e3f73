"""The bindings' name for the instrumenter cTrace."""

from scorep.instrumenter import Instrumenter as ScorepCTrace

__all__ = ["ScorepCTrace"]
