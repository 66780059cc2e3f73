"""The version of a Python, read from its file, of which no code is run."""

import mmap
import struct
from typing import NamedTuple

_DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
_LOADED = 1  # PT_LOAD
_COOKIE = b"xdebugpy"  # starts _PyRuntime from 3.13 on, before the version


class Interpreter(NamedTuple):
    """The data in the file of an interpreter, or of its library."""

    version: tuple[int, int, int] | None  # None: before 3.11
    free_threaded: bool


class _Elf:
    """The dynamic symbols of a 64-bit ELF file. A damaged file raises struct.error or IndexError."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._order = "<" if data[5] == 1 else ">"
        programs, sections = self._unpack("QQ", 32)
        _, size, count, section_size, section_count = self._unpack("HHHHH", 52)
        self._segments = [self._segment(programs + i * size) for i in range(count)]
        self._places = [sections + i * section_size for i in range(section_count)]

    def _unpack(self, form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, at)

    def _segment(self, at: int) -> tuple[int, int, int, int]:
        (kind,) = self._unpack("I", at)
        offset, address, _, size = self._unpack("QQQQ", at + 8)
        return kind, offset, address, size

    def symbols(self, wanted: set[bytes]) -> dict[bytes, int]:
        """Return the addresses of those symbols that the file defines."""
        found = {}
        for place in self._places:
            kind = self._unpack("I", place + 4)[0]
            if kind != _DYNAMIC_SYMBOLS:
                continue
            offset, size, link = self._unpack("QQI", place + 24)
            (names,) = self._unpack("Q", self._places[link] + 24)
            for at in range(offset, offset + size, 24):
                name, _, section, value = self._unpack("IHHQ", at)  # the first H: st_info, st_other
                start = names + name
                text = self._data[start : self._data.find(b"\0", start, start + 64)]
                if section != 0 and text in wanted:
                    found[text] = value
        return found

    def bytes_at(self, address: int, size: int) -> bytes:
        for kind, offset, begin, length in self._segments:
            if kind == _LOADED and begin <= address and address + size <= begin + length:
                return self._data[offset + address - begin : offset + address - begin + size]
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
    (version,) = file.words_at(symbols[b"Py_Version"], 1)
    runtime = symbols.get(b"_PyRuntime")
    begin = file.bytes_at(runtime, 24) if runtime is not None else b""
    free_threaded = begin[:8] == _COOKIE and any(begin[16:24])
    return Interpreter((version >> 24 & 255, version >> 16 & 255, version >> 8 & 255), free_threaded)


def interpreter_in(path: str) -> Interpreter | None:
    """Return the Python in the file; None if there is none. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        try:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read(data)
        except (ValueError, OverflowError, struct.error, IndexError):  # empty, damaged
            return None
