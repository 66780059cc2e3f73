"""Makes regions of the coroutines of Dask's workers.

The extension calls take_coroutines() once in a measurement, when a worker gets its first task
(src/python/observe/engines/dask_tasks.cpp). Only modules that the worker has imported are used. A function that differs
from the known versions is left as it is.
"""

import itertools
import sys

from timeloom import _core
from timeloom._engines import _dask_marks

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    _Facts = list[tuple[str, int | str]]

_COROUTINE = 0x80  # a flag of code objects
# The names of parameters, as in src/core/engines/engine_regions.hpp.
_KEY, _NEEDS = "timeloom::key", "timeloom::needs"
_TIMES = ("timeloom::queued_ns", "timeloom::fetched_ns")
_PEER, _KEYS, _BYTES = "timeloom::peer", "timeloom::keys", "timeloom::bytes"
_OTHER_TASK = "task of another client"  # hides the functions that it calls
_ASYNC_TASKS, _TRANSFERS = "-Dask-Async-Tasks", "-Dask-Transfers"  # of the names of lanes


def _is_known(function: "Any", arguments: "tuple[str, ...]") -> bool:
    """Return whether it is a coroutine function with these arguments."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & _COROUTINE:
        return False
    return bool(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] == arguments)


def _prefix_of(key: "Any") -> str:
    """Return the name of the task by the engine's own rule, or the key if that fails."""
    try:
        return sys.modules["dask.utils"].key_split(key) or str(key)
    except Exception:  # of an unknown version
        return str(key)


def _facts_of_task(key: str, data: "dict[Any, Any]") -> "_Facts":
    """Return the parameters of a task, in the order in which readers expect them."""
    times = _core.dask_times(key) or ()
    facts: _Facts = [(name, time) for name, time in zip(_TIMES, times) if time > 0]
    facts.append((_KEY, key))
    facts.extend((_NEEDS, str(need)) for need in itertools.islice(data, _core.MOST_DASK_NEEDS))
    return facts


def _task_maker(module: "Any", run_task: "Callable[..., Awaitable[Any]]") -> "Callable[..., Awaitable[Any]]":
    def run_task_async(task: "Any", data: "Any", time_delay: float) -> "Awaitable[Any]":
        coroutine = run_task(task, data, time_delay)
        try:
            _dask_marks.ask_as_task(task.key)
            lane = f"{module._worker_cvar.get().name}{_ASYNC_TASKS}"
            facts = _facts_of_task(str(task.key), data)
            if _core.take_other_task(str(task.key)):
                return _core.task_steps("Dask", _OTHER_TASK, False, lane, [], coroutine)
            return _core.task_steps("Dask", _prefix_of(task.key), True, lane, facts, coroutine)
        except Exception:  # of an unknown version
            return coroutine

    return run_task_async


def _transfer_maker(fetch: "Callable[..., Awaitable[Any]]") -> "Callable[..., Awaitable[Any]]":
    def gather_dep(
        self: "Any", worker: str, to_gather: "Any", total_nbytes: int, *, stimulus_id: str
    ) -> "Awaitable[Any]":
        coroutine = fetch(self, worker, to_gather, total_nbytes, stimulus_id=stimulus_id)
        try:
            facts: _Facts = [(_PEER, worker), (_KEYS, len(to_gather)), (_BYTES, int(total_nbytes))]
            return _core.task_steps("Dask", "transfer", False, f"{self.name}{_TRANSFERS}", facts, coroutine)
        except Exception:  # of an unknown version
            return coroutine

    return gather_dep


def _take_tasks(module: "Any") -> bool:
    """Return False for an unknown version. Versions before 2024.12 have no such function."""
    run_task: Any = getattr(module, "_run_task_async", None)
    if _is_known(run_task, ("task", "data", "time_delay")):
        module._run_task_async = _task_maker(module, run_task)
        return True
    return run_task is None


def _take_transfers(worker: "Any") -> bool:
    """Return False for an unknown version."""
    fetch: Any = getattr(worker, "gather_dep", None)
    known = ("self", "worker", "to_gather", "total_nbytes", "stimulus_id")
    if not _is_known(getattr(fetch, "__wrapped__", fetch), known):
        return False
    worker.gather_dep = _transfer_maker(fetch)
    return True


_unknown: "dict[str, str] | None" = None  # the parts that are not recognised; None: nothing has been taken yet


def _take_all() -> "dict[str, str]":
    module: Any = sys.modules["distributed.worker"]
    version = getattr(sys.modules["distributed"], "__version__", "")
    unknown = {}
    if not _take_tasks(module):
        unknown["coroutines"] = f"distributed {version} that are coroutines"
    if not _take_transfers(getattr(module, "Worker", None)):
        unknown["transfers"] = f"transfers of distributed {version}"
    return unknown


def take_coroutines() -> None:
    """Take the functions by which workers of this process run tasks that are coroutines, and fetch values."""
    global _unknown
    if _unknown is None:
        _unknown = _take_all()
    for part, text in _unknown.items():
        _core.note_unknown_engine(part, text)
