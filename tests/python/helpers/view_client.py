"""A viewer's server under test, and its answers (docs/formats/view-http.md) as Python values."""

import dataclasses
import http.client
import json
import os
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

NONE = 0xFFFFFFFF
COLUMNS = 256
EVER = float(2**53)


class Fields:
    """The fields of an answer, from start to end."""

    def __init__(self, body: bytes):
        self.body = body
        self.at = 0

    def array(self, letter: str, count: int) -> tuple[Any, ...]:
        """That many numbers, and the padding to 8 bytes."""
        layout = f"<{count}{letter}"
        values = struct.unpack_from(layout, self.body, self.at)
        self.at = (self.at + struct.calcsize(layout) + 7) // 8 * 8
        return values

    def u32(self, count: int) -> tuple[int, ...]:
        return self.array("I", count)

    def f64(self, count: int) -> tuple[int, ...]:
        return tuple(int(value) for value in self.array("d", count))

    def is_at_end(self) -> bool:
        return self.at == len(self.body)


@dataclasses.dataclass
class Tile:
    rows: int
    all_rows: int
    exact: bool
    off: tuple[int, ...]
    waiting: tuple[int, ...]
    region: list[tuple[int, ...]]  # by row
    cover: list[tuple[int, ...]]
    cause: tuple[int, ...] = ()  # of the waiting, by column; empty: none is known


