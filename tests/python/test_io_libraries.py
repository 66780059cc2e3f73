"""Input and output of Python and of a library, sqlite3, compared with what strace has seen."""

import os
import re
import shutil
import subprocess
import sys

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
    """Of Python's own files and of a C library, sqlite3."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed (scripts/install_deps.sh installs it)")
    report = by_file(io_of(record(MANY)), data)
    for path in data.iterdir():
        path.unlink()
    expected = traced(tmp_path / "program.py", data, tmp_path / "strace")
    sums = {key: figures[:2] for key, figures in report.items() if key[1] != "flush" and figures[1]}
    assert {key: value for key, value in expected.items() if value[1]} == sums
