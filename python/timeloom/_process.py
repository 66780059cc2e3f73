"""The process that `timeloom attach` is given: its Python, and the reason if it cannot be reached."""

import os
import pwd
import shlex
import sys
from typing import NamedTuple

from timeloom._symbols import Interpreter, interpreter_in

OLDEST = (3, 12)  # the first version that can be recorded when it runs already
WITHOUT_DEBUGGER = (3, 14)  # the first version that lets others in, and whose stacks can be read
_VARIABLE = "PYTHON_DISABLE_REMOTE_DEBUG"


class Refused(Exception):
    """The reason in one line, and a remedy."""


class Process(NamedTuple):
    """A running Python process."""

    pid: int
    words: list[str]  # of its command line
    executable: str
    interpreter: Interpreter
    user: int
    file: str = ""  # of its Python, as it can be opened
    mapped: str = ""  # the same, as /proc/PID/maps has it


def find_process(text: str) -> Process:
    """Return the process with that number. Raises Refused."""
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10):
        raise Refused(f"'{text}' is not the number of a process; write: timeloom attach PID [TL610]")
    pid = int(text)
    if pid == os.getpid():
        raise Refused(f"process {pid} is this command [TL611]")
    try:
        return _look_at(pid)
    except (FileNotFoundError, ProcessLookupError):
        raise Refused(
            f"there is no process {pid}; pgrep -a python lists the processes that run Python "
            "[TL612]"
        ) from None
    except PermissionError:
        raise Refused(no_permission(pid)) from None


def _look_at(pid: int) -> Process:
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    if int(status["Tgid"]) != pid:
        raise Refused(f"{pid} is a thread of process {status['Tgid']}; write: timeloom attach {status['Tgid']} [TL613]")
    if status["State"].startswith(("Z", "X")):
        raise Refused(
            f"process {pid} has ended; only its parent, process {status['PPid']}, "
            "has not noticed yet [TL614]"
        )
    _refuse_other_place(pid, status)
    executable = os.readlink(f"/proc/{pid}/exe")
    with open(f"/proc/{pid}/cmdline", "rb") as command:
        words = [os.fsdecode(word) for word in command.read().split(b"\0")[:-1]]
    found = _interpreter_of(pid, executable)
    if found is None:
        _refuse_other_machine(pid)
        raise Refused(f"process {pid} ({status['Name']}) is not a Python program [TL615]")
    interpreter, path, mapped = found
    return Process(pid, words, executable, interpreter, os.stat(f"/proc/{pid}").st_uid, path, mapped)


def _machine_of(path: str) -> bytes:
    """Return the kind of the program: its size of addresses and its processor."""
    with open(path, "rb") as file:
        header = file.read(20)
    return header[:6] + header[18:20]


def _refuse_other_machine(pid: int) -> None:
    if _machine_of(f"/proc/{pid}/exe") != _machine_of("/proc/self/exe"):
        raise Refused(
            f"process {pid} is a program of another processor, or of 32 bits; start it with timeloom run [TL149]"
        )


def _refuse_other_place(pid: int, status: dict[str, str]) -> None:
    """Refuse a process in another container: it has other files and other numbers."""
    within = status.get("NSpid", str(pid)).split()[-1]
    for name in ("mnt", "pid"):
        if os.readlink(f"/proc/{pid}/ns/{name}") != os.readlink(f"/proc/self/ns/{name}"):
            raise Refused(
                f"process {pid} is in another container; write in that one, which nsenter --target {pid} --all gets "
                f"into: timeloom attach {within} [TL616]"
            )
    if not os.path.samestat(os.stat(f"/proc/{pid}/root/."), os.stat("/")):
        raise Refused(
            f"process {pid} has another root directory, {os.readlink(f'/proc/{pid}/root')}; "
            f"write in there: timeloom attach {within} [TL616]"
        )


def _interpreter_of(pid: int, executable: str) -> tuple[Interpreter, str, str] | None:
    """Return the version and the file that it is from, which is the program or a library that it has loaded."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as lines:
        files = {line.split(None, 5)[5].rstrip("\n") for line in lines if line.count("/")}
    libraries = sorted(path for path in files if "libpython" in os.path.basename(path))
    for path, mapped in [(f"/proc/{pid}/exe", executable), *((path, path) for path in libraries)]:
        try:
            found = interpreter_in(path)
        except FileNotFoundError:  # replaced since it was loaded
            continue
        if found is not None:
            return found, path, mapped
    return None


def _name_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def is_stopped(process: Process) -> bool:
    """True for a process stopped by a signal such as SIGSTOP."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in ("T", "t")
    except OSError:
        return False


