"""The magics, registered so that completion, ``?`` and ``--help`` find them.

The measuring ones are removed from their cells beforehand (_cells.transform), and are called only from inside other
magics.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class

import timeloom
from timeloom._notebook import _arguments, _line, _separate, _vampir
from timeloom._notebook._messages import say, say_error, show_text

if TYPE_CHECKING:
    from timeloom._notebook._notebook import Notebook

_DEPRECATED = "Deprecated. Use: %%marshalling_settings\n[MARSHALLER=]\n[MODE=]"
_MODES = ("disk", "memory", "inprocess")


def _answered(line: str, cell: Any) -> bool:
    """Print the help and return True if the line requests it."""
    if line.split()[:1] not in (["--help"], ["-h"]):
        return False
    show_text((cell.__doc__ or "").strip())
    return True


@magics_class
class TimeloomMagics(Magics):
    """All of them."""

    def __init__(self, notebook: Notebook) -> None:
        super().__init__(notebook.shell)
        self._notebook = notebook

    # ---- measuring

    @cell_magic
    def execute_with_scorep(self, line: str, cell: str) -> None:
        """Run the cell measured, as the SCOREP_ variables and the arguments of the bindings say.

        %%execute_with_scorep
        CODE
        """
        if _answered(line, self.execute_with_scorep):
            return
        self._run_inside("execute_with_scorep", line, cell)

    @line_cell_magic("timeloom")
    def timeloom(self, line: str, cell: str | None = None) -> Any:
        """Measure a cell or a line; show and compare what was measured.

        %%timeloom [OPTIONS]        measures the cell. OPTIONS are settings of `timeloom run`, such as --c-functions,
                                    --profile, --exclude PATTERN, --output DIR; --io and --mpi in a kernel that
                                    was installed with them
        %%timeloom --fresh [--return NAMES]     runs the cell in a new Python, also --ranks N
        %timeloom STATEMENT         measures one line
        %timeloom runs              lists the runs of this notebook
        %timeloom diff [A [B]]      compares two of them by their numbers; without numbers the last two
        %timeloom wait              waits until all runs are woven
        %timeloom view [A]          shows the timeline of a run
        """
        if _answered(line, self.timeloom):
            return None
        if cell is None:
            return _line.run(self._notebook, line)
        own = self._own_options(line)
        if "fresh" in own or "ranks" in own:
            _separate.run(self._notebook, line, cell)
            return None
        return self._run_inside("timeloom", line, cell)

    @staticmethod
    def _own_options(line: str) -> dict[str, str]:
        try:
            return _arguments.of_timeloom(line).own
        except timeloom.Error as error:
            raise UsageError(f"timeloom: {error}") from None

    def _run_inside(self, magic: str, line: str, cell: str) -> None:
        """Run a cell from inside another magic of the same cell."""
        if not cell.strip():
            show_text("nothing was measured: the cell has no code")
        elif self._notebook.measuring:
            self._notebook.shell.run_cell(cell)  # is part of the current measurement
        else:
            self._notebook.shell.run_cell(f"%%{magic} {line}\n{cell}", store_history=True)

    @line_magic
    def timeloom_config(self, line: str) -> None:
        """Set what happens to the cells to come.

        %timeloom_config                            shows the settings
        %timeloom_config measure_every_cell=True    as if every cell began with %%timeloom
        %timeloom_config report=static              static (text and pictures), summary (text) or off
        """
        if _answered(line, self.timeloom_config):
            return
        settings = self._notebook.settings
        for word in line.split():
            name, _, value = word.partition("=")
            if name == "measure_every_cell" and value.lower() in ("true", "false"):
                settings.measure_every_cell = value.lower() == "true"
            elif name == "report" and value in ("static", "summary", "off"):
                settings.report = value
            else:
                raise UsageError(
                    f"{word}: write measure_every_cell=True or False, report=static, "
                    "summary or off [TL630]"
                )
        show_text(f"measure_every_cell={settings.measure_every_cell} report={settings.report}")

    # ---- settings of Score-P

    @cell_magic
    def scorep_env(self, line: str, cell: str) -> None:
        """Set variables, a line NAME=VALUE each."""
        if _answered(line, self.scorep_env) or self._ignored("multicell"):
            return
        variables = self._checked(_arguments.environment, cell)
        if self._notebook.writefile.on:
            self._notebook.writefile.set_environment(variables)
            return
        os.environ.update(variables)
        self._notebook.settings.environment.update(variables)
        say(f"Score-P environment set successfully: {self._notebook.settings.environment}")

    @cell_magic
    def scorep_python_binding_arguments(self, line: str, cell: str) -> None:
        """Set the arguments of the Score-P Python bindings, such as --noinstrumenter, in the lines below."""
        if _answered(line, self.scorep_python_binding_arguments) or self._ignored("multicell"):
            return
        arguments = f"{line} {cell}".split()
        self._checked(_arguments.of_scorep, arguments)
        if self._notebook.writefile.on:
            self._notebook.writefile.set_arguments(arguments)
            return
        self._notebook.settings.binding_arguments = arguments
        say(f"Score-P Python binding arguments set successfully: {arguments}")

    @staticmethod
    def _checked(function: Any, argument: Any) -> Any:
        try:
            return function(argument)
        except timeloom.Error as error:
            raise UsageError(str(error)) from None

    def _ignored(self, *modes: str) -> bool:
        """Print a line and return True if the current mode makes the magic do nothing."""
        if self._notebook.mode not in modes:
            return False
        say_error(f"KernelWarning: Currently in {self._notebook.mode}, command ignored.")
        return True

    @cell_magic
    def serializer_settings(self, line: str, cell: str) -> None:
        """Not used any more: nothing is carried between processes."""
        if not _answered(line, self.serializer_settings):
            say(_DEPRECATED)

    @cell_magic
    def marshalling_settings(self, line: str, cell: str) -> None:
        """Accepted and shown; cells are measured in this process, and nothing is marshalled.

        %%marshalling_settings
        MARSHALLER=dill
        MODE=memory
        """
        if _answered(line, self.marshalling_settings) or self._ignored("multicell", "writefile"):
            return
        settings, text = self._notebook.settings, f"{line}\n{cell}"
        if found := re.search(r"MARSHALLER=([\w-]+)", text):
            if _can_marshal(found[1]):
                settings.marshaller = found[1]
            else:
                say_error(f"Marshaller '{found[1]}' is not available or compatible, "
                          f"kernel will use '{settings.marshaller}'.")
        if found := re.search(r"MODE=([\w-]+)", text):
            if found[1] in _MODES:
                settings.marshalling_mode = found[1]
            else:
                say_error(f"Marshalling mode '{found[1]}' is not recognized, "
                          f"kernel will use '{settings.marshalling_mode}'.")
        say(f"Kernel uses '{settings.marshaller}' marshaller in '{settings.marshalling_mode}' mode.")

    @cell_magic
    def kernel_debug(self, line: str, cell: str) -> None:
        """Show what the other magics have set."""
        settings = self._notebook.settings
        say("Kernel current state:\n")
        if settings.environment:
            say(f"Score-P environment: {settings.environment}\n")
        if settings.binding_arguments:
            say(f"Score-P Python bindings arguments: {settings.binding_arguments}\n")

    # ---- multicell mode

    @cell_magic
    def enable_multicellmode(self, line: str, cell: str) -> None:
        """Mark the cells that follow; %%finalize_multicellmode runs them in one measurement."""
        if _answered(line, self.enable_multicellmode):
            return
        multicell = self._notebook.multicell
        if self._notebook.writefile.on:
            multicell.on = True
        elif multicell.on:
            say_error("KernelWarning: multicell mode has already been enabled")
        else:
            multicell.start()
            say("Multicell mode enabled. The following cells will be marked for instrumented execution.")

    @cell_magic
    def finalize_multicellmode(self, line: str, cell: str) -> None:
        """Run the marked cells in one measurement."""
        if _answered(line, self.finalize_multicellmode):
            return
        if self._notebook.writefile.on:
            self._notebook.multicell.on = False
        else:
            say_error("KernelWarning: Currently in default, ignore command")

    @cell_magic
    def abort_multicellmode(self, line: str, cell: str) -> None:
        """Forget the marked cells."""
        if _answered(line, self.abort_multicellmode) or self._ignored("default", "writefile"):
            return
        self._notebook.multicell.take()
        say("Multicell mode aborted.")

    @line_magic
    def multicell(self, line: str) -> None:
        """Show the marked cells; --drop N forgets one."""
        if _answered(line, self.multicell):
            return
        cells = self._notebook.multicell.cells
        words = line.split()
        if words:
            if words[0] != "--drop" or len(words) != 2 or not words[1].isdigit() or int(words[1]) >= len(cells):
                raise UsageError(f"%multicell {line}: write --drop and the position of a marked cell [TL630]")
            del cells[int(words[1])]
        lines = [f"{number}: {code.strip().splitlines()[0]}" for number, code in enumerate(cells) if code.strip()]
        show_text("\n".join(lines) or "no cell is marked")

    # ---- write mode

    @cell_magic
    def start_writefile(self, line: str, cell: str) -> None:
        """Record the cells that follow in NAME.py, and in NAME_run.sh the command that runs it measured.

        %%start_writefile [NAME] [--mpi N]
        """
        if _answered(line, self.start_writefile):
            return
        if self._notebook.writefile.on:
            say_error("KernelWarning: writefile mode has already been enabled")
            return
        if self._ignored("multicell"):
            return
        words, ranks = line.split(), 0
        if "--mpi" in words:
            at = words.index("--mpi")
            if not words[at + 1 : at + 2] or not words[at + 1].isdigit():
                raise UsageError("--mpi needs a number of ranks [TL630]")
            ranks = int(words[at + 1])
            del words[at : at + 2]
        self._notebook.writefile.start(" ".join(words), ranks)

    @cell_magic
    def end_writefile(self, line: str, cell: str) -> None:
        """Finish the two files."""
        if _answered(line, self.end_writefile) or self._ignored("default", "multicell"):
            return
        self._notebook.multicell.on = False
        self._notebook.writefile.end()

    @cell_magic
    def abort_writefile(self, line: str, cell: str) -> None:
        """Delete the two files."""
        if _answered(line, self.abort_writefile) or self._ignored("default", "multicell"):
            return
        self._notebook.multicell.on = False
        self._notebook.writefile.on = False
        self._notebook.writefile.abort()

    # ---- Vampir

    @cell_magic
    def enable_vampir_launch_on_scorep_instrumented(self, line: str, cell: str) -> None:
        """Open the run of every %%execute_with_scorep cell from now on in Vampir."""
        if _answered(line, self.enable_vampir_launch_on_scorep_instrumented) or self._ignored("multicell", "writefile"):
            return
        self._notebook.settings.launch_vampir = True
        if shutil.which("vampir") is None:
            say_error(_vampir.NOT_FOUND)
        else:
            say("Vampir will be launched after next instrumented execution.")

    @cell_magic
    def disable_vampir_launch(self, line: str, cell: str) -> None:
        """Open no more runs in Vampir."""
        if _answered(line, self.disable_vampir_launch) or self._ignored("multicell", "writefile"):
            return
        self._notebook.settings.launch_vampir = False
        say("Vampir launching disabled.")


def _can_marshal(name: str) -> bool:
    try:
        module = importlib.import_module(name)
    except ImportError:
        return name == "dill"  # the default, which nothing needs here
    return hasattr(module, "dump") and hasattr(module, "load")
