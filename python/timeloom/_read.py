"""Reads a run in Python: the results of the ``timeloom`` program's commands, as Python values and data frames.

Only ``timeloom.read()`` imports it, so a measured program does not load it.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from timeloom import _core

if TYPE_CHECKING:
    import hatchet
    import networkx
    import pandas
    import polars

_PROGRAM = Path(__file__).parent / "bin" / "timeloom"


class Run:
    """A recorded run; ``timeloom.read()`` opens it.

    ``run`` is a run directory, an OTF2 archive (``.otf2``) or a CUBE profile (``.cubex``), of any tool. An unfinished
    run is finished first. Everything is read at first use, and kept. Times are in seconds if their name ends with
    ``_s``, in nanoseconds if it ends with ``_ns``. Raises :class:`timeloom.Error` with the message of the ``timeloom``
    program; losses and damage of a run that can be read are a ``RuntimeWarning`` each.
    """

    def __init__(self, run: str | PathLike[str]) -> None:
        self.path = fspath(run)
        self.info  # noqa: B018  # raises the error at once if there is no such run

    def __repr__(self) -> str:
        return f"timeloom.read({self.path!r})"

    @cached_property
    def info(self) -> dict[str, Any]:
        """The properties of the run, as ``timeloom info --json`` prints them."""
        facts: dict[str, Any] = json.loads(_run("info", "--json", self.path))
        return facts

    @property
    def processes(self) -> list[dict[str, Any]]:
        """The processes: ``name``, ``host``, ``process_id``, ``executable``, ``arguments``, ``ending``."""
        return list(self.info["groups"])

    @property
    def threads(self) -> list[dict[str, Any]]:
        """The threads and tasks: ``id``, ``name``, ``group`` (number of the process), ``thread_id``, ``events``."""
        return list(self.info["locations"])

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The counters and sampled metrics: ``name``, ``unit``, ``description``."""
        return list(self.info["metrics"])

    @cached_property
    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(_run("report", "--json", self.path))
        return report

    @property
    def tree(self) -> list[dict[str, Any]]:
        """The call paths of all threads together, callers first, as rows of ``timeloom report --json``."""
        return list(self._report["tree"]["rows"])

    @property
    def flat(self) -> list[dict[str, Any]]:
        """The regions of all threads together, sorted by exclusive time, the largest first."""
        return list(self._report["flat"]["rows"])

    @cached_property
    def io(self) -> dict[str, Any]:
        """The files and call paths with I/O, as ``timeloom report --io --json`` prints them."""
        facts: dict[str, Any] = json.loads(_run("report", "--io", "--json", self.path))
        return facts

    def tasks(self) -> list[dict[str, Any]]:
        """The tasks of engines (Dask, Ray, Spark, pools), in order of their starts, each run of one a dict.

        ``key``, ``prefix``, ``worker``, ``thread``, ``start_s`` and ``end_s`` (seconds after the start of the run),
        and ``queued_s``, the time in the queue, if the engine lets it be known (else None). Tasks of Spark have also
        ``stage``, ``partition`` and ``attempt``.
        Reads the trace; raises Error for a run without one.
        """
        from timeloom._engines._tasks import tasks_in

        try:
            return tasks_in(self.events(only_my_code=True))
        except _core.Error as error:
            if "[TL310]" not in str(error):
                raise
            return []  # neither tasks nor code of the user

    @cached_property
    def gpu(self) -> dict[str, Any]:
        """The work of GPUs, and the waiting for it, as ``timeloom report --gpu --json`` prints them."""
        facts: dict[str, Any] = json.loads(_run("report", "--gpu", "--json", self.path))
        return facts

    def kernels(self) -> list[dict[str, Any]]:
        """The kernels of GPUs in order of their starts, each launch a dict.

        ``name``, ``process``, ``device``, ``stream``, ``start_s`` and ``end_s`` (seconds after the start of the run),
        ``queue_s`` (from the start of the call), ``launched_by`` (the open functions at the call, the outermost first);
        None if the call is not known. Reads all events of the run; raises Error for a run without a trace.
        """
        from timeloom._kernels import kernels_in

        return kernels_in(self.events())

    def memory(self) -> list[dict[str, Any]]:
        """The call paths that allocated, freed or held memory, each a dict; callers first.

        ``name``, ``path`` (the functions from the outermost), ``allocations``, ``allocated_bytes``, ``largest_bytes``,
        ``frees``, ``freed_bytes``; of the blocks that the call path itself allocated, ``peak_bytes`` held at the peak
        and ``held_bytes`` at the end, with ``peak_error_bytes`` and ``held_error_bytes`` (one standard deviation; 0:
        exact). Raises Error for a run without ``--memory``.
        """
        report = json.loads(_run("report", "--memory", "--json", self.path))
        return [_memory_row(path) for path in report["paths"]]

    def diff(self, other: Run | str | PathLike[str]) -> dict[str, Any]:
        """Regions that are slower, faster, new or gone in ``other``, a later run: see ``timeloom diff --json``."""
        after = other.path if isinstance(other, Run) else fspath(other)
        difference: dict[str, Any] = json.loads(_run("diff", "--json", self.path, after))
        return difference

    def events(
        self,
        thread: str | int | None = None,
        start: float | None = None,
        end: float | None = None,
        only_my_code: bool = False,
    ) -> Table:
        """Yield every event, in the form of a row of the table of events in docs/convert.md.

        ``thread`` (a name or a number) selects one; ``start`` and ``end`` are seconds after the start of the run.
        Events are read one by one: memory does not grow with their number.
        """
        options = ["--events"]
        if thread is not None:
            options += ["--thread", str(thread)]
        if start is not None:
            options += ["--from", f"{start!r}s"]
        if end is not None:
            options += ["--until", f"{end!r}s"]
        if only_my_code:
            options.append("--only-my-code")
        return Table(self.path, options)

    def table(self, name: str = "paths", options: Sequence[str] = ()) -> Table:
        """The table ``"paths"`` (a row per call path and thread), ``"flat"`` (a row per region and thread) or
        ``"events"``.

        ``options`` are options of ``timeloom convert``, such as ``["--only-my-code"]``.
        """
        return Table(self.path, [f"--{name}", *options])

    def to_pandas(self, per_thread: bool = True, table: str = "paths", options: Sequence[str] = ()) -> pandas.DataFrame:
        """Return the run as a :class:`pandas.DataFrame`.

        ``table`` is ``"paths"`` (a row per call path), ``"flat"`` (a row per region) or ``"events"``. With
        ``per_thread`` each thread and task has separate rows, without it they are added up. ``options`` are options of
        ``timeloom convert``, such as ``["--only-my-code"]``.
        """
        import pandas

        from timeloom._columns import read_columns

        with _output_of(self.table(table, options).command("arrow")) as output:
            columns = read_columns(output)
        frame = pandas.DataFrame({name: _series_of(pandas, *column) for name, column in columns.items()})
        return frame if per_thread or table == "events" else _all_threads(frame, table)

    def to_polars(self, table: str = "paths", options: Sequence[str] = ()) -> polars.DataFrame:
        """Return the run as a :class:`polars.DataFrame`, with a row per thread. Texts are strings, not categories."""
        import polars

        frame = polars.DataFrame(self.table(table, options))
        return frame.with_columns(polars.col(polars.Categorical).cast(polars.String))

    def to_hatchet(self) -> hatchet.GraphFrame:
        """Return the call paths of all threads together as a :class:`hatchet.GraphFrame` (``pip install
        llnl-hatchet``).

        Its metrics are ``time`` (exclusive) and ``time (inc)`` in seconds, and ``visits``.
        """
        import hatchet

        from timeloom._graphs import literal_of

        return hatchet.GraphFrame.from_literal(literal_of(self.tree))

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """Return the call graph of all threads together, as a :class:`networkx.DiGraph`.

        Each region is a node ``(name, file, line)``, with the keys of a row of ``flat``. Edges have ``visits`` and
        ``inclusive_s``.
        """
        from timeloom._graphs import call_graph

        return call_graph(self.tree, self.flat)


