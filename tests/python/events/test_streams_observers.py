"""Streams of programs that observe themselves: with hooks, cProfile, pdb, sys.monitoring."""

import sys
import textwrap

import pytest
from streams import assert_same, each_instrumenter, measure, plain, run_program, run_python, said_of_hook, streams_of
from test_streams_programs import calls, check, kept

# Sets its hook three calls deep; HOOK and SETTER are replaced.
SETS_A_HOOK = """
import sys
def f(): g()
def g(): pass
HOOK
def sets(n):
    if n:
        sets(n - 1)
    else:
        SETTER(mine)
        f()
        SETTER(None)
        f()
seen = []
f()
sets(2)
f()
print(seen)
"""

SETS_PROFILE = SETS_A_HOOK.replace("SETTER", "sys.setprofile").replace("HOOK", """
def mine(frame, event, argument):
    if not event.startswith("c_"): seen.append((event, frame.f_code.co_name))
""".strip())


@each_instrumenter
def test_program_sets_profile(instrumenter, tmp_path):
    """The functions of the hook itself run untraced; `profile` sees nothing while it is displaced."""
    displaced = "" if instrumenter == "profile" else "f g. ."
    expected = f"<module> f g. . sets sets sets {displaced} f g. . . . . f g. . ."
    check(SETS_PROFILE, instrumenter, tmp_path, expected, error=said_of_hook(instrumenter, "sys.setprofile"))


SETS_TRACE = SETS_A_HOOK.replace("SETTER", "sys.settrace").replace("HOOK", """
def helper(): pass
def mine(frame, event, argument):
    helper()
    seen.append((event, frame.f_lineno))
    return mine
""".strip())


@each_instrumenter
def test_program_sets_trace(instrumenter, tmp_path):
    displaced = "" if instrumenter == "trace" else "f g. ."
    expected = f"<module> f g. . sets sets sets {displaced} f g. . . . . f g. . ."
    check(SETS_TRACE, instrumenter, tmp_path, expected, error=said_of_hook(instrumenter, "sys.settrace"))


@each_instrumenter
def test_program_leaves_its_hook(instrumenter, tmp_path):
    """Set in one function, removed in the caller of its caller."""
    program = """
    import sys
    def f(): pass
    def inner():
        sys.settrace(lambda *_: None)
        sys.setprofile(lambda *_: None)
    def outer(n):
        if n: outer(n - 1)
        else: inner()
        f()
    outer(1)
    sys.settrace(None)
    sys.setprofile(None)
    f()
    outer(0)
    sys.settrace(None)
    sys.setprofile(None)
    f()
    """
    if instrumenter in ("profile", "trace"):
        # Nothing is seen until the hook is gone and the next function starts.
        expected = "<module> outer outer inner. . . f. outer inner. . f. ."
    else:
        expected = "<module> outer outer inner. f. . f. . f. outer inner. f. . f. ."
    check(program, instrumenter, tmp_path, expected, error=said_of_hook(instrumenter, "sys.settrace", "sys.setprofile"))


@each_instrumenter
@pytest.mark.parametrize("setter", ["sys.settrace", "sys.setprofile"])
@pytest.mark.parametrize("until", ["the middle", "the end"])
def test_calls_that_a_hook_of_the_program_hides_are_said(until, setter, instrumenter, tmp_path):
    back = f"{setter}(None)" if until == "the middle" else ""
    program = f"import sys\ndef f(): pass\n{setter}(lambda *_: None)\nf()\n{back}\nf()\n"
    (tmp_path / "program.py").write_text(program)
    process = run_python(["-m", "timeloom", "--instrumenter", instrumenter, "--quiet", "--no-weave", "program.py"], tmp_path)
    assert (process.returncode, process.stderr) == (0, said_of_hook(instrumenter, setter))


@each_instrumenter
def test_cprofile(instrumenter, tmp_path):
    program = """
    import cProfile, pstats, io
    def f(): g()
    def g(): pass
    profiler = cProfile.Profile()
    profiler.enable()
    f()
    profiler.disable()
    f()
    print(sorted((name, entry[0]) for (_, _, name), entry in pstats.Stats(profiler).stats.items() if len(name) == 1))
    """
    # cProfile is a profile function up to 3.11 and in 3.12 a tool of sys.monitoring.
    displaced = instrumenter == "profile" and sys.version_info < (3, 12)
    check(program, instrumenter, tmp_path, f"<module> {'' if displaced else 'f g. .'} f g. . .",
          error=said_of_hook(instrumenter, "sys.setprofile") if displaced else "")


