"""The memory that a run has recorded, from its raw records (docs/formats/spool.md)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

_HEADER = struct.Struct("<QHHIQQQQQQQ")  # up to the peak
_MAGIC = 0x3153_5953_4D4C_5401
_VERSION = 2


class RecordedMemory(NamedTuple):
    """Bytes that a process held."""

    start: int
    peak: int


def recorded_memory(run: str) -> RecordedMemory | None:
    """Return the memory of the process with the largest peak; None: none was recorded.

    REQUIRES: the run is not woven.
    """
    found = [memory for file in Path(run).glob("spool/*/memory") if (memory := _read(file)) is not None]
    return max(found, key=lambda memory: memory.peak, default=None)


def _read(file: Path) -> RecordedMemory | None:
    try:
        with open(file, "rb") as stream:
            head = _HEADER.unpack(stream.read(_HEADER.size))
    except (OSError, struct.error):
        return None
    magic, version, start, peak = head[0], head[1], head[6], head[10]
    return RecordedMemory(start, peak) if (magic, version) == (_MAGIC, _VERSION) else None
