"""Reads a spool, written from its description in docs/formats/spool.md alone.

Independent of the C++ reader on purpose: both can agree only on what the page describes.
"""

import functools
import pathlib
import struct

from packed_segments import unpack

KIND_ENTER, KIND_LEAVE, KIND_EXTENDED = 1, 2, 3
TIME_BASE, TRACK, TRACK_END, REWINDS = 1, 11, 12, (13, 14)
EXTENDED = {
    2: "parameter_int",
    3: "parameter_uint",
    4: "parameter_float",
    5: "parameter_string",
    6: "metric",
    7: "recording_off",
    8: "recording_on",
    9: "create",
    10: "wait",
}
TEAMS = {
    18: "team fork",
    19: "team join",
    20: "team begin",
    21: "team end",
    22: "task create",
    23: "task switch",
    24: "task complete",
}
MPI = {
    32: "send",
    33: "recv",
    34: "isend",
    35: "isend complete",
    36: "irecv request",
    37: "irecv",
    38: "request test",
    39: "request cancelled",
    40: "collective begin",
    41: "collective end",
    42: "collective request",
    43: "collective complete",
    44: "comm create",
    45: "comm destroy",
}
SAMPLES, OPEN_REGIONS, WAITING = 15, 16, 17


def _text(data, offset):
    (size,) = struct.unpack_from("<I", data, offset)
    return data[offset + 4 : offset + 4 + size].decode(), offset + 4 + size


