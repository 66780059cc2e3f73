"""Seeds of the fuzzers that read spools: definitions, segments as they are recorded and packed, rings of killed runs.

Written from docs/formats/spool.md alone.
"""

import struct

MASK = (1 << 64) - 1


def fnv(data, value=2166136261):
    for byte in data:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def mix(value, part):
    value = ((value ^ part) * 0xFF51AFD7ED558CCD) & MASK
    return value ^ (value >> 32)


def segment_check(location, sequence, base):
    value = 0x9E3779B97F4A7C15
    for part in (location, sequence, base):
        value = mix(value, part)
    return value


def records_check(words):
    lanes = [1, 2, 3, 4]
    for i, word in enumerate(words):
        lanes[i % 4] = ((lanes[i % 4] ^ word) * 0x9FB21C651E98DF25) & MASK
    value = len(words)
    for lane in lanes:
        value = mix(value, lane)
    return value


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def definition(kind, payload):
    head = struct.pack("<IHH", len(payload), kind, 0)
    return head + struct.pack("<I", fnv(payload, fnv(head))) + payload


def definitions(ended_log=None):
    head = b"\x01TLDEFS1" + struct.pack("<HH", 2, 1)
    parts = [
        head + struct.pack("<I", fnv(head)),
        definition(2, struct.pack("<QQQ", 1000, 5000, 1_700_000_000_000_000_000)),
        definition(1, struct.pack("<Q", 42) + text("node") + text("app") + text("/bin/python")
                   + struct.pack("<I", 1) + text("app.py")),
        definition(4, struct.pack("<I", 1) + text("m:f") + text("m:f") + text("/m.py") + text("m")
                   + struct.pack("<IIBB", 3, 9, 2, 1)),
        definition(4, struct.pack("<I", 2) + text("m:g") + text("m:g") + text("/m.py") + text("m")
                   + struct.pack("<IIBB", 12, 0, 1, 1)),
        definition(5, struct.pack("<IQ", 0, 42) + text("Master thread")),
        definition(5, struct.pack("<IQ", 1, 43) + text("Thread 1")),
        definition(3, struct.pack("<I", 0) + text("hello")),
        definition(6, struct.pack("<I", 0) + text("text") + b"\x03"),
        definition(6, struct.pack("<I", 1) + text("n") + b"\x00"),
        definition(7, struct.pack("<I", 0) + text("rss") + text("B") + text("") + b"\x01"),
        definition(8, struct.pack("<IQ", 0, 1020) + text("here")),
        definition(9, text("key") + text("value")),
        definition(2, struct.pack("<QQQ", 9000, 13000, 1_700_000_000_000_008_000)),
    ]  # fmt: skip
    if ended_log is not None:
        parts.append(definition(10, struct.pack("<QQ", 3, len(ended_log))))
    return b"".join(parts)


def code_definitions():
    """Regions with addresses: one in an object that is there, one in an object that is not, one without an object."""
    def region(key, name):
        return definition(4, struct.pack("<I", key) + text(name) * 2 + text("") + text("libm.so")
                          + struct.pack("<IIBB", 0, 0, 2, 1))

    def address(key, of, construct=""):
        return definition(19, struct.pack("<IIQ", key, of, 0x1139) + text(construct))

    return b"".join([
        definition(21, struct.pack("<I", 0) + text("/proc/self/exe") + text("") + struct.pack("<Qq", 1, 1)),
        definition(21, struct.pack("<I", 1) + text("/lib/libm.so") + text("0badcafe") + bytes(16)),
        region(1, "0x1139 in exe"), address(1, 0),
        region(2, "!$omp parallel"), address(2, 1, "!$omp parallel"),
        region(3, "0x1139 in libm.so"), address(3, 7),
    ])  # fmt: skip


def parallel_definition():
    """The region that the teams of a run have, so that the run is known to have them."""
    name = text("!$omp parallel @m.c:3")
    return definition(4, struct.pack("<I", 3) + name * 2 + text("/m.c") + text("m") + struct.pack("<IIBB", 3, 0, 8, 18))


def enter(region, delta):
    return [1 | region << 2 | delta << 28]


def leave(region, delta):
    return [2 | region << 2 | delta << 28]


def extended(kind, delta, *words):
    return [3 | kind << 2 | len(words) << 10 | delta << 28, *words]


# A team of two threads, as the thread that makes it and as its second member; tasks of the team.
TEAM = (
    enter(1, 0) + extended(18, 1, 7, 2) + extended(20, 2, 7, 0) + enter(2, 3) + extended(22, 4, 9)
    + extended(23, 5, 9) + leave(2, 6) + extended(24, 7, 9) + extended(23, 8, 0) + extended(21, 9, 7)
    + extended(19, 10, 7) + leave(1, 11)
)  # fmt: skip
MEMBER = extended(20, 2, 7, 1) + enter(2, 3) + leave(2, 9) + extended(21, 10, 7)
# Numbers that nobody has made, a member twice, a team that is joined before it is forked.
STRAY_TEAM = (
    extended(19, 0, 3) + extended(20, 1, 4, 2**32 - 1) + extended(20, 1, 4, 2**32 - 1) + extended(18, 2, 3, 0)
    + extended(23, 3, 2**63) + extended(24, 4, 5) + extended(21, 5, 99)
)  # fmt: skip

STORY = (
    enter(1, 0) + extended(2, 5, 1, 7) + extended(5, 6, 0, 0) + enter(2, 10)
    + extended(6, 12, 0, 4096) + leave(2, 20) + extended(7, 25) + extended(8, 30)
    + extended(1, 0, 5000) + enter(2, 1) + leave(2, 2) + leave(1, 3)
)  # fmt: skip


