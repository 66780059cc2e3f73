"""Columns of the tables that ``timeloom convert --to arrow`` writes, with NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import IO, Any

import numpy

from timeloom._tables import TableReader


class _Column:
    """The parts of a column read so far: values, and which of them are missing."""

    def __init__(self, name: str, form: str) -> None:
        self.name = name
        self.kind = {"l": "<i8", "g": "<f8"}.get(form)  # of NumPy; None: texts
        self.values: list[Any] = []
        self.missing: list[Any] = []

    def add(self, rows: int, buffers: list[memoryview]) -> None:
        valid, values = buffers[0], buffers[1]
        if valid:
            bits = numpy.unpackbits(numpy.frombuffer(valid, numpy.uint8), bitorder="little")
            self.missing.append(bits[:rows] == 0)
        else:
            self.missing.append(numpy.zeros(rows, bool))
        if self.kind:
            self.values.append(numpy.frombuffer(values, self.kind))
            return
        ends = numpy.frombuffer(values, "<i4").tolist()
        self.values.append(_texts(bytes(buffers[2]), ends))

    def result(self) -> tuple[Any, Any]:
        missing = numpy.concatenate(self.missing) if self.missing else numpy.zeros(0, bool)
        if self.kind:
            return (numpy.concatenate(self.values) if self.values else numpy.zeros(0, self.kind)), missing
        return [text for part in self.values for text in part], missing


def _texts(data: bytes, ends: list[int]) -> list[str]:
    if data.isascii():
        text = data.decode("ascii")
        return [text[begin:end] for begin, end in pairwise(ends)]
    return [data[begin:end].decode() for begin, end in pairwise(ends)]


def read_columns(stream: IO[bytes]) -> dict[str, tuple[Any, Any]]:
    """The columns of a table: {name: (values, missing)}.

    Values are an array of NumPy or a list of str; ``missing`` is an array of bool.
    """
    reader = TableReader(stream)
    columns = [_Column(name, form) for name, form in reader.columns]
    for body, rows, parts in reader:
        for column, (_, places) in zip(columns, parts):
            column.add(rows, [memoryview(body)[begin : begin + length] for begin, length in places])
    return {column.name: column.result() for column in columns}
