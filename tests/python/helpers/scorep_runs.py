"""Runs programs through `python -m scorep` and reads the trace with otf2-print."""

import os
import re
import subprocess
import sys
from pathlib import Path

TYPES = ["cProfile", "profile", "cTrace", "trace"]

_EVENT = re.compile(r"^([A-Z_0-9]+)\s+(\d+)\s+(\d+)\s*(.*)$")
_REGION = re.compile(r'Region: "(.*?)" <\d+>$')
_PARAMETER = re.compile(r'Parameter: "(.*?)" <\d+>, Value: (?:"(.*?)" <\d+>|(-?\d+))$')
_DEFINED = re.compile(
    r'^REGION\s+\d+\s+Name: "(?P<name>.*?)" <\d+>.*Role: (?P<role>\w+), Paradigm: (?P<paradigm>\w+).*'
    r'File: (?:"(?P<file>.*?)" <\d+>|UNDEFINED), Begin: (?P<begin>\d+)'
)


def run_scorep(directory, *words, status=0, python=(), **variables):
    """`python -m scorep words` in `directory`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SCOREP_", "TIMELOOM_"))}
    done = subprocess.run(
        [sys.executable, *python, "-m", "scorep", *map(str, words)], cwd=directory, text=True,
        capture_output=True, timeout=120, env={**kept, "PYTHONHASHSEED": "0", **variables},
    )  # fmt: skip
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


def trace(directory, text, *options, status=0, arguments=(), **variables):
    """Runs the text as app.py with a trace in `directory`/run; nothing on stderr."""
    Path(directory, "app.py").write_text(text)
    settings = {"SCOREP_ENABLE_TRACING": "true", "SCOREP_ENABLE_PROFILING": "false",
                "SCOREP_EXPERIMENT_DIRECTORY": "run", **variables}  # fmt: skip
    done = run_scorep(directory, *options, "app.py", *arguments, status=status, **settings)
    return done, Trace(Path(directory, "run", "traces.otf2"))


class Trace:
    """`events`: of each location, (kind, name or value); `regions`: name -> (file, line, paradigm, role)."""

    def __init__(self, anchor):
        self.events = {}
        for line in self._print(anchor):
            if event := _EVENT.match(line):
                kind, location, _, rest = event.groups()
                self.events.setdefault(int(location), []).append((kind, _what(rest)))
        self.regions = {}
        for line in self._print("-G", anchor):
            if region := _DEFINED.match(line):
                self.regions[region["name"]] = (
                    region["file"], int(region["begin"]), region["paradigm"], region["role"]
                )  # fmt: skip

    @staticmethod
    def _print(*words):
        done = subprocess.run(["otf2-print", *map(str, words)], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def calls(self, keep=lambda name: True, location=0):
        """Enters (+name) and leaves (-name) of the regions to keep, and parameters (name=value)."""
        result = []
        for kind, what in self.events[location]:
            if kind in ("ENTER", "LEAVE") and keep(what):
                result.append(("+" if kind == "ENTER" else "-") + what)
            elif kind.startswith("PARAMETER") or kind == "MEASUREMENT_ON_OFF":
                result.append(what)
        return result


def _what(rest):
    if region := _REGION.search(rest):
        return region[1]
    if parameter := _PARAMETER.search(rest):
        return f"{parameter[1]}={parameter[2] if parameter[3] is None else parameter[3]}"
    return rest.removeprefix("Mode: ")


def of_program(name):
    """The program's own regions, without those of imports."""
    return name.startswith(("__main__", "user", "error_region"))


def inside(*calls):
    """+x -x for x, +x ... -x for (x, ...)."""
    result = []
    for call in calls:
        name, *inner = (call,) if isinstance(call, str) else call
        result += ["+" + name, *inside(*inner), "-" + name]
    return result
