"""Runs forged by an attacker: their claims about sizes, and random damage."""

import json
import os
import stat
import struct
import subprocess
import sys

import pytest
from scripts.trials import fuzz_runs
from scripts.trials.fuzz_runs import record, text

pytestmark = pytest.mark.any_python

MASK = 2**64 - 1


@pytest.fixture(autouse=True)
def fuzzed_program(monkeypatch, timeloom_program):
    monkeypatch.setattr(fuzz_runs, "TIMELOOM", timeloom_program)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs")
    fuzz_runs.make_runs(directory)
    return directory


@pytest.mark.parametrize("first", range(0, 40, 8))
def test_random_damage(runs, first):
    for seed in range(first, first + 8):
        assert fuzz_runs.attack_one(seed, runs)


def test_a_change_outside_is_found(runs, monkeypatch, tmp_path):
    program = tmp_path / "timeloom"
    program.write_text("#!/bin/sh\necho x >> file\n")
    program.chmod(0o755)
    monkeypatch.setattr(fuzz_runs, "TIMELOOM", str(program))
    with pytest.raises(fuzz_runs.Fallen, match="outside of the run"):
        fuzz_runs.attack_one(1, runs)


def _mix(value, part):
    value = ((value ^ part) * 0xFF51AFD7ED558CCD) & MASK
    return value ^ (value >> 32)


def _segment(location, sequence, size=0, records=None):
    """The sealed head of a segment in the log; without records their checksum is right."""
    check = 0x9E3779B97F4A7C15
    for part in (location, sequence, 1000 + sequence):
        check = _mix(check, part)
    if records is None:
        records = 0
        for lane in (1, 2, 3, 4):
            records = _mix(records, lane)
    seal = _mix(_mix(check, size), records)
    return struct.pack("<IIIIQQQQQQ", 0x4745534C, 2, location, size, sequence, 1000 + sequence, check, records, seal, 0)


def _spool(run):
    """A spool with the definitions of one process, one thread and nothing else."""
    spool = run / "spool" / "1-0"
    spool.mkdir(parents=True)
    head = struct.pack("<QHH", 0x31534645444C5401, 2, 0)
    process = struct.pack("<Q", 1) + text(b"host") + text(b"app.py") + text(b"python3") + struct.pack("<I", 0) + text(b"")
    syncs = b"".join(record(2, struct.pack("<QQQ", t, t, t + (1 << 60))) for t in (1000, 2000))
    thread = record(5, struct.pack("<IQ", 0, 1) + text(b"main"))
    (spool / "defs").write_bytes(head + struct.pack("<I", fuzz_runs.checksum(head)) + syncs + record(1, process) + thread)
    return spool


def _sparse_definitions(spool):
    os.truncate(spool / "defs", 3 << 30)


def _profile(spool, places, size):
    head = struct.pack("<QIIIIQQIIQQ", 0x31464F5250544C01, 4, 0, places, 0, 2000, 1000, 0, 0, 0, 0)
    (spool / "profile-0").write_bytes(head)
    os.truncate(spool / "profile-0", size)


def _sparse_log(spool):
    (spool / "log").touch()
    os.truncate(spool / "log", 40 << 30)


def _sparse_segments(spool):
    with open(spool / "log", "wb") as log:
        for i in range(2500):
            log.seek(i * ((16 << 20) + 64))
            log.write(_segment(0, i, size=16 << 20, records=5) + bytes([1]) * 4096)
    os.truncate(spool / "log", 40 << 30)


def _sparse_ring(spool):
    head = struct.pack("<QII", 0x31474E49524C5401, 2, 16 << 20)
    with open(spool / "ring", "wb") as ring:
        ring.write(head + struct.pack("<II", 2500, fuzz_runs.checksum(head)))
        for i in range(2500):
            ring.seek((64 << 10) + i * (16 << 20))
            ring.write(_segment(0, i) + bytes([1]) * 8)
    os.truncate(spool / "ring", 40 << 30)


