"""The functions of the extension in a sub-interpreter, where no region of the program is recorded: they do nothing.

The extension keeps its state for one interpreter, but code that marks regions must run in others, too.
"""

from collections.abc import Callable
from typing import Any


class Error(RuntimeError):
    """As in the extension."""


def _nothing(*_: object, **__: object) -> None:
    pass


counter = marker = region_begin = region_end = _nothing
parameter_float = parameter_int = parameter_string = parameter_uint = _nothing
disable_recording = enable_recording = pause = resume = _nothing


def paused() -> bool:
    """Return True: the automatic instrumentation is on, as without a measurement."""
    return False


def recording() -> bool:
    """Nothing is recorded."""
    return False


class unrecorded:
    """A block like any other."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class region(unrecorded):
    """A block, or a decorator that returns the function."""

    def __new__(cls, named: Any, /) -> Any:
        return named if callable(named) else super().__new__(cls)

    def __init__(self, named: str, /) -> None:
        self.name = named

    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        return function


def start_block(*_: object) -> None:
    """Refuse: the purpose of the block is recording."""
    raise Error("a sub-interpreter cannot be measured; begin the measurement in the main interpreter [TL602]")
