"""``_run``: the run of the last measured cell, in Python."""

from __future__ import annotations

import shutil
from functools import cached_property
from typing import TYPE_CHECKING, Any

import timeloom
from timeloom import _core
from timeloom._text import duration

if TYPE_CHECKING:
    from timeloom._notebook._weaver import Weaving
    from timeloom._read import Run


OPENED_BY = "timeloom report and view, Vampir, and with timeloom convert Perfetto and others"


class Table(list[dict[str, Any]]):
    """Rows of a run, which a notebook shows as a text table."""

    def __init__(self, rows: list[dict[str, Any]], indented: bool) -> None:
        super().__init__(rows)
        self._indented = indented

    def __repr__(self) -> str:
        lines = [f"{'calls':>9}  {'self':>9}  {'total':>9}  function"]
        for row in self:
            indent = "  " * row["depth"] if self._indented else ""
            lines.append(f"{row['visits']:>9}  {duration(row['exclusive_s']):>9}  "
                         f"{duration(row['inclusive_s']):>9}  {indent}{row['name']}")
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


class CellRun:
    """The run of a cell. Every attribute except its path waits until the run is woven.

    The attributes of :func:`timeloom.read`'s result are available, too: ``info``, ``flat``, ``threads``, ``events()``.
    Raises :class:`timeloom.Error` when the run could not be woven.
    """

    def __init__(self, path: str, weaving: Weaving | None) -> None:
        self.path = path
        self._weaving = weaving

    def __repr__(self) -> str:
        return f"timeloom.read({self.path!r})"

    def __fspath__(self) -> str:
        return self.path

    @cached_property
    def run(self) -> Run:
        """Return the run as :func:`timeloom.read` does."""
        with _core.unrecorded():
            if self._weaving is not None:
                self._weaving.wait()
                if self._weaving.error:
                    raise timeloom.Error(self._weaving.error)
            return timeloom.read(self.path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.run, name)

    def top(self, count: int = 10) -> Table:
        """Return the regions with the most exclusive time."""
        return Table(self.run.flat[:count], indented=False)

    def tree(self, depth: int | None = None) -> Table:
        """Return the call paths, callers first, down to the requested level."""
        rows = self.run.tree
        return Table([row for row in rows if depth is None or row["depth"] < depth], indented=True)

    def diff(self, other: CellRun | Run | str) -> dict[str, Any]:
        """Return the differences to ``other``, a later run: see ``timeloom diff --json``."""
        return self.run.diff(other.run if isinstance(other, CellRun) else other)

    def save(self, path: str) -> str:
        """Copy the run to a new directory, and return its path."""
        self.run  # noqa: B018  # it is complete
        return str(shutil.copytree(self.path, path))

    def view(self) -> None:
        """Show the timeline of the run below the cell."""
        from timeloom._notebook import _viewer

        _viewer.show(self.run.path)
