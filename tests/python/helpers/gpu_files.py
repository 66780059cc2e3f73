"""Reads the file `gpu` of a spool (docs/formats/spool.md), and builds the stand-ins for CUDA (tests/gpu)."""

import pathlib
import struct
import subprocess
from typing import NamedTuple

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "gpu" / "stand_in.c"
MASK = 2**64 - 1
KINDS = {1: "call", 2: "kernel", 3: "copy", 4: "set", 5: "wait", 6: "event", 7: "allocate", 8: "release", 9: "range",
         10: "counter"}  # fmt: skip


class Record(NamedTuple):
    kind: str
    place: tuple
    correlation: object  # a number; of a range its domain and category, or None
    start: int
    end: int
    detail: int
    value: object  # the name of a call, (name, launch) of a kernel, an event, bytes of the others


class GpuFile(NamedTuple):
    records: list
    devices: dict
    lost: int
    left: list


def mix(state, part):
    state = ((state ^ part) * 0xFF51AFD7ED558CCD) & MASK
    return state ^ (state >> 32)


def words_check(payload):
    lanes = [1, 2, 3, 4]
    words = struct.unpack(f"<{len(payload) // 8}Q", payload)
    for i, word in enumerate(words):
        lanes[i % 4] = ((lanes[i % 4] ^ word) * 0x9FB21C651E98DF25) & MASK
    state = len(words)
    for lane in lanes:
        state = mix(state, lane)
    return state


def blocks(data):
    assert data[:8] == b"\x01TLGPUS1"
    assert struct.unpack_from("<HH", data, 8) == (1, 0)
    at = 16
    while at < len(data):
        kind, size, check = struct.unpack_from("<IIQ", data, at)
        payload = data[at + 16 : at + 16 + size]
        assert len(payload) == size
        assert check == mix(words_check(payload), kind)
        yield kind, payload
        at += 16 + size


def read(path):
    texts, places, launches, devices, labels, records, left, lost = {None: None}, {}, {}, {}, {0: None}, [], [], 0
    for kind, payload in blocks(pathlib.Path(path).read_bytes()):
        if kind == 1:
            number, length = struct.unpack_from("<II", payload)
            texts[number] = payload[8 : 8 + length].decode()
        elif kind == 2:
            number, what, thread, device, context, queue = struct.unpack("<IIQIIQ", payload)
            places[number] = (("thread", thread), ("queue", device, context, queue), ("device", device))[what]
        elif kind == 3:
            number, name, *rest = struct.unpack("<12I", payload)
            launches[number] = (texts[name], *rest[:9])
        elif kind == 4:
            number, name, memory = struct.unpack("<IIQ", payload)
            devices[number] = (texts[name], memory)
        elif kind == 5:
            (lost,) = struct.unpack("<Q", payload)
        elif kind == 6:
            for start, end, place, correlation, what in struct.iter_unpack("<QQIIQ", payload):
                name, value = KINDS[what >> 56], what & (2**48 - 1)
                value = texts[value] if name in ("call", "range") else launches[value] if name == "kernel" else value
                cause = labels[correlation] if name == "range" else correlation
                records.append(Record(name, places[place], cause, start, end, what >> 48 & 255, value))
        elif kind == 9:
            number, *label, zero = struct.unpack("<4I", payload)
            assert zero == 0
            labels[number + 1] = tuple(texts[None if text == 2**32 - 1 else text] for text in label)
        elif kind == 7:
            left.append(struct.unpack("<Q", payload)[0])
    return GpuFile(records, devices, lost, left)


def stand_ins(directory):
    """Builds the libraries; a program that is to use them has the directory in LD_LIBRARY_PATH; NVML is in nvml."""
    cupti = directory / "libcupti.so.13"
    (directory / "nvml").mkdir()
    for name, macro, *linked in (("libcuda.so.1", "STAND_IN_DRIVER"), (cupti.name, "STAND_IN_CUPTI"),
                                 ("libnvtx.so", "STAND_IN_NVTX"), ("nvml/libnvidia-ml.so.1", "STAND_IN_NVML"),
                                 ("libother.so", "STAND_IN_OTHER", str(cupti))):  # fmt: skip
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-D{macro}", f"-Wl,-soname,{pathlib.Path(name).name}",
             "-o", str(directory / name), str(SOURCE), *linked, "-ldl", "-lpthread"], check=True,
        )  # fmt: skip
    return directory
