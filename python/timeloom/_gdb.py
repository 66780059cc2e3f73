"""A running gdb, which is told what to do by lines on its standard input (GDB/MI)."""

import os
import re
import select
import signal
import subprocess
import time

# Nothing but these words decides what gdb does: no file of the user, of the directory, or of the process.
_START = (
    "-nx", "-q", "--interpreter=mi2",
    "-iex", "set auto-load off",
    "-iex", "set debuginfod enabled off",
    "-iex", "set libthread-db-search-path /nonexistent",
    "-iex", "set debug-file-directory /nonexistent",
    "-iex", "set auto-solib-add off",
    "-iex", "set exec-file-mismatch off",
    "-iex", "set language c",
    "-iex", "set unwindonsignal on",
)  # fmt: skip
_THREAD = re.compile(r'id="(\d+)",target-id="(?:[^"\\]*\bLWP|process) (\d+)')


def find_gdb() -> str | None:
    """Return the program gdb in the directories of PATH; relative ones are left out."""
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{place}/gdb"
        if os.path.isabs(place) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


class GdbError(Exception):
    """The message of gdb, in one line."""


class GdbSilent(GdbError):
    """There is no answer yet."""


def _unblock_signals() -> None:
    """Unblock the signals that the attaching command blocks: without them nothing stops gdb."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


class Gdb:
    """The debugger and, between attach() and detach(), the stopped process.

    It is in a session of its own: Ctrl-C in a terminal ends the attaching command and not gdb, which is told to let the
    process go. If the command is killed, gdb reads the end of its input and lets it go, too.
    """

    def __init__(self, program: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self._process = subprocess.Popen(
            [program, *_START], cwd="/", env={**kept, "LC_ALL": "C"}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            preexec_fn=_unblock_signals,  # noqa: PLW1509 (the command has one thread)
        )  # fmt: skip
        self.interrupted = False  # gdb has taken a Ctrl-C that came for the stopped process
        self._text = b""
        self._number = 0

    def _line(self, end: float) -> str:
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        while b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([output], (), (), left)[0]:
                raise GdbSilent("gdb does not answer")
            more = os.read(output, 1 << 16)
            if not more:
                raise GdbError("gdb has ended")
            self._text += more
        line, _, self._text = self._text.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _send(self, command: str) -> None:
        assert self._process.stdin is not None
        self._number += 1
        try:
            os.write(self._process.stdin.fileno(), f"{self._number}{command}\n".encode())
        except BrokenPipeError:
            raise GdbError("gdb has ended") from None

    def _result(self, seconds: float) -> str:
        """Return the result of the last command. Raises GdbError."""
        end = time.monotonic() + seconds
        while True:
            line = self._line(end)
            if not line.startswith(f"{self._number}^"):
                continue
            kind, _, rest = line.partition("^")[2].partition(",")
            if kind == "error":
                message = re.search(r'msg="(.*?)"(,code=|$)', rest)
                raise GdbError(" ".join((message[1] if message else rest).replace('\\"', '"').split()))
            return rest

    def do(self, command: str, seconds: float = 20) -> str:
        """Return the result of the command. Raises GdbError."""
        self._send(command)
        return self._result(seconds)

    def attach(self, pid: int, executable: str) -> None:
        """Stop all threads of the process. Raises GdbError; the process runs on then."""
        self.do('-interpreter-exec console "handle all nostop noprint pass"')
        self.do(f"-file-exec-file {executable}")
        self.do(f"-target-attach {pid}")

    def threads(self) -> dict[int, str]:
        """Return gdb's names of the threads, by their numbers."""
        return {int(number): name for name, number in _THREAD.findall(self.do("-thread-info"))}

    def call(self, thread: str, function: int, *arguments: int, seconds: float = 10) -> int:
        """Return the result of a function that returns an int and takes pointers, on a stopped thread."""
        types = ", ".join(["void *"] * len(arguments)) or "void"
        values = ", ".join(f"(void *){argument:#x}" for argument in arguments)
        self.do(f"-thread-select {thread}")
        command = f'-data-evaluate-expression "((int (*)({types})){function:#x})({values})"'
        try:
            result = self._call(command, seconds)
        except GdbError as error:
            if "was signaled" not in str(error):
                raise
            self.interrupted = True
            result = self._call(command, seconds)
        found = re.fullmatch(r'value="(-?\d+)"', result)
        if found is None:
            raise GdbError(f"gdb has returned {result}")
        return int(found[1])

    def _call(self, command: str, seconds: float) -> str:
        self._send(command)
        try:
            return self._result(seconds)
        except GdbSilent:
            self._process.send_signal(signal.SIGINT)  # gdb stops the call, and puts the thread back to where it was
        try:
            return self._result(seconds)
        except GdbError as error:
            raise GdbError("the call did not return, and was taken back") from error

    def detach(self) -> None:
        """Let the process run. Raises GdbError."""
        self.do("-target-detach")

    def close(self) -> bool:
        """End gdb, which lets a stopped process run. False if it was killed, so that it could not do so."""
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