@each_instrumenter
def test_pdb(instrumenter, tmp_path):
    program = """
    import io, pdb
    def f():
        g()
        return 1
    def g(): pass
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("next\\nstep\\nstep\\nreturn\\nwhere\\ncontinue\\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.set_trace()
    f()
    f()
    print(out.getvalue().count("-> "))
    """
    program = textwrap.dedent(program)
    streams, process = measure(program, instrumenter, tmp_path)
    undisturbed = plain(program, tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, undisturbed.stdout, said_of_hook(instrumenter, "sys.settrace"))
    if instrumenter != "trace":
        assert_same(streams, [calls("<module> f g. . f g. . .")])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
@each_instrumenter
def test_program_uses_monitoring(instrumenter, tmp_path):
    program = """
    import sys
    def f(): g()
    def g(): pass
    def helper(): pass
    monitoring = sys.monitoring
    E = monitoring.events
    tool = next(n for n in range(6) if monitoring.get_tool(n) is None)
    monitoring.use_tool_id(tool, "mine")
    seen = []
    def on_start(code, offset):
        helper()
        seen.append(code.co_name)
    def on_line(code, line):
        return monitoring.DISABLE
    monitoring.register_callback(tool, E.PY_START, on_start)
    monitoring.register_callback(tool, E.LINE, on_line)
    monitoring.set_events(tool, E.PY_START | E.LINE)
    f()
    monitoring.restart_events()
    f()
    monitoring.set_events(tool, 0)
    monitoring.free_tool_id(tool)
    f()
    print([name for name in seen if len(name) == 1])
    """
    check(program, instrumenter, tmp_path, "<module> f g. . f g. . f g. . .")


TAKES_ALL = """
import sys, threading
taken = []
for tool in range(6):
    try:
        sys.monitoring.use_tool_id(tool, f"program {tool}")
        taken.append(tool)
    except ValueError:
        pass
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
@each_instrumenter
def test_every_tool_id_is_taken(instrumenter, tmp_path):
    """By the program before a measurement starts: reported, and the program runs on."""
    program = TAKES_ALL + f"""
import timeloom
def f(): pass
try:
    with timeloom.Measurement(output="block", instrumenter={instrumenter!r}, weave=False):
        f()
except timeloom.Error as error:
    print(error)
f()
"""
    process = run_program(program, tmp_path)
    assert process.returncode == 0, process.stderr
    if instrumenter == "monitoring":
        assert "every tool id of sys.monitoring is taken" in process.stdout
        assert process.stderr == ""
        return
    assert process.stdout == ""
    of_frame = "calls of __init__" if sys.version_info < (3, 14) else "generators that are closed"
    missing = {"frame": f"{of_frame} may be missing", "profile": "threads that start", "trace": "threads that start"}
    assert (missing[instrumenter] in process.stderr) == (instrumenter != "frame" or sys.version_info >= (3, 13))
    assert_same(streams_of(tmp_path / "block"), [calls("f.")])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
@pytest.mark.parametrize("away", ["set_events(tool, 0)", "register_callback(tool, 1, None)", "restart_events()"])
def test_the_program_switches_our_tool_off(away, tmp_path):
    """Unseen calls since then are missing, which is reported once."""
    program = f"""
import sys, timeloom
def f(): pass
for output in ("first", "second"):
    with timeloom.Measurement(output=output, instrumenter="monitoring", weave=False):
        f()
        [tool] = [n for n in range(6) if sys.monitoring.get_tool(n) == "timeloom"]
        sys.monitoring.{away}
        f()
"""
    process = run_program(program, tmp_path)
    whole = away == "restart_events()"
    said = "timeloom: the program has switched off tool 4 of sys.monitoring, which observes it; "
    assert (process.returncode, process.stderr.count("\n")) == (0, 0 if whole else 1)
    assert whole or process.stderr.startswith(said)
    for output in ("first", "second"):
        assert_same(streams_of(tmp_path / output), [calls("f. f." if whole else "f.")])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
def test_a_start_that_fails_changes_nothing(tmp_path):
    program = """
