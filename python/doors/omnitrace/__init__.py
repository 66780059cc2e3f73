"""The interface of Omnitrace's Python profiling, implemented by Timeloom.

Programs that use it run unchanged: ``omnitrace-python -- script.py`` profiles a program, and the names below profile
parts of a program that was started without it. docs/omnitrace.md lists the differences.

(PYTEST_DONT_REWRITE: see the package timeloom.)
"""

from omnitrace import _door as _door
from omnitrace import profiler, user
from omnitrace._run import finalize, initialize, is_finalized, is_initialized
from omnitrace.profiler import (
    Config,
    FakeProfiler,
    Profiler,
    config,
    noprofile,
    profile,
    profiler_finalize,
    profiler_function,
    profiler_init,
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
