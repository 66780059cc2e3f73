"""The package :mod:`omnitrace` by the name of its successor, ROCm Systems Profiler.

(PYTEST_DONT_REWRITE: see the package timeloom.)
"""

import sys

from omnitrace import (
    Config,
    FakeProfiler,
    Profiler,
    config,
    finalize,
    initialize,
    is_finalized,
    is_initialized,
    noprofile,
    profile,
    profiler,
    profiler_finalize,
    profiler_function,
    profiler_init,
    user,
)

__all__ = [
    "Config",
    "FakeProfiler",
    "Profiler",
    "config",
    "finalize",
    "initialize",
    "is_finalized",
    "is_initialized",
    "noprofile",
    "profile",
    "profiler",
    "profiler_finalize",
    "profiler_function",
    "profiler_init",
    "user",
]

sys.modules["rocprofsys.profiler"] = profiler
sys.modules["rocprofsys.user"] = user
