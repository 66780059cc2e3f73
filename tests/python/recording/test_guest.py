"""A guest in the user's process: the program's actions beside Timeloom, and Timeloom's reactions."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest
from spool_reader import spools_of
from streams import C_INSTRUMENTERS, run_python


def run(text, directory, arguments=(), **options):
    path = directory / "program.py"
    path.write_text(textwrap.dedent(text))
    return run_python([path, *arguments], directory, **options)


def output_of(text, directory, **options):
    process = run(text, directory, **options)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


# For a measurement of so few events the calibration calls some 3,000 functions, by turns without and with the
# instrumenter; the signal comes in the middle. No call sends it, since its handler would then run inside the hook, where it is not seen.
CALIBRATION = """
import _thread, signal, sys, timeloom

class Signal:
    __neg__ = _thread.interrupt_main
send = Signal()

calls = 0
def hook(frame, event, argument):
    global calls
    if event != "call" or frame.f_code.co_filename != "<calibration>": return
    calls += 1
    if calls == 1400:
        sys.setprofile(None)
        -send
def leaf(): pass
def disturb(*_):
    print("disturbed")
    {action}
signal.signal(signal.SIGINT, disturb)
m = timeloom.Measurement(output="run", instrumenter={instrumenter!r}, weave=False).start()
leaf()
sys.setprofile(hook)
try:
    m.finish()
    print("finished", m.totals["events"])
except ValueError as error:
    print("raised", error, m.totals)
"""

each_instrumenter = pytest.mark.parametrize(
    "instrumenter", ["monitoring", "frame"] if sys.version_info >= (3, 12) else ["frame"]
)


@each_instrumenter
def test_an_exception_of_a_signal_handler_reaches_the_program(instrumenter, tmp_path):
    program = CALIBRATION.format(instrumenter=instrumenter, action="raise ValueError('of a handler')")
    assert output_of(program, tmp_path).startswith("disturbed\nraised of a handler")
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended


@each_instrumenter
def test_a_signal_handler_that_calls_much_while_we_calibrate(instrumenter, tmp_path):
    program = CALIBRATION.format(instrumenter=instrumenter, action="for _ in range(30000): leaf()")
    assert output_of(program, tmp_path).startswith("disturbed\nfinished ")


def test_a_thread_that_is_named_while_the_measurement_ends(tmp_path):
    program = """
    import threading, timeloom
    class Slow(threading.Thread):
        slow = False
        @property
        def _name(self):
            if self.slow:
                asked.set()
                go_on.wait()
            return "slow"
        @_name.setter
        def _name(self, name): pass
        def run(self):
            leaf()
    def leaf(): pass
    asked, go_on = threading.Event(), threading.Event()
    m = timeloom.Measurement(output="run", weave=False).start()
    thread = Slow()
    thread.slow = True
    starter = threading.Thread(target=thread.start)
    starter.start()
    asked.wait()
    m.finish()
    go_on.set()
    starter.join(); thread.join()
    print("alive")
    """
    assert output_of(program, tmp_path) == "alive\n"


FOREIGN_HOOK = """
typedef void *(*Hook)(void *, void *, int);
extern void *PyInterpreterState_Get(void);
extern Hook _PyInterpreterState_GetEvalFrameFunc(void *);
extern void _PyInterpreterState_SetEvalFrameFunc(void *, Hook);
static Hook next;
static void *hook(void *thread, void *frame, int throwing) { return next(thread, frame, throwing); }
void put(void) {
  void *interpreter = PyInterpreterState_Get();
  next = _PyInterpreterState_GetEvalFrameFunc(interpreter);
  _PyInterpreterState_SetEvalFrameFunc(interpreter, hook);
}
void take(void) { _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), next); }
"""


@pytest.fixture
def foreign_hook(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "this test needs a C compiler"
    (tmp_path / "hook.c").write_text(FOREIGN_HOOK)
    command = [compiler, "-shared", "-fPIC", "-o", tmp_path / "hook.so", tmp_path / "hook.c"]
    subprocess.run(command, check=True)


@pytest.mark.parametrize("instrumenter", ["frame", "profile"])
@pytest.mark.parametrize("taken", [False, True])
def test_a_frame_hook_that_another_puts_on_top(instrumenter, taken, tmp_path, foreign_hook):
    """It calls Timeloom's hook in any case; in the end both may go, or stay."""
    program = f"""
    import ctypes, os, timeloom
    other = ctypes.PyDLL(os.path.abspath("hook.so"))
    def leaf(): pass
    def measured(name):
        m = timeloom.Measurement(output=name, instrumenter={instrumenter!r}, weave=False).start()
        leaf()
        return m
    m = measured("first")
    other.put()
    with timeloom.pause():
        leaf()
    leaf()
    m.finish()
    leaf()
    if {taken}: other.take()
    measured("second").finish()
    measured("third").finish()
    print("alive")
    """
    assert output_of(program, tmp_path) == "alive\n"
    for name, calls in (("first", 2), ("second", 1), ("third", 1)):
        (spool,) = spools_of(tmp_path / name)
        events = [event[:2] for location in spool.locations() for event in spool.events(location)]
        assert events.count(("enter", "__main__.leaf")) == calls, name


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring")
@pytest.mark.parametrize("instrumenter", ["frame", "profile"])
def test_that_no_tool_id_is_free_is_said_once(instrumenter, tmp_path):
    program = f"""
    import sys, timeloom
    for tool in range(6): sys.monitoring.use_tool_id(tool, "other")
    with timeloom.Measurement(output="run", instrumenter={instrumenter!r}, weave=False):
        for _ in range(3):
            with timeloom.pause(): pass
    """
    process = run(program, tmp_path)
    said = "timeloom: every tool id of sys.monitoring is taken; "
    uses = instrumenter == "profile" or sys.version_info >= (3, 13)
    assert process.stderr.count("\n") == process.stderr.count(said) == int(uses)