class Table:
    """A table of a run, which is read again at each use: ``for row in table``, or as columns.

    Rows are dicts. Packages that support Arrow's PyCapsule interface read the columns, batch by batch and without a
    Python object per value: ``polars.DataFrame(table)``, ``pyarrow.table(table)``, a name in a query of duckdb. Texts
    are dictionaries there: pandas and polars show them as categories.
    """

    def __init__(self, run: str, options: Sequence[str]) -> None:
        self._run = run
        self._options = list(options)

    def command(self, to: str) -> list[str]:
        """Return the arguments with which the ``timeloom`` program writes it to standard output, in the format
        ``to``."""
        return ["convert", "--to", to, "-o", "-", *self._options, self._run]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return _rows(self.command("json"))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule ``arrow_array_stream``. ``requested_schema`` is ignored, as the interface permits."""
        batches = self._batches()
        columns = next(batches)
        return _core.arrow_stream(columns, batches)

    def _batches(self) -> Iterator[Any]:
        """Yield the columns, then the batches."""
        from timeloom._tables import TableReader

        with _output_of(self.command("arrow")) as output:
            reader = TableReader(output)
            yield reader.columns
            yield from reader


def _series_of(pandas: Any, values: Any, missing: Any) -> Any:
    if values.dtype.kind == "O":
        return pandas.Series(values, dtype="str")
    if not missing.any():
        return values
    if values.dtype.kind == "i":
        return pandas.arrays.IntegerArray(values.copy(), missing)
    return pandas.Series(values).mask(missing)


def _all_threads(frame: pandas.DataFrame, table: str) -> pandas.DataFrame:
    key = ["id"] if table == "paths" else ["name", "file", "line"]
    sums = {"visits": "sum", "inclusive_ns": "sum", "exclusive_ns": "sum", "min_ns": "min", "max_ns": "max"}
    parts = {".count": "sum", ".sum": "sum", ".min": "min", ".max": "max"}
    how = {}
    for name in frame.columns:
        if name in key or name in ("process", "thread", "kind"):
            continue
        metric = name.startswith("metric.")
        part = parts.get(name[name.rfind(".") :], "sum")
        how[name] = part if metric else sums.get(name, "first")
    return frame.groupby(key, sort=table == "paths", as_index=False, dropna=False).agg(how)


class _output_of:  # a context, used as a function
    """The standard output of a command of the ``timeloom`` program. Raises Error if the command fails."""

    def __init__(self, arguments: Sequence[str]) -> None:
        # Not a pipe: it is read at the end only, and a full pipe would stop the program.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed at the end of the context
        try:
            self._process = subprocess.Popen(
                [str(_PROGRAM), *arguments], stdout=subprocess.PIPE, stderr=self._said, stdin=subprocess.DEVNULL
            )
        except BaseException:
            self._said.close()
            raise

    def __enter__(self) -> IO[bytes]:
        output = self._process.stdout
        assert output is not None
        try:
            if not output.peek(1):  # type: ignore[attr-defined]
                self._check()
        except BaseException:
            self._close()
            raise
        return output

    def __exit__(self, kind: object, *_: object) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()  # a reader that stops early is not an error
        try:
            if kind is None:
                self._check()
        finally:
            self._close()

    def _check(self) -> None:
        status = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        if status != 0:
            raise _core.Error(said.removeprefix("timeloom: "))
        for line in said.splitlines():
            # A run that is finished first (TL266) has lost nothing.
            if re.fullmatch(r"\[TL(?!266)\d+\]", line.split(" ")[-1]):
                warnings.warn(line.removeprefix("timeloom: "), RuntimeWarning, stacklevel=2)

    def _close(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait()
        self._said.close()


def _memory_row(path: dict[str, Any]) -> dict[str, Any]:
    numbers = {key: path[key] for key in ("allocations", "allocated_bytes", "largest_bytes", "frees", "freed_bytes")}
    peak, held = path["at_peak"], path["at_end"]
    return {"name": path["path"][-1], "path": tuple(path["path"]), **numbers,
            "peak_bytes": peak["bytes"], "peak_error_bytes": peak["error_bytes"],
            "held_bytes": held["bytes"], "held_error_bytes": held["error_bytes"]}


def _run(*arguments: str) -> bytes:
    with _output_of(arguments) as output:
        return output.read()


def _rows(arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in JSON, one per line."""
    with _output_of(arguments) as output:
        for line in output:
            text = line.strip().rstrip(b",")
            if text.startswith(b"{"):
                yield json.loads(text)
