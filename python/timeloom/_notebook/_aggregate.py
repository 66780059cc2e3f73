"""Aggregates the records of a cell from its spool (docs/formats/spool.md).

So the results of a small cell are shown before the kernel replies that the cell has ended. The results of a larger cell
are shown when its run is woven.

The rows have the form of ``timeloom report --json``.
"""

from __future__ import annotations

import struct
from array import array
from pathlib import Path
from typing import Any, NamedTuple

# The numbers of src/core/event_word.hpp, src/core/io.hpp, src/spool/spool_format.hpp and
# src/spool/profile_file.hpp, under their names; tests/python/notebook/test_aggregate_numbers.py compares them.
WORD_KIND = {"enter": 1, "leave": 2, "extended": 3}
EXTENDED_KIND = {"time_base": 1, "track": 11, "track_end": 12, "io_complete": 69}
IO_OPERATION = {"read": 0, "write": 1}
DEFINITION_KIND = {"clock_sync": 2, "region": 4, "location": 5}
PLACE_KIND = {"call_path": 0}
KIND_BITS, PAYLOAD_BITS = 2, 26
NO_BYTES = 2**64 - 1

_ENTER, _LEAVE = WORD_KIND["enter"], WORD_KIND["leave"]
_TIME_BASE, _IO_COMPLETE = EXTENDED_KIND["time_base"], EXTENDED_KIND["io_complete"]
_TRACKS = (EXTENDED_KIND["track"], EXTENDED_KIND["track_end"])  # locations of tasks, which only the weave separates
_TIME_SHIFT, _PAYLOAD = KIND_BITS + PAYLOAD_BITS, 2**PAYLOAD_BITS - 1
_OPERATIONS = {number: name for name, number in IO_OPERATION.items()}
_MOST_SPANS = 20_000


class Span(NamedTuple):
    """One call on the timeline, in seconds since the start."""

    depth: int
    begin: float
    end: float
    name: str


class Lane(NamedTuple):
    """One thread on the timeline."""

    name: str
    spans: list[Span]


class Transfers(NamedTuple):
    """Bytes read or written."""

    operations: int
    bytes: int


class CellTables(NamedTuple):
    """The figures of a cell that its block shows."""

    flat: list[dict[str, Any]]
    tree: list[dict[str, Any]]
    lanes: list[Lane]
    io: dict[str, Transfers]  # by operation: read, write


class Unfoldable(Exception):
    """The spool contains records that only a weave reads."""


class _Node:
    __slots__ = ("children", "inclusive", "inner", "region", "visits")

    def __init__(self, region: int) -> None:
        self.region = region
        self.visits = self.inclusive = self.inner = 0  # in ticks; inner: of callees
        self.children: dict[int, _Node] = {}


class _Spool:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.regions: dict[int, tuple[str, str, int]] = {}  # name, file, line
        self.threads: dict[int, str] = {}
        self._clocks: list[tuple[int, int]] = []
        self.segments: dict[int, list[tuple[int, int, bytes]]] = {}  # of each thread: number, base, words
        self._read_definitions((directory / "defs").read_bytes())
        for path in directory.glob("log*"):
            self._read_log(path.read_bytes())
        if (directory / "ring").exists():
            raise Unfoldable

    @property
    def seconds_per_tick(self) -> float:
        (first_ticks, first_ns), (last_ticks, last_ns) = self._clocks[0], self._clocks[-1]
        return (last_ns - first_ns) / max(last_ticks - first_ticks, 1) * 1e-9

    def _read_definitions(self, data: bytes) -> None:
        at = 16
        while at + 12 <= len(data):
            size, kind = struct.unpack_from("<IH", data, at)
            self._definition(kind, data[at + 12 : at + 12 + size])
            at += 12 + size

    def _definition(self, kind: int, payload: bytes) -> None:
        if kind == DEFINITION_KIND["clock_sync"]:
            self._clocks.append(struct.unpack_from("<QQ", payload))
        elif kind == DEFINITION_KIND["region"]:
            texts, at = [], 4
            for _ in range(4):
                text, at = _text(payload, at)
                texts.append(text)
            self.regions[struct.unpack_from("<I", payload)[0]] = (
                texts[0], texts[2], struct.unpack_from("<I", payload, at)[0])
        elif kind == DEFINITION_KIND["location"]:
            name = _text(payload, 12)[0]
            self.threads[struct.unpack_from("<I", payload)[0]] = name

    def _read_log(self, data: bytes) -> None:
        at = 0
        while at + 64 <= len(data):
            thread, size, number, base = struct.unpack_from("<8xIIQQ", data, at)
            self.segments.setdefault(thread, []).append((number, base, data[at + 64 : at + 64 + size]))
            at += 64 + size


def _text(data: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 4 + size].decode(errors="replace"), at + 4 + size


def aggregate(run: str) -> CellTables | None:
    """Return the profile of a run of one process; None if only a weave can compute it.

    REQUIRES: the measurement has ended, and the run is not woven.
    """
    try:
        spools = [path for path in (Path(run) / "spool").iterdir() if path.is_dir()]
        if len(spools) != 1:
            return None
        spool = _Spool(spools[0])
        root, lanes = _Node(-1), []
        io: dict[str, Transfers] = {}
        for profile in spools[0].glob("profile-*"):
            _aggregate_profile(profile.read_bytes(), root)
        for thread in sorted(spool.segments):
            spans = _aggregate_thread(spool.segments[thread], root, io)
            lanes.append((spool.threads.get(thread, f"thread {thread}"), spans))
    except (Unfoldable, struct.error, OSError, KeyError, IndexError):
        return None
    unit = spool.seconds_per_tick
    return CellTables(_flat(root, spool, unit), _tree(root, spool, unit), _lanes(lanes, spool, unit), io)