class Viewer:
    """`timeloom view` of a run, until stop()."""

    def __init__(self, program: str, run: Path, *arguments: str, browser: bool = False, **variables: str):
        self.process = subprocess.Popen(
            [program, "view", str(run), *([] if browser else ["--no-browser"]), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert "/#t=" in line, (line, self.process.communicate())
        self.address, self.token = line.split("/#t=")
        self.port = self.address.rsplit(":", 1)[-1]
        self.place = ""  # of the second of two runs: "2/"

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *unused: object) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """End it by a signal; return its exit status and its standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said

    def request(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        result = answer.status, answer.headers, answer.read()
        connection.close()
        return result

    def ask(self, name: str, body: bytes = b"") -> bytes:
        status, _, answer = self.request("POST", f"/api/{self.place}{name}", body, X_Timeloom_Token=self.token)
        assert status == 200, answer
        return answer

    def wait(self) -> "Viewer":
        """Wait until the index exists."""
        while (progress := json.loads(self.ask("progress")))["state"] != "ready":
            assert progress["state"] == "indexing", progress
            time.sleep(0.01)
        return self

    def description(self) -> Any:
        return json.loads(self.ask("run"))

    def paths(self) -> list[tuple[int, int]]:
        """(parent, region) of each."""
        fields = Fields(self.ask("paths"))
        (count, _) = fields.u32(2)
        numbers = fields.u32(2 * count)
        assert fields.is_at_end()
        return list(zip(numbers[:count], numbers[count:], strict=True))

    def calls(self, track: int, begin: float = 0, end: float = EVER, depths: tuple[int, int] = (0, 1000)):
        """[(begin, end, path, region, depth), ...]"""
        fields = Fields(self.ask("calls", struct.pack("<4I2d", track, *depths, 100_000, begin, end)))
        count, complete = fields.u32(2)
        assert complete == 1
        assert fields.f64(1) == (int(min(end, EVER - 1)),)
        columns = [fields.f64(count), fields.f64(count), fields.u32(count), fields.u32(count), fields.u32(count)]
        assert fields.is_at_end()
        return list(zip(*columns, strict=True))

    def table(self, begin: float = 0, end: float = EVER, tracks: tuple[int, ...] = ()):
        """{path: (visits, cut at begin, cut at end, own, inclusive, min, max)}"""
        return {path: (*row[:4], *row[5:8]) for path, row in self._table(begin, end, tracks).items()}

    def waiting(self, begin: float = 0, end: float = EVER, tracks: tuple[int, ...] = ()):
        """{path: (own, waiting)}"""
        return {path: row[3:5] for path, row in self._table(begin, end, tracks).items()}

    def causes(self, begin: float = 0, end: float = EVER, tracks: tuple[int, ...] = ()):
        """{path: waiting by cause}; in a run without causes, all of it is unknown"""
        table = self._table(begin, end, tracks)
        return {path: (row[4] - sum(row[8:]), *row[8:]) for path, row in table.items()}

    def _table(self, begin: float, end: float, tracks: tuple[int, ...]):
        body = struct.pack(f"<2d2I{len(tracks)}I", begin, end, len(tracks), 0, *tracks)
        fields = Fields(self.ask("table", body))
        count, _ = fields.u32(2)
        paths = fields.u32(count)
        columns = [fields.f64(count) for _ in range(8)]
        if not fields.is_at_end():
            columns += [fields.f64(count) for _ in range(7)]
        assert fields.is_at_end()
        return dict(zip(paths, zip(*columns, strict=True), strict=True))

    def tile(self, track: int, level: int, index: int = 0, first_row: int = 0, rows: int = 50) -> Tile:
        return self._tile("tiles", struct.pack("<6I", track, level, index & NONE, index >> 32, first_row, rows))

    def mixture(self, tracks: tuple[int, ...], level: int, index: int = 0) -> Tile:
        head = (level, index & NONE, index >> 32, len(tracks))
        return self._tile("mixtures", struct.pack(f"<{4 + len(tracks)}I", *head, *tracks))

    def _tile(self, name: str, body: bytes) -> Tile:
        fields = Fields(self.ask(name, body))
        count, all_rows, exact, causes = fields.u32(4)
        tile = Tile(count, all_rows, bool(exact), fields.array("B", COLUMNS), fields.array("B", COLUMNS), [], [])
        tile.cause = fields.array("B", COLUMNS if causes else 0)
        tile.region = [fields.u32(COLUMNS) for _ in range(count)]
        tile.cover = [fields.array("B", COLUMNS) for _ in range(count)]
        assert fields.is_at_end()
        return tile

    def call(self, track: int, depth: int, time: float) -> Any:
        return json.loads(self.ask("call", struct.pack("<2Id", track, depth, time)))

    def find(self, order: int, limit: int, regions: tuple[int, ...] = (), shortest: float = 0,
             span: tuple[float, float] = (0, EVER), more: bytes = b""):  # fmt: skip
        """[(begin, end, track, depth, path, region), ...] and whether that is all"""
        body = struct.pack(f"<2I4d2I{len(regions)}I", order, limit, *span, shortest, EVER, 0, len(regions), *regions)
        fields = Fields(self.ask("find", body + more))
        count, complete = fields.u32(2)
        columns = [fields.f64(count), fields.f64(count), *(fields.u32(count) for _ in range(4))]
        assert fields.is_at_end()
        return list(zip(*columns, strict=True)), complete == 1


def series_of(viewer, track, metric, begin=0.0, end=EVER):
    """By column: starts, ends, smallest, largest, means, last values."""
    fields = Fields(viewer.ask("values", struct.pack("<2I2d", track, metric, begin, end)))
    count, _ = fields.u32(2)
    columns = [fields.array("d", count) for _ in range(6)]
    assert fields.is_at_end()
    return columns


def all_series(viewer):
    """{(row, metric): [(time, value), ...]}; each value is there alone."""
    description, side = viewer.description(), json.loads(viewer.ask("side"))
    assert side["complete"]
    result = {}
    for counter in side["counters"]:
        begin, end, least, most, mean, last = series_of(viewer, counter["track"], counter["metric"])
        assert begin == end and least == most == mean == last and len(last) == counter["values"]
        name = description["tracks"][counter["track"]]["name"], description["metrics"][counter["metric"]]["name"]
        assert result.setdefault(name, []) == []
        result[name] = list(zip(begin, last, strict=True))
    return result
