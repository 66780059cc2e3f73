"""The report tells why a run has no samples."""

import ctypes
import os
import signal
import struct
import subprocess
import sys

import pytest
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring"),
]


def ignore_signal():
    signal.signal(signal.SIGURG, signal.SIG_IGN)


def forbid_clocks():
    """Events of perf and timers fail with EPERM in the program that is executed next."""
    perf_event_open, timer_create = {"x86_64": (298, 222), "aarch64": (241, 107)}[os.uname().machine]
    jump, result = 0x15, 0x06
    lines = [(0x20, 0, 0, 0), (jump, 1, 0, perf_event_open), (jump, 0, 1, timer_create)]
    lines += [(result, 0, 0, 0x00050001), (result, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program, 0, 0) == 0


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (
            ignore_signal,
            "! no samples were taken: the program uses their signal itself; --sample-signal names another one [TL086]",
        ),
        (forbid_clocks, "! a thread of the program could not be sampled: Operation not permitted [TL088]"),
    ],
)
def test_the_report_has_the_reason(tmp_path, timeloom_program, prepare, reason):
    (tmp_path / "program.py").write_text("def f(): return sum(i * i for i in range(1_000_000))\nf()")
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--sampling", "program.py"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300, env=environment(), preexec_fn=prepare)
    report = subprocess.run(
        [timeloom_program, "report", "run"],
        cwd=tmp_path, capture_output=True, text=True, check=True, env=environment({"COLUMNS": "200"}),
    )  # fmt: skip
    assert reason in report.stdout
    assert "every 0 ms" not in report.stdout
