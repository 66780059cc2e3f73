"""The memory of another process: functions of its Python, and a place for a few bytes.

Everything is read and written through /proc, while the process runs. The kernel asks for the permission that a debugger
needs.
"""

import os
import struct
from typing import NamedTuple

from timeloom._symbols import Segment, functions_in, segments_in

_PAGE = os.sysconf("SC_PAGE_SIZE")
_LINKER = 7  # AT_BASE
TAKEN_BACK = b"0\0"  # the text that replaces one that the process must no longer execute: it does nothing
_SLOT = 16  # bytes, of which a room has a whole number


class Mapping(NamedTuple):
    """A line of /proc/PID/maps."""

    begin: int
    end: int
    writable: bool
    private: bool
    offset: int
    path: str


class Call(NamedTuple):
    """A function in the memory of the process."""

    address: int
    size: int


def _page(address: int) -> int:
    return address // _PAGE * _PAGE


def mappings_of(pid: int) -> list[Mapping]:
    """Return the mapped files and other areas, by address. Raises OSError."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            words = line.rstrip("\n").split(None, 5)
            begin, _, end = words[0].partition("-")
            path = words[5] if len(words) > 5 else ""
            writable, private = "w" in words[1], "p" in words[1]
            found.append(Mapping(int(begin, 16), int(end, 16), writable, private, int(words[2], 16), path))
    return found


def read_bytes(pid: int, address: int, size: int) -> bytes:
    """Return the bytes at the address, as far as they can be read. Raises OSError."""
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(memory, size, address)
    except OverflowError:  # of a damaged file
        raise OSError("it has no such address") from None
    finally:
        os.close(memory)


def open_memory(pid: int) -> int:
    """Return a descriptor for write_bytes(). It cannot write into a program that the process executes later.

    Raises OSError.
    """
    return os.open(f"/proc/{pid}/mem", os.O_WRONLY | os.O_CLOEXEC)


def write_bytes(memory: int, address: int, data: bytes) -> None:
    """Write the bytes at the address. Raises OSError."""
    if os.pwrite(memory, data, address) != len(data):
        raise OSError("its memory cannot be written")


def _starts(maps: list[Mapping]) -> list[Mapping]:
    """Return the mappings with which a file begins."""
    return [one for one in maps if one.offset == 0 and one.path.startswith("/")]


def find_functions(pid: int, file: str, mapped: str, names: tuple[str, ...]) -> dict[str, Call]:
    """Return the functions that the process has loaded from `file`, which its maps call `mapped`.

    A missing function is left out; all are if the file has been replaced since then. Raises OSError.
    """
    image = functions_in(file, names)
    begin = min((one.begin for one in _starts(mappings_of(pid)) if one.path == mapped), default=None)
    if image is None or begin is None or not image.segments:
        return {}
    shift = begin - _page(image.segments[0].address)
    for function in image.functions.values():
        if read_bytes(pid, function.address + shift, len(function.code)) != function.code:
            return {}
    return {name: Call(one.address + shift, one.size) for name, one in image.functions.items()}


def _linker(pid: int) -> int:
    with open(f"/proc/{pid}/auxv", "rb") as file:
        data = file.read()
    pairs = struct.iter_unpack("@LL", data[: len(data) // 16 * 16])
    return next((value for kind, value in pairs if kind == _LINKER), 0)


def _behind(begin: int, segments: list[Segment]) -> int:
    """Return the address behind the variables of a loaded file; 0: it has none."""
    ends = [part.end for part in segments if part.writable]
    return begin - _page(segments[0].address) + max(ends) if ends else 0


def _variables_of(path: str, maps: list[Mapping]) -> list[Mapping]:
    """Return the areas with the variables of a file: its own writable ones, and the one without a file behind them."""
    found: list[Mapping] = []
    for one in maps:
        behind = not one.path and bool(found) and found[-1].end == one.begin
        if one.writable and one.private and (one.path == path or behind):
            found.append(one)
    return found


def _is_inside(place: int, size: int, areas: list[Mapping]) -> bool:
    """Return whether so many bytes lie in one page of one of the areas."""
    return any(one.begin <= place < one.end for one in areas) and place + size <= _page(place) + _PAGE


def _is_taken_back(pid: int, place: int) -> bool:
    return read_bytes(pid, place, _SLOT) == TAKEN_BACK.ljust(_SLOT, b"\0")


def find_room(pid: int, size: int) -> int:
    """Return the address of so many bytes that nothing uses, and that are 0; 0 if there is none. Raises OSError.

    The variables of a program or library rarely end with a page. The rest of the last page is theirs alone, and nobody
    looks at it. The dynamic linker is left out: it allocates its first memory there. The room begins behind the texts
    that were taken back, for calls that the main thread may make yet.
    """
    maps = mappings_of(pid)
    linker = _linker(pid)
    for start in _starts(maps):
        if start.begin == linker:
            continue
        place = _behind(start.begin, segments_in(read_bytes(pid, start.begin, _PAGE)))
        place = (place + _SLOT - 1) // _SLOT * _SLOT
        areas = _variables_of(start.path, maps)
        while _is_inside(place, size, areas) and _is_taken_back(pid, place):
            place += _SLOT
        if _is_inside(place, size, areas) and not any(read_bytes(pid, place, size)):
            return place
    return 0
