"""Columns of the tables that ``timeloom convert --to arrow`` writes, with NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import IO, Any

import numpy

from timeloom._tables import Batch, Column, TableReader

_KINDS = {"l": "<i8", "g": "<f8", "c": "<i1", "s": "<i2", "i": "<i4"}  # of NumPy


class _Column:
    """The parts of a column read so far: values or dictionary indices, and a mask of the missing ones."""

    def __init__(self, column: Column) -> None:
        self.name = column.name
        self.words = _words_of(column.words) if column.words else None
        self.kind = _KINDS[column.form]
        self.values: list[Any] = []
        self.missing: list[Any] = []

    def add(self, rows: int, buffers: list[memoryview]) -> None:
        valid, values = buffers[0], buffers[1]
        if valid:
            bits = numpy.unpackbits(numpy.frombuffer(valid, numpy.uint8), bitorder="little")
            self.missing.append(bits[:rows] == 0)
        else:
            self.missing.append(numpy.zeros(rows, bool))
        self.values.append(numpy.frombuffer(values, self.kind))

    def result(self) -> tuple[Any, Any]:
        missing = numpy.concatenate(self.missing) if self.missing else numpy.zeros(0, bool)
        values = numpy.concatenate(self.values) if self.values else numpy.zeros(0, self.kind)
        if self.words is None:
            return values, missing
        places = numpy.where(missing, numpy.int64(len(self.words) - 1), values)  # the last one stands for "missing"
        return self.words[places], missing


def _words_of(dictionary: Batch) -> Any:
    """Return an array of the texts in the dictionary; None, for missing values, is its last element."""
    body, _, [(_, [_, ends, text])] = dictionary
    data = body[text[0] : sum(text)]
    places = numpy.frombuffer(body[ends[0] : sum(ends)], "<i4").tolist()
    return numpy.array([data[begin:end].decode() for begin, end in pairwise(places)] + [None], object)


def read_columns(stream: IO[bytes]) -> dict[str, tuple[Any, Any]]:
    """Return the columns of a table: {name: (values, missing)}.

    Both are NumPy arrays; missing texts are None.
    """
    reader = TableReader(stream)
    columns = [_Column(column) for column in reader.columns]
    for body, rows, parts in reader:
        for column, (_, places) in zip(columns, parts):
            column.add(rows, [memoryview(body)[begin : begin + length] for begin, length in places])
    return {column.name: column.result() for column in columns}
