"""Switching the automatic instrumentation: as a call, or for a ``with`` block."""

from timeloom import _core


class _Switched:
    """Undoes a switch at the end of a ``with`` block; as a mere call it stays."""

    __slots__ = ("_was_paused",)

    def __init__(self, on):
        self._was_paused = _core.paused()
        (_core.resume if on else _core.pause)()

    def __enter__(self):
        return None

    def __exit__(self, *_):
        (_core.pause if self._was_paused else _core.resume)()


def start():
    """Switch the automatic instrumentation on; ``with start():`` for a block only."""
    return _Switched(True)


def stop():
    """Switch it off. User regions, parameters and counters are recorded on."""
    return _Switched(False)


pause = stop
resume = start
