"""Answers for a host of a Ray cluster: the program has an actor of this class on each other host."""

from __future__ import annotations

from typing import Any

from timeloom import _core
from timeloom._engines import _clocks, _host_records


def end_here() -> None:
    """End the recording of the actor."""
    _core.finish()


def note_offset(offset_ns: int, error_ns: int) -> None:
    """Note how far the clock of the program's host is ahead now; raise RuntimeError if the actor does not record."""
    if not _core.running():
        raise RuntimeError("the actor on the host does not record")
    _clocks.note_offset(offset_ns, error_ns)


_FUNCTIONS = {
    function.__name__: function
    for function in (
        _clocks.clock_here, note_offset, end_here, _host_records.place_here, _host_records.files_here,
        _host_records.part_here, _host_records.remove_here,
    )
}  # fmt: skip


class TimeloomHost:
    """Calls our functions on its host. Its methods are not tasks of the program (_pools.py)."""

    def ask(self, function: str, *arguments: Any) -> Any:
        """Return what a function of _clocks.py or _host_records.py returns here."""
        return _FUNCTIONS[function](*arguments)
