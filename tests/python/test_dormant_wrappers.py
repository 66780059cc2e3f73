"""What a wrapped call costs while nothing is measured: instructions, counted one by one."""

import platform
import subprocess
from pathlib import Path

import pytest
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the counter is for x86-64"),
]

NATIVE = Path(__file__).resolve().parents[1] / "native"
FUNCTIONS = [
    "read", "write", "pread", "readv", "preadv", "preadv2", "pwritev2", "lseek", "dup", "close", "unlink", "lockf", "fread", "fflush", "getdelim",
    "tmpfile", "vfprintf", "vscanf", "vdprintf", "flockfile", "ftrylockfile", "funlockfile", "aio_read", "aio_write", "aio_fsync",
    "aio_error", "aio_return", "aio_suspend", "aio_cancel", "lio_listio", "pthread_mutex_trylock", "pthread_mutex_unlock",
]  # fmt: skip


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "count_steps"
    subprocess.run(["cc", "-O1", NATIVE / "count_steps.c", "-o", path, "-pthread"], check=True)
    return path


@pytest.fixture(scope="module")
def preload(timeloom_program):
    command = [timeloom_program, "preload", "--print", "--io", "posix", "--thread", "pthread"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def steps(counter, preload):
    def steps(function):
        done = subprocess.run([counter, function], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env=environment({"LD_PRELOAD": preload}))  # fmt: skip
        if done.returncode == 2:
            pytest.skip("ptrace is not allowed here")
        assert done.returncode == 0
        return int(done.stdout)

    return steps


@pytest.mark.parametrize("function", FUNCTIONS)
def test_at_most_ten_instructions(steps, function):
    assert 0 < steps(function) <= 10


# Their arguments have to be put into a list, which the form for lists takes.
@pytest.mark.parametrize("function", ["scanf", "dprintf"])
def test_functions_of_any_number_of_arguments(steps, function):
    assert 0 < steps(function) <= 40
