"""Switching the automatic instrumentation: as a call, or for a ``with`` block."""

from timeloom import _core


class _Switched:
    """Undoes a switch at the end of a ``with`` block; as a mere call it stays."""

    __slots__ = ("_was_on",)

    def __init__(self, on):
        self._was_on = _core.instrumenting()
        (_core.resume if on else _core.pause)()

    def __enter__(self):
        return None

    def __exit__(self, *_):
        (_core.resume if self._was_on else _core.pause)()


def start():
    """Switch the automatic instrumentation on; ``with start():`` for a block only."""
    return _Switched(True)


def stop():
    """Switch it off. User regions, parameters and counters are recorded on."""
    return _Switched(False)


pause = stop
resume = start
