"""The functions of sub-interpreters are recorded, exactly, whatever threads enter them and however they end."""

import sys

import pytest
from interpreter_runs import COMMON, calls_by_interpreter, measured, run_in, said
from profile_files import Profile, visits_by_region
from spool_reader import spools_of
from streams import PROGRAMS, difference, measure, of_program, run_python, streams_of

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
both_kinds = pytest.mark.parametrize("isolated", [True, False])

CALLS = """
def inner(): pass
def outer():
    for _ in range(1000): inner()
outer()
"""
POOL = """
def leaf(): pass
def work(n):
    for _ in range(n): leaf()
work(10_000)
"""


@pytest.mark.parametrize("options", [[], ["--profile"], ["--no-waiting", "--max-depth", "500"]])
@both_kinds
def test_each_of_several_in_threads_of_their_own(tmp_path, isolated, options):
    done = measured(
        f"""
threads = [threading.Thread(target=in_other, args=({POOL!r}, {isolated})) for _ in range(4)]
for thread in threads: thread.start()
for _ in range(10_000): leaf()
for thread in threads: thread.join()
""",
        tmp_path, *options,
    )  # fmt: skip
    assert (done.returncode, said(done)) == (0, []), done.stderr
    expected = {"main": 10_000, **{f"interpreter {number}": 10_000 for number in range(1, 5)}}
    assert calls_by_interpreter(tmp_path / "run", "leaf") == expected
    assert calls_by_interpreter(tmp_path / "run", "work") == {f"interpreter {number}": 1 for number in range(1, 5)}


CLOSES = """
def suspended():
    yield 1
    yield 2
def guarded():
    try: yield 1
    finally: pass
def outer():
    yield from suspended()
def close():
    for _ in range(100):
        for make in (suspended, guarded, outer):
            one = make(); next(one); one.close()
        one = suspended(); next(one); del one
close()
one = suspended(); next(one); one.close()
"""


@both_kinds
def test_closed_generators(tmp_path, isolated):
    """A visit each, as in the main interpreter, also where CPython closes them without running them."""
    done = measured(f"CLOSES = {CLOSES!r}\nexec(CLOSES)\nin_other(CLOSES, {isolated})\n", tmp_path)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    for name, visits in (("suspended", 602), ("guarded", 200), ("outer", 200), ("close", 1)):
        assert calls_by_interpreter(tmp_path / "run", name) == {"main": visits, "interpreter 1": visits}
    assert calls_by_interpreter(tmp_path / "run", "<module>")["interpreter 1"] == 1


@pytest.mark.parametrize("options", [["--gc"], ["--no-gc"], ["--gc", "--exclude", "gc.*"]])
@both_kinds
def test_collections_of_garbage(tmp_path, isolated, options):
    """Each with its generation and the objects that it collected, below the function in which it happens."""
    collects = """
import gc
gc.disable()
def make():
    for _ in range(7):
        one = []
        one.append(one)
def tidy():
    make()
    gc.collect()
    gc.collect(0)
gc.collect()
tidy()
"""
    done = measured(f"import gc\ngc.disable()\nin_other({collects!r}, {isolated})\n", tmp_path, *options)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    profile = Profile(tmp_path / "run")
    found = {}
    for location in profile.locations:
        for node, (visits, *_) in location["cells"].items():
            path = tuple(profile.nodes[node]["path"])
            if path[-1] == "gc.collect" and any(name.startswith("interpreter ") for name in path):
                (generation,) = profile.nodes[node]["parameters"]
                found[path[-2], *generation] = visits
    tidy, module = "__main__.tidy", "__main__.<module>"
    wanted = {(module, "generation", "2"): 1, (tidy, "generation", "2"): 1, (tidy, "generation", "0"): 1}
    assert found == (wanted if options == ["--gc"] else {})


@both_kinds
def test_two_threads_in_one_by_turns(tmp_path, isolated):
    """Each entry from outside is one of the interpreter, in the stream of the thread that makes it."""
    done = measured(
        f"""
def enter(turn, other):
    for _ in range(50):
        turn.acquire()
        leaf()
        run(interpreter, "inner()")
        leaf()
        other.release()

interpreter = create({isolated})
run(interpreter, "def inner(): pass")
turns = threading.Semaphore(1), threading.Semaphore(0)
threads = [threading.Thread(target=enter, args=order) for order in (turns, turns[::-1])]
for thread in threads: thread.start()
for thread in threads: thread.join()
interpreters.destroy(interpreter)
""",
        tmp_path,
    )
    assert (done.returncode, said(done)) == (0, []), done.stderr
    profile = Profile(tmp_path / "run")
    visits = [visits_by_region(profile, location) for location in profile.locations]
    assert [counts.get("__main__.inner", 0) for counts in visits] == [0, 50, 50]
    assert [counts.get("interpreter 1", 0) for counts in visits[1:]] == [50, 50]
    assert calls_by_interpreter(tmp_path / "run", "inner") == {"interpreter 1": 100}
    assert calls_by_interpreter(tmp_path / "run", "leaf") == {"main": 200}


