"""Settings that contradict each other are refused in every way of giving them, by the name that the user gave."""

import os
import subprocess
import sys

import pytest
from streams import environment

pytestmark = pytest.mark.any_python

# Settings, the setting named in the message, and the rest of the message.
CHECKS = {
    "tasks in a profile": (
        {"async-tasks": "on", "profile": "on"}, "async-tasks", ": tasks are told apart in a trace only"),
    "tasks that are folded": (
        {"async-tasks": "on", "at-max-size": "profile"}, "async-tasks", ": tasks are told apart in a trace only"),
    "tasks by trace": (
        {"async-tasks": "on", "instrumenter": "trace"}, "async-tasks", ': the instrumenter "trace" cannot tell tasks'),
    "C functions by frame": (
        {"c-functions": "on", "instrumenter": "frame"}, "c-functions", ': the instrumenter "frame" cannot record C'),
    "end before begin": (
        {"from": "2s", "until": "1s"}, "until", ": the window ends before it begins"),
    "no time": ({"from": "5h"}, "from", ": "),
    "after without a region": ({"from": "1s", "after": "2"}, "after", " counts calls of the region of --from"),
    "until what is not recorded": (
        {"until": "a.f", "include": "b"}, "until", ": a.f is not recorded by the rules of --exclude and --include"),
    "a limit with C functions": (
        {"overhead": "5%", "c-functions": "on"}, "overhead", " cannot be kept with "),
    "a limit with tasks": ({"overhead": "5%", "async-tasks": "on"}, "overhead", " cannot be kept with "),
    "a limit by profile": (
        {"overhead": "5%", "instrumenter": "profile"}, "overhead", ': the instrumenter "profile" cannot keep to a limit'),
    "no percentage": ({"overhead": "5"}, "overhead", ": '5' is not accepted; write a percentage between 0 and 100"),
    "unknown counters": ({"metric-rusage": "ru_nothing"}, "metric-rusage", ": "),
}  # fmt: skip
BLOCK_CHECKS = {
    **CHECKS,
    "nothing to record": ({"results": "none"}, "results", ": with none nothing is recorded"),
}
BLOCK = """
import sys, timeloom
try:
    timeloom.Measurement(**SETTINGS).start()
except timeloom.Error as error:
    sys.exit(f"timeloom: {error}")
print("ran")
"""


class Way:
    """A way of giving settings, and of starting the program."""

    status = 2
    door = "timeloom"
    checks = CHECKS

    def __init__(self, directory):
        self.directory = directory
        self.variables = {}

    def command(self, settings):
        raise NotImplementedError

    def run(self, settings):
        command = self.command(settings)
        return subprocess.run(
            [str(word) for word in command], cwd=self.directory, env={**environment(), **self.variables},
            capture_output=True, text=True, timeout=60)  # fmt: skip

    def set_variables(self, settings):
        self.variables |= {variable_of(name): value for name, value in settings.items()}

    def origin(self, name):
        return f"--{name}"


def variable_of(name):
    return "TIMELOOM_" + name.upper().replace("-", "_")


class Options(Way):
    launcher = (sys.executable, "-m", "timeloom")

    def command(self, settings):
        return [*self.launcher, *(f"--{name}={value}" for name, value in settings.items()), "app.py"]


class Command(Options):
    """`timeloom run`; the test names the program."""


class Variables(Way):
    def command(self, settings):
        self.set_variables(settings)
        return [sys.executable, "-m", "timeloom", "app.py"]

    def origin(self, name):
        return f"variable {variable_of(name)}"


class Pyproject(Way):
    def command(self, settings):
        lines = [f'{name} = "{value}"\n' for name, value in settings.items()]
        (self.directory / "pyproject.toml").write_text("[tool.timeloom]\n" + "".join(lines))
        return [sys.executable, "-m", "timeloom", "app.py"]

    def origin(self, name):
        return f"{self.directory}/pyproject.toml [tool.timeloom] {name}"


class Keywords(Way):
    status = 1
    checks = BLOCK_CHECKS

    def command(self, settings):
        named = {name.replace("-", "_"): value for name, value in settings.items()}
        (self.directory / "app.py").write_text(BLOCK.replace("SETTINGS", repr(named)))
        return [sys.executable, "app.py"]

    def origin(self, name):
        return name.replace("-", "_")


class BlockVariables(Variables):
    status = 1
    checks = BLOCK_CHECKS

    def command(self, settings):
        self.set_variables(settings)
        (self.directory / "app.py").write_text(BLOCK.replace("SETTINGS", "{}"))
        return [sys.executable, "app.py"]


class Pytest(Variables):
    status = 4  # wrong usage
    checks = BLOCK_CHECKS

    def command(self, settings):
        self.set_variables(settings)
        (self.directory / "test_app.py").write_text("def test_app():\n    print('ran')\n")
        return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-s", "--timeloom", "test_app.py"]


class Scorep(Variables):
    """The variables of Score-P decide whether it is a profile."""

    status = 1
    door = "scorep"

    def command(self, settings):
        given = dict(settings)
        type = given.pop("instrumenter", "auto")
        profile = given.pop("profile", "off")
        self.set_variables(given)
        self.variables["SCOREP_ENABLE_TRACING"] = "false" if profile == "on" else "true"
        return [sys.executable, "-m", "scorep", f"--instrumenter-type={type}", "app.py"]


WAYS = [Options, Command, Variables, Pyproject, Keywords, BlockVariables, Pytest, Scorep]
CASES = [
    pytest.param(way, *case, id=f"{way.__name__}-{name}") for way in WAYS for name, case in way.checks.items()
]


@pytest.mark.parametrize("way, settings, name, text", CASES)
def test_settings_that_are_wrong_together(way, settings, name, text, tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text("print('ran')\n")
    way = way(tmp_path)
    if isinstance(way, Command):
        way.launcher = (timeloom_program, "run")
        way.variables["TIMELOOM_PYTHON"] = sys.executable
    done = way.run(settings)
    assert done.returncode == way.status, done.stderr
    line = done.stderr.strip().removeprefix("ERROR: ")
    assert line.startswith(f"{way.door}: {way.origin(name)}{text}") and "\n" not in line
    assert "ran" not in done.stdout
    assert {entry for entry in os.listdir(tmp_path) if entry.startswith(("timeloom-", "scorep-"))} == set()


def test_a_block_in_a_run_is_not_asked_for_its_settings(tmp_path):
    (tmp_path / "app.py").write_text(BLOCK.replace("SETTINGS", "dict(until='1s', **{'from': '2s'})"))
    command = [sys.executable, "-m", "timeloom", "--no-weave", "--quiet", "app.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "its settings do not count" in done.stderr
