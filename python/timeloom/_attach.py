"""`timeloom attach`: records a running Python program, or prints its stacks."""

import contextlib
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from timeloom import __version__, _core
from timeloom._debugger import stack_command
from timeloom._launch import _read_pyproject as read_pyproject
from timeloom._process import WITHOUT_DEBUGGER, Process, Refused, find_process, is_stopped
from timeloom._road import Road, road_to
from timeloom._text import without_id

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_FAILED, _WRONG_USAGE = 1, 2

HELP = """\
usage: timeloom attach [options] PID
       timeloom attach --dump PID

Records a Python program that runs already, from now on until --for is over or
Ctrl-C is pressed, and leaves it as it was. The calls that run are entered at the
start. Both Pythons have to be of the same version, 3.12 or later, and 3.12 and 3.13
are reached by gdb or lldb (docs/attach.md).

Options:
  --for TIME          end by itself after so long: 500ms, 10s, 2min
  --within TIME       how long to wait for the main thread, which may be in C
                      (default: 5s)
  --dump              print the stacks of all threads once instead, read from outside
  -h, --help          show this help

The options of timeloom run about recording and its output are accepted as well:
--output DIR, --exclude PATTERN, --profile, --sampling (samples in place of calls) and
the others; see timeloom run --help.

exit status: 0 done, 1 the process could not be recorded, 2 wrong usage.
"""


class Options(NamedTuple):
    """The options of this command alone."""

    process: str  # as it was written
    seconds: float
    within: float
    dump: bool
    help: bool


def _print_line(line: str) -> None:
    print(f"timeloom: {line}", file=sys.stderr, flush=True)


_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delivers interrupting signals only inside _interruptible(), so that created files are always removed."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


FindRoad = Callable[[Process], Road]  # raises Refused

_SCRIPT, _SOCKET = "script.py", "socket"  # in the directory of a rendezvous


