"""Functions of compiled code that exceptions and jumps leave: later calls do not lie inside them."""

import shutil
import subprocess
import sys

import pytest
from compiled_calls import named, recorded
from native_programs import NATIVE, calls, output, record
from spool_reader import spools_of, stream
from streams import environment

__all__ = ["record"]  # a fixture

pytestmark = pytest.mark.any_python

OPTIONS = ("--no-weave", "--quiet", "--compiler")
CLANG = next((name for name in ("clang++", *(f"clang++-{n}" for n in range(21, 13, -1))) if shutil.which(name)), None)
COMPILERS = {
    "gcc": ("g++", "-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr/include"),
    "clang": (CLANG, "-finstrument-functions-after-inlining"),
}
OURS = ["main", "first", "second", "third", "after", "small", "thrown", "again", "thrown_again", "jumped", "fibre", "call_back"]


@pytest.fixture(scope="module", params=COMPILERS)
def build(request, tmp_path_factory):
    """Builds left.cpp, with and without optimization."""
    compiler, *flags = COMPILERS[request.param]
    if compiler is None or shutil.which(compiler) is None:
        pytest.skip(f"no {request.param}")
    directory = tmp_path_factory.mktemp(request.param)

    def build(name, *options):
        output(compiler, "-g", *flags, NATIVE / "left.cpp", "-o", name, "-pthread", *options, cwd=directory)
        return directory / name

    return build


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def program(request, build):
    return build(f"left{request.param}", request.param)


def ours(run, location=0):
    return [event for event in recorded(run, location) if event[1] in OURS]


@pytest.mark.parametrize("mode", ["thrown", "again", "jumped", "fibre"])
def test_functions_that_are_left_end_there(program, record, tmp_path, mode):
    done = record(program, mode, options=OPTIONS)
    assert len(calls(done)) >= 2 * (2 + 3 * 5) and ours(tmp_path / "run") == calls(done)


def test_a_thread(program, record, tmp_path):
    record(program, "thread", options=OPTIONS)
    loop = "first second third . . . small . after . "
    assert ours(tmp_path / "run", 1) == calls(f"thrown {3 * loop} .")


@pytest.mark.parametrize("mode", ["thrown", "jumped"])
def test_a_loop_makes_the_stack_no_deeper(program, record, tmp_path, mode):
    done = record(program, mode, options=(*OPTIONS, "--max-depth", "5"))
    deepest = calls(done)
    assert ours(tmp_path / "run") == deepest
    record(program, mode, options=(*OPTIONS, "--max-depth", "3", "-o", tmp_path / "three"))
    assert ours(tmp_path / "three") == [event for event in deepest if event[1] not in ("second", "third")]


PYTHON = """
import ctypes, sys

def inside():
    pass

library = ctypes.CDLL(sys.argv[1])
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda unused: inside())
library.call_back(callback, None)
"""


def test_calls_of_python_lie_beside_them(build, tmp_path):
    library = build("libleft.so", "-shared", "-fPIC", "-O2")
    (tmp_path / "app.py").write_text(PYTHON)
    command = [sys.executable, "-m", "timeloom", *OPTIONS, "-o", "run", "app.py", library]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment({}))
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    events = [(kind, name.rpartition(".")[2]) for kind, name, *_ in stream(named(spool), 0)]
    assert [event for event in events if event[1] in (*OURS, "inside")] == calls(
        f"call_back {3 * 'first second third . . . inside . '} ."
    )
