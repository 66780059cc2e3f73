"""gdb, by its interface for machines (GDB/MI)."""

import re
import signal
import time

from timeloom._debugger import Debugger, DebuggerError, DebuggerSilent, call_expression

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


class Gdb(Debugger):
    """See Debugger."""

    name = "gdb"

    def __init__(self, program: str) -> None:
        super().__init__(program, _START)
        self._number = 0

    def _send(self, command: str) -> None:
        self._number += 1
        self._write(f"{self._number}{command}\n")

    def _result(self, seconds: float) -> str:
        """Return the result of the last command. Raises DebuggerError."""
        end = time.monotonic() + seconds
        while True:
            line = self._read_line(end)
            if not line.startswith(f"{self._number}^"):
                continue
            kind, _, rest = line.partition("^")[2].partition(",")
            if kind == "error":
                message = re.search(r'msg="(.*?)"(,code=|$)', rest)
                raise DebuggerError(" ".join((message[1] if message else rest).replace('\\"', '"').split()))
            return rest

    def do(self, command: str, seconds: float = 20) -> str:
        """Return the result of the command. Raises DebuggerError."""
        self._send(command)
        return self._result(seconds)

    def attach(self, pid: int, executable: str) -> None:
        """See Debugger."""
        self.do('-interpreter-exec console "handle all nostop noprint pass"')
        self.do(f"-file-exec-file {executable}")
        self.do(f"-target-attach {pid}")

    def threads(self) -> dict[int, str]:
        """See Debugger."""
        return {int(number): name for name, number in _THREAD.findall(self.do("-thread-info"))}

    def call(self, thread: str, function: int, *arguments: int, seconds: float = 10) -> int:
        """See Debugger."""
        self.do(f"-thread-select {thread}")
        command = f'-data-evaluate-expression "{call_expression(function, arguments)}"'
        try:
            result = self._call(command, seconds)
        except DebuggerError as error:
            if "was signaled" not in str(error):
                raise
            self.interrupted = True
            result = self._call(command, seconds)
        found = re.fullmatch(r'value="(-?\d+)"', result)
        if found is None:
            raise DebuggerError(f"gdb has returned {result}")
        return int(found[1])

    def _call(self, command: str, seconds: float) -> str:
        self._send(command)
        try:
            return self._result(seconds)
        except DebuggerSilent:
            self._process.send_signal(signal.SIGINT)  # gdb stops the call, and puts the thread back to where it was
        try:
            return self._result(seconds)
        except DebuggerError as error:
            raise DebuggerError("the call did not return, and was taken back") from error

    def detach(self) -> None:
        """See Debugger."""
        self.do("-target-detach")
