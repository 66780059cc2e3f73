"""Functions of a JIT: code in no file, whose names the program writes where `perf` looks for them."""

import csv
import os
import platform
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="has machine code of x86-64"),
]

# Two loops of the same code, of which the first runs three times as long; the third one has no name.
PROGRAM = """
import ctypes, mmap, os, sys
LOOP = bytes.fromhex("48 89 f8  48 ff c8  75 fb  c3")
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
start = ctypes.addressof(ctypes.c_char.from_buffer(code))
def loop(at):
    code[at : at + len(LOOP)] = LOOP
    return ctypes.CFUNCTYPE(None, ctypes.c_uint64)(start + at)
loops = [loop(at) for at in (0, 64, 128)]
def work():
    for run, turns in zip(loops, (600_000_000, 200_000_000, 200_000_000)):
        run(turns)
path = f"/tmp/perf-{os.getpid()}.map"
names = f"{start:x} 9 older\\n{start:x} 9 three quarters\\n{start + 64:x} 9 a quarter\\n"
with open(path, "w") as file:
    file.write(sys.argv[2] if len(sys.argv) > 2 else names)
print(path)
work()
exec(sys.argv[1])
"""

FULL = "ffffffffffffffff ffffffffffffffff all\nnothing\n\n0 0 none\n-1 9 negative\n10 20\n" + "9" * 100 + " 9 long\n"


@pytest.fixture
def generated(timeloom, tmp_path):
    def run(*words):
        (tmp_path / "app.py").write_text(PROGRAM)
        done = timeloom("run", "--quiet", "--sample", "1ms", "-o", "run", "app.py", *words, cwd=tmp_path)
        path = Path(done.stdout.strip())
        if path.is_symlink() or path.exists():
            path.unlink()
        text = timeloom("report", "--native", "--csv", "run", cwd=tmp_path).stdout
        shares = {}
        for row in csv.DictReader(text.splitlines()):
            if row["library"] == "":
                shares[row["library function"]] = shares.get(row["library function"], 0) + float(row["nanoseconds"])
        return path, shares, timeloom("report", "run", cwd=tmp_path).stdout

    return run


def test_names_are_read_from_the_file_of_the_process(generated):
    _, times, text = generated("pass")
    assert set(times) == {"three quarters", "a quarter", ""}
    assert times["three quarters"] / sum(times.values()) == pytest.approx(0.6, abs=0.08)
    assert "TL067" not in text and "generated: three quarters" in text


def test_a_file_of_another_time_is_told_and_not_read(generated):
    path, times, text = generated("os.utime(path, (5, 5))")
    assert set(times) == {""}
    assert f"! generated code has no names: {path} is older than the process; remove it [TL067]" in text


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
def test_a_file_of_another_user_is_told_and_not_read(generated):
    path, times, text = generated("os.chown(path, 12345, -1)")
    assert set(times) == {""}
    assert f"! generated code has no names: {path} belongs to another user; remove it [TL067]" in text


@pytest.mark.parametrize(
    "end",
    [
        "os.unlink(path); os.mkfifo(path)",
        "os.truncate(path, (64 << 20) + 1)",
        "os.truncate(path, 0)",
    ],
)
def test_what_is_no_such_file_gives_no_names(generated, end):
    _, times, _ = generated(end)
    assert set(times) == {""}


def test_a_link_is_told_and_not_read(generated):
    path, times, text = generated("os.rename(path, path + '.other'); os.symlink(path + '.other', path)")
    Path(f"{path}.other").unlink()
    assert set(times) == {""} and f"! generated code has no names: {path} is a link; remove it [TL067]" in text


def test_lines_of_other_kinds_are_left_out(generated):
    _, times, _ = generated("pass", FULL)
    assert set(times) == {""}
