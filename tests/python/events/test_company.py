"""Tools that observe the same program, before, during and after a measurement: neither changes what the other finds."""

import json
import shutil
import subprocess
import sys

import pytest
from spool_reader import spools_of, stream
from streams import C_INSTRUMENTERS, PROGRAMS, kept, run_python

TARGET = """
def f(n):
    total = 0
    for i in range(n):
        total += g(i)
    return total

def g(i):
    return i

def unused():
    return None
"""

# The steps of a scenario: M starts and F finishes a measurement, B starts and E stops the other tool, f calls. In plain
# Python, M and F do nothing.
PROGRAM = """
import json, sys
import target
{companion}
measured = sys.argv[1] != "plain"
if measured:
    import timeloom
    measurement = timeloom.Measurement(output="run", instrumenter=sys.argv[1], weave=False)
for step in sys.argv[2]:
    if step == "f": call()
    elif step == "B": begin()
    elif step == "E": end()
    elif measured: measurement.start() if step == "M" else measurement.finish()
print(json.dumps(found()))
"""

PLAIN_CALL = """
def call(): target.f(3)
"""

COVERAGE = PLAIN_CALL + """
import coverage
tool = coverage.Coverage(data_file=None, include=["*/target.py"])
def begin(): tool.start()
def end(): tool.stop()
def found():
    data = tool.get_data()
    return [sorted(data.lines(file)) for file in data.measured_files()]
"""

DEBUGGER = PLAIN_CALL + """
import bdb
lines = []
class Debugger(bdb.Bdb):
    def user_call(self, frame, arguments): self.set_step()
    def user_line(self, frame):
        if frame.f_globals.get("__name__") == "target": lines.append(frame.f_lineno)
    def user_return(self, frame, value): self.set_step()
debugger = Debugger()
def begin(): debugger.set_trace()
def end(): sys.settrace(None)
def found(): return lines
"""

# pdb's own choice from 3.14 on
MONITORING_DEBUGGER = DEBUGGER.replace("Debugger()", "Debugger(backend='monitoring')").replace(
    "sys.settrace(None)", "debugger.stop_trace()")

LINE_PROFILER = PLAIN_CALL + """
import line_profiler
profiler = line_profiler.LineProfiler(target.f, target.g)
def begin(): profiler.enable_by_count()
def end(): profiler.disable_by_count()
def found():
    timings = profiler.get_stats().timings.items()
    return sorted((name, line, hits) for (_, _, name), lines in timings for line, hits, _ in lines)
"""

# Its client is a process of its own, since a stop is one of all threads.
DEBUGPY = PLAIN_CALL + f"""
import debugpy, subprocess
_, port = debugpy.listen(("127.0.0.1", 0))
command = [sys.executable, {str(PROGRAMS / "debug_client.py")!r}, str(port)]
client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def break_at(*lines):
    print(target.__file__, *lines, file=client.stdin, flush=True)
    return int(client.stdout.readline())
def begin(): break_at(9)
def end(): break_at()
def found(): return ["stops", break_at()]
"""

# Like the hook of torch.compile, it evaluates each frame itself.
FRAME_HOOK = PLAIN_CALL + """
import ctypes, pathlib
hook = ctypes.PyDLL(str(pathlib.Path("hook.so").resolve()))
def begin(): hook.put(*map(ctypes.py_object, (target.f.__code__, target.g.__code__)))
def end(): hook.take()
def found(): return ["frames", ctypes.c_int.in_dll(hook, "evaluated").value]
"""
FRAME_HOOK_SOURCE = """
typedef void *(*Hook)(void *, void *, int);
extern void *PyInterpreterState_Get(void);
extern void *PyUnstable_InterpreterFrame_GetCode(void *);
extern void Py_DecRef(void *);
extern void *_PyEval_EvalFrameDefault(void *, void *, int);
extern void _PyInterpreterState_SetEvalFrameFunc(void *, Hook);
int evaluated;
static void *codes[2];
static void *evaluate(void *thread, void *frame, int throwing) {
  void *code = PyUnstable_InterpreterFrame_GetCode(frame);
  evaluated += code == codes[0] || code == codes[1];
  Py_DecRef(code);
  return _PyEval_EvalFrameDefault(thread, frame, throwing);
}
void put(void *f, void *g) {
  codes[0] = f, codes[1] = g;
  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluate);
}
void take(void) { _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), _PyEval_EvalFrameDefault); }
"""

TOOL = PLAIN_CALL + """
monitoring = sys.monitoring
E = monitoring.events
seen = []
def on_start(code, offset): seen.append(["start", code.co_name])
def on_line(code, line): seen.append(["line", line])
def on_return(code, offset, value): seen.append(["return", code.co_name])
"""