@both_kinds
def test_one_after_the_other(tmp_path, isolated):
    """The code objects of a new one may have the addresses of those that died."""
    done = measured(
        f"""
for number in range(20):
    name = f"inner_{{number % 2}}"
    in_other(f"def {{name}}(): pass\\nfor _ in range({{number}}): {{name}}()", {isolated})
    leaf()
""",
        tmp_path,
    )
    assert (done.returncode, said(done)) == (0, []), done.stderr
    for odd in (0, 1):
        expected = {f"interpreter {number + 1}": number for number in range(odd, 20, 2) if number > 0}
        assert calls_by_interpreter(tmp_path / "run", f"inner_{odd}") == expected
    assert calls_by_interpreter(tmp_path / "run", "leaf") == {"main": 20}


@both_kinds
@pytest.mark.parametrize("program", ["generators.py", "exceptions.py", "recursion.py"])
def test_the_events_of_a_program_are_those_in_the_main_interpreter(tmp_path, program, isolated):
    (expected, *others), _ = measure(program, "monitoring", tmp_path)
    done = measured(f"in_other({(PROGRAMS / program).read_text()!r}, {isolated})", tmp_path, "--no-weave")
    assert done.returncode == 0, done.stderr
    (stream,) = streams_of(tmp_path / "run", lambda name: of_program(name) or name.startswith("interpreter"))
    inside, around, depth = [], set(), 0
    for event in stream:
        if event[1] == "interpreter 1":
            depth += 1 if event[0] == "enter" else -1
        elif depth:
            inside.append(event)
        else:
            around.add(event[1])
    assert (others, difference(inside, expected)) == ([], None)
    assert around <= {f"__main__.{name}" for name in ("<module>", "in_other", "create", "run")}


C_CALLS = """
import collections, struct, threading

class Own(dict):
    def __missing__(self, key): return len(key)

def call(function, *arguments):
    return function(*arguments)

def back(key):
    return -ord(key)

def calls(count):
    own, items = Own(), collections.deque()
    for n in range(count):
        items.append(n)
        call(own.get, n)
        "a".upper().lower()
        own["key"]
    sorted("cab", key=back)
    dict.fromkeys("ab"), Own.fromkeys("ab"), struct.pack("i", 1)
    Own.__new__(Own), object.__new__(object)
    for text in ("ab", "a"):
        try: ord(text)
        except TypeError: pass
    lock = threading.Lock()
    with lock: len(*([],))
    try: min(n / 0 for n in [1])
    except ZeroDivisionError: max(1, 2)

calls(300)
"""


@both_kinds
@pytest.mark.parametrize("options", [[], ["--exclude", "__main__.call"], ["--exclude", "builtins.str.*"]])
def test_functions_of_c_are_those_in_the_main_interpreter(tmp_path, isolated, options):
    (program := tmp_path / "calls.py").write_text(C_CALLS)
    both = ("-m", "timeloom", "--quiet", "--no-weave", "--c-functions", "--instrumenter", "monitoring", *options)
    assert run_in(tmp_path, *both, "-o", "plain", program).returncode == 0
    done = measured(f"in_other({C_CALLS!r}, {isolated})", tmp_path, *both[2:])
    assert done.returncode == 0, done.stderr

    def calls_in(run):
        (stream,) = streams_of(tmp_path / run, lambda name: True)
        starts = [place for place, event in enumerate(stream) if event[1] == "__main__.calls"]
        return stream[starts[0] : starts[-1] + 1]

    plain, inside = calls_in("plain"), calls_in("run")
    assert len(plain) > 300 * 6 and difference(inside, plain) is None


@both_kinds
def test_threads_of_their_own(tmp_path, isolated):
    code = """
import threading
def inner(): pass
def work():
    for _ in range(100): inner()
threads = [threading.Thread(target=work, name=f"inside {number}") for number in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    done = measured(f"in_other({code!r}, {isolated})", tmp_path)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    profile = Profile(tmp_path / "run")
    assert [location["name"] for location in profile.locations] == ["MainThread", "inside 0", "inside 1"]
    visits = [visits_by_region(profile, location) for location in profile.locations]
    assert [counts.get("__main__.inner", 0) for counts in visits] == [0, 100, 100]
    assert calls_by_interpreter(tmp_path / "run", "inner") == {"interpreter 1": 200}


# Each function is new to all threads at once, with the regions that it marks and the functions of C that it calls.
NEW_AT_ONCE = """
import threading, timeloom
def new(number):
    names = {"timeloom": timeloom, "__name__": "__main__"}
    exec(f"def one_{number}():\\n timeloom.region_begin('r{number}'); divmod(7, 2); timeloom.region_end('r{number}')", names)
    return names[f"one_{number}"]
