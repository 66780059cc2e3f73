"""Switches the automatic instrumentation: by a call, or for a ``with`` block.

Each switch acts on all threads of the process at once, and any thread may use it. It applies to calls that are observed
automatically; user regions, parameters, counters and markers are always recorded.
"""

from _thread import RLock, get_ident
from posix import register_at_fork

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from types import TracebackType


class Block:
    """An open ``with`` block in which the instrumentation is on or off."""

    __slots__ = ("before", "on", "thread")

    def __init__(self, on: bool, before: bool) -> None:
        self.on = on
        self.before = before  # the state to restore
        self.thread = get_ident()


# The open blocks of all threads and tasks, which may end in any order.
_open: list[Block] = []
_lock = RLock()


def open_block(on: bool, before: bool) -> Block:
    """Note the start of a block that switches the instrumentation ``on`` (or off); it was ``before``."""
    block = Block(on, before)
    with _lock:
        _open.append(block)
    return block


def close_block(block: Block) -> bool | None:
    """Note the end of a block; return the state to restore.

    None if a block that started later is still open: that one will restore the state before this one.
    """
    with _lock:
        place = _open.index(block)
        del _open[place]
        if place == len(_open):
            return block.before
        _open[place].before = block.before
        return None


def _keep_blocks_of_this_thread() -> None:
    global _lock
    _lock = RLock()  # another thread may have held it
    _open[:] = [block for block in _open if block.thread == get_ident()]


register_at_fork(after_in_child=_keep_blocks_of_this_thread)


class _Switched:
    """A switch that is undone at the end of a ``with`` block; after a plain call it stays."""

    __slots__ = ("_before", "_block", "_on")

    _block: Block

    def __init__(self, on: bool) -> None:
        self._on = on
        self._before = not _core.paused()
        (_core.resume if on else _core.pause)()

    def __enter__(self) -> None:
        self._block = open_block(self._on, self._before)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        state = close_block(self._block)
        if state is not None:
            (_core.resume if state else _core.pause)()


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
