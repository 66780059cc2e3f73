"""Makes regions of the coroutines of Dask's workers.

The extension calls take_coroutines() once in a process, when a worker gets its first task
(src/python/observe/engines/dask_tasks.cpp). Only modules that the worker has imported are used. A function that differs
from the known versions is left as it is.
"""

import sys

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    _Facts = list[tuple[str, int | str]]

_COROUTINE = 0x80  # a flag of code objects
# The names of parameters, as in src/core/engines/engine_regions.hpp.
_KEY, _NEEDS = "timeloom::key", "timeloom::needs"
_TIMES = ("timeloom::queued_ns", "timeloom::fetched_ns")
_MOST_NEEDS = 10_000  # of a task
_ASYNC_TASKS = "-Dask-Async-Tasks"


def _is_known(function: "Any", arguments: "tuple[str, ...]") -> bool:
    """Return whether it is a coroutine function with these arguments."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & _COROUTINE:
        return False
    return bool(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] == arguments)


def _facts_of_task(key: str, data: "dict[Any, Any]") -> "_Facts":
    """Return the parameters of a task, in the order in which readers expect them."""
    times = _core.dask_times(key) or ()
    facts: _Facts = [(name, time) for name, time in zip(_TIMES, times) if time > 0]
    facts.append((_KEY, key))
    facts.extend((_NEEDS, str(need)) for need in list(data)[:_MOST_NEEDS])
    return facts


def _task_maker(module: "Any", run_task: "Callable[..., Awaitable[Any]]") -> "Callable[..., Awaitable[Any]]":
    def run_task_async(task: "Any", data: "Any", time_delay: float) -> "Awaitable[Any]":
        coroutine = run_task(task, data, time_delay)
        try:
            prefix = sys.modules["dask.utils"].key_split(task.key)
            lane = f"{module._worker_cvar.get().name}{_ASYNC_TASKS}"
            return _core.task_steps("Dask", prefix, True, lane, _facts_of_task(str(task.key), data), coroutine)
        except Exception:  # of an unknown version
            return coroutine

    return run_task_async


def take_coroutines() -> None:
    """Take the functions by which workers of this process run tasks that are coroutines."""
    module: Any = sys.modules["distributed.worker"]
    run_task: Any = getattr(module, "_run_task_async", None)
    if _is_known(run_task, ("task", "data", "time_delay")):
        module._run_task_async = _task_maker(module, run_task)
    elif run_task is not None:  # versions before 2024.12 have none
        version = getattr(sys.modules["distributed"], "__version__", "")
        _core.note_unknown_engine(f"distributed {version} that are coroutines")
