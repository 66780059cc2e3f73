"""Programs that start a cluster of Dask, measured, and count the calls of their functions themselves."""

import collections
import json
import subprocess
import sys
import textwrap

import pytest
from process_runs import Run
from streams import environment

# Every function that runs in a task writes its name; the program prints the keys.
FUNCTIONS = """
import json, os
import dask
from distributed import Client, LocalCluster

dask.config.set({"distributed.admin.tick.limit": "1h"})
HERE = os.getcwd()

def note(name):
    with open(os.path.join(HERE, "calls"), "a") as file:
        file.write(name + "\\n")

def first_time(name):
    try:
        os.close(os.open(os.path.join(HERE, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

def inc(n):
    note("inc")
    return half(2 * n) + 1

def half(n):
    note("half")
    return n // 2

def total(numbers):
    note("total")
    return sum(numbers)

def fail_once(n):
    note("fail_once")
    if first_time("failed"):
        raise ValueError(n)
    return n

def die_once(n):
    note("die_once")
    if first_time("died"):
        os.kill(os.getpid(), 9)
    return half(n)

def cluster(**how):
    where = {} if how.get("processes") is False else {"host": "127.0.0.1"}
    return LocalCluster(dashboard_address=None, silence_logs=60, **where, **how)

def run_all(client, *more):
    parts = client.map(inc, range(20))
    futures = [*parts, client.submit(total, parts), client.submit(fail_once, 1, retries=2), *more]
    client.gather(futures)
    print(json.dumps([future.key for future in futures]))
"""


def program(text):
    return FUNCTIONS + textwrap.dedent(text)


@pytest.fixture
def measure(tmp_path, timeloom_program):
    """Dask prints lines of its own on a busy machine; Timeloom is to print none."""

    def measure(text, *options):
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "program.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment())
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stderr.splitlines() if line.startswith("timeloom")] == []
        return Run(tmp_path / "run", timeloom_program), done.stdout

    return measure


@pytest.fixture
def calls(tmp_path):
    """The calls that the program has counted, by function."""
    return lambda: collections.Counter((tmp_path / "calls").read_text().split())


def rows_by(timeloom, run, key):
    rows = json.loads(timeloom("report", "--by", key, "--json", run.directory).stdout)["rows"]
    return {row["name"]: row["tasks"] for row in rows}
