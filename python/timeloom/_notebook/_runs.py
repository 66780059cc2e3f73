"""The runs of a notebook's cells, and their blocks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from IPython.display import display

from timeloom._notebook import _block, _vampir
from timeloom._notebook._aggregate import CellTables, Lane, Span, Transfers, aggregate
from timeloom._notebook._handle import CellRun
from timeloom._notebook._memory import recorded_memory
from timeloom._notebook._messages import say, say_error, show_text
from timeloom._notebook._sources import Sources
from timeloom._notebook._weaver import Weaver, Weaving

if TYPE_CHECKING:
    from timeloom._notebook._measured import MeasuredCell
    from timeloom._notebook._notebook import Notebook

_NOT_SAVED = "KernelWarning: Path of Instrumentation results could not be determined or were not saved locally."
_QUICK = 10_000  # events that are always aggregated before the reply
_EVENTS_A_SECOND = 1_000_000  # aggregated
_SHARE = 0.1  # share of the cell's own time by which its block may delay the reply
_MOST_EVENTS = 20_000  # of a timeline


class CellRecord:
    """One measured cell of the notebook."""

    def __init__(self, head: _block.Head, run: CellRun, weaving: Weaving) -> None:
        self.head = head
        self.run = run
        self.weaving = weaving
        self.complete = False  # the block is complete
        self.settled = False  # nothing else will be shown
        self.block: Any = None  # the handle of the block
        self.update: dict[str, str] = {}  # its replacement


class Runs:
    """All runs, the newest last. Used on the shell's thread, except where noted."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._weaver = Weaver()
        self._sources = Sources()
        self.records: list[CellRecord] = []
        self._seconds: dict[str, float] = {}  # of the last runs of cells with these sources
        self._updated: list[CellRecord] = []  # appended by the weaver's thread
        self._updating = threading.Lock()

    def answer(self, measured: MeasuredCell) -> None:
        """Show the results of a cell; never raises."""
        try:
            self._answer(measured)
        except Exception as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            say_error(f"timeloom: the cell was measured, but its result cannot be shown: {problem}\n")

    def _answer(self, measured: MeasuredCell) -> None:
        totals = None if measured.measurement is None else measured.measurement.totals
        if measured.run is None or totals is None or measured.measurement is None:
            if measured.error is None:
                self._say_nothing(measured)
            return
        if measured.scorep:
            say(f"Instrumentation results can be found in {measured.shown}")
        for note in measured.notes:
            show_text(note)
        if self._notebook.places.has(measured.run):
            self._sources.keep(measured.run, list(self._notebook.cells))
        head = self._head(measured, totals)
        seconds = measured.measurement.seconds
        quick = max(_QUICK, int(seconds * _SHARE * _EVENTS_A_SECOND))
        tables = aggregate(measured.run) if totals["profile"] or totals["events"] <= quick else None
        weaving = Weaving(measured.run, measured.keep_spool, lambda: self._woven(record))
        record = CellRecord(head, CellRun(measured.run, weaving), weaving)
        self.records.append(record)
        self._notebook.shell.user_ns["_run"] = record.run
        self._notebook.shell.user_ns_hidden["_run"] = record.run
        self._weaver.weave(weaving)
        if self._notebook.settings.report != "off":
            self._show(record, tables, seconds * _SHARE if self._notebook.is_attended else None)
        if measured.scorep and self._notebook.settings.launch_vampir:
            weaving.wait()
            _vampir.launch(measured.run)

    def _show(self, record: CellRecord, tables: CellTables | None, timeout: float | None) -> None:
        """Show the block, complete if the run is aggregated or woven within this many seconds; None: without limit."""
        if tables is None and record.weaving.wait(timeout):
            record.head, tables = _when_woven(record)
        with self._updating:
            record.complete, record.settled = tables is not None, bool(record.head.problem)
            record.block = display(self._mime(record.head, tables), raw=True, display_id=True)
        if record.weaving.wait(0):  # its thread may have found no block to update
            self._woven(record)

    @staticmethod
    def _say_nothing(measured: MeasuredCell) -> None:
        if measured.scorep:
            say_error(_NOT_SAVED)
        else:
            show_text("nothing was measured: the cell has no code")

    def _head(self, measured: MeasuredCell, totals: Any) -> _block.Head:
        cell = measured.measurement
        assert cell is not None
        before, self._seconds[measured.key] = self._seconds.get(measured.key), cell.seconds
        cost = totals["overhead_inside_seconds"]
        return _block.Head(
            cell=f"In [{measured.number}]", seconds=cell.seconds, cpu_seconds=cell.cpu_seconds,
            threads=totals["threads"], events=totals["events"],
            overhead=cost / cell.cpu_seconds if cost and cell.cpu_seconds > 0 else None,
            run=measured.shown, partial="" if measured.error is None else type(measured.error).__name__,
            resident=cell.resident, resident_rise=cell.resident_rise,
            before=before, recorded=recorded_memory(measured.run) if measured.run else None,
        )

    def _mime(self, head: _block.Head, tables: CellTables | None) -> dict[str, str]:
        if tables is not None:
            self._name_places(tables)
        data = {"text/plain": _block.as_text(head, tables)}
        if self._notebook.settings.report == "static":
            data["text/html"] = _block.as_html(head, tables)
        return data

    def _name_places(self, tables: CellTables) -> None:
        """Replace names of files inside the kernel by the numbers of their cells."""
        cells = self._notebook.cells
        for row in tables.flat:
            file, line = row["file"], row["line"]
            if file in cells:
                row["place"] = f"In[{cells[file]}]:{line}"
            elif file and line and not row["name"].startswith("In ["):
                row["place"] = f"{file.rsplit('/', 1)[-1]}:{line}"

    # ---- when they are woven

    def _woven(self, record: CellRecord) -> None:
        """Show, once, the results that need a woven run; on the weaver's thread, beside the next cells."""
        with self._updating:
            if record.block is None or record.settled:
                return
            record.settled = True
        if record.complete and not record.weaving.error:
            return
        record.head, tables = _when_woven(record)
        record.update = self._mime(record.head, tables)
        record.block.update(record.update, raw=True)
        self._updated.append(record)

    def show_updates(self) -> None:
        """Show updated results again, in the current cell: some front ends drop output between cells."""
        while self._updated:
            record = self._updated.pop(0)
            record.block.update(record.update, raw=True)
            record.update = {}

    def wait(self) -> None:
        """Wait until all runs are woven."""
        self._weaver.wait()


