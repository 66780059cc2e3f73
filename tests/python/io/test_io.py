"""I/O in traces and profiles: the wrapper library of `--io posix`."""

import json
import os
import re
import subprocess
from collections import Counter

import pytest
from archives import DEBIAN_PYTHON
from converted import Chrome, Perfetto, converter
from cube_files import sums_by_region
from io_runs import by_file, data, io_of, record  # noqa: F401
from scorep_runs import run_scorep

pytestmark = pytest.mark.any_python

PROGRAM = '''
import os
import sys


def write_whole(path):
    with open(path, "wb", buffering=0) as file:
        for _ in range(10):
            file.write(b"x" * 100)


def read_parts(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(64):
            pass


def at_offsets(path):
    file = os.open(path, os.O_RDWR | os.O_APPEND)
    os.pread(file, 30, 5)
    os.lseek(file, 0, os.SEEK_END)
    copy = os.dup(file)
    os.write(copy, b"12345")
    os.fsync(copy)
    os.close(copy)
    os.writev(file, [b"ab", b"cde"])
    os.close(file)


def forget(path):
    os.unlink(path)


folder = sys.argv[1]
write_whole(folder + "/data")
read_parts(folder + "/data")
at_offsets(folder + "/data")
write_whole(folder + "/gone")
forget(folder + "/gone")
'''


SMALL_WRITES = '''
import sys
with open(sys.argv[1] + "/small", "wb", buffering=0) as file:
    for _ in range(200):
        file.write(b"0123456789")
'''


EXPECTED = {
    ("data", "write"): (10 + 2, 1000 + 10, 5, 100),
    ("data", "read"): (17 + 1, 1000 + 30, 0, 64),
    ("data", "flush"): (1, 0, 0, 0),
    ("gone", "write"): (10, 1000, 100, 100),
}


def test_operations_and_bytes_are_those_of_the_program(record, data, io_of):
    report = io_of(record(PROGRAM))
    assert (report["format"], report["version"]) == ("timeloom-report-io", 1)
    assert by_file(report, data) == EXPECTED


@pytest.mark.parametrize(("format", "reader"), [("perfetto", Perfetto), ("chrome", Chrome)])
def test_exports_show_what_was_read_and_written(record, data, program, tmp_path, format, reader):
    file = reader(converter(program, record(PROGRAM), tmp_path)(format))
    ((_, marks),) = file.transfers.items()
    prefix = f"{data}/"
    mine = [(one["file"].removeprefix(prefix), name, one) for _, name, one in marks
            if one.get("file", "").startswith(prefix)]  # fmt: skip
    found = {key: [one["bytes"] for path, name, one in mine if (path, name) == key] for key in EXPECTED if key[1] != "flush"}
    assert {key: (len(all_), sum(all_), min(all_), max(all_)) for key, all_ in found.items()} == {
        key: known for key, known in EXPECTED.items() if key[1] != "flush"
    }
    assert Counter((path, name) for path, name, _ in mine if name not in ("read", "write")) == {
        ("data", "flush"): 1, ("data", "open"): 3, ("data", "close"): 4, ("data", "duplicate"): 1, ("data", "seek"): 1,
        ("gone", "open"): 1, ("gone", "close"): 1, ("gone", "delete"): 1,
    }  # fmt: skip
    assert [one["offset"] for _, name, one in mine if name == "seek"] == [1000]
    assert [one["bytes"] for _, name, one in mine if one.get("offset") == 5] == [30]
    assert file.categories["write"] == "io"


def test_the_profile_has_the_bytes_of_score_p(record, io_of):
    run = record(PROGRAM)
    report = io_of(run)
    for operation, metric in (("read", "io_bytes_read"), ("write", "io_bytes_written")):
        expected = Counter()
        for row in report["call_paths"]:
            if row["operation"] == operation and row["bytes"]:
                expected[row["path"][-1]] += row["bytes"]
        assert sums_by_region(run / "profile.cubex", metric) == expected


