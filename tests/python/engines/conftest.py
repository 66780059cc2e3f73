"""A cluster of Dask that runs already, and measured programs that use it."""

import subprocess
import sys

import pytest
from streams import environment

# It gets a further worker as soon as the file `grow` is there. While `drop` is there, its scheduler drops annotations.
CLUSTER = """
import os, time
from distributed import LocalCluster
from distributed.scheduler import Scheduler

message_of = Scheduler._task_to_msg

def message_of_task(self, *arguments, **named):
    message = message_of(self, *arguments, **named)
    return {**message, "annotations": {}} if os.path.exists("drop") else message

Scheduler._task_to_msg = message_of_task

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                      silence_logs=60) as cluster:
        print(cluster.scheduler_address, flush=True)
        while not os.path.exists("end"):
            if os.path.exists("grow"):
                cluster.scale(2)
            time.sleep(0.02)
"""
PROGRAM = """
import os, sys, time
from distributed import Client
import timeloom.dask

def half(n):
    return n // 2

def records():
    from timeloom import _core
    return _core.running()

def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.02)

def note(name):
    open(name, "w").close()

def run(client, keys, workers=None):
    print(sum(client.gather([client.submit(half, 8, key=key, workers=workers) for key in keys])))

if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        timeloom.dask.measure(client)
"""


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, "cluster.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment()) as running:
        try:
            yield running.stdout.readline().strip()
        finally:
            (tmp_path / "end").touch()
            running.communicate(timeout=100)


@pytest.fixture
def start(tmp_path, cluster):
    """Starts a measured program, which has its run beside it."""

    def start(name, text, variables=None, replaced=None, options=()):
        program = PROGRAM
        for old, new in (replaced or {}).items():
            assert old in program
            program = program.replace(old, new)
        (tmp_path / f"{name}.py").write_text(program + text)
        command = [sys.executable, "-m", "timeloom", "-o", name, *options, f"{name}.py", cluster]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True, env=environment(variables))

    return start


@pytest.fixture
def lines_of():
    """Returns the lines of Timeloom of a program that has ended well."""

    def lines_of(program, output):
        told, errors = program.communicate(timeout=200)
        assert (program.returncode, told) == (0, output), errors
        return [line for line in errors.splitlines() if line.startswith("timeloom")]

    return lines_of