def segment(state, location, sequence, base, words, sealed=True):
    check = segment_check(location, sequence, base)
    size, records = len(words) * 8, records_check(words)
    seal = mix(mix(check, size), records)
    if not sealed:
        size, records, seal = (size if state == 2 else 0), 0, 0
    head = struct.pack(
        "<4sIIIQQQQQQ", b"LSEG", state, location, size, sequence, base, check, records, seal, 0
    )
    return head + struct.pack(f"<{len(words)}Q", *words)


def varint(value):
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def packed_body(words):
    """The streams of packed records, none of them compressed; regions below 256, times since the record before."""
    streams, last, open_regions, expected, i = {}, 0, [], {}, 0

    def put(stream, *data):
        streams[stream] = streams.get(stream, b"") + b"".join(data)

    def zigzag(kind, place, word):
        difference = (word - expected.get((kind, place), 0)) % 2**64
        expected[kind, place] = word
        return varint(((difference << 1) ^ (2**64 - 1 if difference >> 63 else 0)) % 2**64)

    while i < len(words):
        kind, payload, delta = words[i] & 3, words[i] >> 2 & 0x3FFFFFF, words[i] >> 28
        since, last = (delta - last) % 2**36, delta
        rest = (since - 248) >> 8 if since >= 248 else 0
        size = (rest.bit_length() + 7) // 8
        put(3, bytes([since if since < 248 else 248 + size]))
        if since >= 248:
            put(4, bytes([(since - 248) & 255]))
            put(5, rest.to_bytes(size, "little"))
        i += 1
        if kind == 1:
            open_regions.append(payload)
            put(0, b"\3")
            put(1, bytes([payload]))
        elif kind == 2 and open_regions and open_regions[-1] == payload:
            open_regions.pop()
            put(0, b"\0")
        elif kind == 2:
            open_regions.clear()
            put(0, b"\2")
            put(2, varint(payload))
        else:
            sub, count = payload & 255, payload >> 8 & 255
            behind = words[i : i + count]
            i += count
            put(0, b"\1")
            put(6, bytes([sub]))
            put(7, bytes([count]))
            for place, word in enumerate(behind):
                put(8 + 2 * sub + (place > 0), zigzag(sub, 0 if place == 0 else 1 + (behind[0] + place) % 16, word))
    streams = {key: data for key, data in sorted(streams.items()) if data}
    head = bytes([len(streams)]) + b"".join(
        bytes([key]) + 2 * varint(len(data)) for key, data in streams.items()
    )
    return head + b"".join(streams.values())


def packed_segment(location, sequence, base, words):
    check, size, records = segment_check(location, sequence, base), len(words) * 8, records_check(words)
    body = packed_body(words)
    seal = mix(mix(mix(check, size), records), len(body))
    head = struct.pack(
        "<4sIIIQQQQQQ", b"LPAK", len(body), location, size, sequence, base, check, records, seal, 0
    )
    return head + body + bytes(-len(body) % 8)


def ring(*segments):
    head = b"\x01TLRING1" + struct.pack("<II", 3, 4096)
    head += struct.pack("<IIQ", len(segments), fnv(head), 2)
    return head + b"".join(one.ljust(4096, b"\0") for one in segments)


def seed(flags, defs, log, ring_bytes):
    return struct.pack("<BHH", flags, len(defs), len(log)) + defs + log + ring_bytes


def seeds():
    log = segment(2, 0, 0, 1000, STORY) + segment(2, 1, 0, 1100, STORY)
    log += segment(2, 0, 1, 7000, enter(1, 0) + leave(1, 9))
    live = ring(
        segment(1, 0, 2, 8000, enter(1, 0) + enter(2, 5), sealed=False),
        segment(2, 1, 1, 8100, STORY[:1], sealed=False),
        b"",
    ).rstrip(b"\0")
    for flags in (0, 1):
        yield f"ended-{flags}", seed(flags, definitions(log), log, b"")
        yield f"killed-{flags}", seed(flags, definitions(), log, live)
        yield f"young-{flags}", seed(flags, definitions(), b"", live)
        yield f"code-{flags}", seed(flags, definitions() + code_definitions(), log, b"")
        packed = packed_segment(0, 0, 1000, STORY) + segment(2, 1, 0, 1100, STORY)
        packed += packed_segment(0, 1, 7000, enter(1, 0) + leave(1, 9))
        yield f"packed-{flags}", seed(flags, definitions(packed), packed, b"")
        teams = segment(2, 0, 0, 1000, TEAM) + segment(2, 1, 0, 1000, MEMBER)
        yield f"teams-{flags}", seed(flags, definitions(teams), teams, b"")
        stray = segment(2, 0, 0, 1000, STRAY_TEAM) + packed_segment(1, 0, 1100, TEAM + STRAY_TEAM)
        yield f"stray_teams-{flags}", seed(flags, definitions(stray), stray, b"")
        yield f"openmp-{flags}", seed(flags, definitions() + parallel_definition(), teams, b"")
        yield f"stray_openmp-{flags}", seed(flags, definitions() + parallel_definition(), stray + teams, b"")
    yield "empty", b""


def packed_segment_seeds():
    def raw(words):
        return struct.pack(f"<{len(words)}Q", *words)

    for name, records in (("story", STORY * 3), ("team", TEAM), ("stray", STRAY_TEAM), ("calls", (enter(5, 9) + leave(5, 12)) * 40)):
        yield f"words_{name}", b"p" + raw(records)
        yield f"body_{name}", b"u" + struct.pack("<H", len(records)) + packed_body(records)
    yield "body_claims", b"u" + struct.pack("<H", 65535) + packed_body(STORY)
