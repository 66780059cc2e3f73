"""Records of a worker of an engine on a host that does not see the directory of the run.

They are in a directory of its own host, below the directory for temporary files. The worker hands out the files there,
and the engine's part brings them home (_home.py).
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING

from timeloom._engines._clocks import clock_here
from timeloom._engines._frozen import freeze

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS, UNMEASURED, LIFE = "settings", "unmeasured", "life"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}")
PART = 4 << 20  # bytes
READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FROZEN = "frozen"  # copies of spools whose processes still record
_TOKEN = re.compile(r"[0-9a-f]{32}")

File = tuple[str, str, int]  # a spool ("": the directory of all), a file in it, and its size
Place = tuple[str, int, int]  # boot, device and inode


def _run_here(token: str) -> str:
    if _TOKEN.fullmatch(token) is None:
        raise ValueError(token)
    return os.path.join(tempfile.gettempdir(), f"timeloom-{os.getuid()}-{token}")


def _own_directory(path: str) -> os.stat_result:
    """Return the status of a directory that nobody else can write to; raise OSError otherwise."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise OSError(f"{path} belongs to somebody else")
    return status


def begin_here(token: str, spool: str, settings: bytes) -> str:
    """Make the directory for the records of this host; return the path that stands for the spool of the program.

    Runs in the worker; raises OSError or ValueError. `settings`: the file of the run with this name.
    """
    if NAME.fullmatch(spool) is None:
        raise ValueError(spool)
    run = _run_here(token)
    os.makedirs(run, 0o700, exist_ok=True)
    _own_directory(run)
    parent = os.path.join(run, "spool", spool)
    os.makedirs(parent, 0o700, exist_ok=True)
    path = os.path.join(run, "spool", SETTINGS)
    own = f"{path}-{os.getpid()}"
    with open(own, "xb") as file:
        file.write(settings)
    os.replace(own, path)  # of another worker of this host it has the same content
    return parent


def files_seen_here() -> str:
    """Return what tells apart processes that see other files: the boot of their host, and the namespace of mounts."""
    try:
        return f"{clock_here()[0]}:{os.stat('/proc/self/ns/mnt').st_ino}"
    except OSError:
        return clock_here()[0]


def begin_apart(parent: str, variable: str) -> str:
    """Return the path that stands for the spool of the program where its files are not seen.

    It is empty where they are: the run is gone then. `variable`: of _ray_hosts.py. Runs in a worker that does not see
    `parent`; raises OSError or ValueError.
    """
    seen, token, settings = variable.split(" ")
    return "" if seen == files_seen_here() else begin_here(token, os.path.basename(parent), base64.b64decode(settings))


def place_here(token: str) -> Place | None:
    """Return what identifies the directory of records of this host; None: there is none. Runs in the worker."""
    try:
        status = _own_directory(_run_here(token))
    except OSError:
        return None
    return clock_here()[0], status.st_dev, status.st_ino


def _directory_of(run: str, spool: str) -> str:
    """Return the directory with the files of a spool; empty: of all spools."""
    frozen = os.path.join(run, _FROZEN, spool)
    return frozen if spool and os.path.isdir(frozen) else os.path.join(run, "spool", spool)


def _files_of(directory: str, spool: str) -> Iterator[File]:
    for entry in os.scandir(directory):
        if entry.is_file(follow_symlinks=False) and entry.name != LIFE:
            yield spool, entry.name, entry.stat(follow_symlinks=False).st_size


def files_here(token: str) -> list[File]:
    """Return the files of all processes that have recorded on this host. Runs in the worker.

    Of a process that still records they are as if it had been killed now.
    """
    run = _run_here(token)
    spools = os.path.join(run, "spool")
    found = [file for file in _files_of(spools, "") if file[1] == UNMEASURED]
    for entry in os.scandir(spools):
        if entry.is_dir(follow_symlinks=False):
            freeze(entry.path, os.path.join(run, _FROZEN, entry.name))
            found += _files_of(_directory_of(run, entry.name), entry.name)
    return found


def part_here(token: str, spool: str, name: str, offset: int) -> bytes:
    """Return a part of a file from an offset on; empty: it has only zeros there. Runs in the worker."""
    file = os.open(os.path.join(_directory_of(_run_here(token), spool), name), READ)
    try:
        part = os.pread(file, PART, offset)
    finally:
        os.close(file)
    return part if part.strip(b"\0") else b""


def remove_here(token: str) -> None:
    """Remove the records of this host. Runs in the worker."""
    shutil.rmtree(_run_here(token), ignore_errors=True)


def settings_of(parent: str) -> bytes:
    """Return the settings that processes of the run share; `parent`: the spool of this process."""
    file = os.open(os.path.join(os.path.dirname(parent), SETTINGS), READ)
    with os.fdopen(file, "rb") as opened:
        return opened.read()