functions = [new(number) for number in range(150)]
together = threading.Barrier(6)
def work():
    together.wait()
    for function in functions:
        for _ in range(3): function()
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@both_kinds
def test_functions_that_threads_call_first_at_once(tmp_path, isolated):
    done = measured(f"in_other({NEW_AT_ONCE!r}, {isolated})", tmp_path, "--c-functions")
    assert done.returncode == 0 and "TL002" not in done.stderr, done.stderr
    profile = Profile(tmp_path / "run")
    visits = [visits_by_region(profile, location) for location in profile.locations]
    workers = [counts for counts in visits if counts.get("__main__.work")]
    assert len(workers) == 6
    for counts in workers:
        assert [counts.get(f"__main__.one_{number}") for number in range(150)] == [3] * 150
        assert [counts.get(f"r{number}") for number in range(150)] == [3] * 150
        assert counts["builtins.divmod"] == 450


MARKS = """
import timeloom
def work():
    with timeloom.region("block") as block:
        timeloom.parameter_int("small", -7)
        timeloom.parameter_int("large", 1 << 70)
        timeloom.parameter_uint("natural", 1 << 63)
        timeloom.parameter_float("part", 0.5)
        timeloom.parameter_string("text", "ä")
        timeloom.region_begin("open")
        timeloom.counter("level", 1.5, unit="s")
        timeloom.counter("count", 3)
    timeloom.region_end("open")  # the block has closed it
    timeloom.marker("here")
for _ in range(2): work()
for wrong in (timeloom.region_begin, timeloom.region_end, timeloom.marker):
    try:
        wrong(1)
    except TypeError as error:
        assert str(error) == f"{wrong.__name__}() takes a str, not int"
    else:
        assert False
"""


def events_in_work(run):
    """The events between enter and leave of __main__.work, without times, and the markers."""
    (spool,) = spools_of(run)
    events, depth = [], 0
    for kind, name, *values in spool.events(0):
        if (kind, name) == ("leave", "__main__.work"):
            depth -= 1
        if depth:
            events.append((kind, name, values[0] if kind.startswith(("parameter", "metric")) else None))
        if (kind, name) == ("enter", "__main__.work"):
            depth += 1
    return events, [marker[-1] for marker in spool.markers]


@both_kinds
def test_regions_and_values_that_the_program_marks(tmp_path, isolated):
    """As in the main interpreter."""
    program = tmp_path / "marks.py"
    program.write_text(MARKS)
    run_python(["-m", "timeloom", "--no-weave", "-o", "expected", program], tmp_path)
    expected, markers = events_in_work(tmp_path / "expected")
    done = measured(f"in_other({MARKS!r}, {isolated})", tmp_path, "--no-weave")
    assert done.returncode == 0, done.stderr
    found, found_markers = events_in_work(tmp_path / "run")
    assert (found, found_markers) == (expected, markers)
    assert [event[:2] for event in found if event[0] in ("enter", "leave")] == 2 * [
        ("enter", "block"), ("enter", "open"), ("leave", "open"), ("leave", "block")
    ]  # fmt: skip


@both_kinds
def test_excluded_functions(tmp_path, isolated):
    """Also if the same function is called from inside and from outside of the interpreter."""
    code = "def left_out(n): return left_out(n - 1) if n else kept()\ndef kept(): pass\n"
    done = measured(
        f"""
interpreter = create({isolated})
run(interpreter, {code!r})
for _ in range(10):
    run(interpreter, "left_out(3), kept()")
    leaf()
""",
        tmp_path, "--exclude", "__main__.left_out", "--exclude", "__main__.<module>",
    )  # fmt: skip
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert calls_by_interpreter(tmp_path / "run", "left_out") == {}
    assert calls_by_interpreter(tmp_path / "run", "kept") == {"interpreter 1": 20}
    assert calls_by_interpreter(tmp_path / "run", "leaf") == {"main": 10}


@both_kinds
@pytest.mark.parametrize("off, on", [("disable_recording", "enable_recording"), ("pause", "resume")])
def test_switching_recording(tmp_path, isolated, off, on):
    done = measured(
        f"""
import timeloom
interpreter = create({isolated})
run(interpreter, "def inner(): pass")
for _ in range(3):
    run(interpreter, "inner()")
    timeloom.{off}()
    run(interpreter, "inner()")
    timeloom.{on}()
""",
        tmp_path,
    )
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert calls_by_interpreter(tmp_path / "run", "inner") == {"interpreter 1": 3}