class _Rendezvous:
    """A private directory with a script for the other process, and a socket on which it answers.

    It is held open: where others can write to the directory for temporary files, its path may be replaced.
    """

    def __init__(self, process: Process, run: str, seconds: float, frames: int = 0) -> None:
        self._process = process
        self._directory = tempfile.mkdtemp(prefix="timeloom-attach-")
        self._opened = os.open(self._directory, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self.script = f"{self._directory}/{_SCRIPT}"
        self._place = f"{self._directory}/{_SOCKET}"
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            if len(os.fsencode(self.script)) > 100:  # a socket's path has less room
                raise Refused(
                    f"the directory for temporary files, {self._directory}, has too long a path; "
                    "set TMPDIR [TL620]"
                )
            self._write(run, seconds, frames)
            self._listen()
            self._open_to_user()
        except BaseException:
            self.close()
            raise

    def _write(self, run: str, seconds: float, frames: int) -> None:
        with open(f"{_PACKAGE}/_attached.py", encoding="utf-8") as file:
            text = file.read()
        request = {
            "socket": self._place, "package": _PACKAGE, "version": __version__, "run": run, "seconds": seconds,
            "frames": frames,
        }  # fmt: skip
        names = f"{{'__name__': 'timeloom._attached', 'REQUEST': {request!r}}}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(_SCRIPT, flags, 0o600, dir_fd=self._opened)
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"exec(compile({text!r}, {_PACKAGE + '/_attached.py'!r}, 'exec'), {names})\n")

    def _listen(self) -> None:
        before = os.umask(0o177)
        try:
            self._socket.bind(self._place)
        finally:
            os.umask(before)
        self._socket.listen(1)

    def _open_to_user(self) -> None:
        """Let the user of the process read the script and use the socket. The directory stays ours to write."""
        if self._process.user == os.geteuid():
            return
        try:
            if os.fstat(self._opened).st_uid != os.geteuid():
                raise FileNotFoundError
            os.fchmod(self._opened, 0o711)
            for name in (_SCRIPT, _SOCKET):
                os.chown(name, self._process.user, -1, dir_fd=self._opened, follow_symlinks=False)
        except FileNotFoundError:
            raise Refused(
                f"{self._directory} was replaced by somebody else; "
                "set TMPDIR to one of your own [TL620]"
            ) from None

    def wait(self, seconds: float) -> socket.socket | None:
        """Return the connection of the process; None if it has not connected in that time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._socket.settimeout(min(left, 0.2))
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                if not os.path.exists(f"/proc/{self._process.pid}/exe"):
                    raise Refused(f"process {self._process.pid} has ended [TL614]") from None
                continue
            connection.settimeout(None)
            if self._is_process(connection):
                return connection
            connection.close()
        return None

    def _is_process(self, connection: socket.socket) -> bool:
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid: int = struct.unpack("3i", peer)[0]
        return pid == self._process.pid

    def withdraw(self, road: Road) -> None:
        """Close the socket, and keep the process from executing the script."""
        self._socket.close()
        road.take_back()

    def close(self) -> None:
        self._socket.close()
        for name in (_SCRIPT, _SOCKET):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._opened)
        os.close(self._opened)
        with contextlib.suppress(NotADirectoryError, FileNotFoundError):  # it was replaced
            os.rmdir(self._directory)


_INTERPRETERS = "a process that has sub-interpreters cannot be attached to"


def _connect(rendezvous: _Rendezvous, process: Process, within: float, road: Road) -> socket.socket:
    if road.risk:
        _print_line(road.risk)
    road.send(rendezvous.script)
    connection = None
    try:
        with _interruptible():
            connection = rendezvous.wait(within)
    finally:
        if connection is None:
            rendezvous.withdraw(road)
    if connection is None:
        _refuse_silence(process, within)
    road.arrived()
    return connection


def _refuse_silence(process: Process, within: float) -> NoReturn:
    """Raise Refused, since the process has not answered within so many seconds."""
    if is_stopped(process):
        raise Refused(
            f"process {process.pid} is stopped: nothing was changed in it; "
            f"kill -CONT {process.pid} lets it go on [TL621]"
        )
    by_debugger = sys.version_info < WITHOUT_DEBUGGER
    causes = "runs C code" + ("" if by_debugger else ", or it has sub-interpreters")
    look = stack_command(process.pid) if by_debugger else f"timeloom attach --dump {process.pid}"
    raise Refused(
        f"the main thread of process {process.pid} {causes}, or a signal handler has raised an exception in the way, "
        f"and was not reached in {within:g} s: nothing was changed in it; {look} shows where it is, "
        "--within 1min waits longer [TL622]"
    )


def _read_line(connection: socket.socket) -> str:
    """Return a line without its end; empty if the process has closed the connection."""
    data = b""
    while not data.endswith(b"\n"):
        try:
            more = connection.recv(4096)
        except ConnectionError:
            return ""
        if not more:
            return ""
        data += more
    return data.decode("utf-8", "replace").rstrip("\n")


def _begin(connection: socket.socket, process: Process) -> None:
    with contextlib.suppress(ConnectionError):  # it may have told a reason before
        connection.sendall(b"go")
    said = _read_line(connection)
    if said == "recording":
        return
    if "subinterpreters" in said:
        said = f"its sub-interpreter has answered; {_INTERPRETERS}"
    reason = without_id(said.removeprefix("refused ")) or "it has ended"
    if "Permission denied" in reason and process.user != os.geteuid():
        reason += _way_for(process.user, reason)
    raise Refused(f"process {process.pid} is not recorded: {reason} [TL623]")


def _way_for(user: int, reason: str) -> str:
    """Return the remedy for a file that the process of that user may not open, as the end of a message."""
    if _PACKAGE in reason:
        return f"; install Timeloom where user {user} can read it"
    return "; choose a directory with --output that its user can get to"


def _wait_for_end(connection: socket.socket, begun: str) -> str:
    """Print that recording has begun, and return the answer of the process; Ctrl-C requests it."""
    try:
        with _interruptible():
            _print_line(begun)
            return _read_line(connection)
    except KeyboardInterrupt:
        pass
    try:
        connection.sendall(b"end")
        with _interruptible():
            return _read_line(connection)
    except ConnectionError:
        return ""


def record(options: Options, find_road: FindRoad) -> None:
    """Record the process. Raises Refused and Error."""
    _core.plan_attach(read_pyproject())
    process = find_process(options.process)
    road = find_road(process)
    with _interrupts_held():
        user = -1 if process.user == os.geteuid() else process.user
        run = _core.make_attached_run(process.words, options.process, user)
        try:
            connection = _meet(process, run, options, road)
        except BaseException:
            _core.forget_attached_run()
            raise
        begin = time.monotonic()
        with connection:
            answer = _record(connection, process, options)
        seconds = time.monotonic() - begin
    _core.finish_attached_run(answer, seconds)


def _meet(process: Process, run: str, options: Options, road: Road) -> socket.socket:
    """Return the connection to the process, which records from here on."""
    rendezvous = _Rendezvous(process, run, options.seconds, road.frames)
    try:
        connection = _connect(rendezvous, process, options.within, road)
        try:
            with _interruptible():
                _begin(connection, process)
        except BaseException:
            connection.close()
            raise
        return connection
    finally:
        rendezvous.close()


def _record(connection: socket.socket, process: Process, options: Options) -> str:
    """Return the process's final message about its recording."""
    how = f"for {options.seconds:g} s, or until Ctrl-C" if options.seconds else "until Ctrl-C"
    answer = _wait_for_end(connection, f"recording process {process.pid} {how}")
    if not answer:
        _print_line(f"process {process.pid} has ended, become another program, or closed the connection [TL624]")
    return answer


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def main(words: list[str], find_road: FindRoad = road_to) -> int:
    """Carry out the command, and return the exit status."""
    try:
        options = Options(*_core.read_attach_words(words))
        if options.help:
            print(HELP, end="")
            return 0
        if options.dump:
            from timeloom._dump import dump

            missing = dump(options.process)
            if missing:
                _print_line(missing)
            return _FAILED if missing else 0
        signal.signal(signal.SIGTERM, _interrupt)
        record(options, find_road)
    except _core.Error as error:
        _print_line(str(error))
        return _WRONG_USAGE
    except Refused as error:
        _print_line(str(error))
        return _FAILED
    except KeyboardInterrupt:
        return _FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
