"""User regions against functions; pauses; recording off and on."""

import json
import textwrap

import pytest
from spool_reader import spools_of
from streams import INSTRUMENTERS, assert_same, each_instrumenter, measure, run_python
from test_streams_programs import calls, check, kept

REGIONS = {
    "begin in one function, end in another": (
        """
        def begins(): timeloom.region_begin("user:r"); leaf()
        def ends(): leaf(); timeloom.region_end("user:r"); leaf()
        begins(); leaf(); ends()
        timeloom.region_begin("user:r"); leaf(); ends(); leaf()
        """,
        # A region ends with the function that began it; a function ends with the region that encloses it.
        "<module> begins user:r leaf. . . leaf. ends leaf. leaf. . user:r leaf. ends leaf. . . leaf. leaf. .",
        1,
    ),
    "end without begin": (
        """
        def ends(): timeloom.region_end("user:never"); leaf()
        timeloom.region_end("user:r"); ends(); ends()
        """,
        "<module> ends leaf. . ends leaf. . .",
        3,
    ),
    "open when its function raises": (
        """
        def raises(): timeloom.region_begin("user:r"); leaf(); raise ValueError
        try: raises()
        except ValueError: leaf()
        """,
        "<module> raises user:r leaf. . . leaf. .",
        0,
    ),
    "open when its generator yields": (
        """
        def generator():
            timeloom.region_begin("user:r")
            leaf()
            yield
            leaf()
            timeloom.region_end("user:r")
        for _ in generator(): leaf()
        """,
        "<module> generator user:r leaf. . . leaf. generator leaf. . .",
        1,
    ),
    "with in a generator, and the same in its caller": (
        """
        def generator():
            with timeloom.region("user:r"):
                leaf()
                yield
                leaf()
            leaf()
        with timeloom.region("user:r"):
            for _ in generator(): leaf()
            leaf()
        leaf()
        """,
        "<module> user:r generator user:r leaf. . . leaf. generator leaf. leaf. . leaf. . leaf. .",
        1,
    ),
    "end inside a recursion": (
        """
        def recursive(n):
            if n == 2: timeloom.region_begin("user:r")
            if n: recursive(n - 1)
            else: timeloom.region_end("user:r")
            leaf()
        recursive(3)
        """,
        # The two calls inside the region end with it, and do not belong to the others.
        "<module> recursive recursive user:r recursive recursive. . . leaf. leaf. leaf. . leaf. . .",
        0,
    ),
    "crossed": (
        """
        timeloom.region_begin("user:a"); timeloom.region_begin("user:b"); leaf()
        timeloom.region_end("user:a"); leaf(); timeloom.region_end("user:b")
        """,
        "<module> user:a user:b leaf. . . leaf. .",
        1,
    ),
    "deep": (
        """
        def nested(n):
            if n:
                with timeloom.region("user:r"): nested(n - 1)
        sys.setrecursionlimit(10_000)
        nested(2_500)
        for _ in range(5_000): timeloom.region_begin("user:s")
        for _ in range(5_000): timeloom.region_end("user:s")
        """,
        "<module> nested " + "user:r nested " * 2_500 + ". . " * 2_500 + ". " + "user:s " * 5_000 + ". " * 5_000 + ".",
        0,
    ),
    "decorated": (
        """
        import asyncio
        @timeloom.region("user:f")
        def function(n):
            leaf()
            if n: function(n - 1)
            else: raise ValueError
        @timeloom.region("user:g")
        def generator():
            leaf(); yield 1
            leaf(); yield 2
        @timeloom.region("user:c")
        async def coroutine():
            await asyncio.sleep(0)
            leaf()
        @timeloom.region("user:a")
        async def asynchronous():
            leaf(); yield 1
            leaf()
        async def main():
            await coroutine()
            async for _ in asynchronous(): leaf()
        try: function(1)
        except ValueError: pass
        list(generator())
        g = generator(); next(g); g.close()
        asyncio.run(main())
        """,
        "<module> user:f function leaf. user:f function leaf. . . . ."
        " user:g generator leaf. . . user:g generator leaf. . . user:g generator. ."
        " user:g generator leaf. . . user:g generator. ."
        " main user:c coroutine. . . main user:c coroutine leaf. . ."
        " user:a asynchronous leaf. . . leaf. user:a asynchronous leaf. . . . .",
        0,
    ),
    "with, left by every way": (
        """
        def returns():
            with timeloom.region("user:r"): return leaf()
        def loops():
            for i in range(3):
                with timeloom.region("user:r"):
                    if i == 0: continue
                    if i == 1: break
                leaf()
        def raises():
            with timeloom.region("user:r"): raise ValueError
        returns(); loops()
        try: raises()
        except ValueError: pass
        r = timeloom.region("user:again")
        with r:
            with r: leaf()
        """,
        "<module> returns user:r leaf. . . loops user:r. user:r. . raises user:r. . user:again user:again leaf. . . .",
        0,
    ),
}

HEADER = "import sys, timeloom\ndef leaf(): pass\n"


