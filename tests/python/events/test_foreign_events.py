"""Events of sys.monitoring that libraries fire for objects other than code objects (3.13 and later)."""

import textwrap

import pytest
from spool_reader import spools_of, stream
from streams import run_python

testcapi = pytest.importorskip("_testcapi")
pytestmark = pytest.mark.skipif(not hasattr(testcapi, "CodeLike"), reason="this Python fires no events for others")

# Objects other than code objects start and end in three ways, and call a C function.
PROGRAM = """
import _testcapi as t, math, sys
E = sys.monitoring.events
number = lambda event: int(math.log2(event))
error = ValueError()
WAYS = (
    (E.PY_START, E.PY_RETURN, t.fire_event_py_start, (), t.fire_event_py_return, (None,)),
    (E.PY_RESUME, E.PY_YIELD, t.fire_event_py_resume, (), t.fire_event_py_yield, (None,)),
    (E.PY_THROW, E.PY_UNWIND, t.fire_event_py_throw, (error,), t.fire_event_py_unwind, (error,)),
    (E.PY_START, E.CALL, lambda *_: None, (), t.fire_event_call, (len, [])),
)
def fire(size):
    thing = t.CodeLike(size)
    for start, end, begin, first, done, last in WAYS:
        t.monitoring_enter_scope(thing, number(start), number(end))
        for _ in range(100):
            begin(thing, 0, *first)
            done(thing, 1, *last)
        t.monitoring_exit_scope()
    return thing
def run(): return [fire(size) for size in (4, 8, 16, 64)]
run()
print("ok")
"""
CALLS = 400


@pytest.mark.parametrize(
    "options, events",
    [
        ((), 6), (("--c-functions",), 7), (("--async-tasks",), 6), (("--async-tasks", "--c-functions"), 7),
        (("--overhead", "5%"), 6), (("--instrumenter", "frame"), 0),
        (("--instrumenter", "profile"), 6), (("--instrumenter", "trace"), 6),
    ],
)  # fmt: skip
def test_they_are_left_out_and_counted(tmp_path, timeloom, options, events):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    done = run_python(["-m", "timeloom", "--keep-spool", *options, "-o", "run", "program.py"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "ok\n")
    said = f"{CALLS * events:,} events of objects that are not code objects left out [TL004]"
    assert [line for line in done.stderr.splitlines() if "left out" in line] == [f"timeloom: {said}"] * (events > 0)
    report = timeloom("report", tmp_path / "run").stdout
    assert [line for line in report.splitlines() if "left out" in line] == [f"! {said}"] * (events > 0)
    (spool,) = spools_of(tmp_path / "run")
    names = [name for kind, name, *_ in stream(spool, 0) if name in ("__main__.run", "__main__.fire")]
    assert names == ["__main__.run", *["__main__.fire"] * 8, "__main__.run"]
