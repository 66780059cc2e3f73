"""``python -m scorep``: runs a program and records its calls."""

import posix
import sys

if not __package__:  # started by the path of this file, see timeloom/__main__.py
    sys.path.insert(0, __file__.rpartition("/scorep/")[0])

from timeloom import _core, _scorep_words
from timeloom._launch import _read_pyproject

if not __package__:
    del sys.path[0]

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from timeloom._core import _Program


def main() -> None:
    """Run the program of the command line; the console command ``scorep-python``."""
    before = set(sys.modules)
    try:
        line = _scorep_words.parse(sys.argv[1:])
        if line.help or line.program is None:
            print(_scorep_words.help_text(), end="")
            return
        pyproject = _read_pyproject(sys.argv)
        before_program = None if line.file is None else _runner(line.file)
        _check(line.program)
    except _core.Error as error:
        sys.stderr.write(f"scorep: {error}\n")
        raise SystemExit(1) from None
    _core.load_wrappers(line.wrappers)  # starts this process again, before anything is printed
    if line.verbose:
        line.notes.append(_choices(line))
    for note in line.notes:
        sys.stderr.write(f"scorep: {note}\n")
    brought = [name for name in sys.modules if name not in before]
    _core.run_program("scorep", _settings(line), pyproject, line.program, brought, before_program)


def _settings(line: _scorep_words.CommandLine) -> "dict[str, Any]":
    """Return the settings of the options, by the names of timeloom run; the door adds its own."""
    locks = {"thread_locks": 0} if _wants_locks(line) else {}  # of any duration, as in Score-P
    return {"instrumenter": line.instrumenter, "paused": line.off, "keep_spool": line.keep_files,
            **line.loaded, **line.wrappers, **locks}


def _wants_locks(line: _scorep_words.CommandLine) -> bool:
    """True if the options ask for calls of mutexes and of native threads, and no variable chooses the locks."""
    threads = str(line.wrappers.get("thread", ""))
    return line.locks and threads.startswith("pthread") and b"TIMELOOM_THREAD_LOCKS" not in posix.environ


def _choices(line: _scorep_words.CommandLine) -> str:
    """Return the line of --verbose about the measurement."""
    variables = [entry.decode("utf-8", "replace") for entry in _scorep_variables()]
    state = "off at the start" if line.off else "on"
    return f"instrumenter {line.instrumenter}, {state}; {' '.join(variables) or 'no SCOREP_ variable set'}"


def _scorep_variables() -> list[bytes]:
    return sorted(b"=".join(pair) for pair in posix.environ.items() if pair[0].startswith(b"SCOREP_"))


def _check(program: "_Program") -> None:
    """Raise Error for a script that is missing, or is not a Python program."""
    kind, target, arguments = program
    if kind != "file":
        return
    options = [word for word in sys.argv[1 : len(sys.argv) - len(arguments) - 1] if word != "--"]
    meant = _core.meant_command(["python", "-m", "scorep"], options, "scorep", target, arguments)
    if meant:
        raise _core.Error(f"{meant} [TL124]")
    try:
        open(target, "rb").close()
    except IsADirectoryError:
        pass
    except OSError as error:
        raise _core.Error(f"Cannot run file {target!r} because: {error}") from None


def _runner(path: str) -> "Callable[[], None]":
    """Return the function that executes the file of --instrumenter-file; Error if it cannot be read."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise _core.Error(f"Cannot run file {path!r} because: {error}") from None

    def run() -> None:
        names = {"__name__": "__main__", "__file__": path, "sys": sys}
        exec(compile(source, path, "exec"), names)

    return run


if __name__ == "__main__":
    main()