def _when_woven(record: CellRecord) -> tuple[_block.Head, CellTables | None]:
    """Return the text and HTML of a run that is woven, or could not be."""
    if record.weaving.error:
        return record.head._replace(problem=record.weaving.error), None
    return record.head, woven_rows(record.run)


def woven_rows(run: CellRun) -> CellTables:
    """Return the rows of a woven run."""
    events = list(run.events()) if run.info["events"] <= _MOST_EVENTS else []
    return CellTables(run.run.flat, run.run.tree, _lanes_of(events), _transfers_of(run))


def _transfers_of(run: CellRun) -> dict[str, Transfers]:
    if not any(row["group"].endswith("I/O") for row in run.run.flat):
        return {}
    sums: dict[str, Transfers] = {}
    for row in run.run.io["call_paths"]:
        before = sums.get(row["operation"], Transfers(0, 0))
        sums[row["operation"]] = Transfers(before.operations + row["operations"], before.bytes + row["bytes"])
    return {operation: sums[operation] for operation in ("read", "write") if operation in sums}


def _lanes_of(events: list[dict[str, Any]]) -> list[Lane]:
    lanes: dict[str, Lane] = {}
    begins: dict[tuple[str, int], float] = {}
    times = [event["time_ns"] for event in events if event["event"] == "enter"]
    first = min(times, default=0)
    for event in events:
        thread, depth = event["thread"], event["depth"]
        if event["event"] == "enter":
            begins[thread, depth] = (event["time_ns"] - first) * 1e-9
        elif event["event"] == "leave" and (thread, depth) in begins:
            lane = lanes.setdefault(thread, Lane(thread, []))
            lane.spans.append(Span(depth, begins[thread, depth], (event["time_ns"] - first) * 1e-9, event["name"]))
    return list(lanes.values())
