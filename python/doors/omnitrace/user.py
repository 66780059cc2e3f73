"""User regions, and switches for profiling.

All functions may be called from any thread. They return 0, like Omnitrace's on success.
"""

from _thread import _local

from omnitrace import _run, profiler
from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])
    _T = TypeVar("_T")

__all__ = [
    "Region",
    "pop_region",
    "push_region",
    "region",
    "start_thread_trace",
    "start_trace",
    "stop_thread_trace",
    "stop_trace",
]


class _Started(_local):
    """The regions that this thread has started by start(), innermost last."""

    def __init__(self) -> None:
        self.regions: list[Region] = []


_started = _Started()


class Region:
    """A region with this name: a decorator, a context manager, or from start() to stop()."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._region = _core.region(label)

    def start(self) -> None:
        """Enter the region."""
        _run.ensure()
        _started.regions.append(self)
        self._region.__enter__()

    def stop(self) -> None:
        """Leave the region. Raises RuntimeError if this thread did not start it, or started another one since."""
        regions = _started.regions
        if not regions or regions[-1] is not self:
            place = len(regions) - regions[::-1].index(self) if self in regions else 0
            raise RuntimeError(
                f"{self.label} was not popped in the order it was pushed. "
                f"Current stack number: {len(regions)}, expected stack number: {place}"
            )
        regions.pop()
        self._region.__exit__(None, None, None)

    def __enter__(self) -> None:
        _run.ensure()
        self._region.__enter__()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: "TracebackType | None" = None,
    ) -> None:
        self._region.__exit__(exc_type, exc_value, traceback)

    def __call__(self, func: "_F") -> "_F":
        """Return the function decorated."""
        _run.ensure()
        return self._region(func)

    def runcall(self, func: "Callable[..., _T]", *args: "Any", **kw: "Any") -> "_T":
        """Call the function in the region and return its result."""
        with self:
            return func(*args, **kw)


region = Region


def push_region(label: str) -> int:
    """Enter the region ``label``."""
    _run.ensure()
    _core.region_begin(label)
    return 0


def pop_region(label: str) -> int:
    """Leave the region ``label``."""
    _core.region_end(label)
    return 0


def start_trace() -> int:
    """Profile again, on all threads, after stop_trace()."""
    profiler.trace(True)
    return 0


def stop_trace() -> int:
    """Profile nothing on any thread until start_trace(); user regions are recorded."""
    profiler.trace(False)
    return 0


def start_thread_trace() -> int:
    """Profile the calling thread again after stop_thread_trace()."""
    _core.hide_functions(False)
    return 0


def stop_thread_trace() -> int:
    """Profile nothing on the calling thread until start_thread_trace(); user regions are recorded."""
    _core.hide_functions(True)
    return 0
