"""Regions of a Cython module, through the C interface, beside regions of Python functions."""

import shutil
import sys
import sysconfig
import textwrap

import pytest
from native_programs import NATIVE, calls, config, output, record
from spool_reader import spools_of, stream
from streams import run_python

__all__ = ["config", "record"]  # fixtures

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")]


def compiled(source, directory, flags=(), libraries=()):
    """Makes the module of a file in Cython; its directory."""
    # Else its import switches the GIL on.
    options = ["-X", "freethreading_compatible=True"] if "t" in sys.abiflags else []
    file = directory / f"{source.stem}.c"
    output(sys.executable, "-m", "cython", *options, source.name, "-o", file, cwd=source.parent)
    output("cc", "-shared", "-fPIC", "-I", sysconfig.get_path("include"), *flags, file,
           "-o", file.with_suffix(sysconfig.get_config_var("EXT_SUFFIX")), *libraries)  # fmt: skip
    return directory


@pytest.fixture(scope="module")
def marks(tmp_path_factory, config):
    """The directory of the Cython module `marks`."""
    return compiled(NATIVE / "marks.pyx", tmp_path_factory.mktemp("cython"), config("--cflags"), config("--libs"))


def run_with(marks, text, directory):
    done = run_python(["-c", textwrap.dedent(text)], directory, env={"PYTHONPATH": str(marks)})
    assert done.stderr == ""
    return done.stdout


PROGRAM = """
import marks, threading

def caller(count):
    marks.solve(count, callback)

def callback():
    pass

caller(2)
thread = threading.Thread(target=caller, args=(1,))
thread.start()
thread.join()
"""


def test_regions_of_cython_lie_inside_the_python_functions(marks, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", "run", "program.py"], tmp_path,
                      env={"PYTHONPATH": str(marks)})  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    kept = ("solve", "part", "__main__.caller", "__main__.callback")
    for location, count in ((0, 2), (1, 1)):
        events = stream(spool, location, lambda name: name in kept)
        assert events == [
            ("enter", "__main__.caller"), ("enter", "solve"), ("parameter_int", "count", count),
            *calls("part." * count),
            ("enter", "__main__.callback"), ("leave", "__main__.callback"),
            ("leave", "solve"), ("leave", "__main__.caller"),
        ]  # fmt: skip
    assert list(spool.threads.values()) == ["MainThread", "Thread-1 (caller)"]


def test_a_region_is_valid_in_any_number_of_measurements(marks, tmp_path):
    text = """
    import marks, timeloom

    def other(): pass

    marks.solve(1)
    for number in range(3):
        with timeloom.Measurement(output=f"run{number}", weave=False):
            if number == 1: other()
            marks.solve(number)
        marks.solve(1)
    """
    run_with(marks, text, tmp_path)
    for number in range(3):
        (spool,) = spools_of(tmp_path / f"run{number}")
        events = [event for event in stream(spool, 0) if event[1] in ("solve", "part", "count")]
        assert events == [
            ("enter", "solve"), ("parameter_int", "count", number), *calls("part." * number), ("leave", "solve"),
        ]  # fmt: skip


def test_what_is_not_balanced_does_not_damage_the_stream(marks, tmp_path):
    text = """
    import marks, timeloom

    def enters(): marks.enter_only()
    def leaves(): marks.leave_only()

    with timeloom.Measurement(output="run", weave=False) as measurement:
        enters()
        leaves()
        marks.enter_only()
        leaves()
    print(measurement.totals["unmatched_leaves"])
    """
    assert run_with(marks, text, tmp_path) == "2\n"
    (spool,) = spools_of(tmp_path / "run")
    events = [event for event in stream(spool, 0) if event[1] in ("solve", "__main__.enters", "__main__.leaves")]
    assert [kind + " " + name.removeprefix("__main__.") for kind, name in events] == [
        "enter enters", "enter solve", "leave solve", "leave enters", "enter leaves", "leave leaves",
        "enter solve", "enter leaves", "leave leaves", "leave solve",
    ]  # fmt: skip


