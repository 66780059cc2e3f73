"""The name in the bindings of the instrumenter cTrace."""

from scorep.instrumenter import Instrumenter as ScorepCTrace

__all__ = ["ScorepCTrace"]