def _aggregate_thread(
    segments: list[tuple[int, int, bytes]], root: _Node, io: dict[str, Transfers]
) -> list[tuple[int, int, int, int]]:
    node, now = root, 0
    path: list[tuple[_Node, int]] = []
    spans: list[tuple[int, int, int, int]] = []
    for _, first_base, data in sorted(segments):
        words, base = array("Q", data), first_base
        at, end = 0, len(words)
        while at < end and words[at]:
            word = words[at]
            at += 1
            kind, now = word & 3, base + (word >> _TIME_SHIFT)
            if kind == _ENTER:
                region = word >> KIND_BITS & _PAYLOAD
                child = node.children.get(region)
                if child is None:
                    child = node.children[region] = _Node(region)
                child.visits += 1
                path.append((node, now))
                node = child
            elif kind == _LEAVE:
                _leave(node, path, now, spans)
                node = path.pop()[0]
            else:
                sub, count = word >> 2 & 0xFF, word >> 10 & 0xFF
                if sub in _TRACKS:
                    raise Unfoldable
                if sub == _TIME_BASE:
                    base = words[at]
                elif sub == _IO_COMPLETE:
                    _add_transfer(io, words[at] >> 32, words[at + 1])
                at += count
    while path:
        _leave(node, path, now, spans)
        node = path.pop()[0]
    return spans


def _add_transfer(io: dict[str, Transfers], operation: int, size: int) -> None:
    if operation in _OPERATIONS:
        before = io.get(_OPERATIONS[operation], Transfers(0, 0))
        moved = 0 if size == NO_BYTES else size
        io[_OPERATIONS[operation]] = Transfers(before.operations + 1, before.bytes + moved)


def _aggregate_profile(data: bytes, root: _Node) -> None:
    """Add the call paths of a thread in profile mode; large profiles are left to the weave."""
    (places,) = struct.unpack_from("<I", data, 16)
    if places > _MOST_SPANS or struct.unpack_from("<I", data, 20)[0] != 0:
        raise Unfoldable
    nodes = {0: root}
    for place in range(1, places):
        parent, region, visits, ticks = struct.unpack_from("<IIQQ", data, 64 * place)
        if struct.unpack_from("<I", data, 64 * place + 60)[0] != PLACE_KIND["call_path"]:
            continue
        outer = nodes[parent]
        node = nodes[place] = outer.children.setdefault(region, _Node(region))
        node.visits += visits
        node.inclusive += ticks
        outer.inner += ticks


def _leave(node: _Node, path: list[tuple[_Node, int]], now: int, spans: list[tuple[int, int, int, int]]) -> None:
    outer, begin = path[-1]
    node.inclusive += now - begin
    outer.inner += now - begin
    spans.append((len(path) - 1, begin, now, node.region))
    if len(spans) >= 2 * _MOST_SPANS:  # outer calls end last: the longest ones stay
        spans.sort(key=lambda span: span[1] - span[2])
        del spans[_MOST_SPANS:]


def largest(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the rows of a tree that took the most time, in the same order, callers first.

    A caller takes at least as long as its callees, so the callers of a row are included.
    """
    by_time = sorted(range(len(rows)), key=lambda place: -rows[place]["inclusive_s"])
    return [rows[place] for place in sorted(by_time[:most])]


def _row(spool: _Spool, region: int, visits: int, inclusive: float, exclusive: float) -> dict[str, Any]:
    name, file, line = spool.regions[region]
    return {"name": name, "file": file, "line": line, "visits": visits,
            "inclusive_s": inclusive, "exclusive_s": exclusive}


def _tree(root: _Node, spool: _Spool, unit: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def visit(node: _Node, depth: int) -> None:
        for child in sorted(node.children.values(), key=lambda one: -one.inclusive):
            exclusive = (child.inclusive - child.inner) * unit
            rows.append({**_row(spool, child.region, child.visits, child.inclusive * unit, exclusive), "depth": depth})
            if depth < 200:
                visit(child, depth + 1)

    visit(root, 0)
    return rows


def _flat(root: _Node, spool: _Spool, unit: float) -> list[dict[str, Any]]:
    sums: dict[int, list[int]] = {}  # visits, inclusive time of the outermost, exclusive time
    todo: list[tuple[_Node, frozenset[int]]] = [(root, frozenset())]
    while todo:
        node, above = todo.pop()
        for child in node.children.values():
            total = sums.setdefault(child.region, [0, 0, 0])
            total[0] += child.visits
            total[1] += 0 if child.region in above else child.inclusive
            total[2] += child.inclusive - child.inner
            todo.append((child, above | {child.region}))
    rows = [_row(spool, region, visits, inclusive * unit, exclusive * unit)
            for region, (visits, inclusive, exclusive) in sums.items()]
    return sorted(rows, key=lambda row: (-row["exclusive_s"], row["name"]))


def _lanes(lanes: list[tuple[str, list[tuple[int, int, int, int]]]], spool: _Spool, unit: float) -> list[Lane]:
    first = min((span[1] for _, spans in lanes for span in spans), default=0)
    return [
        Lane(name, [Span(depth, (begin - first) * unit, (end - first) * unit, spool.regions[region][0])
                    for depth, begin, end, region in spans])
        for name, spans in lanes if spans
    ]
