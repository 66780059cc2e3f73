"""``omnitrace-python``, ``python -m omnitrace``: runs a program and profiles it."""

import posix
import sys

if not __package__:  # started by the path of this file, see timeloom/__main__.py
    sys.path.insert(0, __file__.rpartition("/omnitrace/")[0])

from omnitrace import _command_line, _config, profiler
from timeloom import _core
from timeloom._launch import _read_pyproject

if not __package__:
    del sys.path[0]

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from timeloom._core import _Program

_WRONG_USAGE = 2
_CONFIG_FILE = b"OMNITRACE_CONFIG_FILE"
_SCRIPT_FILES = (b"OMNITRACE_PYTHON_SCRIPT_FILE", b"ROCPROFSYS_PYTHON_SCRIPT_FILE")
_USE_PID = b"OMNITRACE_USE_PID"
_NO_ANNOTATIONS = (
    "omnitrace: -a: the file and line of each function are in the trace without it; "
    "lasti, argcount, nlocals and stacksize are not recorded [TL708]\n"
)


def main() -> None:
    """Run the program of the command line; the console command ``omnitrace-python``."""
    before = set(sys.modules)
    try:
        line = _command_line.parse(sys.argv[1:])
        if line.help:
            print(_command_line.help_text(), end="")
            return
        if line.python and line.program is not None:
            _restart(line)
        program = _program(line)
        setup = None if line.setup is None else _compiled(line.setup)
        _check_expressions(line)
        _take_configuration(line)
        pyproject = _read_pyproject(sys.argv)
        settings = {**_config.settings(), "paused": line.builtin}
        brought = [name for name in sys.modules if name not in before]
        _core.run_program("omnitrace", settings, pyproject, program, brought, _preparation(line, setup))
    except _core.Error as error:
        sys.stderr.write(f"omnitrace: {error}\n")
        raise SystemExit(_WRONG_USAGE) from None


def _restart(line: _command_line.CommandLine) -> None:
    """Become the same command in a Python that has the flags of ``-- python3 -X ... script.py``."""
    assert line.program is not None
    kind, target, arguments = line.program
    words = {"module": ["-m", target], "command": ["-c", target]}.get(kind, [target])
    # By the path of this file: with -m, Python would look in the current directory first.
    command = [sys.executable, *line.python, __file__, *line.options, "--", *words, *arguments]
    posix.execv(sys.executable, command)


def _check_expressions(line: _command_line.CommandLine) -> None:
    """Raise Error for an option's value that is not a regular expression."""
    for option in _command_line.OPTIONS:
        if option.kind != "texts" or option.name not in line.properties:
            continue
        from timeloom._search import compile_expression

        for expression in line.properties[option.name]:
            try:
                compile_expression(expression)
            except ValueError as error:
                raise _core.Error(f"{option.long}: {error} [TL122]") from None


def _take_configuration(line: _command_line.CommandLine) -> None:
    for name, value in line.properties.items():
        # The default exclusions stay until a program assigns another list.
        setattr(_config.Config, name, getattr(_config.Config, name) + value if isinstance(value, list) else value)
    if line.properties.get("annotate_trace"):
        sys.stderr.write(_NO_ANNOTATIONS)
    if line.verbosity is not None:
        _config.Config.verbosity = line.verbosity
    if line.config:
        given = [name.encode("utf-8", "surrogateescape") for name in line.config]
        files = [posix.environ.get(_CONFIG_FILE, b""), *given]
        posix.putenv(_CONFIG_FILE, b":".join(name for name in files if name))


def _program(line: _command_line.CommandLine) -> "_Program":
    """Return the program to run; if the command names none, the script that a variable names. Raises Error."""
    script = next(filter(None, (posix.environ.get(name) for name in _SCRIPT_FILES)), None)
    if script is None or line.marked:
        if line.program is None:
            raise _core.Error("no script given; write: omnitrace-python [options] -- script.py, or see --help [TL426]")
        kind, target, arguments = line.program
        options = [*line.options, "--"]
        meant = kind == "file" and _core.meant_command(["omnitrace-python"], options, "omnitrace", target, arguments)
        if meant:
            raise _core.Error(f"{meant} [TL124]")
        return _found(line.program)
    kind, target, arguments = line.program or ("file", "", [])
    if kind != "file" or _exists(target):
        return _found((kind, target, arguments))
    posix.putenv(_USE_PID, b"ON")
    words = [target, *arguments] if line.program else []
    return _found(("file", script.decode("utf-8", "surrogateescape"), words))


def _found(program: "_Program") -> "_Program":
    """Return the program with the path of its script, found in the current directory or on PATH. Raises Error."""
    kind, target, arguments = program
    if kind != "file" or _exists(target):
        return program
    if "/" not in target:
        for directory in posix.environ.get(b"PATH", b"").split(b":"):
            path = f"{directory.decode('utf-8', 'surrogateescape')}/{target}"
            if directory and _exists(path):
                return kind, path, arguments
    raise _core.Error(
        f"there is no script {target!r}; write: omnitrace-python [options] -- script.py "
        "[arguments] [TL426]"
    )


def _exists(path: str) -> bool:
    try:
        posix.stat(path)
    except (OSError, ValueError):
        return False
    return True


def _compiled(name: str) -> "CodeType":
    """Return the code of the file of --setup. Raises Error if it cannot be read or compiled."""
    _, path, _ = _found(("file", name, []))
    try:
        with open(path, "rb") as file:
            return compile(file.read(), path, "exec")
    except (OSError, SyntaxError, ValueError) as error:
        raise _core.Error(f"--setup {name}: {error}") from None


def _preparation(line: _command_line.CommandLine, setup: "CodeType | None") -> "Callable[[], None]":
    """Return the action that replaces the program, or runs before it."""

    def prepare() -> None:
        import builtins

        profiler.take_launch(not line.builtin)
        names: Any = vars(builtins)
        names["profile"] = names["trace"] = profiler.Profiler()
        names["noprofile"] = names["notrace"] = profiler.FakeProfiler()
        if setup is not None:
            # The program finds these names.
            exec(setup, vars(sys.modules["__main__"]))

    return prepare


if __name__ == "__main__":
    main()
