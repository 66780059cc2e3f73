"""Marks the tasks of a measured program, by which a worker of a cluster tells them from tasks of other clients.

The mark is an annotation of Dask, which goes with a task from its client over the scheduler to a worker: the id of the
run. It is put into the client's message to the scheduler. The worker's side compares it in the extension
(src/python/observe/engines/dask_clients.cpp).
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from timeloom import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MARK = "timeloom"  # as in src/python/observe/engines/dask_clients.cpp
_NOT_STARTED = ("waiting", "ready", "constrained")  # states of tasks at a worker

_mark_of: list[Callable[[Mapping[str, Any]], str]] = []  # the mark of the tasks that a message asks for; none, or one


def _words(constants: tuple[Any, ...]) -> set[str]:
    """Return the texts among the constants of a code object. Keys of a dict may be in a tuple."""
    texts = {one for one in constants if isinstance(one, str)}
    return texts.union(*(one for one in constants if isinstance(one, tuple) and all(isinstance(x, str) for x in one)))


def _is_known(client: Any) -> bool:
    """Return whether the client's class sends tasks in messages that have annotations."""
    code = getattr(getattr(client, "_graph_to_futures", None), "__code__", None)
    send = getattr(getattr(client, "_send_to_scheduler", None), "__code__", None)
    if code is None or send is None or send.co_varnames[: send.co_argcount] != ("self", "msg"):
        return False
    return "ToPickle" in code.co_names and {"update-graph", "annotations"} <= _words(code.co_consts)


def _put_mark(message: Any) -> None:
    if _mark_of and message.get("op") == "update-graph" and (mark := _mark_of[0](message)):
        message["annotations"].data[_MARK] = mark


def _take_messages() -> bool:
    """Have all clients of this process mark the tasks that they ask for. False: their version is not known."""
    client: Any = sys.modules["distributed.client"].Client
    if getattr(client._send_to_scheduler, "_timeloom", False):
        return True
    if not _is_known(client):
        return False
    send = client._send_to_scheduler

    def _send_to_scheduler(self: Any, msg: Any) -> Any:
        with contextlib.suppress(Exception):  # the tasks count as another client's
            _put_mark(msg)
        return send(self, msg)

    _send_to_scheduler._timeloom = True  # type: ignore[attr-defined]
    client._send_to_scheduler = _send_to_scheduler
    return True


def mark_tasks(run: str) -> str:
    """Mark the tasks that this program asks for from now on; return the mark, empty for an unknown version."""
    if not _take_messages():
        return ""
    _mark_of[:] = [lambda message: run]
    return run


def _mark_of_submitter(message: Mapping[str, Any]) -> str:
    """Return the mark of the task that asks for others, by the client of its worker."""
    key = message.get("submitting_task")
    if key is None:
        return ""
    task = sys.modules["distributed.worker"].get_worker().state.tasks.get(key)
    return str((task.annotations or {}).get(_MARK, "")) if task is not None else ""


def hide_others(mark: str, worker: Any) -> None:
    """Hide the functions of tasks without this mark in a worker, and mark the tasks that its tasks ask for.

    An empty mark hides nothing.
    """
    if not mark or not _take_messages():
        return
    _mark_of[:] = [_mark_of_submitter]
    _core.hide_other_tasks(mark)
    note_tasks(worker)


def note_tasks(worker: Any) -> None:
    """Note whose the tasks are that a worker has got before."""
    state: Any = getattr(worker, "state", None)
    with contextlib.suppress(AttributeError):  # of an unknown version: they count as the program's
        for task in list(state.tasks.values()):
            is_actor = task.key in state.actors
            if is_actor or task.state in _NOT_STARTED:
                _core.note_client_of_task(str(task.key), task.annotations, is_actor)


def show_others() -> None:
    """Undo hide_others()."""
    _mark_of.clear()
    _core.hide_other_tasks("")
