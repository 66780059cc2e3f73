"""C functions called through method objects. From CPython 3.12 on their starts and ends are reported under two
names."""

import sys

import pytest
from streams import C_INSTRUMENTERS, assert_same, measure
from test_streams_choice import everything, of_program_and_c
from test_streams_programs import calls

# The C functions that are called through method objects are not called in any other way.
THROUGH_METHODS = ("repr", "max", "str.upper")

BOUND = """
import types
class A:
    text = classmethod(repr)
    size = types.MethodType(max, 3)
def run():
    for _ in range(3): A.text(); A().size(1); types.MethodType(str.upper, "x")(); types.MethodType(max, [3, 1])(key=abs)
    try: types.MethodType(max, 5)()
    except TypeError: len([])
run()
"""

# A method object is called inside of a C function, and a function in Python after that.
NESTED = """
import types
class L:
    def __len__(self):
        types.MethodType(repr, [1])()
        return after()
def after(): return 3
def run():
    for _ in range(3): len(L())
def key(x):
    types.MethodType(max, [3, 1])()
    return again(x)
def again(x): return x
def keys():
    for _ in range(3): sorted([3, 1, 2], key=key)
run(); keys()
"""

# f(*arguments) of a method object is not reported at all, as on 3.11, or its end is not.
UNPACKED = """
import types
def after(): return abs(helper())
def helper(): return 3
def run():
    b = types.MethodType(repr, [1, 2, 3]); a = ()
    for _ in range(20): b(*a); after(); b(**{}); len(*[[]])
    ord("a")
run()
"""

STREAMS = {
    BOUND: "<module> __build_class__ A. . run" + " repr. max. str:upper. max." * 3 + " max. len. . .",
    NESTED: "<module> __build_class__ L. . run" + " len L:__len__ repr. after. . ." * 3
    + ". keys" + (" sorted" + " key max. again. ." * 3 + " .") * 3 + ". .",
    UNPACKED: "<module> run" + " after helper. abs. . len." * 20 + " ord. . .",
}  # fmt: skip
C_FUNCTIONS = {*THROUGH_METHODS, "__build_class__", "len", "sorted", "abs", "ord"}


def expected(program):
    result = []
    for kind, name in calls(STREAMS[program]):
        bare = name.removeprefix("__main__.")
        result.append([kind, f"builtins.{bare}" if bare in C_FUNCTIONS else name])
    return result


def without_methods(stream):
    """Return the stream without the calls of these functions, whatever they contain."""
    left_out = {f"builtins.{name}" for name in THROUGH_METHODS}
    return [event for event in stream if event[1] not in left_out]


@pytest.mark.parametrize("program", STREAMS, ids=["bound", "nested", "unpacked"])
@pytest.mark.parametrize("instrumenter", C_INSTRUMENTERS)
def test_calls_through_method_objects(instrumenter, program, tmp_path):
    """As on 3.11, event by event. From 3.12 on a profile function gets only some starts or ends: these calls may be
    missing, but nothing else, and none stays open while its caller continues."""
    (got,), process = measure(program, instrumenter, tmp_path, "--c-functions", keep=everything)
    assert (process.returncode, process.stderr) == (0, "")
    got, right = of_program_and_c(got), expected(program)
    if instrumenter == "profile" and sys.version_info >= (3, 12):
        depth = dict.fromkeys(THROUGH_METHODS, 0)
        for kind, name in got:
            bare = name.removeprefix("builtins.")
            if bare in depth:
                depth[bare] += 1 if kind == "enter" else -1
                assert depth[bare] in (0, 1)
        got, right = without_methods(got), without_methods(right)
    assert_same([got], [right])
