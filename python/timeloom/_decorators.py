"""The decorator ``timeloom.region``.

A plain function is wrapped in C++ and gets no additional frame. Coroutine and generator functions keep their kind; the
wrapper here passes each of their objects to a C++ object that runs every step inside the region, so that the region
covers the execution and not the creation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from timeloom import _core

_Steps = Callable[[Any], Any]


def _innermost(function: Any) -> Any:
    """Return the function below wrappers and partial objects."""
    while True:
        inner = inspect.unwrap(function)
        if isinstance(inner, functools.partial):
            inner = inner.func
        if inner is function:
            return inner
        function = inner


def _name_of(function: Callable[..., Any]) -> str:
    if isinstance(function, functools.partial):
        function = _innermost(function)
    # A callable object is named by its class, because its text may contain its address.
    named = function if getattr(function, "__qualname__", None) else type(function)
    module = getattr(named, "__module__", None)
    return f"{module}.{named.__qualname__}" if module else named.__qualname__


def decorate(name: str | None, function: Callable[..., Any], itself: bool = False) -> Callable[..., Any]:
    """Return `function` as a region; without a name, the region has the function's name.

    With `itself`, the region is the automatic instrumentation's region of the function, and is recorded once, whether
    the instrumentation is on or off.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(name, function.__func__, itself))
    if not callable(function):
        raise TypeError(f"a region decorates functions, not {type(function).__name__} objects")
    if itself and inspect.isfunction(_innermost(function)):
        region = _innermost(function)
    else:
        region = name if name is not None else _name_of(function)

    def in_region(step: Any) -> Any:
        return _core.region_steps(region, function, step)

    return wrap(function, in_region, _core.region_function(region, function))


def wrap(function: Callable[..., Any], in_steps: _Steps, called: Callable[..., Any]) -> Callable[..., Any]:
    """Return the replacement of `function`: `called`, except for coroutine and generator functions.

    These keep their kind. The objects that they create are passed to ``in_steps``, which returns an object that runs
    every step.
    """
    with _core.unrecorded():
        if inspect.iscoroutinefunction(function):
            called = _coroutine(function, in_steps)
        elif inspect.isasyncgenfunction(function):
            called = _async_generator(function, in_steps)
        elif inspect.isgeneratorfunction(function):
            called = _generator(function, in_steps)
        return functools.wraps(function)(called)


def _coroutine(function: Callable[..., Any], in_steps: _Steps) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        return await in_steps(function(*args, **kwargs))

    return run


def _generator(function: Callable[..., Any], in_steps: _Steps) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return (yield from in_steps(function(*args, **kwargs)))

    return run


def _async_generator(function: Callable[..., Any], in_steps: _Steps) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        inner = function(*args, **kwargs)
        step = inner.__anext__()
        while True:
            try:
                value = await in_steps(step)
            except StopAsyncIteration:
                return
            try:
                sent = yield value
            except GeneratorExit:
                await in_steps(inner.aclose())
                raise
            except BaseException as error:  # all exceptions belong to the inner one
                step = inner.athrow(error)
            else:
                step = inner.asend(sent)

    return run
