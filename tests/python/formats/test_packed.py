"""Packed traces: every command answers as with the OTF2 trace of the same records, and the archive comes back."""

import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import textwrap
import warnings
from pathlib import Path

import pytest
from streams import environment

import timeloom as timeloom_module

pytestmark = pytest.mark.any_python

CALLS = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

for _ in range(20):
    fib(15)
"""
THREADS = """
import threading

def work(n):
    return sum(deeper(i) for i in range(n))

def deeper(i):
    return i * 2

threads = [threading.Thread(target=work, args=(500 * i,), name=f"worker {i}") for i in range(1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
TASKS = """
import asyncio

async def one(n):
    for _ in range(n):
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(one(i) for i in range(1, 9)))

asyncio.run(main())
"""
FILES = """
import os
import sys

def write(path):
    with open(path, "wb", buffering=0) as file:
        file.write(b"x" * 100)
        file.seek(10)
    copy = os.dup(os.open(path, os.O_RDONLY))
    os.read(copy, 50)
    os.unlink(path)

write(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "data"))
"""
VALUES = """
import timeloom

def step(i):
    timeloom.parameter_int("step", -i)
    timeloom.parameter_uint("large", 2**64 - 1 - i)
    timeloom.parameter_float("ratio", (i / 7, float("nan"), float("-inf"))[i % 3])
    timeloom.parameter_string("label", "abc"[i % 3])
    timeloom.counter("load", i / 7, "items")

for i in range(50):
    with timeloom.region(f"part {i % 4}"):
        step(i)
timeloom.marker("half")
"""
PROCESSES = """
import multiprocessing

def square(n):
    return n * n

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(square, range(20))[3] == 9
"""
PROGRAMS = {
    "calls": (CALLS, ()),
    "threads": (THREADS, ()),
    "tasks": (TASKS, ("--async-tasks",)),
    "tasks-locations": (TASKS, ("--async-tasks", "--task-layout", "locations")),
    "files": (FILES, ("--io", "posix")),
    "values": (VALUES, ()),
    "counters": (CALLS.replace("range(20)", "range(1)"), ("--metric-rusage", "all")),  # 32 values a call
    "processes": (PROCESSES, ()),
}
# Outputs with a name of a file are written to it.
QUESTIONS = (
    "report", "report --full", "report --json", "report --slowest", "report --io --json", "report --from 0ms --to 5ms",
    "report --by module", "info --all", "score", "convert --to csv --events -o -", "convert --to json --events -o -",
    "convert --to chrome -o -", "convert --to speedscope -o -", "convert --to perfetto -o FILE", "convert --to firefox -o -",
    "convert --to arrow -o FILE",
)  # fmt: skip

# Facts about the records of an OTF2 archive, the time that each weaving has taken, and the size of the profile, which
# holds that time: it grows in steps of 512 bytes.
OF_WEAVING = re.compile(rb'"OTF2::\w+":"false",|OTF2::\w+ = false\n| weave=[-.e\d]+| +[\d.]+ kB(?=  profile\.cubex)')
FILES_OF_TRACES = (b"traces", b"MANIFEST.md")


def record(program, text, directory, *options):
    script = directory / "program.py"
    script.write_text(textwrap.dedent(text))
    words = [program, "run", "--quiet", "--no-weave", "-o", "run", *options, script]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=100, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    return directory / "run"


@pytest.fixture
def both(tmp_path, program, timeloom):
    """Records a program once, and weaves its records in both forms."""

    def both(text, *options):
        (tmp_path / "packed").mkdir()
        (tmp_path / "otf2").mkdir()
        packed = record(program, text, tmp_path / "packed", *options)
        otf2 = Path(shutil.copytree(packed, tmp_path / "otf2" / "run"))
        timeloom("weave", "--trace-format", "packed", packed)
        timeloom("weave", "--trace-format", "otf2", otf2)
        return otf2, packed

    return both


def answer(program, run, question, file):
    words = [program, *question.replace("FILE", str(file)).split(), "run"]
    done = subprocess.run(words, cwd=run.parent, capture_output=True, timeout=100)
    written = file.read_bytes() if file.exists() else b""
    file.unlink(missing_ok=True)
    said = OF_WEAVING.sub(b"", done.stdout)
    if question.startswith("info"):  # the files differ
        said = b"\n".join(line for line in said.splitlines() if not any(name in line for name in FILES_OF_TRACES))
    return done.returncode, said, done.stderr, written


def evt_files(archive):
    return {path.name: path.read_bytes() for path in (archive / "traces").glob("*.evt")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_command_answers_the_same(name, both, program, timeloom, tmp_path):
    """Of a run that was woven so, and of one that is packed afterwards; both give the OTF2 archive back."""
    text, options = PROGRAMS[name]
    otf2, packed = both(text, *options)
    assert not (packed / "traces").exists() and not (packed / "traces.otf2").exists()
    events, definitions = evt_files(otf2), (otf2 / "traces.def").read_bytes()
    expected = {question: answer(program, otf2, question, tmp_path / "written") for question in QUESTIONS}
    for question in QUESTIONS:
        if "FILE" not in question:  # those are asked below
            assert answer(program, packed, question, tmp_path / "written") == expected[question], question
    timeloom("convert", packed, "--to", "otf2", "-o", tmp_path / "archive")
    assert evt_files(tmp_path / "archive") == events
    assert (tmp_path / "archive" / "traces.def").read_bytes() == definitions

    said = timeloom("pack", otf2).stderr
    assert "bytes an event" in said
    assert not (otf2 / "traces").exists() and not (otf2 / "traces.otf2").exists()
    assert "traces.packed" in (otf2 / "MANIFEST.md").read_text()
    for question in QUESTIONS:
        assert answer(program, otf2, question, tmp_path / "written") == expected[question], question
    timeloom("convert", otf2, "--to", "otf2", "-o", tmp_path / "again")
    assert evt_files(tmp_path / "again") == events


def test_a_program_is_recorded_packed(tmp_path, program):
    script = tmp_path / "program.py"
    script.write_text(CALLS)
    words = [program, "run", "--trace-format", "packed", "-o", "run", script]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment())
    assert done.returncode == 0 and "timeloom report run" in done.stderr
    assert {"profile.cubex", "traces.packed"} <= set(os.listdir(tmp_path / "run"))
    properties = json.loads(subprocess.check_output([program, "info", "--json", tmp_path / "run"]))["properties"]
    assert "timeloom::trace_format" not in properties


def test_the_file_alone_is_a_run(both, timeloom, tmp_path):
    _, packed = both(CALLS)
    alone = tmp_path / "alone.packed"
    shutil.copy(packed / "traces.packed", alone)
    assert "fib" in timeloom("report", alone).stdout
    assert (
        timeloom("report", packed / "traces.packed").stdout.splitlines()[1:]
        == (timeloom("report", packed).stdout.splitlines()[1:])
    )


def test_the_timeline_is_made_of_a_packed_trace(both, timeloom):
    for run in both(THREADS):
        timeloom("view", run, "--html", run.parent / "page.html")
        assert (run / "view.timeloom").exists()


def test_damage_is_counted_and_told(both, timeloom):
    _, packed = both(CALLS)
    file = packed / "traces.packed"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    said = timeloom("convert", packed, "--to", "csv", "--events", "-o", "-").stderr
    assert "1 damaged or missing part of the packed trace left out" in said and "[TL167]" in said
    file.write_bytes(content[: len(content) // 2])
    assert "[TL168]" in timeloom("info", packed).stdout
    assert any("[TL168]" in loss for loss in json.loads(timeloom("info", "--json", packed).stdout)["losses"])
    assert "! 1 file of the trace missing, cut off or damaged; its profile is read [TL259]" in timeloom("report", packed).stdout
    assert "[TL168]" in timeloom("convert", packed, "--to", "csv", "--events", "-o", "-").stderr
    with pytest.warns(RuntimeWarning, match=r"\[TL16[78]\]"):
        list(timeloom_module.read(packed).events())


def test_a_run_that_is_woven_first_is_no_warning(tmp_path, program):
    run = record(program, CALLS, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(timeloom_module.read(run).events())) > 1000


def test_a_file_that_is_cut_to_its_head_is_told(both, timeloom):
    _, packed = both(CALLS)
    file = packed / "traces.packed"
    content = file.read_bytes()
    file.write_bytes(content[:100])
    assert timeloom("convert", packed, "--to", "csv", "--events", "-o", "-", status=1).stderr.rstrip().endswith("[TL164]")
    assert timeloom("info", packed).stderr.rstrip().endswith("; the profile is read instead [TL444]")


def test_a_link_in_the_place_of_a_trace_is_told(both, timeloom):
    _, packed = both(CALLS)
    (packed / "traces.packed").rename(packed.parent / "elsewhere")
    (packed / "traces.packed").symlink_to("../elsewhere")
    for command in ("report", "info"):
        assert "[TL259]" in timeloom(command, packed).stdout


def test_a_woven_run_names_the_command_for_the_other_form(both, timeloom):
    otf2, packed = both(CALLS)
    assert timeloom("weave", "--trace-format", "packed", otf2).stdout.endswith("; timeloom pack makes its trace a packed one\n")
    assert timeloom("weave", "--trace-format", "otf2", packed).stdout.endswith("; timeloom convert --to otf2 writes its trace as OTF2\n")
    assert timeloom("weave", "--trace-format", "otf2", otf2).stdout.endswith(": nothing to do\n")


def test_what_cannot_be_packed_is_refused(both, timeloom, tmp_path):
    _, packed = both(CALLS)
    assert timeloom("pack", packed, status=1).stderr.rstrip().endswith("[TL486]")
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "mine").write_text("mine")
    said = timeloom("convert", packed, "--to", "otf2", "-o", tmp_path / "archive", status=1).stderr
    assert said.rstrip().endswith("[TL485]") and os.listdir(tmp_path / "archive") == ["mine"]


TRACE = ("traces.otf2", "traces.def", "traces")


def put_back(archive, packed, names=TRACE):
    """As a packing leaves a run that is interrupted before it removes these."""
    for name in names:
        copy = shutil.copytree if (archive / name).is_dir() else shutil.copy
        copy(archive / name, packed / name)


def events(timeloom, run):
    return timeloom("convert", run, "--to", "csv", "--events", "-o", "-").stdout


def files_in(run):
    return {path.relative_to(run): path.read_bytes() for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize("left", [TRACE, ("traces.def", "traces"), ("traces",)])
def test_an_interrupted_packing_is_finished(both, timeloom, left):
    otf2, _ = both(CALLS)
    archive = shutil.copytree(otf2, otf2.with_name("archive"))
    report, expected = timeloom("report", "--full", otf2).stdout, events(timeloom, otf2)
    timeloom("pack", otf2)
    put_back(archive, otf2, left)
    assert timeloom("report", "--full", otf2).stdout == report
    timeloom("pack", otf2)
    assert not set(TRACE) & set(os.listdir(otf2))
    assert timeloom("report", "--full", otf2).stdout == report and events(timeloom, otf2) == expected
    assert timeloom("pack", otf2, status=1).stderr.rstrip().endswith("[TL486]")


def damage_block(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("change", [damage_block, lambda file: file.write_bytes(b""), lambda file: file.write_bytes(b"junk" * 99)])
def test_a_damaged_packed_trace_never_replaces_the_other_one(both, timeloom, change):
    otf2, _ = both(CALLS)
    archive = shutil.copytree(otf2, otf2.with_name("archive"))
    expected = events(timeloom, otf2)
    timeloom("pack", otf2)
    put_back(archive, otf2)
    change(otf2 / "traces.packed")
    before = files_in(otf2)
    assert timeloom("pack", otf2, status=1).stderr.rstrip().endswith("[TL488]")
    assert files_in(otf2) == before and events(timeloom, otf2) == expected
    (otf2 / "traces.packed").unlink()
    timeloom("pack", otf2)
    assert events(timeloom, otf2) == expected


def test_a_packed_trace_of_another_run_never_replaces_this_one(both, timeloom, program, tmp_path):
    otf2, packed = both(CALLS)
    (tmp_path / "other").mkdir()
    other = record(program, CALLS, tmp_path / "other")
    timeloom("weave", "--trace-format", "packed", other)
    shutil.copy(other / "traces.packed", otf2)
    before = files_in(otf2)
    assert timeloom("pack", otf2, status=1).stderr.rstrip().endswith("[TL488]")
    assert files_in(otf2) == before


def test_files_of_the_user_stay_where_they_are(both, timeloom):
    otf2, _ = both(CALLS)
    (otf2 / "traces" / "sub").mkdir()
    mine = {otf2 / "traces" / name for name in ("notes.txt", "0.evt.old", "sub/0.evt", "x.evt")}
    for file in mine:
        file.write_text("mine")
    timeloom("pack", otf2)
    assert {path for path in (otf2 / "traces").rglob("*") if path.is_file()} == mine


def test_the_packed_trace_has_the_rights_of_the_other_one(both, timeloom):
    otf2, _ = both(CALLS)
    (otf2 / "traces.otf2").chmod(0o640)
    if os.geteuid() == 0:
        os.chown(otf2 / "traces.otf2", 12345, 54321)
        os.chown(otf2 / "MANIFEST.md", 12345, 54321)
    expected = (otf2 / "traces.otf2").stat()
    timeloom("pack", otf2)
    made = (otf2 / "traces.packed").stat()
    assert (made.st_mode, made.st_uid, made.st_gid) == (expected.st_mode, expected.st_uid, expected.st_gid)
    assert (otf2 / "MANIFEST.md").stat().st_uid == expected.st_uid


def fail_to_sync():
    """fsync() fails with EIO in the program that is executed next."""
    number = {"x86_64": 74, "aarch64": 82}[os.uname().machine]
    lines = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050005), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program, 0, 0) == 0


def test_nothing_is_removed_before_the_packed_trace_is_on_the_disk(both, program, timeloom):
    otf2, _ = both(CALLS)
    expected = events(timeloom, otf2)
    done = subprocess.run([program, "pack", otf2], capture_output=True, text=True, preexec_fn=fail_to_sync, timeout=60)
    assert done.returncode == 1 and "Input/output error [TL491]" in done.stderr
    assert set(TRACE) <= set(os.listdir(otf2)) and events(timeloom, otf2) == expected


def test_a_damaged_trace_is_not_packed(both, timeloom):
    otf2, _ = both(CALLS)
    file = otf2 / "traces" / "0.evt"
    file.write_bytes(file.read_bytes()[:-40])
    assert timeloom("pack", otf2, status=1).stderr.rstrip().endswith("[TL488]")
    assert (otf2 / "traces.otf2").exists() and not (otf2 / "traces.packed").exists()


@pytest.mark.parametrize("name", ["calls", "threads", "values", "counters"])
def test_the_estimate_has_the_definitions(both, timeloom, name):
    otf2, _ = both(PROGRAMS[name][0], *PROGRAMS[name][1])
    estimate = json.loads(timeloom("info", "--json", otf2).stdout)["packing"]["packed_bytes"]
    timeloom("pack", otf2)
    assert estimate == pytest.approx((otf2 / "traces.packed").stat().st_size, rel=0.03)


def test_a_hole_at_the_end_is_not_read(both, timeloom):
    _, packed = both(CALLS)
    expected = events(timeloom, packed)
    os.truncate(packed / "traces.packed", 1 << 40)
    assert events(timeloom, packed) == expected
    assert "1 damaged or missing part of the packed trace left out" in timeloom("info", packed).stdout