WINDOW = """
def window():
    run(interpreter, "inner()")
    leaf()

run(interpreter, "def inner(): pass")
for _ in range(3):
    run(interpreter, "inner()")
    leaf()
    window()
"""


@both_kinds
def test_a_window(tmp_path, isolated):
    window = ["--from", "__main__.window", "--until", "__main__.window"]
    done = measured(f"interpreter = create({isolated})\n{WINDOW}", tmp_path, *window)
    assert (done.returncode, len(said(done))) == (0, 1), done.stderr
    assert calls_by_interpreter(tmp_path / "run", "leaf") == {"main": 3}
    assert calls_by_interpreter(tmp_path / "run", "inner") == {"interpreter 1": 3}


def test_a_library_that_keeps_data_in_code_objects(tmp_path):
    """A window has other rules, for which another place is needed. The library has got that one meanwhile."""
    asks = "import ctypes; assert ctypes.pythonapi.PyUnstable_Eval_RequestCodeExtraIndex(None) > 0"
    done = measured(
        f"interpreter = create(False)\nrun(interpreter, {asks!r})\n{WINDOW}", tmp_path, "--from", "__main__.window"
    )
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "TL061" in line] == [
        "timeloom: interpreter 1 is not recorded from here on: another library keeps data of its own in the place of "
        "code objects that Timeloom needs [TL061]"
    ]
    assert calls_by_interpreter(tmp_path / "run", "inner") == {}


@both_kinds
def test_a_measurement_that_ends_while_they_live(tmp_path, isolated):
    """They give the tool back. A later measurement does not record interpreters that are older than it."""
    program = f"""
import timeloom
CALLS = "for _ in range(100): inner()"
with timeloom.Measurement(output="first"):
    interpreter = create({isolated})
    run(interpreter, "def inner(): pass")
    run(interpreter, CALLS)
run(interpreter, CALLS)
run(interpreter, "import sys; assert [sys.monitoring.get_tool(tool) for tool in range(6)] == 6 * [None]")
with timeloom.Measurement(output="second"):
    run(interpreter, CALLS)
    in_other("def inner(): pass\\n" + CALLS, {isolated})
"""
    done = run_in(tmp_path, "-c", COMMON + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert calls_by_interpreter(tmp_path / "first", "inner") == {"interpreter 1": 100}
    assert calls_by_interpreter(tmp_path / "second", "inner") == {"interpreter 2": 100}


RUNS_ON = """
import os
def inner(): pass
def outer():
    for _ in range(100): inner()
while not os.path.exists("stop"): outer()
"""


@both_kinds
def test_switches_and_ends_while_threads_run_in_them(tmp_path, isolated):
    """Threads under another GIL record meanwhile. Each stream stays balanced."""
    program = f"""
import timeloom
for number in range(3):
    with timeloom.Measurement(output=f"run{{number}}", weave=False):
        threads = [threading.Thread(target=in_other, args=({RUNS_ON!r}, {isolated})) for _ in range(2)]
        for thread in threads: thread.start()
        for _ in range(40):
            leaf()
            timeloom.disable_recording()
            timeloom.enable_recording()
            timeloom.pause()
            timeloom.resume()
    open("stop", "w").close()
    for thread in threads: thread.join()
    os.remove("stop")
print("done")
"""
    done = run_python(["-c", COMMON + program], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    for number in range(3):
        streams = streams_of(tmp_path / f"run{number}")
        assert sum(event[:2] == ["enter", "__main__.leaf"] for event in streams[0]) == 40


def test_a_kill_in_the_middle(tmp_path):
    """Everything that was recorded until then is in the run."""
    code = CALLS + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    done = measured(f"leaf()\nin_other({code!r})\n", tmp_path)
    assert done.returncode == -9, done.stderr
    (spool,) = spools_of(tmp_path / "run")
    names = [event[1] for event in spool.events(0) if event[0] == "enter"]
    assert [names.count(f"__main__.{name}") for name in ("leaf", "outer", "inner")] == [1, 1, 1000]
    assert names.index("interpreter 1") < names.index("__main__.inner")


def test_one_that_is_left_at_the_end(tmp_path):
    text = "interpreter = create(True)\nrun(interpreter, 'def inner(): pass\\ninner()')\n"
    plain = run_python(["-c", COMMON + text], tmp_path)
    done = measured(text, tmp_path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, "")
    assert said(done) == []
    assert calls_by_interpreter(tmp_path / "run", "inner") == {"interpreter 1": 1}
