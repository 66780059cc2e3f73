"""A running debugger, which is told what to do by lines on its standard input."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence


def find_debugger(name: str) -> str | None:
    """Return the program in the directories of PATH; relative ones are left out."""
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{place}/{name}"
        if os.path.isabs(place) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def stack_command(pid: int) -> str:
    """Return a command by which a user sees where the process is."""
    found = find_debugger("gdb") is None and find_debugger("lldb") is not None
    return f"lldb -p {pid} --batch -o bt" if found else f"gdb -p {pid} -batch -ex bt"


class DebuggerError(Exception):
    """The message of the debugger, in one line."""


class DebuggerSilent(DebuggerError):
    """There is no answer yet."""


def _unblock_signals() -> None:
    """Unblock the signals that the attaching command blocks: without them nothing stops the debugger."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


class Debugger:
    """The debugger and, between attach() and detach(), the stopped process.

    It is in a session of its own: Ctrl-C in a terminal ends the attaching command and not the debugger, which is told
    to let the process go. If the command is killed, the debugger reads the end of its input and lets it go, too.
    """

    name = ""  # of the program
    errors = subprocess.DEVNULL  # where its standard error goes

    def __init__(self, program: str, words: Sequence[str], descriptors: Sequence[int] = ()) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        kept |= {"LC_ALL": "C", "PYTHONNOUSERSITE": "1"}  # it contains a Python, which would run files of the user
        self._process = subprocess.Popen(
            [program, *words], cwd="/", env=kept, start_new_session=True, pass_fds=descriptors,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0,
            preexec_fn=_unblock_signals,  # noqa: PLW1509 (the command has one thread)
        )  # fmt: skip
        self.interrupted = False  # the debugger has taken a Ctrl-C that came for the stopped process
        self._text = b""

    def attach(self, pid: int, executable: str) -> None:
        """Stop all threads of the process. Raises DebuggerError; the process runs on then."""
        raise NotImplementedError

    def threads(self) -> dict[int, str]:
        """Return the debugger's names of the threads, by their numbers. Raises DebuggerError."""
        raise NotImplementedError

    def call(self, thread: str, function: int, *arguments: int, seconds: float = 10) -> int:
        """Return the result of a function that returns an int and takes pointers, on a stopped thread.

        A call that lasts longer is taken back. Raises DebuggerError.
        """
        raise NotImplementedError

    def detach(self) -> None:
        """Let the process run. Raises DebuggerError."""
        raise NotImplementedError

    def close(self) -> bool:
        """End the debugger, which lets a stopped process run. False if it was killed, so that it could not do so."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stdout.close()
        return self._process.returncode >= 0

    def _read_line(self, end: float) -> str:
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        while b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([output], (), (), left)[0]:
                raise DebuggerSilent(f"{self.name} does not answer")
            more = os.read(output, 1 << 16)
            if not more:
                raise DebuggerError(f"{self.name} has ended")
            self._text += more
        line, _, self._text = self._text.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        try:
            os.write(self._process.stdin.fileno(), text.encode())
        except BrokenPipeError:
            raise DebuggerError(f"{self.name} has ended") from None


def call_expression(function: int, arguments: Sequence[int]) -> str:
    """Return the call of such a function in C."""
    types = ", ".join(["void *"] * len(arguments)) or "void"
    values = ", ".join(f"(void *){argument:#x}" for argument in arguments)
    return f"((int (*)({types})){function:#x})({values})"
