"""Programs that are attached to while they run, and their output."""

import json
import signal
import subprocess
import sys
import time

import pytest
from streams import environment

from timeloom._debugger import find_debugger

REAL = sys.version_info >= (3, 14)  # there is sys.remote_exec
DEBUGGERS = [name for name in ("gdb", "lldb") if find_debugger(name)]
BY_DEBUGGER = (3, 12) <= sys.version_info < (3, 14) and bool(DEBUGGERS)
needs_a_way_in = pytest.mark.skipif(
    not REAL and not BY_DEBUGGER, reason="sys.remote_exec came with Python 3.14, and there is no debugger for an older one"
)
# Whether the program is reached as users do it, or by a signal for which it waits.
ROADS = [pytest.param(False, id="signal"), pytest.param(True, id="itself", marks=needs_a_way_in)]

# Runs scripts like sys.remote_exec(), where that is missing: started by a signal. Then it waits for a file NAME, calls
# the function of that name, and renames the file to NAME-done.
COMMON = '''
import atexit, json, os, signal, sys, threading

def take_script(*_):
    with open(f"script-{os.getpid()}") as file:
        script = file.read()
    with open(script) as file:
        text = file.read()
    exec(text, {})

def facts():
    """What a process has that could be left behind in it."""
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    monitoring = getattr(sys, "monitoring", None)
    said = {
        "tasks": len(os.listdir("/proc/self/task")),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "caught": status["SigCgt"].strip(),
        "tools": [monitoring.get_tool(i) for i in range(6)] if monitoring else [],
        "exits": atexit._ncallbacks() if sys.version_info >= (3, 14) else None,  # before, of all times
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "path": sys.path,
        "profile": repr(sys.getprofile()),
        "names": sorted(globals()),
    }
    with open("facts", "w") as file:
        json.dump(said, file)

def serve(**known):
    known["facts"] = facts
    while True:
        for name, call in known.items():
            if os.access(name + "-wanted", os.F_OK):
                os.unlink(name + "-wanted")
                call()
                os.close(os.open(name + "-done", os.O_CREAT))
        if os.access("end", os.F_OK):
            return
        select.select((), (), (), 0.005)

import select
signal.signal(signal.SIGUSR2, take_script)
os.close(os.open("ready", os.O_CREAT))
'''

DRIVER = """
import os, signal, sys
from timeloom import _attach
from timeloom._road import Road

class BySignal(Road):
    def __init__(self, process):
        self.pid = process.pid

    def send(self, script):
        with open(f"script-{self.pid}", "w") as file:
            file.write(script)
        os.kill(self.pid, signal.SIGUSR2)

    def take_back(self):
        self.send("/dev/null")

sys.exit(_attach.main(sys.argv[1:], BySignal))
"""


def until(condition, seconds=60):
    """Wait until `condition` returns a true value, and return it."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.005)
    return value


class Running:
    """A program that runs in a directory."""

    def __init__(self, directory, text, *flags, env=None):
        self.directory = directory
        (directory / "program.py").write_text(COMMON + text)
        self.process = subprocess.Popen(
            [sys.executable, *flags, "program.py"], cwd=directory, env=environment(env),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.pid = self.process.pid
        until((directory / "ready").exists)

    def call(self, name):
        """Make the program call the function of this name, and wait for it."""
        (self.directory / f"{name}-wanted").touch()
        done = self.directory / f"{name}-done"
        until(lambda: done.exists() or self.process.poll() is not None)
        done.unlink()

    def facts(self):
        self.call("facts")
        return json.loads((self.directory / "facts").read_text())

    def end(self):
        """(stdout, stderr) of the program."""
        (self.directory / "end").touch()
        said = self.process.communicate(timeout=60)
        (self.directory / "end").unlink()
        return said

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Attaching:
    """A running `timeloom attach`: it uses sys.remote_exec, or a signal that the program takes for it."""

    def __init__(self, directory, *words, real=False, before=""):
        """`before`: code that the test's driver runs first."""
        command = ["-m", "timeloom._attach"] if real else ["-c", before + DRIVER]
        self.process = subprocess.Popen(
            [sys.executable, *command, *map(str, words)], cwd=directory, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def begun(self):
        line = self.process.stderr.readline()
        if line.endswith(" [TL095]\n"):
            line = self.process.stderr.readline()
        assert line.startswith("timeloom: recording process "), line + self.process.stderr.read()
        return line

    def end(self, *, interrupt=True):
        """Return its stderr since then."""
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, said
        return said[1]

    def refused(self, status=1):
        """Return its last line."""
        said = self.process.communicate(timeout=120)
        assert (self.process.returncode, said[0]) == (status, ""), said
        lines = [line for line in said[1].splitlines() if not line.endswith(" [TL095]")]
        assert len(lines) == 1, said[1]
        assert lines[0].startswith("timeloom: ")
        return lines[0].removeprefix("timeloom: ")
