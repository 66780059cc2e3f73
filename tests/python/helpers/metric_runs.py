"""Runs with metrics: a program, a stand-in for PAPI, and the values recorded with the events."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from streams import run_python

NAMES = ["ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt",
         "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw"]  # fmt: skip
ARCHIVE_WRITER = Path(__file__).parent / "foreign" / "metric_archive.py"
PROGRAM = """
import threading
def work():
    leaf(); burn()
def leaf(): pass
def burn():
    sum(range(3_000_000))
    return bytearray(20_000_000)
work()
thread = threading.Thread(target=work); thread.start(); thread.join()
"""

needs_printer = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")


@pytest.fixture
def work(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    return tmp_path


def record(work, *options, env=None, status=0):
    command = ["-m", "timeloom", "--quiet", "--force", "-o", "run", *options, "app.py"]
    done = run_python(command, work, env=env)
    assert (done.returncode, done.stderr == "") == (status, status == 0), done.stderr
    return done


def printed(run, *options):
    command = ["otf2-print", *options, str(run / "traces.otf2")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def events(run):
    """By location: (kind, time, values or region)."""
    result = {}
    for line in printed(run):
        match = re.match(r"(ENTER|LEAVE|METRIC)\s+(\d+)\s+(\d+)\s+(.*)", line)
        if match is None:
            continue
        kind, location, time, rest = match.groups()
        if kind == "METRIC":
            named = re.findall(r'\("(\w+)" <\d+>; UINT64; (\d+)\)', rest)
            values = {name: int(value) for name, value in named} or rest
        else:
            values = re.search(r'Region: "([^"]*)"', rest).group(1)
        result.setdefault(int(location), []).append((kind, int(time), values))
    return result


@pytest.fixture(scope="module")
def papi(tmp_path_factory):
    """The directory of a libpapi.so that counts its own reads."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    directory = tmp_path_factory.mktemp("papi")
    source = Path(__file__).with_name("metric_papi_stand_in.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", directory / "libpapi.so", source], check=True)
    return {"LD_LIBRARY_PATH": f"{directory}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
