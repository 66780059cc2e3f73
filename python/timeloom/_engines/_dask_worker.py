"""Functions that the client of a measured program runs in the workers of a Dask cluster that runs already.

They are named to the worker, which finds them in its own Timeloom.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from timeloom import _core
from timeloom._engines import _dask_marks, _host_records

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLES = ("TIMELOOM_PARENT", "TIMELOOM_RUN_ID")
MEASURED, AT_HOME = "measured already", "records on its own host"
OF_ANOTHER = "of another program: "  # with the id of its client; empty: the worker was started in its run

_joined: dict[str, str] = {}  # the id of the run that this worker records into, and the id of the client


def _answer_while_it_records(run: str) -> str:
    own = os.environ.get(VARIABLES[1], "")
    return MEASURED if run in (own, _joined.get("run")) else OF_ANOTHER + _joined.get("client", "")


def join(variables: dict[str, str], token: str, settings: bytes, client: tuple[str, str], dask_worker: Any) -> str:
    """Begin to record this worker in the run that the variables name; return the reason if that fails.

    The client: its id, and the mark of its tasks. Of tasks without the mark, functions are not recorded, unless it is
    empty.

    MEASURED: it records in this run. OF_ANOTHER: in another one. AT_HOME: it sees no directory of the run, and records
    in the directory of the token.
    """
    run, (name, mark) = variables[VARIABLES[1]], client
    if _core.running():
        if mark and run == _joined.get("run"):  # workers that share the process
            _dask_marks.note_tasks(dask_worker)
        return _answer_while_it_records(run)
    from timeloom_follow import records_of

    parent, answer = variables[VARIABLES[0]], ""
    try:
        if records_of(parent) is None:
            parent, answer = _host_records.begin_here(token, os.path.basename(parent), settings), AT_HOME
            variables = {VARIABLES[0]: parent}
        os.environ.update(variables)
        _dask_marks.hide_others(mark, dask_worker)
        _core.follow(parent, "program")
        _joined.update(run=run, client=name)
    except Exception as error:  # the worker goes on in any case
        leave()
        return str(error).partition(" [TL")[0] or type(error).__name__
    return answer


def leave() -> None:
    """End the recording of this worker."""
    _core.finish()
    _dask_marks.show_others()
    _joined.clear()
    for name in VARIABLES:
        os.environ.pop(name, None)


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function beside the event loop of this worker, which goes on to answer its scheduler."""
    return await asyncio.to_thread(function, *arguments)


def name_here(dask_worker: Any = None) -> str:
    """Return the name of this worker."""
    return str(getattr(dask_worker, "name", ""))
