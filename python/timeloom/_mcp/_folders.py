"""The directories that an agent may ask about.

Paths come from an agent, which may repeat whatever it has read: a path is used only when, with all links resolved, it
lies below one of the directories.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from timeloom._mcp._refused import Refused

_SIGNS_OF_RUN = ("traces.otf2", "profile.cubex", "spool")
_SUFFIXES = (".otf2", ".cubex")


class Folders:
    """Directories with all links resolved. Raises Refused for one that cannot be opened."""

    def __init__(self, names: Sequence[str]) -> None:
        self.roots = [_directory(name) for name in names or ["."]]

    def path(self, name: str) -> Path:
        """Return the path with all links resolved; a relative one is searched for below each directory."""
        for root in self.roots:
            path = Path(os.path.realpath(root / name))
            inside = any(path == one or one in path.parents for one in self.roots)
            if inside and path.exists():
                return path
        outside = "it is not there, or not below a directory of this server"
        raise Refused(
            f"{name!r} cannot be read: {outside} ({self}); list_runs names the runs, and 'timeloom mcp DIR...' "
            "chooses other directories [TL496]"
        )

    def __str__(self) -> str:
        return ", ".join(str(root) for root in self.roots)


def _directory(name: str) -> Path:
    try:
        path = Path(name).resolve(strict=True)
        os.listdir(path)
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refused(f"cannot open the directory {name}: {reason}; name one with runs [TL496]") from None
    return path


def runs_in(directory: Path) -> list[Path]:
    """Return the runs in a directory, the newest first; links are left out, for they may lead anywhere."""
    found: list[tuple[float, str]] = []
    with os.scandir(directory) as entries:
        for entry in _readable(entries):
            found.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
    return [Path(path) for _, path in sorted(found, key=lambda one: (-one[0], one[1]))]


def _readable(entries: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if any(os.path.lexists(f"{entry.path}/{sign}") for sign in _SIGNS_OF_RUN):
                yield entry
        elif entry.is_file(follow_symlinks=False) and entry.name.endswith(_SUFFIXES):
            yield entry


def is_unfinished(run: Path) -> bool:
    """Whether the first command that opens the run would weave it."""
    return run.is_dir() and not any((run / sign).exists() for sign in _SIGNS_OF_RUN[:2])
