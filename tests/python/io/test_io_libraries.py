"""I/O of libraries below the Python functions that caused it, and sums compared with strace."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest
from io_runs import by_file, data, io_of, record  # noqa: F401

pytestmark = pytest.mark.any_python

CALL = re.compile(r"^\d+ +(\w+)\(\d+<([^>]*)>.*= (\d+)$")


def traced(program, folder, trace):
    """Calls and bytes by file and system call, as strace sees them in plain Python."""
    calls = "read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2"
    done = subprocess.run(
        ["strace", "-f", "-y", "-o", trace, "-e", f"trace={calls}", sys.executable, program, folder],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"strace does not run here: {done.stderr.strip()}")
    sums = {}
    for line in trace.read_text().splitlines():
        found = CALL.match(line)
        if found and found[2].startswith(f"{folder}/"):
            key = (os.path.relpath(found[2], folder), "read" if "read" in found[1] else "write")
            operations, size = sums.get(key, (0, 0))
            sums[key] = (operations + 1, size + int(found[3]))
    return sums


MANY = '''
import os
import sqlite3
import sys

folder = sys.argv[1]
with open(folder + "/lines", "w") as file:
    for i in range(5000):
        print("line", i, file=file)
with open(folder + "/lines") as file:
    assert sum(1 for line in file) == 5000
base = sqlite3.connect(folder + "/base")
base.execute("create table t (a, b)")
base.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(1000)])
base.commit()
assert base.execute("select count(*) from t").fetchone() == (1000,)
base.close()
parts = os.open(folder + "/parts", os.O_RDWR | os.O_CREAT)
assert os.pwritev(parts, [b"abc", b"de"], 0) + os.pwritev(parts, [b"x" * 100], 5, os.RWF_DSYNC) == 105
assert os.preadv(parts, [bytearray(50), bytearray(70)], 3) + os.preadv(parts, [bytearray(7)], 90, os.RWF_HIPRI) == 109
'''


def test_sums_are_those_of_strace(record, data, io_of, tmp_path):
    """For Python's own files and a C library, sqlite3."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed (scripts/install_deps.sh installs it)")
    report = by_file(io_of(record(MANY)), data)
    for path in data.iterdir():
        path.unlink()
    expected = traced(tmp_path / "program.py", data, tmp_path / "strace")
    sums = {key: figures[:2] for key, figures in report.items() if key[1] != "flush" and figures[1]}
    assert {key: value for key, value in expected.items() if value[1]} == sums


def of_function(report, name):
    """Return the bytes below a function of the program, by C function and operation."""
    sums = Counter()
    for row in report["call_paths"]:
        if f"__main__.{name}" in row["path"] and row["bytes"]:
            sums[row["path"][-1], row["operation"]] += row["bytes"]
    return sums


NUMPY = """
import sys
import numpy


def store(path):
    numpy.arange(1000, dtype="i8").tofile(path)


def load(path):
    assert numpy.fromfile(path, dtype="i8").sum() == 499500


store(sys.argv[1] + "/numbers")
load(sys.argv[1] + "/numbers")
"""


def test_arrays_of_numpy(record, data, io_of):
    report = io_of(record(NUMPY))
    assert of_function(report, "store") == {("fwrite", "write"): 8000}
    assert of_function(report, "load") == {("fread", "read"): 8000}
    assert {key: row[1] for key, row in by_file(report, data).items()} == {
        ("numbers", "write"): 8000, ("numbers", "read"): 8000}  # fmt: skip


SQLITE = """
import os, sqlite3, sys


def store(path):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("pragma journal_mode=off")
    base.execute("begin")
    base.execute("create table t (a, b)")
    base.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(1000)])
    base.execute("commit")
    base.close()


def load(path):
    base = sqlite3.connect(path)
    assert base.execute("select count(*) from t").fetchone() == (1000,)
    base.close()


store(sys.argv[1] + "/base")
load(sys.argv[1] + "/base")
"""


def test_pages_of_sqlite(record, data, io_of):
    """Without a journal each page is written once, when the only transaction ends."""
    report = io_of(record(SQLITE))
    stored, loaded, files = of_function(report, "store"), of_function(report, "load"), by_file(report, data)
    assert {operation for _, operation in loaded} == {"read"}
    written = sum(size for (_, operation), size in stored.items() if operation == "write")
    assert written == files["base", "write"][1] == (data / "base").stat().st_size
    read = sum(size for (_, operation), size in stored.items() if operation == "read")
    seed = by_file(report, "/dev").get(("urandom", "read"), (0, 0))[1]  # of SQLite from 3.53 on
    assert read + sum(loaded.values()) == files["base", "read"][1] + seed
    assert sum(loaded.values()) > 8000  # all pages of the table


def written_and_read(report):
    """The bytes that store() has written and load() has read."""
    stored, loaded = of_function(report, "store"), of_function(report, "load")
    return (
        sum(size for (_, operation), size in stored.items() if operation == "write"),
        sum(size for (_, operation), size in loaded.items() if operation == "read"),
    )


PYARROW = """
import sys
import pyarrow, pyarrow.parquet


def store(path):
    pyarrow.parquet.write_table(pyarrow.table({"a": list(range(1000))}), path)


def load(path):
    assert pyarrow.parquet.ParquetFile(path, pre_buffer=False).read(use_threads=False).num_rows == 1000


store(sys.argv[1] + "/table")
load(sys.argv[1] + "/table")
"""


@pytest.mark.one_python
def test_tables_of_pyarrow(record, data, io_of):
    pytest.importorskip("pyarrow")
    report = io_of(record(PYARROW))
    files = by_file(report, data)
    assert written_and_read(report) == (files["table", "write"][1], files["table", "read"][1])
    assert files["table", "write"][1] == (data / "table").stat().st_size
    assert files["table", "read"][1] > 4000


H5PY = """
import sys
import h5py


def store(path):
    with h5py.File(path, "w") as file:
        file["numbers"] = list(range(1000))


def load(path):
    with h5py.File(path, "r") as file:
        assert sum(file["numbers"][:]) == 499500


store(sys.argv[1] + "/file")
load(sys.argv[1] + "/file")
"""


def test_files_of_h5py(record, data, io_of):
    pytest.importorskip("h5py")
    report = io_of(record(H5PY))
    files = by_file(report, data)
    assert written_and_read(report) == (files["file", "write"][1], files["file", "read"][1])
    assert files["file", "write"][3] == files["file", "read"][3] == 8000  # the numbers, at once