def test_calls_lie_below_the_function_that_caused_them(record, io_of):
    report = io_of(record(PROGRAM))
    found = {
        (*row["path"][-2:], row["operation"]): (row["operations"], row["bytes"])
        for row in report["call_paths"] if row["path"][-2].startswith("__main__.")
    }  # fmt: skip
    assert found == {
        ("__main__.write_whole", "write", "write"): (20, 2000),
        ("__main__.read_parts", "read", "read"): (17, 1000),
        ("__main__.at_offsets", "pread", "read"): (1, 30),
        ("__main__.at_offsets", "write", "write"): (1, 5),
        ("__main__.at_offsets", "fsync", "flush"): (1, 0),
        ("__main__.at_offsets", "writev", "write"): (1, 5),
    }


def test_nothing_of_our_own_files_and_of_the_start(record, io_of):
    run = record("pass\n")
    assert io_of(run)["files"] == []


def test_without_the_option_nothing_is_recorded(record, io_of):
    assert io_of(record(PROGRAM, io=()))["files"] == []


def test_children_do_not_inherit_the_wrapper(record):
    run = record("""
        import os, subprocess, sys
        assert "LD_PRELOAD" not in os.environ
        said = subprocess.run(["env"], capture_output=True, text=True).stdout
        assert "LD_PRELOAD" not in said
    """)
    assert run.exists()


def test_preload_of_the_user_stays(record):
    libc = next(line.split()[2] for line in subprocess.run(
        ["ldd", "/bin/ls"], capture_output=True, text=True, check=True).stdout.splitlines() if "libc.so" in line)
    record("""
        import os
        assert os.environ["LD_PRELOAD"].endswith("libc.so.6"), os.environ["LD_PRELOAD"]
    """, LD_PRELOAD=libc)  # fmt: skip