LOCAL = TOOL + """
def begin():
    monitoring.use_tool_id(3, "mine")
    monitoring.register_callback(3, E.PY_START, on_start)
    monitoring.register_callback(3, E.LINE, on_line)
    monitoring.register_callback(3, E.PY_RETURN, on_return)
    for code in (target.f.__code__, target.g.__code__):
        monitoring.set_local_events(3, code, E.PY_START | E.LINE | E.PY_RETURN)
def end():
    for code in (target.f.__code__, target.g.__code__): monitoring.set_local_events(3, code, 0)
    monitoring.free_tool_id(3)
def found(): return seen
"""

# A measurement that starts lets the events come again that a tool has switched off, so a tool may hear them once more.
ONCE = """
def once(code, line):
    if code.co_filename == target.__file__: on_line(code, line)
    return monitoring.DISABLE
"""
DISABLES = LOCAL.replace("E.LINE, on_line", "E.LINE, once").replace("return seen", "return sorted(map(list, set(map(tuple, seen))))") + ONCE

RESTARTS = TOOL + ONCE + """
def begin():
    monitoring.use_tool_id(3, "mine")
    monitoring.register_callback(3, E.LINE, once)
    monitoring.set_events(3, E.LINE)
def call():
    target.f(3)
    monitoring.restart_events()
def end():
    monitoring.set_events(3, 0)
    monitoring.free_tool_id(3)
def found(): return seen
"""

HYPOTHESIS = """
from hypothesis import given, settings, strategies
examples = []
@settings(derandomize=True, database=None, max_examples=5, deadline=None)
@given(strategies.integers(0, 100))
def check(n):
    examples.append(n)
    target.f(3)
def call(): target.f(3)
def begin(): check()
def end(): check()
def found(): return examples
"""

COMPANIONS = {
    "coverage-ctrace": (COVERAGE, {"COVERAGE_CORE": "ctrace"}),
    "coverage-sysmon": (COVERAGE, {"COVERAGE_CORE": "sysmon"}),
    "debugger": (DEBUGGER, {}),
    "debugger-monitoring": (MONITORING_DEBUGGER, {}),
    "debugpy": (DEBUGPY, {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}),
    "line-profiler": (LINE_PROFILER, {}),
    "frame-hook": (FRAME_HOOK, {}),
    "local-events": (LOCAL, {}),
    "disabled-events": (DISABLES, {}),
    "restart-events": (RESTARTS, {}),
    "hypothesis": (HYPOTHESIS, {}),
}
NEEDS_MONITORING = {"coverage-sysmon", "frame-hook", "local-events", "disabled-events", "restart-events"}
NEEDS_3_14 = {"debugger-monitoring"}
SLOW = {"debugpy"}
ORDERS = {
    "before": "BfEMfFf",
    "during": "MfBfEfF",
    "after": "MfFBfE",
    "around": "BfMfFfE",
    "begins before, ends during": "BfMfEfF",
    "begins during, ends after": "MfBfFfE",
}


def run(directory, companion, variables, instrumenter, order):
    (directory / "target.py").write_text(TARGET)
    (directory / "program.py").write_text(PROGRAM.format(companion=companion))
    if companion is FRAME_HOOK:
        (directory / "hook.c").write_text(FRAME_HOOK_SOURCE)
        subprocess.run([shutil.which("cc"), "-shared", "-fPIC", "-o", "hook.so", "hook.c"], cwd=directory, check=True)
    process = run_python(["program.py", instrumenter, order], directory, env=variables)
    said = [line for line in process.stderr.splitlines() if "_get_related_thread" not in line]  # debugpy's, at times
    assert (process.returncode, said) == (0, [])
    return json.loads(process.stdout)


def calls_in(run_directory):
    (spool,) = spools_of(run_directory)
    assert spool.ended
    assert spool.lost == 0
    events = stream(spool, 0, lambda name: name.startswith("target."))
    names = [name for kind, name, *_ in events if kind == "enter"]
    return names.count("target.f"), names.count("target.g")


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.compiled_suite] if name in SLOW else []) for name in COMPANIONS]
)
@pytest.mark.parametrize("instrumenter", C_INSTRUMENTERS)
def test_company(instrumenter, name, order, tmp_path):
    if name in NEEDS_MONITORING and sys.version_info < (3, 12):
        pytest.skip("sys.monitoring came with 3.12")
    if name in NEEDS_3_14 and sys.version_info < (3, 14):
        pytest.skip("bdb uses sys.monitoring from 3.14 on")
    companion, variables = COMPANIONS[name]
    plain = kept(f"company {name} {order}", lambda: run(tmp_path, companion, variables, "plain", order))
    assert plain
    assert run(tmp_path, companion, variables, instrumenter, order) == plain
    inside = order.partition("M")[2].partition("F")[0]
    calls = inside.count("f") + (5 * (inside.count("B") + inside.count("E")) if name == "hypothesis" else 0)
    assert calls_in(tmp_path / "run") == (calls, 3 * calls)
