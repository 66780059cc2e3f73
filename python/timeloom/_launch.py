"""The launcher: from the command line to the running program.

Its imports come before the user's program, which should find the interpreter as plain python leaves it. So this module
imports next to nothing, and removes its imports from sys.modules.
"""

import posix
import sys

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from timeloom._core import _Pyproject

_NAME = b"timeloom"
_KIND, _FILE, _LINK = 0o170000, 0o100000, 0o120000  # of st_mode, without importing stat
_MOST = 16 << 20  # bytes of a pyproject.toml


def main(before: set[str]) -> None:
    """Run the program of the command line; `before`: the modules that it may find loaded."""
    try:
        pyproject = _read_pyproject(sys.argv)
    except _core.Error as error:
        sys.stderr.write(f"timeloom: {error}\n")
        raise SystemExit(2) from None
    brought = [name for name in sys.modules if name not in before and name.partition(".")[0] != "timeloom"]
    _core.run_command_line(sys.argv[1:], pyproject, brought)


def _read_pyproject(words: list[str] | None = None) -> "_Pyproject":
    """Return (path, table) of the nearest pyproject.toml; None if it has no table of Timeloom.

    `words`: a command line that starts a program; without it this process is the program. Raises Error if the file
    cannot be read as TOML.
    """
    path, data = _nearest_pyproject(sys.argv[:1] if words is None else words)
    if _NAME not in data:  # saves most programs the import of tomllib
        return None
    with _core.unrecorded():  # a block of a program may be part of a run
        import tomllib

        try:
            table = tomllib.loads(data.decode()).get("tool", {})
        except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a thousand brackets
            raise _core.Error(f"{path}: {error} [TL125]") from None
    table = table.get("timeloom") if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise _core.Error(f"{path}: tool.timeloom is not a table; write [tool.timeloom] above the settings [TL125]")
    return None if table is None else (path, table)


def _owner(path: str) -> int:
    """Return the owner of a file; -1: it is not a file."""
    try:
        status = posix.stat(path)
    except (OSError, ValueError):
        return -1
    return status.st_uid if status.st_mode & _KIND == _FILE else -1


def _owner_of_program(words: list[str]) -> int:
    """Return the owner of the Python file in a command line; -1: it has none.

    Only a word that cannot be the value of an option counts, as other users may have created a file of its name.
    """
    for word in words:
        if word == "--program" or (word.startswith(("-m", "-c")) and not word.startswith("--")):
            return -1
        if word.endswith(".py") and not word.startswith("-"):
            return _owner(word)
        if "/" in word and _owner(word) != -1:
            return -1
    return -1


def _stranger(path: str, directory: str, status: "posix.stat_result", words: list[str]) -> int:
    """Return the owner of the file if that user is not trusted; otherwise -1.

    The superuser is trusted, under any number, and so is the owner of the program itself, as where a container runs the
    files of its host. A link, and a second name of a file, belong to the user that created them.
    """
    trusted = {0, posix.geteuid(), posix.stat("/").st_uid}
    link = posix.lstat(path)
    owners = [status.st_uid]
    if link.st_mode & _KIND == _LINK:
        owners.append(link.st_uid)
    if status.st_nlink != 1:
        owners.append(posix.stat(directory).st_uid)
    strangers = [owner for owner in owners if owner not in trusted]
    if strangers:
        started = words[0] if words and not words[0].startswith("-") else ""  # "-c" of python -c
        trusted |= {_owner(started), _owner_of_program(words[1:])}
    return next((owner for owner in strangers if owner not in trusted), -1)


def _nearest_pyproject(words: list[str]) -> tuple[str, bytes]:
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
                    sys.stderr.write(f"timeloom: {path} is larger than {_MOST >> 20} MiB: it is not read [TL126]\n")
                    return path, b""
                stranger = _stranger(path, directory, status, words) if _NAME in data else -1
                if stranger == -1:
                    return path, data
                sys.stderr.write(
                    f"timeloom: {path} is of user {stranger}: it is not read; give its settings as options, as "
                    "variables TIMELOOM_…, or in a file of your own [TL126]\n"
                )
        except OSError:
            pass
        if directory == "/":
            return "", b""
        directory = directory[: directory.rfind("/")] or "/"
