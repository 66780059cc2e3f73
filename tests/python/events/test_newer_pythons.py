"""Features of CPython 3.14 and 3.15 that could change the records."""

import sys
import textwrap

import pytest
from streams import INSTRUMENTERS, assert_same, each_instrumenter, measure, run_python, streams_of
from test_streams_programs import calls, check, kept

since_3_14 = pytest.mark.skipif(sys.version_info < (3, 14), reason="came with 3.14")
since_3_15 = pytest.mark.skipif(sys.version_info < (3, 15), reason="came with 3.15")

# --- The just-in-time compiler ----------------------------------------------------------------

JIT = getattr(sys, "_jit", None)
HAS_JIT = JIT is not None and JIT.is_available()

# Everything is called often enough for the compiler before it is measured, and continues to be.
HOT = """
import sys, timeloom
class Point:
    def __init__(self, x): self.x = x
    def moved(self, by): return Point(self.x + by)
def leaf(n): return n + 1
def caller(n): return leaf(n) + leaf(n)
def generator(n):
    for i in range(n): yield leaf(i)
def work(n):
    total = 0
    for i in range(n):
        total += caller(i)
        total += Point(i).moved(1).x
    return total + sum(generator(n))
def recursive(n): return 0 if n == 0 else 1 + recursive(n - 1)
work(20_000)
for _ in range(200): recursive(100)
"""


@pytest.mark.skipif(not HAS_JIT, reason="this Python is built without the compiler")
@each_instrumenter
@pytest.mark.parametrize("compiled", ["0", "1"])
def test_compiled_code_is_counted(instrumenter, compiled, tmp_path):
    program = HOT + textwrap.dedent(
        f"""
        print(sys._jit.is_enabled())
        for _ in range(2):
            run = timeloom.Measurement(output=f"run{{_}}", instrumenter={instrumenter!r}, weave=False).start()
            work(3_000)
            recursive(100)
            run.finish()
            work(20_000)
        """
    )
    path = tmp_path / "program.py"
    path.write_text(program)
    process = run_python([path], tmp_path, env={"PYTHON_JIT": compiled})
    assert (process.returncode, process.stdout, process.stderr) == (0, f"{compiled == '1'}\n", "")
    step = "caller leaf. leaf. . Point:__init__. Point:moved Point:__init__. . "
    work = "work " + step * 3_000 + "generator leaf. . " * 3_000 + "generator. . "
    for run in ("run0", "run1"):
        assert_same(streams_of(tmp_path / run, kept), [calls(work + "recursive " * 101 + ". " * 101)])


@pytest.mark.skipif(not HAS_JIT, reason="this Python is built without the compiler")
@each_instrumenter
@pytest.mark.parametrize("program", ["generators.py", "coroutines.py", "recursion.py"])
def test_programs_are_recorded_the_same_with_the_compiler(instrumenter, program, tmp_path):
    streams = {}
    for compiled in ("0", "1"):
        directory = tmp_path / compiled
        directory.mkdir()
        streams[compiled], process = measure(program, instrumenter, directory, env={"PYTHON_JIT": compiled})
        assert process.returncode == 0, process.stderr
    assert_same(streams["1"], streams["0"])


# --- Deferred annotations -----------------------------------------------------------------------


@since_3_14
@each_instrumenter
def test_annotations_are_functions_when_somebody_asks(instrumenter, tmp_path):
    program = """
    def kind(): return int
    def function(x: kind()) -> kind(): pass
    class Class:
        y: kind()
    z: kind() = 1
    function(1)
    assert function.__annotations__ == {"x": int, "return": int}
    assert function.__annotations__ == {"x": int, "return": int}
    assert Class.__annotations__ == {"y": int}
    """
    of_function = "function:__annotate__" if sys.version_info >= (3, 15) else "__annotate__"
    expected = f"<module> Class. function. {of_function} kind. kind. . Class:__annotate__ kind. . ."
    check(program, instrumenter, tmp_path, expected)


# --- Lazy imports -------------------------------------------------------------------------------

LAZY = """
import sys
lazy import helper
print("helper" in sys.modules)
def first(): return helper.function()
def second(): return helper.function()
first(); second()
print("helper" in sys.modules)
"""


@since_3_15
@each_instrumenter
def test_a_lazy_import_runs_where_the_module_is_used(instrumenter, tmp_path):
    (tmp_path / "helper.py").write_text("def function(): pass\n")
    keep = lambda name: kept(name) or name.startswith("helper.")
    (tmp_path / "program.py").write_text(LAZY)
    undisturbed = run_python(["program.py"], tmp_path)
    assert undisturbed.stdout == "False\nTrue\n", undisturbed.stderr
    (stream,), process = measure(LAZY, instrumenter, tmp_path, keep=keep)
    assert (process.returncode, process.stdout, process.stderr) == (0, undisturbed.stdout, "")
    expected = calls("<module> first helper:<module>. helper:function. . second helper:function. . .")
    assert_same([stream], [[[kind, name.replace("__main__.helper.", "helper.")] for kind, name in expected]])


@since_3_15
@each_instrumenter
def test_all_imports_may_be_lazy(instrumenter, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, json\n"
        "print(sorted(name for name in sys.modules if not name.startswith('timeloom')))\n"
        "print(json.dumps(1), 'json' in sys.modules)\n"
    )
    flags = ["-X", "lazy_imports=all"]
    undisturbed = run_python([*flags, program], tmp_path)
    assert undisturbed.returncode == 0, undisturbed.stderr
    process = run_python([*flags, "-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, program], tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, undisturbed.stdout, undisturbed.stderr)


# --- The hook of frames -------------------------------------------------------------------------


@since_3_15
def test_calls_that_would_pass_over_the_hook_are_recorded(tmp_path):
    """Code that installs a hook may let specialised calls bypass it; Timeloom's hook sees all calls nevertheless."""
    program = """
    import ctypes, timeloom
    python = ctypes.pythonapi
    python.PyInterpreterState_Get.restype = ctypes.c_void_p
    interpreter = ctypes.c_void_p(python.PyInterpreterState_Get())
    python._PyInterpreterState_SetEvalFrameAllowSpecialization(interpreter, 1)
    def leaf(): pass
    def calls(n):
        for _ in range(n): leaf()
    calls(1000)
    with timeloom.Measurement(output="run", instrumenter="frame", weave=False): calls(1000)
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    process = run_python([path], tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert_same(streams_of(tmp_path / "run", kept), [calls("calls " + "leaf. " * 1000 + ".")])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
@pytest.mark.parametrize("instrumenter", ["dummy", *INSTRUMENTERS])
def test_a_tool_of_the_program_observes_how_it_is_unwound(instrumenter, tmp_path):
    """Down to the functions that started it, which the program does not see."""
    program = """
    import sys
    monitoring, unwind = sys.monitoring, sys.monitoring.events.PY_UNWIND
    monitoring.use_tool_id(0, "mine")
    monitoring.register_callback(0, unwind, lambda code, place, error: print("unwound", code.co_name))
    monitoring.set_events(0, unwind)
    def function(): raise SystemExit(3)
    function()
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    process = run_python(["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, path], tmp_path)
    assert (process.returncode, process.stderr) == (3, "")
    assert process.stdout.startswith("unwound function\nunwound <module>\n")