def test_native_code_pauses_the_python_functions_too(marks, tmp_path):
    text = """
    import marks, timeloom

    def seen(): pass
    def unseen(): marks.solve(1)

    with timeloom.Measurement(output="run", weave=False):
        seen()
        marks.record(False)
        unseen()
        marks.record(True)
        seen()
    """
    run_with(marks, text, tmp_path)
    (spool,) = spools_of(tmp_path / "run")
    names = [event[1] for event in stream(spool, 0)]
    assert names.count("__main__.seen") == 4 and "__main__.unseen" not in names and "solve" not in names


def test_a_measurement_of_its_own_ends_the_one_of_the_program(marks, record, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import marks, timeloom
marks.solve(1)
with timeloom.Measurement(output="own", weave=False):
    marks.solve(2)
""")
    record(sys.executable, program, PYTHONPATH=str(marks))
    (of_program,), (own,) = spools_of(tmp_path / "run"), spools_of(tmp_path / "own")
    assert [event[1] for event in stream(of_program, 0)].count("part") == 2
    assert [event[1] for event in stream(own, 0)].count("part") == 4


PROFILED = """
import kernels.profiled as profiled
class Callers:
    def step(self): return profiled.step(1)
def double(x): return x
def fails():
    try: profiled.fails()
    except ValueError: pass
def run():
    Callers().step()
    list(profiled.generate(2))
    fails()
    profiled.Box().method(double)
    try: profiled.coroutine().send(None)
    except StopIteration: pass
run()
"""
ALL = """run C:step K:step K:inner. . . K:generate. K:generate. K:generate. fails K:fails. .
K:method double. . K:coroutine. ."""


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """The directory of the package `kernels`, whose module `profiled` fires events."""
    directory = tmp_path_factory.mktemp("profiled")
    (directory / "kernels").mkdir()
    (directory / "kernels" / "__init__.py").write_text("")
    compiled(NATIVE / "profiled.pyx", directory / "kernels")
    return directory


def spool_of(program, profiled, tmp_path, options):
    (tmp_path / "program.py").write_text(program)
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", *options, "-o", "run", "program.py"], tmp_path,
                      env={"PYTHONPATH": str(profiled)})  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    return spool


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Cython fires events from 3.13 on")
@pytest.mark.parametrize(
    "options, expected",
    [
        ((), ALL), (("--async-tasks",), ALL),
        (("--exclude", "kernels.profiled.*"), "run C:step. fails. double. ."),
        (("--exclude", "*", "--include", "kernels.profiled.step"), "K:step."),
    ],
)  # fmt: skip
def test_functions_of_cython_that_fire_events_are_of_their_module(profiled, tmp_path, options, expected):
    spool = spool_of(PROFILED, profiled, tmp_path, options)
    places = {"C": "__main__.Callers.", "K": "kernels.profiled.", "": "__main__."}
    longer = lambda word: places[word.rpartition(":")[0]] + word.rpartition(":")[2]
    kept = ("__main__.", "kernels.profiled.")
    own = lambda name: name.startswith(kept) and not name.endswith(("<module>", ".Callers", ".PyInit_profiled"))
    assert stream(spool, 0, own) == [(kind, longer(word)) for kind, word in calls(expected)]


THROWS = """
from kernels.profiled import generate
def thrown():
    generator = generate(2)
    next(generator)
    try: generator.throw(KeyError)
    except KeyError: pass
def closed():
    generator = generate(2)
    next(generator)
    generator.close()
thrown()
closed()
"""


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Cython fires events from 3.13 on")
@pytest.mark.parametrize("options", [(), ("--async-tasks",), ("--overhead", "5%")])
def test_an_exception_thrown_into_a_generator_of_cython_stays_the_same(profiled, tmp_path, options):
    """Cython reports that the generator resumes while the exception is set."""
    spool = spool_of(THROWS, profiled, tmp_path, options)
    names = {"thrown": "__main__.thrown", "closed": "__main__.closed", "generate": "kernels.profiled.generate"}
    events = stream(spool, 0, lambda name: name in names.values())
    visits = calls("thrown generate. generate. . closed generate. generate. .")
    assert events == [(kind, names[name]) for kind, name in visits]
