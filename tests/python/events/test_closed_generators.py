"""Generators that are closed while they wait are one visit, whatever the interpreter does.

CPython 3.13 and 3.14 do not run a generator that waits outside of try blocks; early patch releases never do.
"""

import sys
import textwrap

import pytest
from streams import each_instrumenter
from test_streams_programs import check

HEADER = """
import types
def leaf(): pass
def one():
    leaf()
    yield 1
    leaf()
def guarded():
    try: yield 1
    finally: leaf()
def delegating(inner): yield from inner()
@types.coroutine
def pause(): yield
async def waits(): await pause()
async def asynchronous():
    leaf()
    yield 1
"""

# Here CPython throws into a generator that has not started, too, and every profile function sees it.
RUNS_UNBEGUN = sys.version_info < (3, 12)

# A program, and its stream of events.
CLOSED = {
    "by close()": (
        "g = one(); next(g); g.close(); g.close()",
        "one leaf. . one. .",
    ),
    "by its last reference": (
        "g = one(); next(g); del g",
        "one leaf. . one. .",
    ),
    "by a loop that breaks off": (
        "for _ in one(): break",
        "one leaf. . one. .",
    ),
    "in a try block": (
        "g = guarded(); next(g); g.close()",
        "guarded. guarded leaf. . .",
    ),
    "that delegates": (
        "g = delegating(one); next(g); g.close()",
        "delegating one leaf. . . one. delegating. .",
    ),
    "that delegates twice": (
        "g = delegating(lambda: delegating(one)); next(g); del g",
        "delegating delegating one leaf. . . . one. delegating. delegating. .",
    ),
    "that delegates to a try block": (
        "g = delegating(guarded); next(g); g.close()",
        "delegating guarded. . guarded leaf. . delegating. .",
    ),
    "by an exception": (
        "g = one(); next(g)\ntry: g.throw(GeneratorExit)\nexcept GeneratorExit: leaf()",
        "one leaf. . one. leaf. .",
    ),
    "by an exception, delegating": (
        "g = delegating(one); next(g)\ntry: g.throw(GeneratorExit)\nexcept GeneratorExit: leaf()",
        "delegating one leaf. . . one. delegating. leaf. .",
    ),
    "before it has begun": (
        "one().close(); leaf()",
        "one. leaf. ." if RUNS_UNBEGUN else "leaf. .",
    ),
    "after it has ended": (
        "g = one(); list(g); g.close()",
        "one leaf. . one leaf. . .",
    ),
    "a coroutine": (
        "c = waits(); c.send(None); c.close()",
        "waits pause. . pause. waits. .",
    ),
    "an asynchronous generator": (
        "a = asynchronous()\ntry: a.asend(None).send(None)\nexcept StopIteration: pass\ndel a",
        "asynchronous leaf. . asynchronous. .",
    ),
    "by a class derived from it": (
        "class Closing:\n"
        "    def __init__(self): self.g = one()\n"
        "    def __iter__(self): return self\n"
        "    def __next__(self): return next(self.g)\n"
        "    def close(self): self.g.close()\n"
        "g = delegating(Closing); next(g); g.close()",
        "Closing. delegating Closing:__init__. Closing:__iter__. Closing:__next__ one leaf. . . ."
        " Closing:close one. . delegating. .",
    ),
}


@pytest.mark.parametrize("how", CLOSED)
@each_instrumenter
def test_a_closed_generator_is_visited(how, instrumenter, tmp_path):
    text, expected = CLOSED[how]
    check(textwrap.dedent(HEADER) + text + "\n", instrumenter, tmp_path, "<module> " + expected)


@each_instrumenter
def test_nothing_is_visited_while_recording_is_off(instrumenter, tmp_path):
    program = (
        textwrap.dedent(HEADER)
        + "import timeloom\ng = one(); h = one(); next(g); next(h)\nwith timeloom.stop(): g.close()\nh.close()\n"
    )
    check(program, instrumenter, tmp_path, "<module> one leaf. . one leaf. . one. .")
