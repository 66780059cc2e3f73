"""The version and the functions of a Python, read from its file, of which no code is run."""

import mmap
import struct
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

_Found = TypeVar("_Found")

_DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
_LOADED = 1  # PT_LOAD
_WRITABLE = 2  # PF_W
_COOKIE = b"xdebugpy"  # starts _PyRuntime from 3.13 on, before the version


class Interpreter(NamedTuple):
    """The data in the file of an interpreter, or of its library."""

    version: tuple[int, int, int] | None  # None: before 3.11
    free_threaded: bool


class Segment(NamedTuple):
    """A part of an ELF file that is loaded into memory; addresses are as the file has them."""

    offset: int
    address: int
    size: int  # in the file
    end: int  # address after the last byte, which may not be in the file
    writable: bool


class Function(NamedTuple):
    """A function that an ELF file offers to others."""

    address: int
    size: int
    code: bytes  # the first bytes


class Image(NamedTuple):
    """The parts of an ELF file, which show where things are in a process that has loaded it."""

    segments: list[Segment]
    functions: dict[str, Function]  # of those that were asked for


class _Elf:
    """The dynamic symbols of a 64-bit ELF file. A damaged file raises struct.error or IndexError."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data = data
        self._order = "<" if data[5] == 1 else ">"
        programs, sections = self._unpack("QQ", 32)
        _, size, count, section_size, section_count = self._unpack("HHHHH", 52)
        self._segments = [self._segment(programs + i * size) for i in range(count)]
        self._places = [sections + i * section_size for i in range(section_count)]

    def _unpack(self, form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, at)

    def _segment(self, at: int) -> tuple[int, Segment]:
        kind, flags = self._unpack("II", at)
        offset, address, _, size, loaded = self._unpack("QQQQQ", at + 8)
        return kind, Segment(offset, address, size, address + loaded, bool(flags & _WRITABLE))

    def loaded(self) -> list[Segment]:
        return [segment for kind, segment in self._segments if kind == _LOADED]

    def symbols(self, wanted: set[bytes]) -> dict[bytes, tuple[int, int]]:
        """Return the addresses and sizes of those symbols that the file defines."""
        found = {}
        for place in self._places:
            kind = self._unpack("I", place + 4)[0]
            if kind != _DYNAMIC_SYMBOLS:
                continue
            offset, size, link = self._unpack("QQI", place + 24)
            (names,) = self._unpack("Q", self._places[link] + 24)
            for at in range(offset, offset + size, 24):
                name, _, section, value, extent = self._unpack("IHHQQ", at)  # the first H: st_info, st_other
                start = names + name
                text = self._data[start : self._data.find(b"\0", start, start + 64)]
                if section != 0 and text in wanted:
                    found[text] = (value, extent)
        return found

    def bytes_at(self, address: int, size: int) -> bytes:
        for part in self.loaded():
            if part.address <= address and address + size <= part.address + part.size:
                begin = part.offset + address - part.address
                return self._data[begin : begin + size]
        return b""

    def words_at(self, address: int, count: int) -> tuple[int, ...]:
        data = self.bytes_at(address, 8 * count)
        return struct.unpack(f"{self._order}{count}Q", data) if data else ()


def _read(data: mmap.mmap) -> Interpreter | None:
    if data[:5] != b"\x7fELF\x02":
        return None
    file = _Elf(data)
    symbols = file.symbols({b"Py_Version", b"Py_GetVersion", b"_PyRuntime"})
    if b"Py_GetVersion" not in symbols:
        return None
    if b"Py_Version" not in symbols:
        return Interpreter(None, False)
    (version,) = file.words_at(symbols[b"Py_Version"][0], 1)
    runtime = symbols.get(b"_PyRuntime")
    begin = file.bytes_at(runtime[0], 24) if runtime is not None else b""
    free_threaded = begin[:8] == _COOKIE and any(begin[16:24])
    return Interpreter((version >> 24 & 255, version >> 16 & 255, version >> 8 & 255), free_threaded)


def _look_into(path: str, read: Callable[[mmap.mmap], _Found | None]) -> _Found | None:
    """Return what `read` finds in the file; None for a damaged file. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        try:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return read(data)
        except (ValueError, OverflowError, struct.error, IndexError):  # empty, damaged
            return None


def interpreter_in(path: str) -> Interpreter | None:
    """Return the Python in the file; None if there is none. Raises OSError if it cannot be read."""
    return _look_into(path, _read)


def functions_in(path: str, names: Collection[str]) -> Image | None:
    """Return the file with the functions that it has; None if it is damaged. Raises OSError."""

    def read(data: mmap.mmap) -> Image:
        file = _Elf(data)
        found = file.symbols({name.encode() for name in names})
        code = {name: file.bytes_at(address, min(size, 32)) for name, (address, size) in found.items()}
        return Image(file.loaded(), {name.decode(): Function(*found[name], code[name]) for name in found})

    return _look_into(path, read)


def segments_in(header: bytes) -> list[Segment]:
    """Return the parts of a file with that beginning; none if it is not a 64-bit ELF file."""
    try:
        return _Elf(header).loaded() if header[:5] == b"\x7fELF\x02" else []
    except (ValueError, OverflowError, struct.error, IndexError):
        return []