import ctypes, os, signal, sys
import timeloom
address = ctypes.pythonapi.PyCFunction_GetFunction
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object]
def facts():
    with open("/proc/self/status") as status:  # a debug build tells of files that nobody closes
        (caught,) = [line for line in status if line.startswith("SigCgt")]
    caught = int(caught.split()[1], 16) & 0x7FFFFFFF  # those above are of the C library
    return caught, [address(f) for f in (os._exit, os.execv, os.execve, signal._signal.signal)]
before = facts()
for tool in range(6):
    if sys.monitoring.get_tool(tool) is None:
        sys.monitoring.use_tool_id(tool, "mine")
try:
    timeloom.Measurement(output="block", instrumenter="monitoring", weave=False).start()
except timeloom.Error as error:
    print(error)
print(facts() == before)
"""
    process = run_program(program, tmp_path)
    assert process.stdout.startswith("every tool id of sys.monitoring is taken"), process
    assert (process.stdout.splitlines()[1:], process.stderr) == (["True"], "")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
def test_our_tool_id_is_taken_while_we_pause(tmp_path):
    program = """
    import sys, timeloom
    def f(): pass
    f()
    with timeloom.stop():
        f()
        for tool in range(6):
            if sys.monitoring.get_tool(tool) is None:
                sys.monitoring.use_tool_id(tool, "mine")
    f()
    with timeloom.region("user:r"):
        f()
    print("runs on")
    """
    message = (
        "timeloom: calls are not recorded from here on: every tool id of sys.monitoring is taken by other "
        "tools (mine); choose another instrumenter (--instrumenter frame) [TL017]\n"
    )
    run = tmp_path / "run"
    (tmp_path / "p.py").write_text(textwrap.dedent(program))
    process = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", run, "--instrumenter", "monitoring", "p.py"], tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, "runs on\n", message)
    assert_same(streams_of(run, kept), [calls("<module> f. user:r. .")])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
def test_program_frees_our_tool_id(tmp_path):
    """Its own events continue after Timeloom's measurement ends, which reports that it did not see all."""
    program = """
    import sys, timeloom
    def f(): pass
    m = timeloom.Measurement(output="block", instrumenter="monitoring", weave=False).start()
    f()
    (ours,) = [n for n in range(6) if sys.monitoring.get_tool(n) == "timeloom"]
    sys.monitoring.free_tool_id(ours)
    sys.monitoring.use_tool_id(ours, "mine")
    seen = []
    sys.monitoring.register_callback(ours, 1, lambda code, _: seen.append(code.co_name))
    sys.monitoring.set_events(ours, 1)
    m.finish()
    f()
    sys.monitoring.set_events(ours, 0)
    print(seen[-1], sys.monitoring.get_tool(ours))
    """
    process = run_program(textwrap.dedent(program), tmp_path)
    assert (process.stdout, process.stderr.count("\n")) == ("f mine\n", 1)
    assert process.stderr.startswith("timeloom: the program has switched off tool 4 of sys.monitoring")


# Requests an index for data on code objects, and marks one of the two that are freed.
MARKS_CODE = """
import ctypes, gc
prefix = "PyUnstable_" if hasattr(ctypes.pythonapi, "PyUnstable_Code_SetExtra") else "_Py"
request = ctypes.pythonapi[prefix + "Eval_RequestCodeExtraIndex"]
set_extra = ctypes.pythonapi[prefix + "Code_SetExtra"]
Free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
freed = []
free = Free(freed.append)
request.argtypes, request.restype = [Free], ctypes.c_ssize_t
set_extra.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p]
index = request(free)
def dies(mark):
    names = {}
    exec("def f(): pass", names)
    names["f"]()
    if mark: set_extra(names["f"].__code__, index, 77)
dies(False)
dies(True)
gc.collect()
print(freed)
"""


@each_instrumenter
def test_program_marks_code_objects(instrumenter, tmp_path):
    """The interpreter frees the program's data there, and nothing else in its name."""
    expected = plain(MARKS_CODE, tmp_path).stdout
    assert expected == "[77]\n"
    _, process = measure(MARKS_CODE, instrumenter, tmp_path)
    assert (process.stdout, process.stderr) == (expected, "")
