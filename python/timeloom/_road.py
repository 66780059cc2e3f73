"""The ways in which `timeloom attach` has a running process execute a script."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator

from timeloom._debugger import Debugger, DebuggerError, find_debugger
from timeloom._gdb import Gdb
from timeloom._lldb import Lldb
from timeloom._memory import TAKEN_BACK, find_functions, find_room, open_memory, read_bytes, write_bytes
from timeloom._process import (
    Process,
    Refused,
    no_permission,
    refuse_other_python,
    refuse_unwilling,
    version_text,
)

_INTERPRETERS = "a process that has sub-interpreters cannot be attached to"


class Road:
    """A way into one process. The constructor raises Refused if it cannot be used, before anything is done."""

    frames = 0  # calls of Python between the program and the script
    risk = ""  # a line that is printed before

    def send(self, script: str) -> None:
        """Have the main thread execute the file `script` as soon as it can. Raises Refused."""
        raise NotImplementedError

    def take_back(self) -> None:
        """Keep the main thread from executing the script, if it has not begun."""

    def arrived(self) -> None:
        """Remove everything that send() has left in the process, because the script runs now."""


class RemoteExec(Road):
    """sys.remote_exec, which Python has from 3.14 on."""

    def __init__(self, process: Process) -> None:
        refuse_other_python(process)
        refuse_unwilling(process)
        self._process = process

    def _deliver(self, script: str) -> None:
        sys.remote_exec(self._process.pid, script)  # type: ignore[attr-defined,unused-ignore]

    def send(self, script: str) -> None:
        """See Road."""
        try:
            self._deliver(script)
        except PermissionError:
            raise Refused(no_permission(self._process.pid)) from None
        except (OSError, RuntimeError, ValueError) as error:
            text = " ".join(str(error).split()) or type(error).__name__
            if "not enabled" in text:
                text = "it was started, or its Python built, without remote debugging; start it with timeloom run"
            if "main thread" in text:
                text += f"; {_INTERPRETERS}"
            raise Refused(f"process {self._process.pid} cannot be reached: {text} [TL619]") from None

    def take_back(self) -> None:
        """See Road."""
        try:
            self._deliver("/dev/null")  # a script that does nothing
        except (OSError, RuntimeError):
            return  # it has ended
        time.sleep(0.2)  # it may be about to open the first script


# Found by name. Py_AddPendingCall() has a call made by the main thread between two instructions of its code, takes one
# lock for some instructions, and allocates nothing. The functions of locks are those that it is made of.
_ADD, _RUN, _READY = "Py_AddPendingCall", "PyRun_SimpleString", "Py_IsInitialized"
_LOCKS = (
    "PyThread_acquire_lock", "PyThread_acquire_lock_timed", "PyThread_release_lock", "PyMutex_Lock", "PyMutex_Unlock",
    "_PyEval_AddPendingCall",
)  # fmt: skip
_ROOM = 320  # bytes; a script's path has at most 100
_TRIES = 50  # for a moment in which no thread is in one of these functions
# It runs in the program's module __main__, where a name such as `open` may mean anything. It binds no name, and leaves
# no file open, since a warning of that would leave a name there.
_TEXT = """\
try: __import__('builtins').exec(__import__('_frozen_importlib_external').FileLoader.get_data(None, {!a}), {{}})
except __import__('builtins').KeyboardInterrupt: __import__('_thread').interrupt_main()
except: 0
"""


class ThroughDebugger(Road):
    """A debugger calls Py_AddPendingCall in the process, for a Python without sys.remote_exec.

    The text that the main thread executes lies in bytes behind the variables of a library. It is written and removed
    while the process runs; the debugger is there for the call alone.
    """

    frames = 1

    def __init__(self, process: Process) -> None:
        refuse_other_python(process)
        refuse_unwilling(process)
        self._pid = process.pid
        self._name = f"process {process.pid}"
        self._refuse_state()
        self._debugger, self._program = self._find_debugger(process)
        try:
            calls = find_functions(process.pid, process.file, process.mapped, (_ADD, _RUN, _READY, *_LOCKS))
            self._place = find_room(process.pid, _ROOM)
            self._memory = open_memory(process.pid)  # of this program: not of one that takes its place later
        except OSError as error:
            raise self._unreachable(f"its memory cannot be read: {error.strerror}") from None
        if not calls.keys() >= {_ADD, _RUN, _READY}:
            raise self._unreachable("the file of its Python was replaced, or has no symbols")
        if not self._place:
            raise self._unreachable("no library has unused bytes behind its variables")
        self._calls = calls
        self.risk = (
            f"{self._name} runs Python {version_text(process)}: {self._debugger.name} stops it for a moment to let "
            f"Timeloom in; it may end if {self._debugger.name} is killed in this moment [TL095]"
        )

    def _find_debugger(self, process: Process) -> tuple[type[Gdb] | type[Lldb], str]:
        for kind in (Gdb, Lldb):
            program = find_debugger(kind.name)
            if program is not None:
                return kind, program
        raise Refused(
            f"{self._name} runs Python {version_text(process)}, which only a debugger reaches, and there is none: "
            "install gdb or lldb, or start the program with timeloom run [TL096]"
        )

    def _unreachable(self, reason: str) -> Refused:
        return Refused(f"{self._name} cannot be reached by a debugger: {reason}; start it with timeloom run [TL097]")

    def _refuse_state(self) -> None:
        try:
            with open(f"/proc/{self._pid}/status", encoding="utf-8", errors="replace") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        except OSError:
            raise Refused(f"{self._name} has ended [TL614]") from None
        tracer = status.get("TracerPid", "0").strip()
        if tracer != "0":
            raise Refused(f"{self._name} is traced by process {tracer}, such as a debugger or strace; end that [TL099]")
        if status["State"].startswith(("T", "t")):
            raise Refused(
                f"{self._name} is stopped: nothing was changed in it; kill -CONT {self._pid} lets it go on [TL621]"
            )
        if "shstk" in status.get("x86_Thread_features", "").split():
            raise self._unreachable("it has a shadow stack, which a debugger would damage")

    # ---- The call

    def send(self, script: str) -> None:
        """See Road."""
        text = _TEXT.format(script).encode("ascii") + b"\0"
        if len(text) > _ROOM:
            raise self._unreachable("the path of the script is too long")
        for _ in range(_TRIES):
            asleep = _sleeping_threads(self._pid)
            called = False
            try:
                with self._stopped() as debugger:
                    thread = self._safe_thread(debugger.threads(), asleep)
                    if thread is not None:
                        self._call(debugger, thread, text)
                        called = True
            except Refused:  # the debugger has ended
                if called:
                    self.take_back()
                raise
            if called:
                return
            time.sleep(0.01)
        raise self._unreachable("it was in no moment safe to interrupt it; try it again")

    @contextlib.contextmanager
    def _stopped(self) -> Iterator[Debugger]:
        debugger = self._debugger(self._program)
        try:
            try:
                debugger.attach(self._pid, f"/proc/{self._pid}/exe")
                try:
                    yield debugger
                finally:
                    debugger.detach()
                    if debugger.interrupted:
                        os.kill(self._pid, signal.SIGINT)
            finally:
                if not debugger.close():
                    _let_go_on(self._pid)
        except DebuggerError as error:
            raise Refused(f"{self._debugger.name} could not let Timeloom into {self._name}: {error} [TL098]") from None

    def _call(self, debugger: Debugger, thread: str, text: bytes) -> None:
        if debugger.call(thread, self._calls[_READY].address) == 0:
            raise self._unreachable("its Python starts or ends at this moment")
        try:
            write_bytes(self._memory, self._place, text)
            if debugger.call(thread, self._calls[_ADD].address, self._calls[_RUN].address, self._place) != 0:
                raise self._unreachable("too many calls wait for its main thread")
        except BaseException as error:
            self.arrived()
            if isinstance(error, OSError):
                raise self._unreachable(f"its memory cannot be written: {error.strerror or error}") from None
            raise

    def _safe_thread(self, threads: dict[int, str], asleep: dict[int, str]) -> str | None:
        """Return the debugger's name of a stopped thread that does not hold the lock of the pending calls.

        A thread that sleeps in a system call does not hold it, since its owner never sleeps. The main thread may hold
        it while it is in a function of locks. None: no thread is safe.
        """
        for number, state in asleep.items():
            if number in threads and _system_call(self._pid, number) == state:
                return threads[number]
        if self._pid in threads and not self._is_at_lock(self._pid):
            return threads[self._pid]
        return None

    def _is_at_lock(self, thread: int) -> bool:
        """Return whether the thread may be in a function of locks, by its address and the top KB of its stack."""
        try:
            *_, stack, at = (int(word, 0) for word in _system_call(self._pid, thread).split())
            data = read_bytes(self._pid, stack, 1024)
        except (OSError, ValueError):
            return True
        places = [at, *(int.from_bytes(data[i : i + 8], sys.byteorder) for i in range(0, len(data), 8))]
        calls = [self._calls[name] for name in (_ADD, *_LOCKS) if name in self._calls]
        return any(call.address <= place < call.address + call.size for call in calls for place in places)

    # ---- Afterwards

    def take_back(self) -> None:
        """See Road. The call stays with the main thread, and executes a text that does nothing."""
        with contextlib.suppress(OSError):
            write_bytes(self._memory, self._place, TAKEN_BACK.ljust(_ROOM, b"\0"))
            time.sleep(0.2)  # it may be about to open the script

    def arrived(self) -> None:
        """See Road."""
        with contextlib.suppress(OSError):
            write_bytes(self._memory, self._place, bytes(_ROOM))


_STOP_WAITS = 1 << (signal.SIGSTOP - 1)  # in the signals of a thread that wait for it


def _is_stopping(pid: int) -> bool:
    """Return whether a thread of the process is stopped, or is about to be by a signal that waits for it."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8", errors="replace") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            if status["State"].startswith("T") or int(status["SigPnd"], 16) & _STOP_WAITS:
                return True
    return False


def _let_go_on(pid: int) -> None:
    """Continue a process that a killed debugger has left stopped: its SIGSTOP outlives it. Raises DebuggerError."""
    try:
        for _ in range(20):  # a signal that a thread has just taken is seen when it has stopped
            if _is_stopping(pid):
                return os.kill(pid, signal.SIGCONT)
            time.sleep(0.01)
    except PermissionError:
        raise DebuggerError(f"it was killed and has left the process stopped: kill -CONT {pid} lets it go on") from None
    except OSError:
        pass  # the process has ended
    return None


def _system_call(pid: int, thread: int) -> str:
    """Return the system call of a thread, with its stack pointer and address; "" if it cannot be read."""
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


def _sleeping_threads(pid: int) -> dict[int, str]:
    """Return the threads that wait in a system call, and where."""
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):
            place = _system_call(pid, int(name))
            if place and not place.startswith(("running", "-1")):
                found[int(name)] = place
    return found


def road_to(process: Process) -> Road:
    """Return the way into the process. Raises Refused."""
    return RemoteExec(process) if sys.version_info >= (3, 14) else ThroughDebugger(process)
