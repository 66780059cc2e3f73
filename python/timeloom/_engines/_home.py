"""Puts records of workers on other hosts into the run of this program, as if they had been written there.

A worker of each host hands them out, part by part, through its engine (_host_records.py).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from timeloom._engines._host_records import LIFE, NAME, PART, UNMEASURED, files_here, part_here, remove_here
from timeloom_follow import _open_spools, note_unmeasured

_MOST_MARKS = 4096
_MOST_BYTES = 1 << 40  # of a file
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW

Ask = Callable[..., Awaitable[Any]]


class Home:
    """The directory of spools of this run, into which files of other hosts come."""

    def __init__(self, parent: str, run_id: str) -> None:
        self._parent, self._run_id = parent, run_id
        self._opened: list[int] = []

    def __enter__(self) -> Home:
        _open_spools(os.path.dirname(self._parent), self._opened, self._run_id)
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._opened:
            os.close(descriptor)

    def make(self, spool: str) -> int:
        """Make the directory of a spool, which the run must not have; return a descriptor of it."""
        os.mkdir(spool, dir_fd=self._opened[-1])
        return os.open(spool, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._opened[-1])

    def count_unmeasured(self, marks: object) -> None:
        """Count processes of another host that were not recorded."""
        for mark in marks[:_MOST_MARKS] if isinstance(marks, bytes) else b"":
            if bytes([mark]) in (b".", b"i", b"w"):
                note_unmeasured(self._parent, bytes([mark]), self._run_id)


def by_spool(files: object) -> dict[str, list[tuple[str, int]]]:
    """Return the files of each spool; raise ValueError for what files_here() does not return."""
    spools: dict[str, list[tuple[str, int]]] = {}
    for file in files if isinstance(files, (list, tuple)) else [None]:
        spool, name, size = file if isinstance(file, (list, tuple)) and len(file) == 3 else (None, None, None)
        if not (isinstance(spool, str) and isinstance(name, str) and isinstance(size, int)):
            raise ValueError("the answer has another form")
        if not 0 <= size <= _MOST_BYTES:
            raise ValueError(f"a file of {size} bytes has another form")
        if name == LIFE or NAME.fullmatch(name) is None or (spool and NAME.fullmatch(spool) is None):
            raise ValueError(f"a file has the name {name!r}")
        spools.setdefault(spool, []).append((name, size))
    return spools


async def _copy(ask: Ask, file: tuple[str, str, int], directory: int) -> None:
    """Copy a file of a spool into a directory, given by a descriptor."""
    spool, name, size = file
    to = os.open(name, _WRITE, 0o666, dir_fd=directory)
    try:
        for offset in range(0, size, PART):
            part = await ask(part_here, spool, name, offset)
            if not isinstance(part, bytes) or len(part) > PART:
                raise ValueError("the answer has another form")
            written = 0
            while written < len(part):
                written += os.pwrite(to, part[written:], offset + written)
        os.ftruncate(to, size)
    finally:
        os.close(to)


async def fetch_from(ask: Ask, home: Home) -> None:
    """Fetch the records of a host, and remove them there. `ask`: a function of _host_records.py on that host."""
    for spool, files in by_spool(await ask(files_here)).items():
        if not spool:
            home.count_unmeasured(await ask(part_here, "", UNMEASURED, 0))
            continue
        directory = home.make(spool)
        try:
            for name, size in files:
                await _copy(ask, (spool, name, size), directory)
        finally:
            os.close(directory)
    await ask(remove_here)
