"""CPython's own test_monitoring ends in a measured program as it ends without Timeloom, test by test.

The module asserts that no tool but its own three uses `sys.monitoring`, and takes the number of Timeloom's tool itself.
The driver gives it another number and hides Timeloom's tool from its questions, in both programs. Hooks of Python change
what `sys.monitoring` tells on their own: `profile` and `trace` are held against hooks that do nothing.
"""

import importlib.util
import json
import sys

import pytest
from streams import INSTRUMENTERS, kept, run_python

DRIVER = """
import json, sys, unittest
monitoring = sys.monitoring
get_events, all_events = monitoring.get_events, monitoring._all_events

def is_hidden(tool): return tool > 5 or monitoring.get_tool(tool) == "timeloom"  # 6 and 7: hooks of sys
def events_of_others(tool): return 0 if is_hidden(tool) else get_events(tool)

def all_events_of_others():
    seen = sum(1 << tool for tool in range(8) if not is_hidden(tool))
    return {name: tools & seen for name, tools in all_events().items() if tools & seen}

monitoring.get_events, monitoring._all_events = events_of_others, all_events_of_others
from test import test_monitoring
test_monitoring.TEST_TOOL3 = 1  # 4 is Timeloom's
results = {}

class Result(unittest.TestResult):
    def stopTest(self, test):
        for tool in (1, 2, 3):  # left by a test that failed
            if monitoring.get_tool(tool):
                monitoring.set_events(tool, 0)
                monitoring.free_tool_id(tool)
        results.setdefault(name(test), "passed")
    def addFailure(self, test, error): results[name(test)] = "failed"
    def addError(self, test, error): results[name(test)] = "error"
    def addSkip(self, test, reason): results[name(test)] = "skipped"

def name(test): return test.id().removeprefix("test.test_monitoring.")
HOOK
unittest.defaultTestLoader.loadTestsFromModule(test_monitoring).run(Result())
print(json.dumps(results))
"""

HOOKS = {"profile": "sys.setprofile(lambda *args: None)", "trace": "sys.settrace(lambda *args: None)"}

# With a frame hook, CPython tells the return from a function of Python as one from a function of C, too, and raises
# StopIteration once more, before 3.14.
OF_A_FRAME_HOOK = {
    *(["ExceptionMonitoringTest.test_implicit_stop_iteration"] if sys.version_info < (3, 14) else []),
    "MonitoringCountTest.test_c_return_count",
    *(f"MonitoringEventsTest.test_{name}" for name in ("caught", "just_call", "just_pass", "nested_call")),
    *(f"SimulateProfileTest.test_{name}" for name in ("balanced", "frame_stack")),
    *(f"TestLoadSuperAttr.test_{name}" for name in ("attr", "method_call", "method_call_error")),
    *(f"TestManyEvents.test_{name}" for name in ("c_call", "simple", "try_except")),
}

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12"),
    pytest.mark.skipif(importlib.util.find_spec("test") is None, reason="this interpreter comes without CPython's tests"),
]


def results_of(directory, hook, *launcher):
    (directory / "driver.py").write_text(DRIVER.replace("HOOK", hook))
    process = run_python([*launcher, "driver.py"], directory)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_its_results_are_those_of_plain_python(instrumenter, tmp_path):
    hook = HOOKS.get(instrumenter, "")
    plain = kept(f"test_monitoring {hook}", lambda: results_of(tmp_path, hook))
    launcher = ["-m", "timeloom", "--instrumenter", instrumenter, "--quiet", "--no-weave", "--output", "run"]
    measured = results_of(tmp_path, "", *launcher)
    assert len(plain) > 60
    different = {name for name in plain | measured if plain.get(name) != measured.get(name)}
    assert different == (OF_A_FRAME_HOOK if instrumenter == "frame" else set())
