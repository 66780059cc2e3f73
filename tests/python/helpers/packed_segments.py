"""Unpacks packed segments of a spool, written from docs/formats/spool.md alone."""

import ctypes
import functools


@functools.cache
def _zstd():
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


class _Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def difference(self):
        number = self.varint()
        return (number >> 1) ^ -(number & 1)


def _streams(body):
    numbers = _Numbers(body)
    heads = [(numbers.byte(), numbers.varint(), numbers.varint()) for _ in range(numbers.byte())]
    streams = {}
    for key, size, stored in heads:
        data = body[numbers.at : numbers.at + stored]
        numbers.at += stored
        if stored != size:
            room = ctypes.create_string_buffer(size)
            assert _zstd().ZSTD_decompress(room, size, data, stored) == size
            data = room.raw
        streams[key] = data
    assert numbers.at == len(body)
    return streams


def unpack(body):
    """Return the words of the records, as a list."""
    streams = _streams(body)
    stream = [_Numbers(streams.get(key, b"")) for key in range(200)]
    words, delta, tracks, track, expected = [], 0, {}, 0, {}
    for code in streams.get(0, b""):
        since = stream[3].byte()
        if since >= 248:
            since = 248 + stream[4].byte() + sum(
                stream[5].byte() << 8 * (i + 1) for i in range(since - 248)
            )  # fmt: skip
        delta = (delta + since) % 2**36
        opened = tracks.setdefault(track, [])
        if code == 1:
            kind, count = stream[6].byte(), stream[7].byte()
            words.append(3 | kind << 2 | count << 10 | delta << 28)
            first = 0
            for i in range(count):
                place = (kind, 0 if i == 0 else 1 + (first + i) % 2**64 % 16)
                word = (expected.get(place, 0) + stream[8 + 2 * kind + (i > 0)].difference()) % 2**64
                expected[place] = word
                words.append(word)
                if i == 0:
                    first = word
            if kind == 11 and count:
                track = first % 32
            continue
        if code == 0:
            kind, region = 2, opened.pop()
        elif code == 2:
            kind, region = 2, stream[2].varint()
            opened.clear()
        else:
            kind = 1
            region = stream[2].varint() if code == 255 else (code - 3) << 8 | stream[1].byte()
            opened.append(region)
        words.append(kind | region << 2 | delta << 28)
    assert all(numbers.at == len(numbers.data) for numbers in stream[1:])
    return words
