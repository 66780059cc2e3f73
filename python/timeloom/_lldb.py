"""lldb, by the lines that it prints for people."""

import os
import re
import subprocess
import time

from timeloom._debugger import Debugger, DebuggerError, call_expression

# Nothing but these words decides what lldb does: no file of the user, of the directory, or of the process.
_START = (
    "--no-lldbinit", "--no-use-colors",
    "--one-line-before-file", "settings set target.preload-symbols false",
    "--one-line-before-file", "settings set target.load-script-from-symbol-file false",
    "--one-line-before-file", "settings set symbols.enable-external-lookup false",
    "--one-line-before-file", "settings set plugin.jit-loader.gdb.enable off",
    "--one-line-before-file", "settings set auto-confirm true",
    "--one-line-before-file", "settings set stop-disassembly-display never",
)  # fmt: skip
_THREAD = re.compile(r"thread #(\d+): tid = (\d+)")
_CALL = (
    "expression --language c --unwind-on-error true --ignore-breakpoints true --timeout {microseconds} -- {expression}"
)
# Packets between lldb and its server (the remote protocol of gdb): memory that was allocated in the process, and its
# place; a breakpoint that was set.
_ALLOCATED = re.compile(r"send packet: \$_M(?:.*\n)(?:.*read packet: \+#?.*\n)?.*read packet: \$([0-9a-f]{8,16})#")
_BREAKPOINT = re.compile(r"send packet: \$Z0,([0-9a-f]+),(\d+)")


class Lldb(Debugger):
    """See Debugger. A breakpoint and pages, which lldb puts into the process for itself, are removed again.

    It tells of them in its log of packets, a file in memory: its own history has the last 255 packets only.
    """

    name = "lldb"
    errors = subprocess.STDOUT

    def __init__(self, program: str) -> None:
        self._log = os.memfd_create("packets")
        super().__init__(program, _START, (self._log,))
        self._number = 0

    def close(self) -> bool:
        """See Debugger."""
        os.close(self._log)
        return super().close()

    def _packets(self) -> str:
        return os.pread(self._log, os.fstat(self._log).st_size, 0).decode("latin-1")

    def do(self, command: str, seconds: float = 20) -> str:
        """Return the output of the command. Raises DebuggerError."""
        self._number += 1
        mark = f"# {self._number}"
        self._write(f"{command}\n{mark}\n")  # each line is printed when it is read, after the end of the one before
        end = time.monotonic() + seconds
        lines: list[str] = []
        while not (line := self._read_line(end)).endswith(f"(lldb) {mark}"):
            lines.append(line)
        for line in lines:
            if line.startswith("error: "):
                raise DebuggerError(" ".join(line.removeprefix("error: ").split()))
        return "\n".join(lines)

    def attach(self, pid: int, executable: str) -> None:
        """See Debugger."""
        self.do(f"log enable --file /proc/self/fd/{self._log} gdb-remote packets")
        self.do(f"process attach --pid {pid}")
        self.do("process handle --pass true --stop false --notify false")
        for place, size in _BREAKPOINT.findall(self._packets()):
            self.do(f"process plugin packet send z0,{place},{size}")

    def threads(self) -> dict[int, str]:
        """See Debugger."""
        return {int(number): name for name, number in _THREAD.findall(self.do("thread list"))}

    def call(self, thread: str, function: int, *arguments: int, seconds: float = 10) -> int:
        """See Debugger."""
        self.do(f"thread select {thread}")
        command = _CALL.format(microseconds=int(seconds * 1e6), expression=call_expression(function, arguments))
        try:
            result = self.do(command, seconds + 20)
        except DebuggerError as error:
            if not re.search("timed out|signal SIGSTOP", str(error)):  # with the latter lldb stops it itself
                raise
            raise DebuggerError("the call did not return, and was taken back") from error
        found = re.search(r"^\(int\) \$\d+ = (-?\d+)$", result, re.MULTILINE)
        if found is None:
            raise DebuggerError(f"lldb has returned {' '.join(result.split())}")
        return int(found[1])

    def detach(self) -> None:
        """See Debugger."""
        for place in _ALLOCATED.findall(self._packets()):
            self.do(f"process plugin packet send _m{place}")
        self.do("process detach")
