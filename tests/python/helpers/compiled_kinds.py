"""The kinds of functions in compiled modules: a call of each, and how the modules are built.

The table of docs/native.md has a row for each entry of KINDS.
"""

import dataclasses
import subprocess
import sys
import sysconfig
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "native" / "kinds"
INCLUDES = ["-I", sysconfig.get_path("include")]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


@dataclasses.dataclass(frozen=True)
class Case:
    call: str
    region: str  # the function in the call that the row is about
    line: str = ""  # the start of its definition in the source; "": the region has no file


def of(module, *words):
    """Calls of functions of the module itself, whatever they are attributes of."""
    names = (word.split("(")[0].rpartition(".")[2] for word in words)
    return tuple(Case(f"{module}.{word}", f"{module}.{name}") for word, name in zip(words, names))


def cython(call, line):
    """The regions of Cython's functions have no class in their names."""
    return Case(f"kinds_cython.{call}", f"kinds_cython.{line.split('(')[0].split()[-1]}", line)


# By the columns "made with" and "functions" of the table.
KINDS = {
    ("Cython, `profile=True`", "functions and methods (`def`, `cpdef`, `cdef`), closures, special methods"): (
        cython("function()", "def function("),
        cython("fails()", "def fails("),
        cython("calls_c()", "def calls_c("),
        cython("calls_c()", "cdef int c_function("),
        cython("calls_failing()", "cdef int c_fails("),
        cython("both()", "cpdef int both("),
        cython("calls_both()", "cpdef int both("),
        cython("Plain().plain_method()", "def plain_method("),
        cython("Extension()", "def __cinit__("),
        cython("Extension().method()", "def method("),
        cython("Extension().calls_c_method()", "cdef int c_method("),
        cython("Extension().both_method()", "cpdef int both_method("),
        cython("Extension()()", "def __call__("),
        cython("Extension() + 1", "def __add__("),
        cython("makes_closure()()", "def closure("),
        cython("calls_back(lambda: 1)", "def calls_back("),
        cython("fails_inside()", "cdef int c_fails("),
    ),
    ("Cython, `profile=True`", "generators, coroutines"): (
        cython("takes_all()", "def generator("),
        cython("coroutine().send(None)", "async def coroutine("),
    ),
    ("Cython, `profile=True`", "functions without the GIL"): (
        Case("kinds_cython.calls_without_gil()", "kinds_cython.without_gil"),
    ),
    ("Cython without it", "functions and methods"): (
        Case("kinds_cython.silent()", "kinds_cython.silent"),
        Case("kinds_cython.Silent().silent_method()", "kinds_cython.Silent.silent_method"),
    ),
    ("Cython without it", "functions with `binding=False`"): of("kinds_cython", "silent_builtin()"),
    ("C", "functions and methods, by each calling convention"): (
        *of("kinds_c", "no_arguments()", "one(1)", "tuple(1)", "keywords(x=1)", "fast(1)", "fast_keywords(x=1)", "fails()"),
        Case("kinds_c.Box().method()", "kinds_c.Box.method"),
        Case("kinds_c.Box().with_class()", "kinds_c.Box.with_class"),
        Case("kinds_c.Box.of_class()", "kinds_c.Box.of_class"),
        Case("kinds_c.Box.static()", "kinds_c.Box.static"),
    ),
    ("C", "constructors, properties, operators, objects that can be called"): (
        Case("kinds_c.Box()", "kinds_c.Box"),
        Case("kinds_c.Box().value", "kinds_c.Box.value"),
        Case("kinds_c.Box() + 1", "kinds_c.Box.__add__"),
        Case("kinds_c.Box()()", "kinds_c.Box.__call__"),
    ),
    ("pybind11", "functions, static methods"): of(
        "kinds_pybind11", "function()", "overloaded('')", "fails()", "calls_back(lambda: 1)", "Box.static_method()"
    ),
    ("pybind11", "methods"): (Case("kinds_pybind11.Box().method()", "kinds_pybind11.method"),),
    ("pybind11", "constructors, properties, operators"): (
        Case("kinds_pybind11.Box()", "kinds_pybind11.__init__"),
        Case("kinds_pybind11.Box().value", "kinds_pybind11.value"),
        Case("kinds_pybind11.Box() + 1", "kinds_pybind11.__add__"),
    ),
    ("ctypes", "functions of libraries"): (Case("kinds_ctypes.abs(1)", "kinds_ctypes.abs"),),
    ("nanobind", "all"): (
        *of("kinds_nanobind", "function()", "fails()", "Box.static_method()"),
        Case("kinds_nanobind.Box().method()", "kinds_nanobind.method"),
        Case("kinds_nanobind.Box().value", "kinds_nanobind.value"),
    ),
    ("PyO3", "functions, methods"): (
        Case("jiter.from_json(b'1')", "jiter.jiter.from_json"),
        Case("rpds.HashTrieMap().insert(1, 2)", "rpds.HashTrieMap.insert"),
    ),
    ("PyO3", "constructors, properties"): (
        Case("rpds.HashTrieMap()", "rpds.HashTrieMap"),
        Case("rpds.List([1]).first", "rpds.List.first"),
    ),
    ("f2py", "routines"): (Case("kinds_f2py.twice(1)", "kinds_f2py.twice"),),
    ("cffi", "functions of libraries, opened by `dlopen()`"): (Case("kinds_cffi.abs(1)", "kinds_cffi.abs"),),
    ("numba", "compiled functions"): (Case("kinds_numba.function(1)", "kinds_numba.function"),),
    ("numba, `NUMBA_ENABLE_SYS_MONITORING=1`", "functions that Python calls"): (
        Case("kinds_numba.function(1)", "kinds_numba.function", "def function("),
        Case("kinds_numba.fails(1)", "kinds_numba.fails", "def fails("),
    ),
    ("numba", "its compiler"): (
        Case("kinds_numba.later(1)", "numba.core.dispatcher.Dispatcher.compile"),
    ),
}


