"""Measuring a block of a program that was started plainly."""

# Types are in __init__.pyi: importing `typing` or `__future__` here would show in
# the program's sys.modules.
import sys

from timeloom import _core
from timeloom._launch import _read_pyproject as read_pyproject


_COUNTS = ("events", "bytes", "lost_events", "dropped_events", "unmatched_leaves", "wall_seconds")


class Measurement:
    """Measures what runs between ``start()`` and ``finish()``, or a ``with`` block.

    Keyword arguments are the settings of ``timeloom run`` with ``_`` for ``-``,
    e.g. ``Measurement(output="run1", instrumenter="profile", c_functions=True)``;
    variables and ``pyproject.toml`` count as they do there. ``output`` defaults
    to a new directory ``timeloom-PROGRAM-DATE-TIME``.

    At most one measurement runs at a time in a process, any number one after
    the other. In a program that runs under ``timeloom run`` it becomes part of
    that run: a line on stderr says so, ``run`` is that run, ``totals["joined"]``
    is true, and the counts are those of the block. Raises :class:`timeloom.Error` when measuring cannot be done as
    asked; what the block itself raises passes through, and the run is kept.
    """

    def __init__(self, **settings):
        self._settings = settings
        self._result = None
        self._running = False
        self._begin = None  # the counts of the run that this is part of

    @property
    def run(self):
        """The directory of the run; None before ``finish()``."""
        return None if self._result is None else self._result["run"]

    @property
    def totals(self):
        """What was recorded (events, threads, bytes, wall_seconds, ...); None before ``finish()``."""
        return None if self._result is None else dict(self._result)

    def start(self):
        program = sys.argv[0] if sys.argv and sys.argv[0] else "python"
        self._begin = _core.start_block(self._settings, read_pyproject(), program)
        self._result = None
        self._running = True
        return self

    def finish(self):
        """Stop, weave, and return the directory of the run. Again: only return it."""
        if self._running:
            self._running = False
            self._result = _core.finish_block() if self._begin is None else self._since_begin()
        return self.run

    def _since_begin(self):
        totals = _core.so_far()
        if totals is not None:
            for name in _COUNTS:
                totals[name] -= self._begin[name]
        return totals

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.finish()
