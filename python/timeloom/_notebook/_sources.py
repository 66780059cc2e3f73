"""The code of cells, kept beside their runs: the files that Python names for it disappear with the kernel."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from pathlib import Path


class Sources:
    """The folder ``cells`` of a notebook's runs, in which ``timeloom view`` finds the lines of functions."""

    def __init__(self) -> None:
        self._kept: set[tuple[Path, str]] = set()

    def keep(self, run: str, files: Iterable[str]) -> None:
        """Write new code of the cells with these files, as far as possible."""
        folder = Path(run).parent / "cells"
        for file in files:
            if (folder, file) in self._kept or not file.endswith(".py"):
                continue
            self._kept.add((folder, file))
            lines = linecache.getlines(file)
            if not lines:
                continue
            try:
                folder.mkdir(exist_ok=True)
                if folder.is_symlink():  # of another user: a notebook may come from anywhere
                    return
                with (folder / Path(file).name).open("x", encoding="utf-8", errors="surrogatepass") as kept:
                    kept.write("".join(lines))
            except FileExistsError:  # the name is computed from the code
                continue
            except (OSError, UnicodeError):
                return
