"""A cell that is to be measured: the options of its magic, and the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

import timeloom
from timeloom._notebook import _arguments, _places
from timeloom._notebook._measure import CellMeasurement

if TYPE_CHECKING:
    from timeloom._notebook._notebook import Notebook

SCOREP = "execute_with_scorep"


class MeasuredCell:
    """Its measurement starts with the first statement, so a cell that does not compile has none."""

    def __init__(self, notebook: Notebook, magic: str, line: str, source: str, has_await: bool) -> None:
        self.scorep = magic == SCOREP
        self.key = source  # identifies it when it runs again
        self.number = notebook.number
        self.region = f"In [{self.number}]"  # the next statement's region
        self.measurement: CellMeasurement | None = None
        self.run: str | None = None
        self.shown = ""  # the directory as the user wrote it
        self.keep_spool = False
        self.notes: list[str] = []
        self.error: BaseException | None = None  # that ended the cell
        self._notebook = notebook
        self._line = line
        self._has_await = has_await
        self._open = ""  # the region

    def begin(self, file: str) -> CellMeasurement | None:
        """Begin the region of the cell, whose code is in that file, unless it is open. Raises UsageError.

        None if the variables of Score-P request no results.
        """
        if self.scorep and not _places.scorep_wants_results():
            return None
        try:
            if self.measurement is None:
                self.measurement = self._prepare()
            if self._open != self.region:
                self.measurement.leave_cell()
                self.measurement.enter_cell(self.region, file)
                self._open = self.region
        except (timeloom.Error, OSError) as error:
            self.measurement = None
            raise UsageError(f"timeloom: {error}") from None
        return self.measurement

    def _prepare(self) -> CellMeasurement:
        settings: dict[str, Any]
        if self.scorep:
            settings, self.notes = _arguments.of_scorep(self._notebook.settings.binding_arguments)
            settings["output"], self.shown = _places.of_scorep()
        else:
            settings = dict(_arguments.of_timeloom(self._line).settings)
            settings.setdefault("output", self._notebook.places.of_cell(self.number))
        self.keep_spool = bool(settings.get("keep_spool"))
        settings = _arguments.with_hidden(settings, self._has_await)
        return CellMeasurement(settings, self._notebook.shell)

    def end(self) -> None:
        """End the measurement, however the cell has ended."""
        if self.measurement is not None and self.measurement.started:
            self.run = self.measurement.finish()
            self.shown = self.shown or self.run or ""
