"""The measurement of one cell: it records while the user's code runs, and at no other time.

IPython compiles each top-level statement of a cell separately and runs it with ``run_code``. The display hook and
printed output run inside it; they are hidden here. Everything happens on the shell's thread.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import timeloom
from timeloom import _core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from timeloom._core import _Totals

# Python's names of the kernel's own threads.
_KERNEL_THREADS = (
    "IOPub", "Heartbeat", "Control", "IPythonHistorySavingThread", "Shell channel", "subshell-", "_watch_pipe_fd",
    "pydevd.", "debugpy",
)


def hide_kernel_threads(everything: bool = False) -> None:
    """Never record the kernel's own threads; with ``everything``, no thread except the calling one."""
    import threading

    here = threading.get_native_id()
    hidden = {
        thread.native_id for thread in threading.enumerate()
        if thread.native_id is not None and (everything or any(name in thread.name for name in _KERNEL_THREADS))
    }
    if everything:  # including zmq's, which Python does not know
        with contextlib.suppress(OSError):
            hidden |= set(map(int, os.listdir("/proc/self/task")))
    _core.keep_off_threads(sorted(hidden - {here}))


class CellMeasurement:
    """One cell, from before its first statement to after its last; or several cells, each with its region."""

    def __init__(self, settings: dict[str, Any], shell: Any) -> None:
        self._measurement = timeloom.Measurement(weave=False, **settings)
        self._shell = shell
        self._hidden: list[_Hidden] = []
        self._off: Any = None  # open while none of the user's code runs
        self._depth = 0  # of user_code(): a magic in a cell may run code inside it
        self._region: str | None = None
        self._begin = 0.0
        self._resident_begin = 0
        self._cpu_begin = 0.0
        self.started = False
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.resident = self.resident_rise = 0  # bytes of memory of the process

    @property
    def totals(self) -> _Totals | None:
        """Return the counts; None before finish()."""
        return self._measurement.totals

    def enter_cell(self, region: str, file: str) -> None:
        """Begin the region of a cell; the first one begins the measurement. Raises timeloom.Error."""
        if not self.started:
            self._start()
        # A region has the source position of its caller: the first line of the cell.
        begin = compile("begin(region)", file, "eval")
        names = {"__name__": "__main__", "begin": _core.region_begin, "region": region}
        with user_code(self):
            eval(begin, names)
        self._region = region

    def _start(self) -> None:
        hide_kernel_threads()
        self._measurement.start()
        self._off = _core.unrecorded()
        self._off.__enter__()
        self.started = True
        self._hidden = [_Hidden(owner, name) for owner, name in hidden_methods(self._shell)]
        self._resident_begin = _resident()
        self._begin, self._cpu_begin = time.perf_counter(), time.process_time()

    def leave_cell(self) -> None:
        """End the region of the cell, if one is open."""
        if self._region is None:
            return
        with user_code(self):
            _core.region_end(self._region)
        self._region = None

    def user_code(self) -> user_code:
        """Return a context in which the user's code is recorded."""
        return user_code(self)

    def finish(self) -> str | None:
        """End the measurement and return its directory; None if there was none."""
        if not self.started:
            return None
        self.leave_cell()
        self.seconds = time.perf_counter() - self._begin
        self.cpu_seconds = time.process_time() - self._cpu_begin
        self.resident = _resident()
        self.resident_rise = self.resident - self._resident_begin
        for method in self._hidden:
            method.show()
        self._off.__exit__(None, None, None)
        return self._measurement.finish()


def _resident() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


class user_code:  # a context, used as a function
    """Records the code that runs in the block."""

    __slots__ = ("_cell",)

    def __init__(self, cell: CellMeasurement) -> None:
        self._cell = cell

    def __enter__(self) -> None:
        cell = self._cell
        cell._depth += 1
        if cell._depth == 1:
            cell._off.__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        cell = self._cell
        cell._depth -= 1
        if cell._depth == 0:
            cell._off = _core.unrecorded()
            cell._off.__enter__()


class _Hidden:
    """A method of one object that records nothing, unless other code replaces it again."""

    def __init__(self, owner: Any, name: str) -> None:
        self._owner = owner
        self._name = name
        self._before = vars(owner).get(name)  # IPython copies the attribute in the same way
        method = getattr(owner, name)

        def hidden(*arguments: Any, **named: Any) -> Any:
            with _core.unrecorded():
                return method(*arguments, **named)

        self._hidden = hidden
        setattr(owner, name, hidden)

    def show(self) -> None:
        """Restore the method."""
        if vars(self._owner).get(self._name) is not self._hidden:
            return
        if self._before is None:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._before)


def hidden_methods(shell: Any) -> Iterator[tuple[Any, str]]:
    """The methods of kernel and shell that run as part of a cell and do not belong to the user."""
    for stream in (sys.stdout, sys.stderr):
        if type(stream).__module__.startswith("ipykernel"):
            yield stream, "write"
            yield stream, "flush"
    yield shell.display_pub, "publish"
    kernel = getattr(shell, "kernel", None)
    if hasattr(kernel, "_input_request"):
        yield kernel, "_input_request"
