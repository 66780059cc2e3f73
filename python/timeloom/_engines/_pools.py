"""Puts a task of Timeloom in the place of each function that a pool is about to run.

The extension calls these functions in the process that runs the tasks, when the pool calls certain functions of its own
(src/python/observe/engines/engine_tasks.cpp). They change objects that the pool uses once, in this process only.
Objects that differ from the known versions are left as they are. Only modules that are written in C are imported: a
program may have one of its own with the name of any other.
"""

import itertools
import sys
from _collections import OrderedDict  # type: ignore[import-not-found]
from time import monotonic_ns

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Function = Callable[..., Any]

_FUTURES, _POOL, _LOKY, _JOBLIB = "concurrent.futures", "multiprocessing", "loky", "joblib"
_CHUNKS = ("_process_chunk", "mapstar", "starmapstar")  # these call the program's function for each item
# Functions of engines that are run by a pool: tasks of the program are within them, and have names of their own.
_ENGINES = (
    "billiard", "celery", "concurrent", "dask", "distributed", "joblib", "kombu", "loky", "multiprocessing", "ray",
)  # fmt: skip

_SUBMITTED = "_timeloom_submitted"  # as in src/python/observe/engines/engine_tasks.cpp

_numbers = itertools.count()

_COROUTINE = 0x80  # a flag of code objects
_KEY, _RAY_LANE = "timeloom::key", "Ray-Async-Tasks"  # as in src/core/engines/engine_regions.hpp
_RAY_HOST = "timeloom._engines._ray_host"
_NOT_KNOWN = (AttributeError, TypeError, ValueError)  # what differs from the known versions; no signal raises these


def _is_partial(function: "_Function") -> bool:
    kind = type(function)
    return kind.__module__ == "functools" and kind.__qualname__ == "partial"


def _note_batch(function: "_Function", submitted: int) -> None:
    """Let a batch of calls of joblib know when it was submitted, for take_batch()."""
    of_joblib = type(function).__module__.startswith("joblib")  # a function of the program may have any attribute
    batch = getattr(function, "func", function) if of_joblib else function
    if type(batch).__name__ == "BatchedCalls":
        setattr(batch, _SUBMITTED, submitted)


def _inner(function: "_Function") -> "_Function":
    """Return the program's function, without the wrappers of libraries around it."""
    while True:
        wrapped = getattr(function, "_obj", None)  # loky's, for functions that pickle does not know
        if _is_partial(function):
            partial: Any = function
            wrapped = partial.func
            if partial.args and getattr(wrapped, "__qualname__", "") == "Context.run":  # asyncio.to_thread
                wrapped = partial.args[0]
        elif not type(function).__module__.startswith(("loky", "joblib")):
            wrapped = None
        if not callable(wrapped):
            return function
        function = wrapped


def _is_of_engine(function: "_Function") -> bool:
    module = getattr(function, "__module__", None) or type(function).__module__
    return str(module).partition(".")[0] in _ENGINES


def task_name(function: "_Function") -> str:
    """Return the name of a function within its module; for other callables the name of their type."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


def as_task(engine: str, key: "str | Callable[[], str]", function: "_Function", submitted: int = -1) -> "_Function":
    """Return a callable that runs the function as a task; the function itself if it belongs to an engine.

    `submitted`: time.monotonic_ns() when the program handed it to the pool, -1 if that is not known.
    """
    inner = _inner(function)
    return function if _is_of_engine(inner) else _core.task_call(engine, task_name(inner), key, function, submitted)


def _keys_of_items(chunk: str) -> "Callable[[], str]":
    numbers = itertools.count()
    return lambda: f"{chunk}.{next(numbers)}"


def _next_number() -> str:
    return str(next(_numbers))


def _call_as_task(
    engine: str, key: str, function: "_Function", arguments: "tuple[Any, ...]", submitted: int = -1
) -> "tuple[Any, Any]":
    """Return the function that the pool calls in place of the program's, with its arguments."""
    if _is_partial(function):
        chunk: Any = function
        called = getattr(chunk.func, "__name__", "") in _CHUNKS and _is_of_engine(chunk.func)
        if called and len(chunk.args) == 1 and not chunk.keywords:
            each = as_task(engine, _keys_of_items(key), chunk.args[0], submitted)
            return type(chunk)(chunk.func, each), arguments
    if getattr(function, "__name__", "") in _CHUNKS and _is_of_engine(function):
        (called, *more), *rest = arguments  # (function, items)
        return function, ((as_task(engine, _keys_of_items(key), called, submitted), *more), *rest)
    return as_task(engine, key, function, submitted), arguments