def output(*command, **options):
    subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, **options)


def build_c(directory):
    output("cc", "-shared", "-fPIC", *INCLUDES, SOURCES / "kinds_c.c", "-o", directory / f"kinds_c{SUFFIX}")


def build_cython(directory):
    # Else its import switches the GIL on.
    options = ["-X", "freethreading_compatible=True"] if "t" in sys.abiflags else []
    file = directory / "kinds_cython.c"
    output(sys.executable, "-m", "cython", *options, "kinds_cython.pyx", "-o", file, cwd=SOURCES)
    output("cc", "-shared", "-fPIC", *INCLUDES, file, "-o", directory / f"kinds_cython{SUFFIX}")


def build_pybind11(directory):
    import pybind11

    includes = [*INCLUDES, "-I", pybind11.get_include()]
    output("c++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", *includes,
           SOURCES / "kinds_pybind11.cpp", "-o", directory / f"kinds_pybind11{SUFFIX}")  # fmt: skip


def build_nanobind(directory):
    import nanobind

    own = Path(nanobind.source_dir()).parent
    includes = [*INCLUDES, "-I", nanobind.include_dir(), "-I", own / "ext" / "robin_map" / "include"]
    output("c++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", *includes, own / "src" / "nb_combined.cpp",
           SOURCES / "kinds_nanobind.cpp", "-o", directory / f"kinds_nanobind{SUFFIX}")  # fmt: skip


def build_f2py(directory):
    import numpy

    own = Path(numpy.f2py.get_include())
    output(sys.executable, "-m", "numpy.f2py", "--quiet", SOURCES / "kinds_f2py.pyf", cwd=directory)
    output("cc", "-shared", "-fPIC", *INCLUDES, "-I", numpy.get_include(), "-I", own, "kinds_f2pymodule.c",
           own / "fortranobject.c", SOURCES / "kinds_f2py_twice.c", "-o", f"kinds_f2py{SUFFIX}", cwd=directory)  # fmt: skip


SMALL_BUILDERS = (build_c, build_cython, build_pybind11)
LARGE_BUILDERS = (build_nanobind, build_f2py)
