"""A server of `timeloom view` that bench/view.py asks, and the durations of its answers."""

import importlib
import os
import pathlib
import random
import struct
import sys
import time
import typing

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python" / "helpers"

ROWS, LINES, WIDTH = 40, 48, 1600  # of the first picture: rows, lines of calls in all, pixels
COLUMNS, WHOLE_RUN = 256, 0xFFFFFFFE
TABLES, MOMENTS, PICTURES = 60, 8, 60
MOST_REGIONS = 40
MOST_TRACKS = 200_000  # a question can have some more


class Server:
    """The server of a run, until end()."""

    def __init__(self, program: str, run: pathlib.Path) -> None:
        sys.path.append(str(TESTS))
        try:
            client: typing.Any = importlib.import_module("view_client")
        finally:
            sys.path.remove(str(TESTS))
        self.viewer = client.Viewer(program, run)
        self.random = random.Random(21)

    @property
    def address(self) -> str:
        return f"{self.viewer.address}/#t={self.viewer.token}"

    def wait(self) -> None:
        self.viewer.wait()

    def end(self) -> None:
        self.viewer.stop()

    def description(self) -> dict[str, typing.Any]:
        result: dict[str, typing.Any] = self.viewer.description()
        return result

    def count_paths(self) -> int:
        return len(self.viewer.paths())

    def peak_mb(self) -> float:
        """The peak resident size so far."""
        status = pathlib.Path(f"/proc/{self.viewer.process.pid}/status").read_text(encoding="ascii")
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6

    def cpu_seconds(self) -> float:
        """Processor time of the server so far."""
        stat = pathlib.Path(f"/proc/{self.viewer.process.pid}/stat").read_text(encoding="ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def first_picture(self) -> None:
        run = self.description()
        lines = 0
        rows = [(WHOLE_RUN, 1)]
        for number, track in enumerate(run["tracks"][:ROWS]):
            lines += track["depth"]
            rows.append((number, 1 + track["depth"] if lines <= LINES else 1))
        self.tiles(rows, 0, run["length"])

    def tiles(self, rows: list[tuple[int, int]], begin: float, length: float) -> None:
        """The tiles of this stretch of time on these tracks, with so many rows each."""
        level = next(level for level in range(29) if 4 ** (level + 1) > length / WIDTH)
        width = COLUMNS * 4**level
        places = range(int(begin) // width, int(begin + length) // width + 1)
        keys = [(track, level, place & 0xFFFFFFFF, place >> 32, 0, count) for track, count in rows for place in places]
        for first in range(0, len(keys), 512):
            self.viewer.ask("tiles", b"".join(struct.pack("<6I", *key) for key in keys[first : first + 512]))

    def time_tables(self) -> list[float]:
        """Asks for tables of random stretches of time, on all rows and on some."""
        run = self.description()
        seconds = []
        for number in range(TABLES):
            begin, end = sorted(self.random.random() * run["length"] for _ in range(2))
            some = min(len(run["tracks"]) // 2, MOST_TRACKS) if number % 2 else 0
            tracks = self.random.sample(range(len(run["tracks"])), some)
            body = struct.pack(f"<2d2I{some}I", begin, end, some, 0, *tracks)
            seconds.append(self.timed("table", body))
        return seconds

    def time_finding(self) -> list[float]:
        """Asks for the next call of each function on a random row from random moments, and for the one before."""
        run = self.description()
        seconds = []
        for region in self.random.sample(range(len(run["regions"])), min(MOST_REGIONS, len(run["regions"]))):
            for moment in range(MOMENTS):
                at, whole = self.random.random() * run["length"], float(2**53)
                order, span = (1, (0.0, at)) if moment % 2 else (0, (at, whole))
                track = self.random.randrange(len(run["tracks"]))
                body = struct.pack("<2I4d4I", order, 1, *span, 0.0, whole, 1, 1, track, region)
                seconds.append(self.timed("find", body))
        return seconds

    def time_tiles(self) -> list[float]:
        """Asks for pictures of 40 rows at random places, from the whole run down to microseconds."""
        run = self.description()
        seconds = []
        for _ in range(PICTURES):
            length = run["length"] * 10 ** -self.random.uniform(0, 6)
            first = self.random.randrange(max(1, len(run["tracks"]) - ROWS))
            rows = [(track, 1) for track in range(first, min(first + ROWS, len(run["tracks"])))]
            rows[0] = (first, 1 + min(LINES, run["tracks"][first]["depth"]))
            begin = time.perf_counter()
            self.tiles(rows, self.random.random() * (run["length"] - length), length)
            seconds.append(time.perf_counter() - begin)
        return seconds

    def timed(self, name: str, body: bytes) -> float:
        begin = time.perf_counter()
        self.viewer.ask(name, body)
        return time.perf_counter() - begin