def _empty_segments(spool, locations):
    data = b"".join(_segment(i % locations, i // locations) for i in range(60_000))
    (spool / "log").write_bytes(data)


def _communicators(spool):
    with open(spool / "defs", "ab") as defs:
        for i in range(1000):
            defs.write(record(32, struct.pack("<IQQBII", i, i + 1, 0, 0, 4_000_000, 0) + text(b"")))


SIZES = {
    "definitions of 3 GB": _sparse_definitions,
    "40 million places in a file of that size": lambda spool: _profile(spool, 40_000_000, 40_000_000 * 64),
    "4 billion places in no file": lambda spool: _profile(spool, 4_000_000_000, 64),
    "1,000 communicators of 4 million ranks": _communicators,
    "a log of 40 GB": _sparse_log,
    "2,500 segments in a log of 40 GB": _sparse_segments,
    "2,500 segments in a ring of 40 GB": _sparse_ring,
    "60,000 empty segments of a thread": lambda spool: _empty_segments(spool, 1),
    "60,000 empty segments of as many": lambda spool: _empty_segments(spool, 60_000),
}


@pytest.mark.parametrize("what", SIZES)
def test_sizes_that_are_claimed_take_neither_memory_nor_long(tmp_path, what):
    (tmp_path / "outside").mkdir()
    SIZES[what](_spool(tmp_path / "run"))
    status, memory, output = fuzz_runs.start(["report", str(tmp_path / "run")], tmp_path)
    assert status == 0, output
    assert memory < fuzz_runs.MOST_MEMORY
    assert "app.py" in output or "python3" in output


SECRET = ["--password=hunter2", "--token", "hunter2", "--key=hunter2", "postgres://me:hunter2@host/db"]


@pytest.mark.parametrize("door", ["timeloom", "scorep"])
def test_no_file_of_a_run_holds_a_secret_of_the_command_line(timeloom, tmp_path, door):
    (tmp_path / "app.py").write_text("import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n")
    start = {"timeloom": ["-m", "timeloom", "--keep-spool", "-o", "run"],
             "scorep": ["-m", "scorep"]}[door]  # fmt: skip
    environment = {**os.environ, "SCOREP_EXPERIMENT_DIRECTORY": "run", "SCOREP_ENABLE_TRACING": "true"}
    subprocess.run([sys.executable, *start, "app.py", *SECRET], cwd=tmp_path, env=environment, check=True)
    held = [path for path in (tmp_path / "run").rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]
    assert held == []
    [first, *_] = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)["groups"]
    assert first["arguments"][-5:] == ["--password=***", "--token", "***", "--key=***", "postgres://me:***@host/db"]


def test_what_is_recorded_of_arguments_is_a_setting(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("")
    recorded = {}
    for which in ("all", "masked", "none"):
        timeloom("run", "--quiet", "-o", which, "--record-arguments", which, "-X", "dev", "app.py", "--key=x", "y", cwd=tmp_path)
        recorded[which] = json.loads(timeloom("info", "--json", tmp_path / which).stdout)["groups"][0]["arguments"]
    assert recorded == {"all": ["-X", "dev", "app.py", "--key=x", "y"],
                        "masked": ["-X", "dev", "app.py", "--key=***", "y"],
                        "none": ["-X", "dev", "app.py"]}  # fmt: skip


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o027])
@pytest.mark.parametrize("options", [[], ["--keep-spool"], ["--profile"], ["--layout", "scorep", "--filter-file", "f"]])
def test_modes_are_those_that_the_umask_says(timeloom, tmp_path, mask, options):
    (tmp_path / "f").write_text("SCOREP_REGION_NAMES_BEGIN\n  EXCLUDE nothing\nSCOREP_REGION_NAMES_END\n")
    (tmp_path / "f").chmod(0o600)
    before = os.umask(mask)
    try:
        timeloom("run", "--quiet", "-o", "run", *options, "-c", "def f(): pass\nf()", cwd=tmp_path)
    finally:
        os.umask(before)
    wrong = {}
    for path in [tmp_path / "run", *(tmp_path / "run").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode != (0o777 if path.is_dir() else 0o666) & ~mask:
            wrong[path.name] = oct(mode)
    assert wrong == {}
