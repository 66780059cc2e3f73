"""Marks the tasks of a measured program, by which a worker of a cluster tells them from tasks of other clients.

The mark is an annotation of Dask, which goes with a task from its client over the scheduler to a worker: the id of the
run. It is put into the client's message to the scheduler. The worker's side compares it in the extension
(src/python/observe/engines/dask_clients.cpp).

A task that asks for others hands its own mark on to them. All else that a process of the program asks for has the mark
of the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import sys
from typing import TYPE_CHECKING, Any

from timeloom import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARK = "timeloom"  # as in src/python/observe/engines/dask_clients.cpp
PROBE = "timeloom-mark-"  # as there: how the key of a task begins by which a client looks for the mark at a worker
_RUN_ID = "TIMELOOM_RUN_ID"
_NOT_STARTED = ("waiting", "ready", "constrained")  # states of tasks at a worker
_LOOK_SECONDS = 0.01


class _Own:
    """The mark of what this process asks for, other than in tasks."""

    mark = ""  # none
    of_all_clusters = False  # also of clusters that a client of this process has got as an object, such as LocalCluster
    is_worker = False  # of a cluster that runs already: it asks for tasks for any client


# The key of the task that is a coroutine and runs in this context: Dask tells the client of tasks in threads only.
_coroutine: contextvars.ContextVar[Any] = contextvars.ContextVar("timeloom_task", default=None)


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


def _mark_of_task(key: Any) -> str:
    """Return the mark of a task that this worker runs, which asks for others."""
    task = sys.modules["distributed.worker"].get_worker().state.tasks.get(key)
    return str((task.annotations or {}).get(_MARK, "")) if task is not None else ""


def _mark_for(client: Any, message: Mapping[str, Any]) -> str:
    key = message.get("submitting_task")
    key = _coroutine.get() if key is None else key
    if key is not None:
        return _mark_of_task(key)
    return _Own.mark if _Own.of_all_clusters or client.cluster is None else ""


def _put_mark(client: Any, message: Any) -> None:
    if message.get("op") == "update-graph" and (mark := _mark_for(client, message)):
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
            _put_mark(self, msg)
        return send(self, msg)

    _send_to_scheduler._timeloom = True  # type: ignore[attr-defined]
    client._send_to_scheduler = _send_to_scheduler
    return True


def mark_tasks(run: str) -> str:
    """Mark the tasks that this program asks for from now on; return the mark, empty for an unknown version."""
    if not _take_messages():
        return ""
    _Own.mark, _Own.of_all_clusters = run, True
    return run


def mark_own_tasks() -> None:
    """Mark the tasks that clients of this process of the program ask for, also if they measure no workers.

    The extension calls it when a client is made (src/python/observe/engines/dask_tasks.cpp).
    """
    run = os.environ.get(_RUN_ID, "")
    if run and not _Own.is_worker and not _Own.mark and _take_messages():
        _Own.mark = run


def ask_as_task(key: Any) -> None:
    """Hand the mark of a task, which is a coroutine and runs in this context, on to tasks that it asks for."""
    _coroutine.set(key)


def hand_marks_on() -> None:
    """Have the tasks of this worker hand their marks on, whether it is measured or not."""
    _Own.mark, _Own.is_worker = "", True
    _take_messages()


def hide_others(mark: str, worker: Any) -> None:
    """Hide the functions of tasks without this mark in a worker.

    An empty mark hides nothing.
    """
    hand_marks_on()
    if mark:
        _core.hide_other_tasks(mark)
        note_tasks(worker)


async def mark_that_came(key: str, seconds: float, dask_worker: Any) -> str | None:
    """Return the mark of a task that is to come to this worker; None: it did not come. Runs in the worker."""
    for _ in range(int(seconds / _LOOK_SECONDS)):
        if (task := dask_worker.state.tasks.get(key)) is not None:
            return str((task.annotations or {}).get(_MARK, ""))
        await asyncio.sleep(_LOOK_SECONDS)
    return None


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
    _core.hide_other_tasks("")
