"""Brings the records of Dask workers home that do not see the directory of the run.

Such a worker records into a directory of its own host, below the directory for temporary files. When the client closes,
it asks one worker of each host for the files there, part by part through Dask, and puts them into the run as if they
had been written there. A worker that has died by then is among them, if another worker of its host is left.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, Any

from timeloom_follow import _open_spools, note_unmeasured

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS, _UNMEASURED, _LIFE = "settings", "unmeasured", "life"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_PART = 4 << 20  # bytes
_MOST_MARKS = 4096
_MOST_BYTES = 1 << 40  # of a file
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW

File = tuple[str, str, int]  # a spool ("": the directory of all), a file in it, and its size
Place = tuple[int, int]  # device and inode


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
    if _NAME.fullmatch(spool) is None:
        raise ValueError(spool)
    run = _run_here(token)
    os.makedirs(run, 0o700, exist_ok=True)
    _own_directory(run)
    parent = os.path.join(run, "spool", spool)
    os.makedirs(parent, 0o700, exist_ok=True)
    path = os.path.join(run, "spool", _SETTINGS)
    own = f"{path}-{os.getpid()}"
    with open(own, "xb") as file:
        file.write(settings)
    os.replace(own, path)  # of another worker of this host it has the same content
    return parent


def place_here(token: str) -> Place | None:
    """Return what identifies the directory of records of this host; None: there is none. Runs in the worker."""
    try:
        status = _own_directory(_run_here(token))
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _files_of(directory: str, spool: str) -> Iterator[File]:
    for entry in os.scandir(directory):
        if entry.is_file(follow_symlinks=False) and entry.name != _LIFE:
            yield spool, entry.name, entry.stat(follow_symlinks=False).st_size


def files_here(token: str) -> list[File]:
    """Return the files of all processes that have recorded on this host. Runs in the worker."""
    spools = os.path.join(_run_here(token), "spool")
    found = [file for file in _files_of(spools, "") if file[1] == _UNMEASURED]
    for entry in os.scandir(spools):
        if entry.is_dir(follow_symlinks=False):
            found += _files_of(entry.path, entry.name)
    return found


def part_here(token: str, spool: str, name: str, offset: int) -> bytes:
    """Return a part of a file from an offset on; empty: it has only zeros there. Runs in the worker."""
    file = os.open(os.path.join(_run_here(token), "spool", spool, name), _READ)
    try:
        part = os.pread(file, _PART, offset)
    finally:
        os.close(file)
    return part if part.strip(b"\0") else b""


def remove_here(token: str) -> None:
    """Remove the records of this host. Runs in the worker."""
    shutil.rmtree(_run_here(token), ignore_errors=True)


def settings_of(parent: str) -> bytes:
    """Return the settings that processes of the run share; `parent`: the spool of this process."""
    file = os.open(os.path.join(os.path.dirname(parent), _SETTINGS), _READ)
    with os.fdopen(file, "rb") as opened:
        return opened.read()


class _Host:
    """The records on another host, which one of its workers hands out."""

    def __init__(self, client: Any, address: str, token: str) -> None:
        self._client, self._address, self._token = client, address, token

    async def ask(self, function: Any, *arguments: Any) -> Any:
        """Return the answer of a function of this module to the worker."""
        return (await self._client.run(function, self._token, *arguments, workers=[self._address]))[self._address]

    async def copy(self, spool: str, name: str, size: int, directory: int) -> None:
        """Copy a file into a directory, given by a descriptor."""
        file = os.open(name, _WRITE, 0o666, dir_fd=directory)
        try:
            for offset in range(0, size, _PART):
                part = await self.ask(part_here, spool, name, offset)
                if not isinstance(part, bytes) or len(part) > _PART:
                    raise ValueError("the answer has another form")
                written = 0
                while written < len(part):
                    written += os.pwrite(file, part[written:], offset + written)
            os.ftruncate(file, size)
        finally:
            os.close(file)


class _Home:
    """The directory of spools of this run, into which files of other hosts come."""

    def __init__(self, parent: str, run_id: str) -> None:
        self._parent, self._run_id = parent, run_id
        self._opened: list[int] = []

    def __enter__(self) -> _Home:
        _open_spools(os.path.dirname(self._parent), self._opened, self._run_id)
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._opened:
            os.close(descriptor)

    def make(self, spool: str) -> int:
        """Make the directory of a spool, which the run must not have; return a descriptor of it."""
        os.mkdir(spool, dir_fd=self._opened[-1])
        return os.open(spool, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._opened[-1])

    def count_unmeasured(self, marks: object) -> None:
        """Count processes of another host that were not recorded."""
        for mark in marks[:_MOST_MARKS] if isinstance(marks, bytes) else b"":
            if bytes([mark]) in (b".", b"i", b"w"):
                note_unmeasured(self._parent, bytes([mark]), self._run_id)


def _by_spool(files: object) -> dict[str, list[tuple[str, int]]]:
    """Return the files of each spool; raise ValueError for what files_here() does not return."""
    spools: dict[str, list[tuple[str, int]]] = {}
    for file in files if isinstance(files, (list, tuple)) else [None]:
        spool, name, size = file if isinstance(file, (list, tuple)) and len(file) == 3 else (None, None, None)
        if not (isinstance(spool, str) and isinstance(name, str) and isinstance(size, int)):
            raise ValueError("the answer has another form")
        if not 0 <= size <= _MOST_BYTES:
            raise ValueError(f"a file of {size} bytes has another form")
        if name == _LIFE or _NAME.fullmatch(name) is None or (spool and _NAME.fullmatch(spool) is None):
            raise ValueError(f"a file has the name {name!r}")
        spools.setdefault(spool, []).append((name, size))
    return spools


async def _fetch_from(host: _Host, home: _Home) -> None:
    for spool, files in _by_spool(await host.ask(files_here)).items():
        if not spool:
            home.count_unmeasured(await host.ask(part_here, "", _UNMEASURED, 0))
            continue
        directory = home.make(spool)
        try:
            for name, size in files:
                await host.copy(spool, name, size, directory)
        finally:
            os.close(directory)
    await host.ask(remove_here)


async def fetch_records(client: Any, token: str, parent: str, run_id: str) -> dict[str, str]:
    """Fetch the records of all hosts into the run of this process; return the reason for each address that fails."""
    places = await client.run(place_here, token, on_error="ignore")
    chosen: dict[Place, str] = {}
    for address, place in sorted(places.items()):
        if place is not None:
            chosen.setdefault(tuple(place), address)
    failed = {}
    for address in chosen.values():
        try:
            with _Home(parent, run_id) as home:
                await _fetch_from(_Host(client, address, token), home)
        except Exception as error:  # the program ends in any case
            failed[address] = f"{type(error).__name__}: {error}".splitlines()[0]
    return failed
