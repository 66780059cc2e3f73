"""Tools that observe the same program, before, during and after a measurement: neither changes what the other finds."""

import json
import sys

import pytest
from spool_reader import spools_of, stream
from streams import C_INSTRUMENTERS, kept, run_python

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
    "local-events": (LOCAL, {}),
    "disabled-events": (DISABLES, {}),
    "restart-events": (RESTARTS, {}),
    "hypothesis": (HYPOTHESIS, {}),
}
NEEDS_MONITORING = {"coverage-sysmon", "local-events", "disabled-events", "restart-events"}
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
    process = run_python(["program.py", instrumenter, order], directory, env=variables)
    assert (process.returncode, process.stderr) == (0, "")
    return json.loads(process.stdout)


def calls_in(run_directory):
    (spool,) = spools_of(run_directory)
    assert spool.ended
    assert spool.lost == 0
    events = stream(spool, 0, lambda name: name.startswith("target."))
    names = [name for kind, name, *_ in events if kind == "enter"]
    return names.count("target.f"), names.count("target.g")


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("name", COMPANIONS)
@pytest.mark.parametrize("instrumenter", C_INSTRUMENTERS)
def test_company(instrumenter, name, order, tmp_path):
    if name in NEEDS_MONITORING and sys.version_info < (3, 12):
        pytest.skip("sys.monitoring came with 3.12")
    companion, variables = COMPANIONS[name]
    plain = kept(f"company {name} {order}", lambda: run(tmp_path, companion, variables, "plain", order))
    assert plain
    assert run(tmp_path, companion, variables, instrumenter, order) == plain
    inside = order.partition("M")[2].partition("F")[0]
    calls = inside.count("f") + (5 * (inside.count("B") + inside.count("E")) if name == "hypothesis" else 0)
    assert calls_in(tmp_path / "run") == (calls, 3 * calls)