class Spool:
    """Definitions by id, and `events(location)`: (kind, name or id, value, ticks)."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.regions, self.strings, self.parameters, self.metrics = {}, {}, {}, {}
        self.objects = {}  # path, build id
        self.addresses = {}  # of regions: id of the object, address, construct
        self.communicators = {}  # identity, parent's identity, whether of one process, size, rank, name
        self.threads, self.markers, self.properties = {}, [], {}
        self.owners, self.numbers = {}, {}  # of tracks, and of threads and tasks created under a number
        self.ended, self.last_log, self.dropped, self.cuts = False, 0, 0, {}
        self.limit, self.may_miss_begin = 0, 0
        self.packed = 0  # segments of the log that are packed
        self.sync_bytes = 0  # of the records that compare the clocks, which come as time goes on
        self._read_definitions((self.directory / "defs").read_bytes())
        self._segments, self._events = {}, {}
        self._read_logs()
        self._read_ring()

    def _read_definitions(self, data):
        assert data[:8] == b"\x01TLDEFS1"
        offset = 16
        while offset < len(data):
            size, kind, _, _ = struct.unpack_from("<IHHI", data, offset)
            payload = data[offset + 12 : offset + 12 + size]
            offset += 12 + size
            self._definition(kind, payload)

    def _definition(self, kind, payload):
        if kind == 2:
            self.sync_bytes += 12 + len(payload)
        elif kind == 4:
            (key,) = struct.unpack_from("<I", payload)
            name, at = _text(payload, 4)
            canonical, at = _text(payload, at)
            file, at = _text(payload, at)
            group, at = _text(payload, at)
            first, last, paradigm, role = struct.unpack_from("<IIBB", payload, at)
            self.regions[key] = {
                "name": name, "file": file, "group": group, "first": first, "last": last,
                "paradigm": paradigm, "role": role,
            }  # fmt: skip
        elif kind == 3:
            (key,) = struct.unpack_from("<I", payload)
            self.strings[key] = _text(payload, 4)[0]
        elif kind == 5:
            key, thread = struct.unpack_from("<IQ", payload)
            self.threads[key] = _text(payload, 12)[0]
        elif kind == 6:
            (key,) = struct.unpack_from("<I", payload)
            self.parameters[key] = _text(payload, 4)[0]
        elif kind == 7:
            (key,) = struct.unpack_from("<I", payload)
            name, at = _text(payload, 4)
            unit, at = _text(payload, at)
            _, at = _text(payload, at)
            self.metrics[key] = (name, unit, payload[at])
        elif kind == 8:
            location, ticks = struct.unpack_from("<IQ", payload)
            self.markers.append((location, ticks, _text(payload, 12)[0]))
        elif kind == 9:
            key, at = _text(payload, 0)
            self.properties[key] = _text(payload, at)[0]
        elif kind == 21:
            (key,) = struct.unpack_from("<I", payload)
            path, at = _text(payload, 4)
            self.objects[key] = (path, _text(payload, at)[0])
        elif kind == 19:
            region, key, address = struct.unpack_from("<IIQ", payload)
            self.addresses[region] = (key, address, _text(payload, 16)[0])
        elif kind == 11:
            track, self.owners[track] = struct.unpack_from("<II", payload)
        elif kind == 12:
            key, _, self.numbers[key] = struct.unpack_from("<IQQ", payload)
        elif kind == 10:
            self.ended = True
            self.lost, _, _, self.last_log, self.dropped = struct.unpack("<QQQIQ", payload)
        elif kind == 15:
            self.limit, self.may_miss_begin = struct.unpack("<QB", payload)
        elif kind == 32:
            key, identity, parent, alone, size, rank = struct.unpack_from("<IQQBII", payload)
            self.communicators[key] = (identity, parent, alone, size, rank, _text(payload, 29)[0])
        elif kind == 16:
            location, ticks = struct.unpack("<IQ", payload)
            self.cuts[location] = ticks

    def _read_logs(self):
        # A copy is there if the process ended while it packed a log.
        names = [path.name for path in self.directory.glob("log*") if path.name != "log-copy"]
        numbers = [int(name[4:] or 0) for name in names]
        assert numbers == [] or sorted(numbers) == list(range(min(numbers), max(numbers) + 1))
        for number in numbers:
            self._read_log(self.directory / (f"log-{number}" if number else "log"))

    def _read_log(self, path):
        data = path.read_bytes()
        offset = 0
        while offset < len(data):
            stored, location, size, sequence, base = struct.unpack_from("<4xIIIQQ", data, offset)
            packed = data[offset : offset + 4] == b"LPAK"
            if not packed:
                assert data[offset : offset + 4] == b"LSEG"
                stored = size
            words = data[offset + 64 : offset + 64 + stored]
            if packed:
                self.packed += 1
                words = struct.pack(f"<{size // 8}Q", *unpack(words))
            self._segments.setdefault(location, {})[sequence] = (base, words)
            offset += 64 + (stored + 7) // 8 * 8

    def _read_ring(self):
        path = self.directory / "ring"
        if not path.exists():
            return
        data = path.read_bytes()
        segment_size, count = struct.unpack_from("<II", data, 12)
        for i in range(count):
            offset = 65536 + i * segment_size
            state, location, _, sequence, base = struct.unpack_from("<4xIIIQQ", data, offset)
            if state in (1, 2):  # not drained: a kill may have left a part of it in the log
                words = data[offset + 64 : offset + segment_size]
                self._segments.setdefault(location, {})[sequence] = (base, words)

    def locations(self):
        return sorted(set(self.threads) | set(self._segments))

    def events(self, location):
        """Return the events of a location; a track's lie in the stream of its thread."""
        thread = self.owners.get(location, location)
        if thread not in self._events:
            self._events[thread] = self._sorted_events(thread)
        return self._events[thread].get(location, [])

    def _sorted_events(self, thread):
        """Yield the events of a thread and of its tracks; "track" events separate them."""
        result, of, appeared = {}, thread, set()
        segments = self._segments.get(thread, {})
        first = min(segments, default=0)
        assert sorted(segments) == list(range(first, first + len(segments)))
        assert first == 0 or self.may_miss_begin
        goes_on = first > 0  # a location whose start is missing, here for the first time
        for _, (base, data) in sorted(segments.items()):
            words = struct.unpack(f"<{len(data) // 8}Q", data)
            for event in self._decode(base, words):
                if isinstance(event, list):  # of enter and leave
                    goes_on = False
                    appeared.add(of)
                    result.setdefault(of, []).extend(event)
                elif event[0] == "track":
                    of = event[2]
                    goes_on = first > 0 and of not in appeared
                    appeared.add(of)
                elif event[0] == "track end":
                    assert of != thread
                elif event[0] == "open":
                    if goes_on:
                        result.setdefault(of, []).append(("enter", *event[1:]))
                else:
                    goes_on = False
                    appeared.add(of)
                    result.setdefault(of, []).append(event)
        return result

    def _decode(self, base, words):
        """Yield the events; enters and leaves, which most are, as a list between two other events."""
        names = {key: region["name"] for key, region in self.regions.items()}
        calls, i, end = [], 0, len(words)
        while i < end and words[i]:
            word = words[i]
            kind, payload, ticks = word & 3, (word >> 2) & 0x3FFFFFF, base + (word >> 28)
            i += 1
            if kind == KIND_ENTER:
                calls.append(("enter", names[payload], None, ticks))
                continue
            if kind == KIND_LEAVE:
                calls.append(("leave", names[payload], None, ticks))
                continue
            sub, count = payload & 0xFF, (payload >> 8) & 0xFF
            extra = words[i : i + count]
            i += count
            if sub == TIME_BASE:
                base = extra[0]
                continue
            if sub == WAITING:
                continue
            if calls:
                yield calls
                calls = []
            yield from self._rare(sub, count, extra, base, ticks)
        if calls:
            yield calls

    def _rare(self, sub, count, extra, base, ticks):
        if sub == TRACK_END:
            yield ("track end", None, None, ticks)
        elif sub == TRACK:
            yield ("track", None, extra[0], ticks)
        elif sub in REWINDS:
            yield ("rewind begin" if sub == REWINDS[0] else "rewind end", self.strings[extra[0]], None, ticks)
        elif sub == SAMPLES:
            yield ("samples", None, count - 1, ticks)
        elif sub == OPEN_REGIONS:
            for region in struct.unpack(f"<{2 * count}I", struct.pack(f"<{count}Q", *extra)):
                if region != 0xFFFFFFFF:
                    yield ("open", self.regions[region]["name"], None, base)
        elif sub in MPI:
            yield (MPI[sub], None, extra, ticks)
        elif sub in TEAMS:
            yield (TEAMS[sub], extra[1] if count > 1 else None, extra[0], ticks)
        else:
            yield self._extended(EXTENDED[sub], extra, ticks)

    def _extended(self, kind, extra, ticks):
        if not extra:
            return (kind, None, None, ticks)
        if len(extra) == 1:
            return (kind, None, extra[0], ticks)
        raw = struct.pack("<Q", extra[1])
        if kind == "metric":
            name, unit, value_type = self.metrics[extra[0]]
            return (kind, (name, unit), struct.unpack("<qQd"[0] + "qQd"[value_type], raw)[0], ticks)
        name = self.parameters[extra[0]]
        if kind == "parameter_string":
            return (kind, name, self.strings[extra[1]], ticks)
        code = {"parameter_int": "q", "parameter_uint": "Q", "parameter_float": "d"}[kind]
        return (kind, name, struct.unpack("<" + code, raw)[0], ticks)


def spools_of(run):
    """The spools of a run, in order of their names."""
    places = sorted((pathlib.Path(run) / "spool").iterdir())
    return [Spool(path) for path in places if path.is_dir()]


def stream(spool, location, keep=lambda name: True):
    """Return the events of a location without times and creators; checks order and balance."""
    result, open_regions, last = [], [], 0
    keep = functools.cache(keep)
    for kind, name, value, ticks in spool.events(location):
        assert ticks >= last
        last = ticks
        if kind == "enter":
            open_regions.append(name)
        elif kind == "leave":
            assert open_regions.pop() == name
        if kind in ("create", "wait"):
            continue
        if kind not in ("enter", "leave") or keep(name):
            result.append((kind, name) if value is None else (kind, name, value))
    assert spool.ended is False or open_regions == [] or location != 0, open_regions
    return result