@pytest.mark.parametrize("instrumenter", C_INSTRUMENTERS)
@pytest.mark.parametrize("place", ["other", "same"])
def test_a_c_function_made_where_another_was(place, instrumenter, tmp_path):
    """Extensions make definitions at run time, and memory is used again: of the definition, and of its name."""
    program = f"""
    import ctypes, timeloom
    class Definition(ctypes.Structure):
        _fields_ = [("name", ctypes.c_void_p), ("function", ctypes.c_void_p),
                    ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    function = ctypes.cast(ctypes.pythonapi.PyObject_Repr, ctypes.c_void_p).value
    first, second = ctypes.create_string_buffer(b"first", 16), ctypes.create_string_buffer(b"second", 16)
    definition = Definition(ctypes.addressof(first), function, 4, None)  # METH_NOARGS
    def call():
        made = make(ctypes.addressof(definition), 1, "test")
        made(); made()
    with timeloom.Measurement(output="run", instrumenter={instrumenter!r}, c_functions=True, weave=False):
        call()
        if {place == "same"}: first.value = b"second"
        else: definition.name = ctypes.addressof(second)
        call()
    """
    assert output_of(program, tmp_path) == ""
    (spool,) = spools_of(tmp_path / "run")
    entered = [name for kind, name, *_ in spool.events(0) if kind == "enter"]
    names = [name for name in entered if name.startswith("test.")]
    assert names == ["test.first"] * 2 + ["test.second"] * 2


WEAVER = """#!/bin/bash
read -t 30 line < fifo
"""


def test_other_threads_run_while_we_weave(tmp_path):
    """The weaving program waits for one."""
    weaver = tmp_path / "package/bin/timeloom"
    weaver.parent.mkdir(parents=True)
    weaver.write_text(WEAVER)
    weaver.chmod(0o755)
    os.mkfifo(tmp_path / "fifo")
    program = """
    import os, threading, timeloom
    timeloom.__file__ = os.path.abspath("package/__init__.py")
    def write():
        with open("fifo", "w") as fifo: fifo.write("line\\n")
    thread = threading.Thread(target=write, daemon=True)
    m = timeloom.Measurement(output="run", instrumenter="dummy").start()
    thread.start()
    m.finish()
    print(m.totals["woven"])
    """
    assert output_of(program, tmp_path) == "True\n"


def test_we_take_little_of_the_address_space(tmp_path):
    """The buffer of 4 MB and little else, also when the drain thread has worked: `ulimit -v` counts it."""
    program = """
    import time, timeloom
    def size():
        return [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")][0]
    before = size()
    measurement = timeloom.Measurement(output="run").start()
    time.sleep(1.2)  # it looks at the memory once a second
    print(size() - before)
    measurement.finish()
    """
    assert 4_096 < int(output_of(program, tmp_path)) < 16_384


def test_the_point_of_a_number_is_a_point_in_every_locale(tmp_path):
    """The program's locale is made here: with a comma, as in German."""
    localedef = shutil.which("localedef")
    made = localedef and subprocess.run(
        [localedef, "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True
    ).returncode in (0, 1)
    if not made or not (tmp_path / "de_DE.UTF-8/LC_NUMERIC").exists():
        pytest.skip("no locale can be made here")
    program = tmp_path / "program.py"
    program.write_text("import locale; locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n")
    process = run_python(
        ["-m", "timeloom", "--no-weave", program], tmp_path, env={"LOCPATH": str(tmp_path)}
    )
    assert process.stderr.startswith("timeloom: 0.")


@pytest.mark.skipif(not hasattr(os, "unshare"), reason="Python has os.unshare from 3.12 on")
def test_another_namespace_of_users(tmp_path):
    """The kernel lets only a process of one thread into it."""
    text = """
        import os
        def step(): pass
        step()
        before = os.readlink("/proc/self/ns/user")
        os.unshare(os.CLONE_NEWUSER)
        print(before != os.readlink("/proc/self/ns/user"))
        step()
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    if subprocess.run([sys.executable, path], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system has no namespaces of users for us")
    done = subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", "run", path], cwd=tmp_path,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
