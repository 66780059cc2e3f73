"""Tables that ``timeloom convert --to arrow`` writes, batch by batch.

It reads that command's output (src/formats/arrow), not every Arrow file: 64-bit integers and floating-point numbers,
and texts in a dictionary, which precedes the first batch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, NamedTuple, TypeAlias

_MAGIC = b"ARROW1\0\0"
_NUMBERS = {2: "l", 3: "g"}  # of 64 bits, by the number of their type
_INDEXES = {8: "c", 16: "s", 32: "i"}
_DICTIONARY, _BATCH = 2, 3


class _Table:
    """A table of a FlatBuffer; its fields are identified by number."""

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

    def has(self, number: int) -> bool:
        return self._field(number) != self._place

    def text(self, number: int) -> str:
        begin = self.target(number)
        return self._data[begin + 4 : begin + 4 + self.number("<I", begin)].decode()

    def words(self, number: int) -> list[int]:
        """A vector of structs, each of two words, as one list."""
        begin = self.target(number)
        count = 2 * self.number("<I", begin)
        return list(struct.unpack_from(f"<{count}q", self._data, begin + 4))


# The bytes of a batch, its rows, and for each column the number of missing values and the positions of its buffers.
Batch: TypeAlias = tuple[bytes, int, list[tuple[int, list[tuple[int, int]]]]]


class Column(NamedTuple):
    """The element type of the first argument of ``_core.arrow_stream``, a list."""

    name: str
    form: str  # in Arrow's C data interface; for texts, of their dictionary indices
    words: Batch | None  # the dictionary: one column of texts


class TableReader:
    """A table read from a stream: its columns at once, its batches one after the other."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        if stream.read(8) != _MAGIC:
            raise EOFError("this is not a table")
        message = self._next_message()
        if message is None:
            raise EOFError("a table without columns")
        self.columns = [self._column_of(field) for field in message.table(2).tables(1)]

    def _column_of(self, field: _Table) -> Column:
        if not field.has(4):
            return Column(field.text(0), _NUMBERS[field.value(2, "<B")], None)
        # The dictionaries follow in the order of the columns.
        message = self._next_message()
        assert message is not None and message.value(1, "<B") == _DICTIONARY
        index = _INDEXES[field.table(4).table(1).value(0, "<i")]
        return Column(field.text(0), index, self._batch_of(message, message.table(2).table(1), [3]))

    def _next_message(self) -> _Table | None:
        """Return the head of the next message; None at the end."""
        length: int = struct.unpack("<i", self._read(8)[4:])[0]
        head = self._read(length)
        return _Table(head, struct.unpack_from("<I", head)[0]) if length else None

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) != size:
            raise EOFError("a table that is cut off")
        return data

    def __iter__(self) -> Iterator[Batch]:
        while message := self._next_message():
            assert message.value(1, "<B") == _BATCH
            yield self._batch_of(message, message.table(2), [2] * len(self.columns))

    def _batch_of(self, message: _Table, batch: _Table, counts: list[int]) -> Batch:
        """Read a batch; ``counts``: the number of buffers of each column."""
        body = self._read(message.value(3, "<q"))
        nulls, buffers = batch.words(1), batch.words(2)
        parts, at = [], 0
        for i, count in enumerate(counts):
            places = [(buffers[k], buffers[k + 1]) for k in range(2 * at, 2 * (at + count), 2)]
            parts.append((nulls[2 * i + 1], places))
            at += count
        return body, batch.value(0, "<q"), parts