def take_thread_task(item: "Any") -> None:
    """Take the function that a thread of concurrent.futures is about to run, which may know when it was submitted."""
    submitted = getattr(item, _SUBMITTED, -1)
    if hasattr(item, "fn"):
        item.fn = as_task(_FUTURES, _next_number, item.fn, submitted)
        return
    function, arguments, named = item.task  # 3.14 and later
    item.task = (as_task(_FUTURES, _next_number, function, submitted), arguments, named)


def carry_time(item: "Any") -> None:
    """Give an item that is about to go to a process the time at which the program has submitted its call.

    Called at the start of its constructor, on the thread of the pool that sends it.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_name in ("__init__", "carry_time"):
        frame = frame.f_back
    work = frame.f_locals.get("work_item") if frame is not None else None
    for known in (work, getattr(work, "future", None)):
        if hasattr(known, _SUBMITTED):
            setattr(item, _SUBMITTED, getattr(known, _SUBMITTED))


def watch_call_queue(queue: "Any") -> None:
    """Take the functions that a process of concurrent.futures is going to get."""
    get = queue.get

    def get_task(*arguments: "Any", **named: "Any") -> "Any":
        item = get(*arguments, **named)
        try:
            submitted = getattr(item, _SUBMITTED, -1)
            item.fn, item.args = _call_as_task(_FUTURES, str(item.work_id), item.fn, item.args, submitted)
        except _NOT_KNOWN:  # not a task, or one of an unknown version
            return item
        return item

    queue.get = get_task


class _TaskQueue:
    """The queue through which a multiprocessing.Pool hands lists of tasks to its thread that sends them.

    In each task, an OrderedDict with the time of the submission takes the place of the dict of named arguments. To the
    function, and to a worker without Timeloom, both are the same.
    """

    def __init__(self, queue: "Any", cache: "dict[int, Any]") -> None:
        self._queue, self._cache = queue, cache
        self.put = queue.put

    def __getattr__(self, name: str) -> "Any":
        """Return an attribute of the queue itself."""
        return getattr(self._queue, name)

    def get(self) -> "Any":
        """Return the next list of tasks."""
        got = self._queue.get()
        if type(got) is not tuple or len(got) != 2:
            return got
        tasks, set_length = got
        return map(self._with_time, tasks), set_length

    def _with_time(self, task: "Any") -> "Any":
        try:
            job, number, function, arguments, named = task
            if type(named) is not dict:
                return task
            carrier: Any = OrderedDict(named)
            # An item of imap() is submitted when the iterable of the program has made it.
            carrier._timeloom_submitted = getattr(self._cache.get(job), _SUBMITTED, 0) or monotonic_ns()
        except _NOT_KNOWN:  # of an unknown version
            return task
        return job, number, function, arguments, carrier


def carry_times(pool: "Any") -> None:
    """Let a multiprocessing.Pool that starts its workers send each task with the time of its submission."""
    if hasattr(pool, "_cache") and hasattr(pool, "_taskqueue"):
        pool._taskqueue = _TaskQueue(pool._taskqueue, pool._cache)


def _pool_task(task: "Any") -> "Any":
    try:
        job, number, function, arguments, named = task
        if getattr(function, "__name__", "") == "_helper_reraises_exception":
            return task
        submitted = getattr(named, _SUBMITTED, -1)
        _note_batch(function, submitted)
        function, arguments = _call_as_task(_POOL, f"{job}.{number}", function, arguments, submitted)
    except _NOT_KNOWN:  # not a task, or one of an unknown version
        return task
    return job, number, function, arguments, named


def watch_pool_queue(queue: "Any") -> None:
    """Take the functions that a process of multiprocessing.Pool is going to get."""
    if isinstance(queue, _ThreadPoolQueue):
        return
    get = queue.get
    queue.get = lambda: _pool_task(get())


class _ThreadPoolQueue:
    """The queue of tasks as a thread of a ThreadPool sees it, which only gets from it."""

    def __init__(self, queue: "Any") -> None:
        self._queue = queue

    def get(self) -> "Any":
        """Return the next task."""
        return _pool_task(self._queue.get())


def watch_thread_pool(named: "dict[str, Any]") -> None:
    """Take the functions that a thread of a ThreadPool, which is about to start, is going to get."""
    if getattr(named.get("target"), "__qualname__", "") == "worker" and hasattr(named["args"][0], "get"):
        queue, *more = named["args"]
        named["args"] = (_ThreadPoolQueue(queue), *more)


def take_loky_task(item: "Any") -> None:
    """Take the function that a process of loky is about to run."""
    submitted = getattr(item, _SUBMITTED, -1)
    _note_batch(_inner(item.fn), submitted)
    item.fn, item.args = _call_as_task(_LOKY, str(item.work_id), item.fn, item.args, submitted)


def take_batch(batch: "Any") -> None:
    """Take the calls that a worker of joblib is about to make."""
    submitted = getattr(batch, _SUBMITTED, -1)
    batch.items = [(as_task(_JOBLIB, _next_number, call, submitted), *more) for call, *more in batch.items]


def _ray_task_id() -> str:
    return str(sys.modules["ray"]._private.worker.global_worker.current_task_id.hex())


class _RayCoroutines:
    """Stands for a method of an actor that is a coroutine function."""

    def __init__(self, name: str, function: "_Function") -> None:
        """Take the function. `name`: of its tasks."""
        self._name, self._function = name, function

    def __getattr__(self, name: str) -> "Any":
        """Return an attribute of the function itself."""
        return getattr(self._function, name)

    def __call__(self, *arguments: "Any", **named: "Any") -> "Any":
        """Return an awaitable that runs the coroutine as a task. Called by the task that awaits it, which has an id."""
        coroutine = self._function(*arguments, **named)
        try:
            return _core.task_steps("Ray", self._name, True, _RAY_LANE, [(_KEY, _ray_task_id())], coroutine)
        except Exception:  # of an unknown version
            return coroutine


class _RayFunctions(dict):  # type: ignore[type-arg]
    """The functions that a worker of Ray knows, by their ids. The worker asks once for each that it runs."""

    def __init__(self, known: "dict[Any, Any]", classes: "dict[Any, Any]") -> None:
        """Take the functions. `classes`: of actors, by the ids of their constructors."""
        super().__init__(known)
        self._classes = classes

    def _name(self, key: "Any", function: "_Function") -> str:
        """Return the name of a task. The constructor of a class that has none of its own is a function of Ray."""
        name = task_name(function)
        actor = self._classes.get(key)
        return name if actor is None or "." in name else f"{actor.__name__}.{name}"

    def _is_own(self, key: "Any", function: "_Function") -> bool:
        """Return whether the function is one of ours, such as a method of the actor on each host."""
        return _RAY_HOST in (getattr(one, "__module__", "") for one in (function, self._classes.get(key)))

    def __getitem__(self, key: "Any") -> "Any":
        """Return Ray's record of a function, with a task in the place of the function."""
        kept = super().__getitem__(key)
        try:
            function = getattr(kept.function, "method", kept.function)  # of an actor
            code = getattr(function, "__code__", None)
            if kept.function_name.startswith("__ray") or self._is_own(key, function):
                return kept
            name = self._name(key, function)
            if code is not None and code.co_flags & _COROUTINE:
                return kept._replace(function=_RayCoroutines(name, kept.function))
            return kept._replace(function=_core.task_call("Ray", name, _ray_task_id, kept.function))
        except Exception:  # of an unknown version
            return kept


def watch_ray_functions(manager: "Any") -> None:
    """Take the functions that a worker of Ray is going to run."""
    known = manager._function_execution_info  # a defaultdict, which is asked for known functions only
    if isinstance(known, _RayFunctions):
        return
    if isinstance(known, dict) and hasattr(manager._worker, "current_task_id"):
        classes = getattr(manager, "_loaded_actor_classes", {})
        manager._function_execution_info = _RayFunctions(known, classes)
