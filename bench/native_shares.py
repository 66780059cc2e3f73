"""Compares samples of compiled code with shares that programs know: by Timeloom and by py-spy.

usage: python bench/native_shares.py [--json] [--rounds N] [--only NAME,...] [--scratch DIR]

Method
  Three programs spend 60, 30 and 10 % of their CPU time in three C functions, each called by a Python
  function of its own: through ctypes, from an extension module, and in BLAS (NumPy on one thread). A
  program works until a function has its part, by the CPU clock of its thread, and prints these times.
  It runs plain under `py-spy record --native`, which stops the process, and under `timeloom run
  --sample`, both 1,000 times a second. The error is the largest difference between a share and the
  program's own, in percentage points: of the C functions, and of the Python functions that called
  them. A busy machine changes the number of samples, hardly the shares. Writes nothing.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import sysconfig

import startup
from limits import Figures
from truth import compare

ROUNDS = 3
NAMES = ("sixty", "thirty", "ten")
SECONDS = 4.0
Shares = dict[str, float]
Counts = collections.Counter[str]

C_CODE = """
#ifdef EXTENSION
#include <Python.h>
#endif
static volatile double number = 1;
#define FUNCTION(name) \\
  __attribute__((noinline)) void name(long steps) { \\
    for (long i = 0; i < steps; ++i) number = number * 0.999 + 1; \\
  }
FUNCTION(sixty) FUNCTION(thirty) FUNCTION(ten)
#ifdef EXTENSION
#define METHOD(name) \\
  static PyObject* call_##name(PyObject* self, PyObject* steps) { \\
    name(PyLong_AsLong(steps)); \\
    Py_RETURN_NONE; \\
  }
