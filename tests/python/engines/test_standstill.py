"""Spools of processes that record are copied while these stand still; the processes go on in any case."""

import contextlib
import os
import platform
import select
import shutil
import signal
import subprocess
import sys

import pytest

from timeloom._engines import _frozen, _standstill

pytestmark = pytest.mark.any_python

ECHO = "while True: print(sys.stdin.readline(), end='', flush=True)"
# The main thread ends alone; the process lives on.
WITHOUT_MAIN_THREAD = f"""
import ctypes, sys, threading
def echo():
    {ECHO}
threading.Thread(target=echo).start()
print(flush=True)
ctypes.CDLL(None).syscall({{"x86_64": 60, "aarch64": 93}}["{platform.machine()}"], 0)
"""
COPIER = """
import os, shutil, sys, time
from timeloom._engines import _frozen

def copytree(*_, **named):
    print(flush=True)
    time.sleep(1000)

shutil.copytree = copytree
_frozen.freeze(*sys.argv[1:])
"""


class Recorder:
    """A process that answers its input, and a spool as if it recorded into it."""

    def __init__(self, process, directory):
        self.process, self.start = process, _standstill.start_of(process.pid).decode()
        self.spool, self.copy = directory / f"host-{process.pid}-{self.start}-1", directory / "copy"
        make_spool(self.spool)

    def freeze(self):
        _frozen.freeze(str(self.spool), str(self.copy))

    def state(self):
        return _standstill.facts_of(f"/proc/{self.process.pid}/stat")[0].decode()

    def goes_on(self):
        self.process.stdin.write("on\n")
        self.process.stdin.flush()
        return bool(select.select([self.process.stdout], [], [], 60)[0]) and self.process.stdout.readline() == "on\n"


def make_spool(path, *left_out):
    path.mkdir()
    for file in {"defs", "life"} - set(left_out):
        (path / file).write_text(path.name)


@contextlib.contextmanager
def started(text):
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", text], stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def recorder(tmp_path):
    with started(f"import sys\n{ECHO}") as process:
        yield Recorder(process, tmp_path)


@pytest.fixture
def states(recorder, monkeypatch):
    """The states of the process in which its spool was copied."""
    seen, copytree = [], shutil.copytree

    def look(*arguments, **named):
        seen.append(recorder.state())
        return copytree(*arguments, **named)

    monkeypatch.setattr(_frozen.shutil, "copytree", look)
    return seen


def test_a_process_that_records_is_copied(recorder, states):
    """The copy is made while it stands still; afterwards it goes on."""
    recorder.freeze()
    assert states == ["T"] and os.listdir(recorder.copy) == ["defs"]
    assert recorder.goes_on()


def test_spools_of_others(recorder, tmp_path):
    """Nothing is copied if the process has ended, its number is another one's by now, or it is this one."""
    number, start = recorder.process.pid, int(recorder.start)
    make_spool(tmp_path / f"host-{number}-{start}-2", "life")
    for name in (f"host-{number}-{start}-2", f"host-{number}-{start + 1}-1", f"host-{os.getpid()}-{start}-1", "a"):
        if not (tmp_path / name).exists():
            make_spool(tmp_path / name)
        _frozen.freeze(str(tmp_path / name), str(tmp_path / "copy"))
        assert not (tmp_path / "copy").exists()


def test_the_copier_is_killed(recorder):
    """Ray kills a worker with its children; the process goes on."""
    command = [sys.executable, "-c", COPIER, recorder.spool, recorder.copy]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as copier:
        assert copier.stdout.readline() == "\n"
        assert recorder.state() == "T"
        with open(f"/proc/{copier.pid}/task/{copier.pid}/children") as file:
            assert file.read() == ""
        copier.kill()
    assert recorder.goes_on()


def test_nothing_is_left_of_the_shell(recorder):
    """As soon as the process goes on."""

    def shells():
        return subprocess.run(["pgrep", "-f", f"kill -CONT {recorder.process.pid}"], capture_output=True, text=True).stdout

    with _standstill.standstill(recorder.process.pid, recorder.start.encode()):
        assert len(shells().split()) == 1
    assert shells() == ""
    assert recorder.goes_on()


def test_without_a_shell(recorder, states, monkeypatch):
    """A process is not stopped if nothing would let it go on in the end."""
    monkeypatch.setattr(_standstill, "_SHELL", "exit %d")
    recorder.freeze()
    assert states == [] and not recorder.copy.exists()
    assert recorder.goes_on()


def test_a_process_that_the_user_has_stopped(recorder, states):
    """It is copied, and does not go on."""
    os.kill(recorder.process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, recorder.process.pid, os.WSTOPPED | os.WNOWAIT)
    recorder.freeze()
    assert states == ["T"] and recorder.copy.exists()
    assert recorder.state() == "T"
    os.kill(recorder.process.pid, signal.SIGCONT)
    assert recorder.goes_on()


@pytest.mark.parametrize("when", ["before the copy", "while it is made"])
def test_a_process_that_does_not_stand_still(recorder, states, monkeypatch, when):
    """There is no copy of it."""
    if when == "before the copy":
        monkeypatch.setattr(_standstill, "_SECONDS", 0.1)
        monkeypatch.setattr(_standstill, "_states", lambda process: {b"T", b"D"} if states else {b"D"})
    else:
        look = _frozen.shutil.copytree

        def look_and_let_go(*arguments, **named):
            look(*arguments, **named)
            os.kill(recorder.process.pid, signal.SIGCONT)

        monkeypatch.setattr(_frozen.shutil, "copytree", look_and_let_go)
    recorder.freeze()
    assert states == ([] if when == "before the copy" else ["T"]) and not recorder.copy.exists()
    assert recorder.goes_on()


@pytest.mark.parametrize("missing", [None, "pidfd_open"])
def test_a_process_without_its_main_thread(tmp_path, monkeypatch, missing):
    if missing:
        monkeypatch.delattr(os, missing, raising=False)
    with started(WITHOUT_MAIN_THREAD) as process:
        assert process.stdout.readline() == "\n"
        recorder = Recorder(process, tmp_path)
        while recorder.state() != "Z":
            pass
        recorder.freeze()
        assert recorder.copy.exists() and recorder.goes_on()