@pytest.mark.parametrize("name", REGIONS)
@each_instrumenter
def test_user_regions(name, instrumenter, tmp_path):
    text, expected, unmatched = REGIONS[name]
    program = HEADER + textwrap.dedent(text)
    check(program, instrumenter, tmp_path, expected)
    assert totals_of(program, instrumenter, tmp_path)["unmatched_leaves"] == unmatched


def totals_of(program, instrumenter, tmp_path):
    (tmp_path / "measured.py").write_text(program)
    process = run_python(
        ["-c", "import json, runpy, timeloom\n"
         f"m = timeloom.Measurement(output='totals', instrumenter={instrumenter!r}, weave=False).start()\n"
         "runpy.run_path('measured.py', run_name='__main__')\nm.finish()\nprint(json.dumps(m.totals))"],
        tmp_path,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


def test_dummy_records_user_regions_only(tmp_path):
    program = HEADER + textwrap.dedent(REGIONS["with, left by every way"][0])
    check(program, "dummy", tmp_path, "user:r. user:r. user:r. user:r. user:again user:again. .")


# --- Pauses ---------------------------------------------------------------------------------

PAUSES = {
    "in a block": (
        "def f():\n    leaf()\n    with timeloom.stop(): leaf(); g()\n    leaf()\ndef g(): leaf()\nf(); f()",
        "<module>" + " f leaf. leaf. ." * 2 + " .",
    ),
    "begun in one function, ended in another": (
        "def stops(): leaf(); timeloom.stop(); leaf()\n"
        "def starts(n):\n    leaf()\n    if n: starts(n - 1)\n    else: timeloom.start(); leaf()\n    leaf()\n"
        "stops(); leaf(); starts(2); leaf()\nstops(); leaf(); starts(0); leaf()",
        # A function that returns unobserved is left when observation resumes.
        "<module> stops leaf. . leaf. leaf. leaf. leaf. leaf. stops leaf. . leaf. leaf. leaf. .",
    ),
    "in a recursion": (
        "def f(n):\n    leaf()\n    if n == 2: timeloom.stop()\n    if n: f(n - 1)\n    else: timeloom.start(); leaf()\n    leaf()\nf(3)",
        "<module> f leaf. f leaf. leaf. leaf. leaf. leaf. . leaf. . .",
    ),
    "with user regions": (
        "with timeloom.region('user:a'):\n    with timeloom.stop():\n        leaf()\n"
        "        with timeloom.region('user:b'): leaf()\n    leaf()\n"
        "def f():\n    with timeloom.region('user:c'):\n        timeloom.stop(); leaf()\n    timeloom.start(); leaf()\nf()\nleaf()",
        "<module> user:a user:b. leaf. . f user:c. leaf. . leaf. .",
    ),
    "in a generator": (
        "def generator():\n    leaf()\n    timeloom.stop()\n    yield\n    timeloom.start()\n    leaf()\n    yield\n    leaf()\n"
        "for _ in generator(): leaf()\nleaf()",
        # Only `frame` can tell whether the generator has yielded meanwhile.
        {"": "<module> generator leaf. leaf. . leaf. generator leaf. . leaf. .",
         "frame": "<module> generator leaf. . leaf. leaf. generator leaf. . leaf. ."},
    ),
    "nested": (
        "with timeloom.stop():\n    with timeloom.start():\n        leaf()\n        with timeloom.stop(): leaf()\n    leaf()\nleaf()",
        "<module> leaf. leaf. .",
    ),
}


@pytest.mark.parametrize("name", PAUSES)
@each_instrumenter
def test_pauses(name, instrumenter, tmp_path):
    text, expected = PAUSES[name]
    if isinstance(expected, dict):
        expected = expected.get(instrumenter, expected[""])
    check(HEADER + text, instrumenter, tmp_path, expected)


@pytest.mark.parametrize("instrumenter", [one for one in INSTRUMENTERS if one != "frame"])
def test_a_function_that_hides_its_calls_hides_them_when_recording_goes_on(instrumenter, tmp_path):
    """The frame hook gets no return of a call that started without it."""
    program = HEADER + "timeloom.stop()\ndef busy(): timeloom.start(); leaf()\nbusy()\nleaf()"
    check(program, instrumenter, tmp_path, "<module> leaf. .", options=["--function-exclude=^busy$"])


OFF, ON = ["recording_off", None], ["recording_on", None]


def with_switches(text):
    """calls(), in which | switches recording off and on."""
    result, off = [], False
    pieces = text.split("|")
    stream = calls(" ".join(pieces))
    position = 0
    for piece in pieces[:-1]:
        words = piece.replace(".", " . ").split()
        result += stream[position : position + len(words)]
        position += len(words)
        off = not off
        result.append(OFF if off else ON)
    return result + stream[position:]


RECORDING = {
    "across functions": (
        "def switches_off(): leaf(); timeloom.disable_recording(); leaf()\n"
        "def switches_on(): leaf(); timeloom.enable_recording(); leaf()\n"
        "switches_off(); leaf(); switches_on(); leaf()",
        "<module> switches_off leaf. | | . leaf. leaf. .",
    ),
    "user regions that begin or end meanwhile": (
        "timeloom.region_begin('user:a')\ntimeloom.disable_recording()\ntimeloom.region_end('user:a')\n"
        "timeloom.region_begin('user:b')\ntimeloom.enable_recording()\nleaf()\ntimeloom.region_end('user:b')\nleaf()",
        "<module> user:a | | . leaf. leaf. .",
    ),
    "a region of the time before, ended meanwhile by an inner function": (
        "def ends():\n    timeloom.disable_recording()\n    timeloom.region_end('user:a')\n"
        "    timeloom.enable_recording()\n    leaf()\n"
        "timeloom.disable_recording()\ntimeloom.region_begin('user:a')\ntimeloom.enable_recording()\nends()\nleaf()",
        "<module> | | ends | | leaf. . leaf. .",
    ),
    "while paused": (
        "timeloom.region_begin('user:a')\ntimeloom.stop()\ntimeloom.disable_recording()\ntimeloom.region_end('user:a')\n"
        "with timeloom.region('user:b'): leaf()\ntimeloom.enable_recording()\nwith timeloom.region('user:c'): leaf()\n"
        "timeloom.start()\nleaf()",
        "<module> user:a | | . user:c. leaf. .",
    ),
    "resumed while off": (
        "timeloom.stop()\ntimeloom.disable_recording()\nleaf()\ntimeloom.start()\nleaf()\ntimeloom.enable_recording()\nleaf()",
        "<module> | | leaf. .",
    ),
    "off at the end": (
        "def f(): timeloom.disable_recording()\nleaf()\nf()\nleaf()",
        "<module> leaf. f | . .",
    ),
    "parameters and counters": (
        "timeloom.disable_recording()\ntimeloom.counter('c', 1)\ntimeloom.parameter_int('p', 1)\ntimeloom.marker('m')\n"
        "timeloom.enable_recording()\nleaf()",
        "<module> | | leaf. .",
    ),
}


@pytest.mark.parametrize("name", RECORDING)
@each_instrumenter
def test_recording_off_and_on(name, instrumenter, tmp_path):
    text, expected = RECORDING[name]
    got, process = measure(HEADER + text, instrumenter, tmp_path, keep=kept)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    assert_same(got, [with_switches(expected)])


@each_instrumenter
def test_pause_by_another_thread(instrumenter, tmp_path):
    program = """
    import threading, timeloom
    def leaf(): pass
    def outer(): inner(); leaf(); middle(); leaf()
    def inner(): here.release(); there.acquire()
    def middle(): here.release(); there.acquire(); leaf()
    here, there = threading.Semaphore(0), threading.Semaphore(0)
    thread = threading.Thread(target=outer); thread.start()
    here.acquire()
    with timeloom.stop():
        there.release()
        here.acquire()
    leaf()
    there.release(); thread.join()
    """
    # inner ends and middle starts unobserved.
    check(program, instrumenter, tmp_path, "<module> leaf. .", "outer inner. leaf. leaf. .")


@each_instrumenter
def test_regions_on_class_and_static_methods(instrumenter, tmp_path):
    """The decorator may stand above or below theirs, with a name or without one."""
    program = """
    import timeloom
    class A:
        @timeloom.region("user:c")
        @classmethod
        def c(cls): return cls.__name__
        @timeloom.region("user:s")
        @staticmethod
        def s(): return "s"
        @classmethod
        @timeloom.region("user:d")
        def d(cls): return "d"
        unnamed = timeloom.region(classmethod(lambda cls: 1))
    assert (A.c(), A().c(), A.s(), A().s(), A.d()) == ("A", "A", "s", "s", "d")
    assert A.unnamed() == 1 and A().unnamed() == 1
    """
    run = tmp_path / f"run-{instrumenter}"
    measure(textwrap.dedent(program), instrumenter, tmp_path)
    (spool,) = spools_of(run)
    entered = [name for kind, name, *_ in spool.events(0) if kind == "enter"]
    wanted = ["user:c", "__main__.A.c"] * 2 + ["user:s", "__main__.A.s"] * 2 + ["user:d", "__main__.A.d"]
    assert [name for name in entered if name in wanted] == wanted


def test_a_region_without_a_name_on_what_has_none(tmp_path):
    """A partial object is named like its function, other objects like their class: never by an address."""
    program = """
    import functools, timeloom
    def f(a, b, c): return a + b + c
    class Adder:
        def __call__(self, a): return a + 1
    class Outer:
        class Inner(Adder): pass
    plain = timeloom.region(functools.partial(functools.partial(f, 1), b=2))
    wrapped = timeloom.region(functools.partial(functools.wraps(f)(lambda *a: f(*a)), 1, 2))
    assert (plain(c=3), wrapped(3), timeloom.region(Adder())(1), timeloom.region(Outer.Inner())(2)) == (6, 6, 2, 3)
    """
    measure(textwrap.dedent(program), "dummy", tmp_path)
    (spool,) = spools_of(tmp_path / "run-dummy")
    entered = [name for kind, name, *_ in spool.events(0) if kind == "enter"]
    assert entered == ["__main__.f", "__main__.f", "__main__.Adder", "__main__.Outer.Inner"]
