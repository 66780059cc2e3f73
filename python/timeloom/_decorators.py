"""The decorator ``timeloom.region``.

A plain function is wrapped in C++ and gets no frame of its own. Coroutines and
generators stay what they are; the wrapper here hands every step of them to a
C++ object that runs it inside the region, so that the region covers the whole
run of the thing and not its creation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from timeloom import _core

_Steps = Callable[[Any], Any]


def _innermost(function: Any) -> Any:
    """The function that is called in the end, below wrappers and partial objects."""
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
    # An object that can be called is named by its class: its text may have its address in it.
    named = function if getattr(function, "__qualname__", None) else type(function)
    module = getattr(named, "__module__", None)
    return f"{module}.{named.__qualname__}" if module else named.__qualname__


def decorate(name: str | None, function: Callable[..., Any], itself: bool = False) -> Callable[..., Any]:
    """Return `function` as a region; without a name it is named like the function.

    With `itself`, the region is the one by which the automatic instrumentation
    knows the function, and is recorded once, whether that is on or off.
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
    """Return what takes the place of `function`: `called`, but for coroutine and generator functions.

    These stay what they are, and what they make is handed to ``in_steps``, which returns an
    object that runs every step of it.
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
            except BaseException as error:  # all of them belong to the inner one
                step = inner.athrow(error)
            else:
                step = inner.asend(sent)

    return run
