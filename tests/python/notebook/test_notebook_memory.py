"""The memory in the block of a cell: the recorded peak where memory is recorded."""

import json
import re
import struct
import sys

import pytest

from timeloom._notebook._memory import RecordedMemory, recorded_memory


def test_peak_of_a_run_that_is_not_woven(timeloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "forks.py").write_text("""
import os
def more():
    return bytearray(20_000_000)
block = bytearray(30_000_000)
if os.fork() == 0:
    more()
else:
    os.wait()
""")
    timeloom("run", "--quiet", "--memory", "--no-weave", "-o", "run", "forks.py")
    found = recorded_memory("run")
    processes = json.loads(timeloom("report", "--memory", "--json", "run").stdout)["processes"]
    most = max(processes, key=lambda process: process["peak_bytes"])
    assert len(processes) == 2 and found == RecordedMemory(most["start_bytes"], most["peak_bytes"])
    assert recorded_memory("run") is None  # it is woven


@pytest.mark.parametrize("damage", [b"", b"\0" * 200, struct.pack("<QHHIQQQQQQQ", 0x3153_5953_4D4C_5401, 9, *range(9))])
def test_damaged_files_are_none(tmp_path, damage):
    (tmp_path / "spool" / "process").mkdir(parents=True)
    (tmp_path / "spool" / "process" / "memory").write_bytes(damage)
    assert recorded_memory(str(tmp_path)) is None


def test_block_of_a_cell(timeloom, tmp_path_factory):
    pytest.importorskip("ipykernel")
    from notebooks import Kernel, read

    argv = [sys.executable, "-m", "timeloom_kernel", "--memory", "-f", "{connection_file}"]
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebook"), argv=argv)
    try:
        answer = kernel.run("%%timeloom --memory\nblock = bytearray(80_000_000)\ndel block\n")
        assert answer.status == "ok", answer.messages
        (line,) = [line for line in answer.shown[0].splitlines() if line.startswith("memory ")]
        match = re.fullmatch(r"memory \d+ MB(?:, [+-][\d.]+ MB in the cell)?; blocks (\d+) MB at the peak, ([+-][\d.]+) MB in the cell(?:;.*)?", line)
        assert match, line
        read(answer.run)  # waits until it is woven
        (process,) = json.loads(timeloom("report", "--memory", "--json", answer.run).stdout)["processes"]
        assert match[1] == f"{process['peak_bytes'] / 1e6:.0f}"
        assert match[2] == f"{(process['peak_bytes'] - process['start_bytes']) / 1e6:+.1f}" and float(match[2]) >= 80
        plain = kernel.run("%%timeloom\nsum(range(10))\n")
        assert "at the peak" not in plain.shown[0]
    finally:
        kernel.close()
