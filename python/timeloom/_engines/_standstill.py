"""Standstills of another process of this host.

The user's program comes first. A small shell beside this process lets the stopped one go on if this process ends
meanwhile: an engine may kill it at any time, and its children with it. So the shell is nobody's child. Nothing of it
is recorded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 2  # for a process to stand still, and for the shell to begin and to end
_STOPPED = {b"T", b"t"}  # by a signal, or by a debugger
_ENDED = {b"Z", b"X"}  # of a thread; the main thread remains in it until the others have ended
# It tells that it is there. Then it waits for a line; at the end of the file in its place, this process has ended.
_SHELL = "trap '' HUP INT TERM; { echo; read -r line || kill -CONT %d; } <&9 >&9 2>/dev/null 9>&- &"


def facts_of(path: str) -> list[bytes]:
    """Return the fields of /proc/PID/stat behind the name: the state is first, the start the 20th."""
    with open(path, "rb") as file:
        return file.read().rpartition(b")")[2].split()


def start_of(process: int) -> bytes:
    """Return the start of a process, in ticks since the boot; raise OSError if it has ended."""
    return facts_of(f"/proc/{process}/stat")[19]


def _states(process: int) -> set[bytes]:
    """Return the states of the threads of a process; raise OSError if it has ended."""
    threads, states = f"/proc/{process}/task", set[bytes]()
    for thread in os.listdir(threads):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            states.add(facts_of(f"{threads}/{thread}/stat")[0])
    return states


def _is_still(process: int) -> bool:
    return _states(process) <= _STOPPED | _ENDED


def _wait_until_still(process: int) -> None:
    last = time.monotonic() + _SECONDS
    while not _is_still(process):
        if time.monotonic() > last:
            raise OSError(f"process {process} does not stand still")
        time.sleep(0.001)


class _Signals:
    """Signals to a process, and to no later one with its number, if this Python and Linux can name it for good."""

    def __init__(self, process: int, start: bytes) -> None:
        self._process, self._descriptor = process, -1
        with contextlib.suppress(AttributeError, OSError):
            self._descriptor = os.pidfd_open(process)
        if start_of(process) != start:
            raise ProcessLookupError(process)

    def send(self, number: int) -> None:
        if self._descriptor < 0:
            os.kill(self._process, number)
        else:
            signal.pidfd_send_signal(self._descriptor, number)

    def __enter__(self) -> _Signals:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def _start_shell(process: int, there: socket.socket) -> None:
    actions = [(os.POSIX_SPAWN_DUP2, there.fileno(), 9)]
    child = os.posix_spawn("/bin/sh", ["sh", "-c", _SHELL % process], {}, file_actions=actions, setpgroup=0)
    with contextlib.suppress(ChildProcessError):  # somebody else has waited for it
        os.waitpid(child, 0)  # it leaves the shell that waits behind


@contextlib.contextmanager
def _goes_on_at_our_end(process: int) -> Iterator[None]:
    """Have a process go on if this one ends inside of the block; raise OSError if that is not possible."""
    here, there = socket.socketpair()
    with here:
        here.settimeout(_SECONDS)
        with there:
            _start_shell(process, there)
        if here.recv(1) != b"\n":
            raise OSError("no shell")
        yield
        with contextlib.suppress(OSError):  # somebody has killed it
            here.sendall(b"\n")
            here.recv(1)  # it has ended


@contextlib.contextmanager
def _stopped(process: int, start: bytes) -> Iterator[None]:
    with _Signals(process, start) as signals, _goes_on_at_our_end(process):
        signals.send(signal.SIGSTOP)
        try:
            _wait_until_still(process)
            yield
        finally:
            signals.send(signal.SIGCONT)


@contextlib.contextmanager
def standstill(process: int, start: bytes) -> Iterator[None]:
    """Have the process that began at `start` stand still inside of the block; raise OSError if it does not.

    A process that somebody else has stopped gets no signal.
    """
    is_stopped = not _states(process).isdisjoint(_STOPPED)
    with contextlib.nullcontext() if is_stopped else _stopped(process, start):
        if start_of(process) != start:
            raise ProcessLookupError(process)
        yield
        if not _is_still(process):  # somebody else has let it go on
            raise OSError(f"process {process} does not stand still")