def no_permission(pid: int) -> str:
    """Return the users that may reach the process, and how to become one of them."""
    owner = os.stat(f"/proc/{pid}").st_uid
    root = os.geteuid() == 0
    way = "" if root else "; write: sudo " + shlex.join(["timeloom", "attach", *sys.argv[1:]])
    if owner != os.geteuid() and not root:
        return f"process {pid} belongs to {_name_of(owner)}{way} [TL617]"
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as file:
            scope = file.read().strip()
    except OSError:
        scope = "0"
    if scope not in ("", "0"):
        return f"this machine lets no process into another (kernel.yama.ptrace_scope is {scope}){way} [TL617]"
    return f"process {pid} lets nobody in (it has changed its user, or it holds secrets){way} [TL617]"


def _python_of(process: Process) -> str:
    """Return the path as it was called, if that is the running file: in an environment it is a link."""
    called = process.words[0] if process.words else ""
    try:
        same = os.path.isabs(called) and os.path.samefile(called, process.executable)
    except OSError:
        same = False
    return called if same else process.executable


def version_text(process: Process) -> str:
    """Return the version of its Python, for a message."""
    version = process.interpreter.version
    kind = "t" if process.interpreter.free_threaded else ""
    return "before 3.11" if version is None else ".".join(map(str, version)) + kind


def refuse_other_python(process: Process, oldest: tuple[int, int] = OLDEST) -> None:
    """Check that the interpreters agree where they must. Raises Refused."""
    pid, its = process.pid, process.interpreter
    recordable = its.version is not None and its.version[:2] >= OLDEST and not its.free_threaded
    if recordable and its.version is not None and its.version[:2] < oldest:
        raise Refused(
            f"process {pid} runs Python {version_text(process)}, whose stacks can be read from {oldest[0]}.{oldest[1]} "
            f"on; timeloom attach {pid} records its calls [TL618]"
        )
    if its.version is None or its.version[:2] < oldest:
        raise Refused(
            f"process {pid} runs Python {version_text(process)}, and one that runs already can be reached from "
            f"{oldest[0]}.{oldest[1]} on; start it with timeloom run [TL618]"
        )
    if its.free_threaded and its.version[:2] < WITHOUT_DEBUGGER:
        raise Refused(
            f"process {pid} runs Python {version_text(process)}, and one without a GIL can be reached from 3.14 on; "
            "start it with timeloom run [TL618]"
        )
    ours = sys.version_info[:3]
    free = bool(getattr(sys, "_is_gil_enabled", None)) and "t" in sys.abiflags
    if its.version[:2] != ours[:2] or its.free_threaded != free:
        raise Refused(
            f"process {pid} runs Python {version_text(process)}, this command {'.'.join(map(str, ours))}"
            f"{'t' if free else ''}; "
            f"write: {shlex.join([_python_of(process), '-m', 'timeloom._attach', *sys.argv[1:]])} [TL618]"
        )


def refuse_unwilling(process: Process) -> None:
    """Check that the process, and the machine, let others in. Raises Refused."""
    pid = process.pid
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            names = {entry.partition(b"=")[0] for entry in file.read().split(b"\0") if not entry.endswith(b"=")}
        with open(f"/proc/{pid}/mem", "rb"):  # requires the same permission as later reads and writes
            pass
    except PermissionError:
        raise Refused(no_permission(pid)) from None
    except OSError:
        raise Refused(f"process {pid} has ended [TL614]") from None
    if _VARIABLE.encode() in names and "-E" not in process.words and "-I" not in process.words:
        raise Refused(
            f"process {pid} was started with {_VARIABLE}, which keeps everybody out; "
            "start it without [TL619]"
        )
    if any(word.removeprefix("-X").replace("_", "-") == "disable-remote-debug" for word in process.words):
        raise Refused(f"process {pid} was started with -X disable_remote_debug; start it without [TL619]")
