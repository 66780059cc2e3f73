"""Switching the automatic instrumentation: as a call, or for a ``with`` block.

Each switch acts on all threads of the process at once and may be used from any of
them. It concerns calls that are observed automatically; user regions, parameters,
counters and markers are recorded all the same.
"""

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from types import TracebackType


class _Switched:
    """A switch that is undone at the end of a ``with`` block, and stays after a mere call."""

    __slots__ = ("_was_paused",)

    def __init__(self, on: bool) -> None:
        self._was_paused = _core.paused()
        (_core.resume if on else _core.pause)()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        (_core.pause if self._was_paused else _core.resume)()


def start() -> _Switched:
    """Switch the automatic instrumentation on; also called ``resume``.

    Acts at once and returns a context manager: ``with start():`` switches it on for
    the block only, and restores the earlier state at its end. Does nothing without
    a measurement.
    """
    return _Switched(True)


def stop() -> _Switched:
    """Switch the automatic instrumentation off; also called ``pause``.

    Acts at once and returns a context manager: ``with stop():`` switches it off for
    the block only, and restores the earlier state at its end. User regions,
    parameters and counters are still recorded. Does nothing without a measurement.
    """
    return _Switched(False)


pause = stop
resume = start
