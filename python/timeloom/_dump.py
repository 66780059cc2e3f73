"""`timeloom attach --dump PID`: the stacks of all threads of a process, read from outside.

No code runs in the process, so it works even if the process is stuck.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from timeloom._process import (
    WITHOUT_DEBUGGER,
    Process,
    Refused,
    find_process,
    no_permission,
    refuse_other_python,
    refuse_unwilling,
)


class Frame(NamedTuple):
    """An open call."""

    file: str
    line: int
    function: str


class Thread(NamedTuple):
    """A thread that runs Python, with its calls from the innermost outwards."""

    id: int  # the kernel's
    frames: list[Frame]


def _frame(info: Any) -> Frame:
    """Return an open call. 3.14 has its line as a number, or first in a tuple; later versions have a location."""
    place: Any = getattr(info, "location", None) or getattr(info, "lineno", 0)
    line = place if isinstance(place, int) else place[0]
    return Frame(str(info.filename), int(line or 0), str(info.funcname))


def _threads(trace: Iterable[Any]) -> Iterator[Thread]:
    """Return the threads from RemoteUnwinder's result, which lists threads, or interpreters with threads."""
    for entry in trace:
        if hasattr(entry, "threads"):
            yield from _threads(entry.threads)
        else:
            identity, frames = (
                (entry.thread_id, entry.frame_info) if hasattr(entry, "frame_info") else (entry[0], entry[1])
            )
            yield Thread(int(identity), [_frame(info) for info in frames])


class Stacks(NamedTuple):
    """The stacks that could be read."""

    threads: list[Thread]  # the main one first
    missing: str = ""  # the missing parts, in one line


_TOO_DEEP = "Too many stack frames"  # of Python 3.14, from 1,022 on


def read_stacks(process: Process, tries: int = 20) -> Stacks:
    """Return the threads. Reads again if the process changed them meanwhile. Raises Refused."""
    from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found,unused-ignore]

    everything, error = True, None
    for _ in range(tries):
        try:
            threads = list(_threads(RemoteUnwinder(process.pid, all_threads=everything).get_stack_trace()))
        except PermissionError:
            raise Refused(no_permission(process.pid)) from None
        except (OSError, RuntimeError, UnicodeDecodeError, MemoryError) as failure:
            error = failure
            if _TOO_DEEP in str(failure):
                if not everything:
                    break
                everything = False  # the main thread alone
            continue
        if threads:
            threads.sort(key=lambda thread: (thread.id != process.pid, thread.id))
            return Stacks(threads, _missing(process, threads, everything))
    if error is None:
        raise Refused(f"Python's reader finds no thread in process {process.pid}: {_INTERPRETERS} [TL625]")
    why = f"the main thread has more calls than {_DEEP}" if _TOO_DEEP in str(error) else f"{error}; try it again"
    raise Refused(f"the stacks of process {process.pid} cannot be read: {why} [TL625]")


_INTERPRETERS = "one with sub-interpreters is not read completely"
_DEEP = f"Python {sys.version_info[0]}.{sys.version_info[1]} can read"


def _missing(process: Process, threads: list[Thread], everything: bool) -> str:
    if not everything:
        return (
            f"only the main thread of process {process.pid} is shown: another one has more calls "
            f"than {_DEEP} [TL626]"
        )
    if threads[0].id != process.pid:
        return f"the main thread of process {process.pid} is missing: {_INTERPRETERS} [TL626]"
    return ""


def _printable(text: str) -> str:
    """Return the text without control characters, which the process could choose freely."""
    return "".join("?" if ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 else one for one in text)


def _name(process: int, thread: int) -> str:
    try:
        with open(f"/proc/{process}/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return "ended"


def text_of(process: Process, threads: Iterable[Thread]) -> str:
    """Return the calls as text, in the order of a traceback: the innermost comes last."""
    words = " ".join(process.words) or process.executable
    lines = [f"process {process.pid}: {words}"]
    for thread in threads:
        kind = "main thread" if thread.id == process.pid else "thread"
        lines.append(f"{kind} {thread.id} ({_name(process.pid, thread.id)}):")
        lines += [f"  {frame.file}:{frame.line} {frame.function}" for frame in reversed(thread.frames)]
        if not thread.frames:
            lines.append("  no Python code")
    return "".join(f"{_printable(line)}\n" for line in lines)


def dump(pid: str) -> str:
    """Print the stacks of the process, and return the missing parts in one line. Raises Refused."""
    process = find_process(pid)
    refuse_other_python(process, WITHOUT_DEBUGGER)
    refuse_unwilling(process)
    stacks = read_stacks(process)
    os.write(1, text_of(process, stacks.threads).encode("utf-8", "backslashreplace"))
    return stacks.missing
