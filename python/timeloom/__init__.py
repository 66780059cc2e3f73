"""Timeloom: where a Python program spends its time.

A program is measured with ``timeloom run script.py`` or ``python -m timeloom script.py``; a block of a program that was
started without it, with :class:`Measurement`. The functions here mark regions and control recording. Without a
measurement each of them does nothing.

All of them may be called from any thread. Names are ``str``.

(PYTEST_DONT_REWRITE: when pytest runs under Timeloom, the package is imported before it. Since the package has a
plugin, pytest would warn about that.)
"""

try:  # so that each Python from 3.6 on gets to the line that names it
    from time import process_time_ns as _process_time_ns  # from a module that Python itself imports

    _BEGUN_CPU_NS = _process_time_ns()  # for the launcher
    from timeloom import _core as _core
except ImportError as error:
    from timeloom._unmeasured import take_over

    take_over(error)
    del take_over

from timeloom._api import pause, resume, start, stop
from timeloom._core import (
    Error,
    counter,
    disable_recording,
    enable_recording,
    marker,
    parameter_float,
    parameter_int,
    parameter_string,
    parameter_uint,
    region,
    region_begin,
    region_end,
)
from timeloom._measurement import Measurement

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from timeloom._read import Run
    from timeloom._view import View

__version__ = "0.1.0"

__all__ = [
    "Error",
    "Measurement",
    "counter",
    "disable_recording",
    "enable_recording",
    "marker",
    "parameter_float",
    "parameter_int",
    "parameter_string",
    "parameter_uint",
    "pause",
    "read",
    "region",
    "region_begin",
    "region_end",
    "resume",
    "start",
    "stop",
    "view",
]


def read(run: "str | PathLike[str]") -> "Run":
    """Open a recorded run: a run directory, an OTF2 archive or a CUBE profile of any tool.

    The result has ``info``, ``processes``, ``threads``, ``metrics``, ``tree``, ``flat``, ``events()``, ``diff()``,
    ``to_pandas()`` and ``to_polars()``; docs/analysis.md shows them. Raises :class:`timeloom.Error`.
    """
    from timeloom._read import Run  # not for programs that are measured

    return Run(run)


def view(
    *runs: "str | PathLike[str] | Run", height: int = 640, with_source: bool = False, proxy: "str | None" = None
) -> "View":
    """Show the timeline of a run, or of two compared runs, in a notebook.

    ``proxy`` is the URL of a proxy for the ports of this machine, with ``{port}`` in place of the number:
    ``"https://hub.example/user/me/proxy/{port}/"``. It is found automatically in a JupyterHub that passes its address
    and has jupyter-server-proxy. With ``proxy=""``, and in all other notebooks, the page contains the run, up to some
    megabytes, and with ``with_source`` the source lines of functions. Raises :class:`timeloom.Error`.
    """
    from timeloom._view import View

    paths = [run if isinstance(run, str) or hasattr(run, "__fspath__") else run.path for run in runs]
    return View(paths, height=height, with_source=with_source, proxy=proxy)


def load_ipython_extension(shell: "Any") -> None:
    """Let a notebook measure its cells: IPython calls this for ``%load_ext timeloom``."""
    from timeloom._notebook import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: "Any") -> None:
    """Undo load_ipython_extension(): IPython calls this for ``%unload_ext timeloom``."""
    from timeloom._notebook import unload_ipython_extension

    unload_ipython_extension(shell)
