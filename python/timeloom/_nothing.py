"""The functions of the extension in a sub-interpreter. They do nothing where it is not recorded.

The extension keeps its state for one interpreter, but code that marks regions must run in others, too. Where the
interpreter takes part in the measurement, its own module records regions and values.
"""

from collections.abc import Callable
from typing import Any

import timeloom_follow


class Error(RuntimeError):
    """As in the extension."""


def _nothing(*_: object, **__: object) -> None:
    pass


_sub = timeloom_follow.sub_module
counter, marker = (getattr(_sub, name, _nothing) for name in ("counter", "marker"))
region_begin, region_end = (getattr(_sub, name, _nothing) for name in ("region_begin", "region_end"))
parameter_float, parameter_int = (getattr(_sub, name, _nothing) for name in ("parameter_float", "parameter_int"))
parameter_string, parameter_uint = (getattr(_sub, name, _nothing) for name in ("parameter_string", "parameter_uint"))
disable_recording = enable_recording = pause = resume = _nothing


def paused() -> bool:
    """Return False: the automatic instrumentation is not paused, as without a measurement."""
    return False


def recording() -> bool:
    """Return False: nothing is recorded."""
    return False


class unrecorded:
    """A block like any other: it is recorded."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class region:
    """A block, or a decorator that returns the function, which is recorded under its own name."""

    def __new__(cls, named: Any, /) -> Any:
        return named if callable(named) else super().__new__(cls)

    def __init__(self, named: str, /) -> None:
        self.name = named

    def __enter__(self) -> Any:
        region_begin(self.name)
        return self

    def __exit__(self, *_: object) -> None:
        region_end(self.name)

    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        return function


def start_block(*_: object) -> None:
    """Refuse: the purpose of the block is recording."""
    raise Error("a sub-interpreter cannot be measured; begin the measurement in the main interpreter [TL602]")