METHOD(sixty) METHOD(thirty) METHOD(ten)
static PyMethodDef methods[] = {
  {"sixty", call_sixty, METH_O, ""}, {"thirty", call_thirty, METH_O, ""}, {"ten", call_ten, METH_O, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "busy_extension", "", -1, methods};
PyMODINIT_FUNC PyInit_busy_extension(void) { return PyModule_Create(&module); }
#endif
"""

# The C functions by the words that their names have in OpenBLAS, which has one for each processor.
BLAS = {"sixty": ("gemm", "exec_blas", "inner_thread"), "thirty": ("gemv",), "ten": ("dot",)}

WORK = {
    "ctypes": "import ctypes\nbusy = ctypes.CDLL('./busy.so')\n"
              "for one in (busy.sixty, busy.thirty, busy.ten): one.argtypes = [ctypes.c_long]\n"
              "def sixty(): busy.sixty(60000)\ndef thirty(): busy.thirty(60000)\ndef ten(): busy.ten(60000)\n",
    "extension": "import busy_extension as busy\n"
                 "def sixty(): busy.sixty(60000)\ndef thirty(): busy.thirty(60000)\ndef ten(): busy.ten(60000)\n",
    "BLAS": "import numpy\nmatrix = numpy.ones((200, 200))\nlarge = numpy.ones((1000, 1000))\n"
            "row = numpy.ones(1000)\nvector = numpy.ones(20000)\n"
            "def sixty(): matrix @ matrix\ndef thirty(): large @ row\n"
            "def ten():\n    for _ in range(20): vector.dot(vector)\n",
}  # fmt: skip

DRIVER = """
import json, random, time
random.seed(1)
taken = {"sixty": 0, "thirty": 0, "ten": 0}
parts = {"sixty": 0.6, "thirty": 0.3, "ten": 0.1}
while sum(taken.values()) < %f * 1e9:
    name = min(taken, key=lambda one: taken[one] / parts[one])
    before = time.thread_time_ns()
    for _ in range(random.randrange(1, 20)):  # no rhythm that the samples could have, too
        globals()[name]()
    taken[name] += time.thread_time_ns() - before
print(json.dumps(taken))
"""


def script(program: str) -> str:
    return f"calls_{program}.py"


def build(directory: pathlib.Path) -> None:
    (directory / "busy.c").write_text(C_CODE, encoding="utf-8")
    command = ["cc", "-O1", "-shared", "-fPIC", str(directory / "busy.c")]
    subprocess.run([*command, "-o", str(directory / "busy.so")], check=True)
    include = f"-I{sysconfig.get_path('include')}"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    subprocess.run([*command, "-DEXTENSION", include, "-o", str(directory / f"busy_extension{suffix}")], check=True)
    for name, work in WORK.items():
        (directory / script(name)).write_text(work + DRIVER % SECONDS, encoding="utf-8")


def shares(counts: Counts) -> Shares:
    return {name: counts[name] / max(counts.total(), 1) for name in NAMES}


def own_shares(output: str) -> Shares:
    """As the program has printed them, in the only line of JSON."""
    (line,) = [line for line in output.splitlines() if line.startswith("{")]
    return shares(Counts(json.loads(line)))


def native_name(program: str, symbol: str) -> str | None:
    """The one of the three C functions that this is, or a part of."""
    if program != "BLAS":
        return symbol if symbol in NAMES else None
    return next((name for name, words in BLAS.items() if any(word in symbol for word in words)), None)


def run(command: list[str], directory: pathlib.Path) -> str:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def timeloom(program: str, directory: pathlib.Path) -> tuple[Shares, Counts, Counts]:
    """The shares that the program knows, the CPU time by C function and by Python function."""
    command = [startup.program(), "run", "--quiet", "--force", "--sample", "1ms", "-o", "run", script(program)]
    expected = own_shares(run(command, directory))
    native, python = Counts(), Counts()
    for function in json.loads(run([startup.program(), "report", "--native", "--json", "run"], directory))["functions"]:
        name = native_name(program, function["function"])
        for caller in function["callers"]:
            time = round(caller["seconds"] * 1e9)
            if name:
                native[name] += time
            called_by = (caller["function"] or "").rpartition(".")[2]
            if called_by in NAMES:
                python[called_by] += time
    return expected, native, python


def stacks(program: str, text: str) -> tuple[Counts, Counts]:
    """The samples of collapsed stacks by C function and by Python function."""
    native, python = Counts(), Counts()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        at = next((i for i, one in enumerate(frames) if one.split(" ")[0] in NAMES and script(program) in one), None)
        if at is None:
            continue
        python[frames[at].split(" ")[0]] += int(count)
        names = (native_name(program, frame.split(" ")[0]) for frame in reversed(frames[at + 1 :]))
        name = next(filter(None, names), None)
        if name:
            native[name] += int(count)
    return native, python


def py_spy(program: str, directory: pathlib.Path) -> tuple[Shares, Counts, Counts]:
    command = [str(pathlib.Path(sysconfig.get_path("scripts")) / "py-spy"), "record", "--native", "-r", "1000",
               "-f", "raw", "-o", "stacks.txt", "--", sys.executable, script(program)]  # fmt: skip
    expected = own_shares(run(command, directory))
    return expected, *stacks(program, (directory / "stacks.txt").read_text(encoding="utf-8"))


def error(found: Counts, expected: Shares) -> float | None:
    """In percentage points; None: these functions are not named."""
    if not found:
        return None
    return round(100 * max(abs(shares(found)[name] - expected[name]) for name in NAMES), 2)


def measure(program: str, rounds: int, scratch: pathlib.Path) -> Figures:
    build(scratch)
    figures: Figures = {}
    for tool in (timeloom, py_spy):
        results = [tool(program, scratch) for _ in range(rounds)]
        figures[tool.__name__] = {
            "of C": [error(native, expected) for expected, native, _ in results],
            "of Python": [error(python, expected) for expected, _, python in results],
        }
    return figures


if __name__ == "__main__":
    compare(__doc__, [*WORK], ROUNDS, measure)
