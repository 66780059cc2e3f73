"""Measures a block of a program that was started without Timeloom."""

import sys

from timeloom import _core
from timeloom._launch import _read_pyproject as read_pyproject

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from timeloom._core import _Totals

_COUNTS = ("events", "bytes", "lost_events", "dropped_events", "unmatched_leaves", "wall_seconds")


class Measurement:
    """Measures the code between ``start()`` and ``finish()``, or a ``with`` block.

    Keyword arguments are the settings of ``timeloom run`` with ``_`` for ``-``, e.g. ``Measurement(output="run1",
    instrumenter="profile", c_functions=True)``; variables and ``pyproject.toml`` apply as they do there. ``output``
    defaults to a new directory ``timeloom-PROGRAM-DATE-TIME``.

    At most one measurement runs at a time in a process, any number one after the other. In a program that runs under
    ``timeloom run`` it becomes part of that run: a line on stderr reports it, ``run`` is that run, ``totals["joined"]``
    is true, and the counts are the block's. Raises :class:`timeloom.Error` if the measurement cannot be done as
    requested. Exceptions of the block itself pass through, and the run is kept.
    """

    def __init__(self, **settings: "Any") -> None:
        self._settings = settings
        self._result: _Totals | None = None
        self._running = False
        self._begin: Any = None  # the counts of the enclosing run

    @property
    def run(self) -> str | None:
        """The directory of the run; None before ``finish()``."""
        return None if self._result is None else self._result["run"]

    @property
    def totals(self) -> "_Totals | None":
        """The counts of the run (events, threads, bytes, wall_seconds, ...); None before ``finish()``."""
        return None if self._result is None else self._result.copy()

    def start(self) -> "Self":
        """Begin the measurement and return this object. Raises :class:`timeloom.Error` on failure."""
        program = sys.argv[0] if sys.argv and sys.argv[0] else "python"
        self._begin = _core.start_block(self._settings, read_pyproject(), program)
        self._result = None
        self._running = True
        return self

    def finish(self) -> str | None:
        """Stop, weave, and return the directory of the run. A second call only returns it."""
        if self._running:
            self._running = False
            self._result = _core.finish_block() if self._begin is None else self._since_begin()
        return self.run

    def _since_begin(self) -> "Any":
        totals: Any = _core.so_far()
        if totals is not None:
            for name in _COUNTS:
                totals[name] -= self._begin[name]
        return totals

    def __enter__(self) -> "Self":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        self.finish()
