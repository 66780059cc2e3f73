"""The launcher: from the command line to the running program.

Everything that is imported here is imported before the user's program, which
should find the interpreter as plain python leaves it. So this module imports
next to nothing, and what it does import is forgotten again.
"""

import posix
import sys

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from timeloom._core import _Pyproject

_NAME = b"timeloom"
_KIND, _FILE, _FOR_ALL = 0o170000, 0o100000, 0o002  # of st_mode, without importing stat
_MOST = 16 << 20  # bytes of a pyproject.toml


def main(before: set[str]) -> None:
    """Run the program of the command line; `before`: the modules that it may find."""
    try:
        pyproject = _read_pyproject()
    except _core.Error as error:
        sys.stderr.write(f"timeloom: {error}\n")
        raise SystemExit(2) from None
    brought = [name for name in sys.modules if name not in before and name.partition(".")[0] != "timeloom"]
    _core.run_command_line(sys.argv[1:], pyproject, brought)


def _read_pyproject() -> "_Pyproject":
    """(path, table) of the nearest pyproject.toml, None if it does not speak of us.

    Raises Error when it cannot be read as TOML.
    """
    path, data = _nearest_pyproject()
    if _NAME not in data:  # most are spared the import of tomllib
        return None
    with _core.unrecorded():  # a block of a program may be part of a run
        import tomllib

        try:
            table = tomllib.loads(data.decode()).get("tool", {})
        except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or a thousand brackets
            raise _core.Error(f"{path}: {error}") from None
    table = table.get("timeloom") if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise _core.Error(f"{path}: tool.timeloom is no table; write [tool.timeloom] above the settings")
    return None if table is None else (path, table)


def _is_put_by_others(owner: int, directory: str) -> bool:
    """Whether somebody may have put the file there for others to find, as in /tmp."""
    return owner not in (0, posix.geteuid()) and posix.stat(directory).st_mode & _FOR_ALL != 0


def _nearest_pyproject() -> tuple[str, bytes]:
    try:
        directory = posix.getcwd()
    except OSError:
        return "", b""
    while True:
        path = directory.rstrip("/") + "/pyproject.toml"
        try:
            if posix.stat(path).st_mode & _KIND == _FILE:  # a FIFO would wait for a writer
                with open(path, "rb") as file:
                    status = posix.fstat(file.fileno())
                    data = file.read(min(status.st_size, _MOST) + 1)
                if len(data) > _MOST:
                    sys.stderr.write(f"timeloom: {path} is larger than {_MOST >> 20} MiB: it is not read\n")
                    return path, b""
                if not (_NAME in data and _is_put_by_others(status.st_uid, directory)):
                    return path, data
                sys.stderr.write(f"timeloom: {path} is of another user, in a directory for all: it is not read\n")
        except OSError:
            pass
        if directory == "/":
            return "", b""
        directory = directory[: directory.rfind("/")] or "/"
