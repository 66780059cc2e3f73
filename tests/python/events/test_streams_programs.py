"""Streams of programs that a profile function cannot follow, compared with the correct ones."""

import sys
import textwrap

from streams import assert_same, each_instrumenter, measure, plain


def calls(text):
    """Streams in short: `f` enters f, `.` leaves the innermost region; `A:f` is A.f."""
    stream, stack = [], []
    for word in text.replace(".", " . ").split():
        if word == ".":
            stream.append(["leave", stack.pop()])
        else:
            stack.append(word if word.startswith("user:") else "__main__." + word.replace(":", "."))
            stream.append(["enter", stack[-1]])
    assert not stack
    return stream


def kept(name):
    """Return the stream without functions that print and look up."""
    return name == "__main__.<module>" or (name.startswith(("__main__.", "user:")) and "<" not in name)


def check(program, instrumenter, tmp_path, *expected, options=(), keep=kept, error=""):
    program = textwrap.dedent(program)
    undisturbed = plain(program, tmp_path)
    got, process = measure(program, instrumenter, tmp_path, *options, keep=keep)
    assert (process.returncode, process.stdout) == (undisturbed.returncode, undisturbed.stdout), process.stderr
    assert process.stderr == undisturbed.stderr + error
    assert_same(got, [calls(text) for text in expected])
    return process


# --- Recursion ------------------------------------------------------------------------------


@each_instrumenter
def test_recursion(instrumenter, tmp_path):
    """10,000 deep, and RecursionError at the depth where plain Python raises it."""
    (stream,), process = measure("recursion.py", instrumenter, tmp_path)
    undisturbed = plain("recursion.py", tmp_path)
    assert (process.stdout, process.stderr) == (undisturbed.stdout, undisturbed.stderr)
    depths = [int(word) for word in process.stdout.split() if word.isdigit()][1:3]
    count = lambda name: sum(1 for kind, region in stream if (kind, region) == ("enter", f"__main__.{name}"))
    assert count("down") == 10_001 + 11
    assert count("even") + count("odd") == 3_001
    assert count("endless") == sum(depths)


INITS = """
import functools

def around(function):
    @functools.wraps(function)
    def wrapper(self, value):
        return function(self, value)
    return wrapper

def set_value(self, value):
    self.value = value

class Wrapped:
    @around
    def __init__(self, value):
        self.values = lambda: (self, value)

class Assigned:
    __init__ = set_value

class Base:
    def start(self, value):
        self.value = value
    __init__ = start

class Derived(Base):
    def __init__(self, value):
        super().__init__(value)

class Fails:
    def begin(self, value):
        if value % 2:
            raise ValueError(value)
    __init__ = begin

def failing(value):
    try:
        Fails(value)
    except ValueError:
        pass

Derived(0)
for i in range(60):
    Wrapped(i)
    Assigned(i)
    Base(i)
    Derived(i)
    failing(i)
"""


@each_instrumenter
def test_functions_of_other_names_that_begin_instances(instrumenter, tmp_path):
    """With 3.13 the interpreter calls them past a frame hook, once it has specialised the call."""
    chain = "Derived:__init__ Base:start . . "
    check(
        INITS, instrumenter, tmp_path,
        "<module> Wrapped around . . Assigned . Base . Derived . Fails . " + chain
        + 60 * ("around:<locals>:wrapper Wrapped:__init__ . . set_value . Base:start . " + chain + "failing Fails:begin . . ")
        + ".",
        keep=lambda name: name.startswith("__main__."),
    )  # fmt: skip


AGAIN = """
import timeloom

class Assigned:
    def start(self, value):
        self.value = value
    __init__ = start

def make():
    for i in range(30):
        Assigned(i)

def measured():
    make()

make()
timeloom.pause()
make()
timeloom.resume()
measured()
timeloom.pause()
timeloom.resume()
measured()
"""


@each_instrumenter
def test_calls_of_classes_that_were_specialised_before(instrumenter, tmp_path):
    """The interpreter bypasses the hook from the first observed call on."""
    part = "make " + 30 * "Assigned:start . " + ". "
    check(
        AGAIN, instrumenter, tmp_path, "<module> Assigned . " + part + 2 * ("measured " + part + ". ") + ".",
        keep=lambda name: name.startswith("__main__."),
    )  # fmt: skip


DEEP = """
import sys, threading
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
sys.setrecursionlimit(100_100)
print(down(100_000))
threading.stack_size(128 * 1024)
thread = threading.Thread(target=down, args=(20_000,))
thread.start()
thread.join()
def oscillate(n):
    return 0 if n == 0 else oscillate(n - 1) + down(3)
print(oscillate(8_000))
def generators(n):
    yield n
    if n:
        yield from generators(n - 1)
print(sum(generators(300)))
try:
    down(10 ** 6)
except RecursionError:
    print("RecursionError")
"""


@each_instrumenter
def test_deep_recursion(instrumenter, tmp_path):
    (main, thread), process = measure(DEEP, instrumenter, tmp_path)
    undisturbed = plain(DEEP, tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, undisturbed.stdout, "")
    assert len(thread) == 2 * 20_001
    assert main.count(["enter", "__main__.oscillate"]) == 8_001
    # 100,097 more of them until the limit: main, <module> and what Python itself needs.
    assert 200_000 < main.count(["enter", "__main__.down"]) - 8_000 * 4 < 200_102


@each_instrumenter
def test_frames_that_are_refused_are_not_recorded(instrumenter, tmp_path):
    program = """
    import sys
    def endless(): counted[0] += 1; endless()
    def generator(): yield from generator()
    class Callable:
        def __call__(self): counted[0] += 1; self()
    counted = [0]
    for function in (endless, lambda: list(generator()), Callable()):
        try:
            function()
        except RecursionError:
            pass
    print(counted)
    """
    program = textwrap.dedent(program)
    (stream,), process = measure(program, instrumenter, tmp_path)
    (counted,) = [int(word) for word in process.stdout.strip("[]\n").split(",")]
    begun = [event for event in stream if event[0] == "enter"]
    assert counted == begun.count(["enter", "__main__.endless"]) + begun.count(["enter", "__main__.Callable.__call__"])


# --- Objects that die -----------------------------------------------------------------------


@each_instrumenter
def test_finalizers_of_locals(instrumenter, tmp_path):
    """Objects freed with the locals of a function die after its leave; for `frame` from 3.12 on inside it, because it
    cannot tell (docs/instrumenters.md)."""
    program = """
    import weakref
    def helper(*_): pass
    class Dies:
        def __del__(self): helper()
    def function():
        local = Dies()
        helper()
    def weak():
        local = set()
        alive.append(weakref.ref(local, helper))
    alive = []
    function()
    weak()
    """
    if instrumenter == "frame" and sys.version_info >= (3, 12):
        expected = "<module> Dies. function helper. Dies:__del__ helper. . . weak helper. . ."
    else:
        expected = "<module> Dies. function helper. . Dies:__del__ helper. . weak. helper. ."
    check(program, instrumenter, tmp_path, expected)
