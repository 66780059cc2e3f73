"""The state of the extension in a notebook, and its hooks in IPython's shell.

IPython itself runs the cells. The shell's methods are wrapped where a cell begins, where its statements run, and where
IPython does work that is not part of the cell. No exception of Timeloom leaves a cell: errors become one line of a
UsageError.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from timeloom import _core
from timeloom._notebook import _cells
from timeloom._notebook._measure import hide_kernel_threads
from timeloom._notebook._measured import SCOREP, MeasuredCell
from timeloom._notebook._messages import say
from timeloom._notebook._multicell import Multicell, frame_before
from timeloom._notebook._places import Places
from timeloom._notebook._runs import Runs
from timeloom._notebook._writefile import WriteMode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from IPython.core.interactiveshell import InteractiveShell

_ATTRIBUTE = "timeloom"  # of the shell


class Settings:
    """The magics' settings for later cells."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self.binding_arguments: list[str] = []
        self.marshaller, self.marshalling_mode = "dill", "memory"
        self.launch_vampir = False
        self.measure_every_cell = False
        self.report = "static"


class Notebook:
    """The extension in one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.settings = Settings()
        self.places = Places()
        self.multicell = Multicell()
        self.writefile = WriteMode()
        self.runs = Runs(self)
        self.number = shell.execution_count  # of the running cell
        # Numbers of cells by file name; IPython may know the numbers of cells before this one.
        self.cells: dict[str, int] = dict(getattr(shell.compile, "_filename_map", {}))
        self._measured: MeasuredCell | None = None
        self._running = False  # a statement of the measured cell is running
        self._ended: list[MeasuredCell] = []
        self._kept = ""  # the cell passed to keep_cell()
        self._wrapped: list[tuple[Any, str]] = []

    # ---- loading

    @classmethod
    def load(cls, shell: InteractiveShell) -> Notebook:
        """Load the extension into a shell, unless it is there already."""
        from timeloom._notebook._magics import TimeloomMagics

        known: Notebook | None = getattr(shell, _ATTRIBUTE, None)
        if known is not None:
            return known
        notebook = cls(shell)
        setattr(shell, _ATTRIBUTE, notebook)
        shell.input_transformer_manager.cleanup_transforms.append(_cells.transform)
        shell.register_magics(TimeloomMagics(notebook))
        notebook._wrap(shell, "run_cell_async", notebook._run_cell)
        notebook._wrap(shell, "run_code", notebook._run_code)
        notebook._wrap(shell, "should_run_async", notebook._should_run_async)
        notebook._wrap(shell, "showtraceback", _unrecorded)
        notebook._wrap(shell.compile, "cache", notebook._name_cell)
        shell.display_trap.hook = functools.partial(_unrecorded, shell.displayhook)
        shell.events.register("post_run_cell", notebook._after_cell)
        hide_kernel_threads()
        return notebook

    @classmethod
    def unload(cls, shell: InteractiveShell) -> None:
        """Remove everything from the shell, except for the names of the magics."""
        notebook: Notebook | None = getattr(shell, _ATTRIBUTE, None)
        if notebook is None:
            return
        with contextlib.suppress(ValueError):
            shell.input_transformer_manager.cleanup_transforms.remove(_cells.transform)
        for owner, name in notebook._wrapped:
            vars(owner).pop(name, None)
        shell.display_trap.hook = shell.displayhook
        shell.events.unregister("post_run_cell", notebook._after_cell)
        delattr(shell, _ATTRIBUTE)

    def _wrap(self, owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            return wrapper(original, *arguments, **named)

        setattr(owner, name, wrapped)
        self._wrapped.append((owner, name))

    # ---- cells

    @property
    def mode(self) -> str:
        """Return the current mode of cells: default, multicell or writefile."""
        if self.writefile.on:
            return "writefile"
        return "multicell" if self.multicell.on else "default"

    @property
    def measuring(self) -> bool:
        """True while a cell is being measured."""
        return self._measured is not None

    @property
    def is_attended(self) -> bool:
        """True if output after a cell is shown: a batch run of notebooks drops it, and cannot be asked for input."""
        return bool(getattr(getattr(self.shell, "kernel", None), "_allow_stdin", True))

    async def _run_cell(
        self, original: Any, raw_cell: str, store_history: bool = False, silent: bool = False, *rest: Any, **named: Any
    ) -> Any:
        """Replaces the shell's run_cell_async."""

        async def run(transformed_cell: str | None = None) -> Any:
            if transformed_cell is not None:
                named.update(transformed_cell=transformed_cell, preprocessing_exc_tuple=None)
            return await original(raw_cell, store_history, silent, *rest, **named)

        if not self.measuring:
            self.number = self.shell.execution_count  # newer IPythons increase it before the cell has ended
        # Front ends use such calls to query variables and the like; they are not the user's cells.
        if silent or not store_history or not raw_cell.strip() or self.measuring:
            return await run()
        self._after_cell()
        cell = _cells.parse(raw_cell)
        if cell is not None and cell.magic in _cells.SETTING:
            finalizes = cell.magic == "finalize_multicellmode" and self.mode == "multicell"
            return await (self._finalize(original, run) if finalizes else run())
        if self.mode != "default":
            self._kept = raw_cell
            return await run(f"get_ipython().{_ATTRIBUTE}.keep_cell()\n")
        if cell is not None and _cells.is_special(cell):
            return await run(_cells.call_of(cell))
        if cell is None and not self.settings.measure_every_cell:
            return await run()
        has_await = self._has_await(raw_cell, named.get("transformed_cell"))
        magic, line = ("timeloom", "") if cell is None else (cell.magic, cell.line)
        return await self._measure(MeasuredCell(self, magic, line, raw_cell, has_await), run)

    async def _measure(self, measured: MeasuredCell, run: Callable[[], Awaitable[Any]]) -> Any:
        self._measured = measured
        result: Any = None
        try:
            result = await run()
            measured.error = result.error_before_exec or result.error_in_exec
        except BaseException as error:
            measured.error = error
            raise
        finally:
            self._measured = None
            measured.end()
            self._ended.append(measured)
        return result

    async def _finalize(self, original: Any, run: Callable[..., Awaitable[Any]]) -> Any:
        """Run the marked cells in one measurement, then the magic itself as a cell that does nothing."""
        cells = self.multicell.take()
        measured = MeasuredCell(self, SCOREP, "", "\n".join(cells), any(map(self._has_await, cells)))

        async def run_marked() -> Any:
            failed: Any = None
            for number, code in enumerate(cells):
                say(frame_before(number, code))
                measured.region = f"In [{measured.number}] cell {number}"
                done = await original(code, False, False, transformed_cell=self.shell.transform_cell(code))
                say("\n\n")
                if not done.success:
                    failed = done
                    break
            result = await run("pass\n")
            if failed is not None:
                result.error_before_exec, result.error_in_exec = failed.error_before_exec, failed.error_in_exec
            return result

        return await self._measure(measured, run_marked)

    def _name_cell(self, original: Any, *arguments: Any, **named: Any) -> str:
        """Replaces the method of the compiler's cache that gives a cell its file name."""
        name = str(original(*arguments, **named))
        self.cells[name] = self.number
        return name

    def keep_cell(self) -> None:
        """Mark or write the current cell instead of running it. Raises UsageError."""
        if self.writefile.on:
            self.writefile.add(self._kept, instrumented=self.multicell.on)
        else:
            position = self.multicell.mark(_cells.code_of(self._kept))
            say(f"Cell marked for multicell mode. It will be executed at position {position}")

    # ---- statements

    async def _run_code(self, original: Any, code: Any, *arguments: Any, **named: Any) -> Any:
        """Replaces the shell's run_code, which runs one top-level statement of a cell."""
        if self._measured is None or self._running:
            return await original(code, *arguments, **named)
        measurement = self._measured.begin(code.co_filename)
        if measurement is None:
            return await original(code, *arguments, **named)
        with measurement.user_code():
            self._running = True
            try:
                return await original(code, *arguments, **named)
            finally:
                self._running = False

    def _has_await(self, raw: str, transformed: str | None = None) -> bool:
        if transformed is None:
            transformed = self.shell.transform_cell(raw)
        return bool(self.shell.should_run_async(raw, transformed_cell=transformed))

    def _should_run_async(self, original: Any, raw_cell: str, **named: Any) -> bool:
        if self.mode == "multicell" and raw_cell.lstrip().startswith("%%finalize_multicellmode"):
            return any(self._has_await(code) for code in self.multicell.cells)
        return bool(original(raw_cell, **named))

    # ---- afterwards

    def _after_cell(self, result: Any = None) -> None:
        """Answer measured cells that have ended: before the reply, and after the cell's own output."""
        while self._ended:
            self.runs.answer(self._ended.pop(0))
        self.runs.show_updates()


def _unrecorded(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    with _core.unrecorded():
        return function(*arguments, **named)