@pytest.mark.parametrize("option", ["--io", "--thread"])
def test_preload_of_what_there_is_not(timeloom_program, option):
    done = subprocess.run([timeloom_program, "preload", option, "foo"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"timeloom: {option}: 'foo' is not accepted; write one of none, ")


def test_wrapper_preloaded_by_hand_and_twice(record, data, io_of, timeloom_program):
    value = subprocess.run(
        [timeloom_program, "preload", "--print", "--io", "posix"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert os.path.basename(value) == "libtimeloom_wrap_io.so"
    run = record(PROGRAM, io=(), LD_PRELOAD=f"{value} {value}")
    assert by_file(io_of(run), data) == EXPECTED


SCORE_P_PRELOADED = {
    "nothing of them": ((), {}, True),
    "another one": (("--mpp=none",), {}, True),
    "all refused": (("--io=none", "--thread=none", "--mpp=none"), {}, False),
    "by the variable": ((), {"TIMELOOM_IO": "posix"}, True),
}


@pytest.mark.parametrize(("options", "variables", "recorded"), SCORE_P_PRELOADED.values(), ids=SCORE_P_PRELOADED)
def test_wrapper_preloaded_by_hand_for_score_p(
    options, variables, recorded, tmp_path, data, io_of, timeloom_program
):  # as its README says, without an option
    if not variables:
        command = [timeloom_program, "scorep-preload-init", "--user", "--io=runtime:posix", "--value-only", "/x/app"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        variables = {"LD_PRELOAD": done.stdout.strip()}
    (tmp_path / "app.py").write_text(PROGRAM)
    run_scorep(tmp_path, *options, "app.py", data, SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING="true",
               **variables)  # fmt: skip
    assert by_file(io_of(tmp_path / "run"), data) == (EXPECTED if recorded else {})


def test_pipes_are_one_row(record, io_of):
    """Each started process adds one, and its number is not known."""
    report = io_of(record("""
        import subprocess, sys
        for _ in range(5):
            subprocess.run(["echo"], stdout=subprocess.PIPE, check=True)
    """))  # fmt: skip
    rows = [row for row in report["files"] if "pipe" in row["file"]]
    assert [(row["file"], row["operation"]) for row in rows] == [("pipes", "read")]
    assert rows[0]["operations"] >= 10 and rows[0]["bytes"] == 5


def test_compiled_modules_are_one_row(record, io_of, data):
    """A program that imports much would not find its own files among theirs."""
    for i in range(5):
        (data / f"imported_{i}.py").write_text("x = 1\n")
    program = """
        import importlib, sys
        sys.path.insert(0, sys.argv[1])
        for _ in range(2):
            for i in range(5):
                importlib.import_module(f"imported_{i}")
                del sys.modules[f"imported_{i}"]
        with open(sys.argv[1] + "/own.pyc.text", "w") as file:
            file.write("x")
    """
    report = io_of(record(program, PYTHONDONTWRITEBYTECODE=""))
    rows = sorted((row for row in report["files"] if row["file"].startswith("comp")), key=lambda row: row["operation"])
    name = "compiled modules (.pyc)"
    assert [(row["file"], row["operation"]) for row in rows] == [(name, "read"), (name, "write")]
    assert rows[0]["bytes"] >= rows[1]["bytes"] and rows[1]["operations"] >= 5
    assert ("own.pyc.text", "write") in by_file(report, data)


def test_profile_mode_has_regions_and_bytes(record, timeloom_program):
    run = record(PROGRAM, "--profile")
    done = subprocess.run(
        [timeloom_program, "report", "--flat", "--json", run], capture_output=True, text=True, check=True
    )
    rows = {row["name"]: row["visits"] for row in json.loads(done.stdout)["flat"]["rows"]}
    assert (rows["write"], rows["pread"], rows["writev"], rows["unlink"]) == (21, 1, 1, 1)


def test_the_report_of_a_profile_has_bytes_by_call_path(record, timeloom_program, io_of):
    run = record(PROGRAM, "--profile")
    report = io_of(run)
    rows = {(*row["path"][-2:], row["operation"]): (row["operations"], row["bytes"]) for row in report["call_paths"]}
    assert rows == {
        ("__main__.write_whole", "write", "write"): (20, 2000),
        ("__main__.read_parts", "read", "read"): (17, 1000),
        ("__main__.at_offsets", "pread", "read"): (1, 30),
        ("__main__.at_offsets", "write", "write"): (1, 5),
        ("__main__.at_offsets", "writev", "write"): (1, 5),
    }
    assert report["files"] == [] and "no trace" in report["files_unknown"]
    assert {(row["smallest"], row["largest"]) for row in report["call_paths"]} == {(None, None)}
    text = subprocess.run([timeloom_program, "report", "--io", run], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^ *20 +2.00 kB .* write +__main__.write_whole > write$", text, re.MULTILINE)
    assert "smallest" not in text
    assert text.splitlines()[-1].startswith("The run has a profile and no trace")


def test_many_small_writes_are_said_of_a_profile(record, timeloom_program):
    run = record(SMALL_WRITES, "--profile")
    done = subprocess.run([timeloom_program, "report", "--io", run], capture_output=True, text=True, check=True)
    assert "many small writes: 200 of 10 B on average by __main__.<module> > write; fewer" in done.stdout


READER = """
import json, sys
import otf2
from otf2.events import *
def name_of(value):
    return str(value).rpartition(".")[2]
events = []
with otf2.reader.open(sys.argv[1]) as trace:
    handles = {h.file.name if h.file else h.name for h in trace.definitions.io_handles}
    for location, event in trace.events:
        name = type(event).__name__
        if not name.startswith("Io"):
            continue
        if name == "IoDeleteFile":
            events.append([name, event.file.name])
            continue
        handle = getattr(event, "handle", None) or event.old_handle
        extra = []
        if name == "IoOperationBegin":
            extra = [name_of(event.mode), event.bytes_request]
            extra += [value for key, value in (event.attributes or {}).items() if key.name == "Offset"]
        if name == "IoOperationComplete":
            extra = [event.bytes_result]
        if name == "IoSeek":
            extra = [event.offset_request, name_of(event.whence), event.offset_result]
        if name == "IoCreateHandle":
            extra = [name_of(event.mode)]
        events.append([name, handle.file.name if handle.file else handle.name, *extra])
print(json.dumps(events))
"""


def test_archive_as_others_read_it(record, data):
    run = record(PROGRAM)
    done = subprocess.run(
        [DEBIAN_PYTHON, "-c", READER, run / "traces.otf2"], capture_output=True, text=True, check=True
    )
    gone = str(data / "gone")
    data = str(data / "data")
    events = [event for event in json.loads(done.stdout) if event[1] == data]
    at = events.index(["IoOperationBegin", data, "READ", 30, 5])
    assert events[at:] == [
        ["IoOperationBegin", data, "READ", 30, 5],
        ["IoOperationComplete", data, 30],
        ["IoSeek", data, 0, "FROM_END", 1000],
        ["IoDuplicateHandle", data],
        ["IoOperationBegin", data, "WRITE", 5],
        ["IoOperationComplete", data, 5],
        ["IoOperationBegin", data, "FLUSH", 2**64 - 1],
        ["IoOperationComplete", data, 2**64 - 1],
        ["IoDestroyHandle", data],
        ["IoOperationBegin", data, "WRITE", 5],
        ["IoOperationComplete", data, 5],
        ["IoDestroyHandle", data],
    ]
    assert Counter(name for name, *_ in events) == {
        "IoCreateHandle": 3, "IoDestroyHandle": 4, "IoDuplicateHandle": 1, "IoSeek": 1,
        "IoOperationBegin": 31, "IoOperationComplete": 31,
    }  # fmt: skip
    assert ["IoDeleteFile", gone] in json.loads(done.stdout)


def test_many_small_writes_are_said(record, timeloom_program):
    run = record(SMALL_WRITES)
    done = subprocess.run([timeloom_program, "report", "--io", run], capture_output=True, text=True, check=True)
    assert "many small writes: 200 of 10 B on average to " in done.stdout
    assert re.search(r"^ *200 +2.00 kB +10 B +10 B .*write .*small$", done.stdout, re.MULTILINE)


LINES = '''
import ctypes, sys

libc = ctypes.CDLL(None)
libc.fopen.restype = libc.fgets.restype = ctypes.c_void_p
line = ctypes.create_string_buffer(16)
for name, text in ("lines", b"plain\\n\\nzero\\0in it\\n\\0\\0\\n"), ("cut", b"a\\0" * 20 + b"\\n"), ("open", b"one\\0two"):
    path = f"{sys.argv[1]}/{name}"
    open(path, "wb").write(text)
    stream = ctypes.c_void_p(libc.fopen(path.encode(), b"r"))
    while libc.fgets(line, len(line), stream):
        pass
    libc.fclose(stream)
'''


def test_lines_with_zero_bytes(record, data, io_of):
    """fgets() does not return the number of bytes read; after the end of the file it cannot be known."""
    figures = by_file(io_of(record(LINES)), data)
    assert figures["lines", "read"] == (5, 6 + 1 + 11 + 3, 0, 11)
    assert (figures["cut", "read"], figures["open", "read"]) == ((4, 41, 0, 15), (2, 3, 0, 3))


# In the README of the bindings for Score-P 4.
USER_WARNING = "scorep-preload-init: warning: option not suitable for uninstrumented applications: '--user'"


@pytest.mark.parametrize("option", ["--io=runtime:posix", "--io=posix", "--io=runtime:posix,isoc"])
def test_scorep_preload_init(timeloom_program, option):
    command = [timeloom_program, "scorep-preload-init", "--user", option, "/x/app"]
    done = subprocess.run([*command, "--value-only"], capture_output=True, text=True, check=True)
    assert os.path.basename(done.stdout) == "libtimeloom_wrap_io.so\n"
    assert os.path.isabs(done.stdout) and done.stderr == USER_WARNING + "\n"
    without = subprocess.run([*command[:2], option, "--value-only"], capture_output=True, text=True, check=True)
    assert (without.stdout, without.stderr) == (done.stdout, "")
    whole = subprocess.run(command, capture_output=True, text=True, check=True)
    assert whole.stdout == "LD_PRELOAD=" + done.stdout


def test_scorep_preload_init_says_what_is_not_recorded(timeloom_program):
    command = [timeloom_program, "scorep-preload-init", "--value-only", "--mpp=shmem", "--io=none", "--user"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
    assert done.stderr.splitlines() == ["scorep-preload-init: --mpp=shmem: it is not recorded", USER_WARNING]
