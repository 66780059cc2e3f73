"""What a wrapped call costs while nothing is measured: instructions, counted one by one."""

import platform
import re
import subprocess
from pathlib import Path

import pytest
from io_runs import wrapped_functions
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the counter is for x86-64"),
]

NATIVE = Path(__file__).resolve().parents[1] / "native"
SOURCE = NATIVE / "count_steps.c"
FUNCTIONS = set(re.findall(r"^ +(?:CALL|RUN)\((\w+)", SOURCE.read_text(), re.MULTILINE))
# Their arguments have to be put into a list, which the form for lists takes.
OF_ANY_NUMBER = {"printf", "fprintf", "dprintf", "scanf", "fscanf"}


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "count_steps"
    subprocess.run(["cc", "-O0", "-fno-builtin", SOURCE, "-o", path, "-pthread"], check=True)
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
        return int(done.stdout.splitlines()[-1])  # behind what puts() and others have printed

    return steps


@pytest.mark.parametrize("function", sorted(FUNCTIONS - OF_ANY_NUMBER))
def test_at_most_ten_instructions(steps, function):
    assert 0 < steps(function) <= 10


@pytest.mark.parametrize("function", sorted(OF_ANY_NUMBER))
def test_functions_of_any_number_of_arguments(steps, function):
    assert 0 < steps(function) <= 30


def test_every_function_is_counted(timeloom_program):
    """But sync(), for which the whole machine would wait."""
    assert wrapped_functions(timeloom_program) - FUNCTIONS == {"sync"}
