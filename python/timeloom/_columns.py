"""Columns of the tables that ``timeloom convert --to arrow`` writes, with NumPy.

It reads what that command writes (src/formats/arrow), not every Arrow file: whole numbers and real ones of 64 bits,
and texts.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Any

import numpy

_MAGIC = b"ARROW1\0\0"
_INTEGER, _REAL = 2, 3
_BATCH = 3


class _Table:
    """A table of a FlatBuffer, whose fields are known by their numbers."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        self._fields = place - self.number("<i", place)

    def number(self, form: str, place: int) -> int:
        value: int = struct.unpack_from(form, self._data, place)[0]
        return value

    def _field(self, number: int) -> int:
        offset = self.number("<H", self._fields + 4 + 2 * number)
        return self._place + offset

    def value(self, number: int, form: str) -> int:
        return self.number(form, self._field(number))

    def target(self, number: int) -> int:
        place = self._field(number)
        return place + self.number("<I", place)

    def table(self, number: int) -> _Table:
        return _Table(self._data, self.target(number))

    def tables(self, number: int) -> list[_Table]:
        begin = self.target(number)
        places = [begin + 4 + 4 * i for i in range(self.number("<I", begin))]
        return [_Table(self._data, place + self.number("<I", place)) for place in places]

    def text(self, number: int) -> str:
        begin = self.target(number)
        return self._data[begin + 4 : begin + 4 + self.number("<I", begin)].decode()

    def words(self, number: int) -> list[int]:
        """A vector of structs, each of two words, as one list."""
        begin = self.target(number)
        count = 2 * self.number("<I", begin)
        return list(struct.unpack_from(f"<{count}q", self._data, begin + 4))


class _Column:
    """What has been read of a column: parts of values, and of what is missing."""

    def __init__(self, field: _Table) -> None:
        self.name = field.text(0)
        self.type = field.value(2, "<B")
        self.values: list[Any] = []
        self.missing: list[Any] = []

    def add(self, rows: int, buffers: list[memoryview]) -> None:
        valid, values = buffers[0], buffers[1]
        if valid:
            bits = numpy.unpackbits(numpy.frombuffer(valid, numpy.uint8), bitorder="little")
            self.missing.append(bits[:rows] == 0)
        else:
            self.missing.append(numpy.zeros(rows, bool))
        if self.type in (_INTEGER, _REAL):
            self.values.append(numpy.frombuffer(values, "<i8" if self.type == _INTEGER else "<f8"))
            return
        ends = numpy.frombuffer(values, "<i4").tolist()
        self.values.append(_texts(bytes(buffers[2]), ends))

    def result(self) -> tuple[Any, Any]:
        missing = numpy.concatenate(self.missing) if self.missing else numpy.zeros(0, bool)
        if self.type in (_INTEGER, _REAL):
            kind = "<i8" if self.type == _INTEGER else "<f8"
            return (numpy.concatenate(self.values) if self.values else numpy.zeros(0, kind)), missing
        return [text for part in self.values for text in part], missing


def _texts(data: bytes, ends: list[int]) -> list[str]:
    if data.isascii():
        text = data.decode("ascii")
        return [text[begin:end] for begin, end in pairwise(ends)]
    return [data[begin:end].decode() for begin, end in pairwise(ends)]


def read_columns(data: bytes) -> dict[str, tuple[Any, Any]]:
    """The columns of a table: {name: (values, missing)}.

    Values are an array of NumPy or a list of str; ``missing`` is an array of bool.
    """
    assert data[:8] == _MAGIC
    columns: list[_Column] = []
    place = 8
    while length := struct.unpack_from("<i", data, place + 4)[0]:
        head = place + 8
        message = _Table(data, head + struct.unpack_from("<I", data, head)[0])
        place = head + length
        if message.value(1, "<B") != _BATCH:
            columns = [_Column(field) for field in message.table(2).tables(1)]
            continue
        batch = message.table(2)
        buffers, at = batch.words(2), 0
        for column in columns:
            count = 2 if column.type in (_INTEGER, _REAL) else 3  # buffers
            parts = [
                memoryview(data)[place + buffers[i] : place + buffers[i] + buffers[i + 1]]
                for i in range(2 * at, 2 * (at + count), 2)
            ]
            column.add(batch.value(0, "<q"), parts)
            at += count
        place += message.value(3, "<q")
    return {column.name: column.result() for column in columns}
