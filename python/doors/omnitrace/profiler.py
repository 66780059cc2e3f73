"""The profiler: as a decorator, for a ``with`` block, or by start() and stop().

Profiling is on for all threads of the process while at least one profiler is started. It ends with the function or
block, even after an exception; coroutines and generators are profiled while they run.
"""

from _thread import RLock
from posix import register_at_fork

from omnitrace import _config, _run
from omnitrace._config import Config
from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType, TracebackType
    from typing import Any, Self, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])
    _T = TypeVar("_T")

__all__ = [
    "Config",
    "FakeProfiler",
    "Profiler",
    "config",
    "noprofile",
    "profile",
    "profiler_finalize",
    "profiler_function",
    "profiler_init",
]

config = Config

_lock = RLock()
_started = 0  # active profilers, including the launcher
_stopped = False  # by omnitrace.user.stop_trace()
_launched = False  # not yet queried
_condition: "Callable[[], object] | None" = None


def _make_lock() -> None:
    global _lock
    _lock = RLock()  # another thread may have held it


register_at_fork(after_in_child=_make_lock)


def _switch(started: int, stopped: bool) -> None:
    """Store the new state, and switch profiling on or off accordingly."""
    global _started, _stopped
    before = _started > 0 and not _stopped
    _started, _stopped = started, stopped
    after = started > 0 and not stopped
    if after == before:
        return
    if not after:
        _core.pause()
    elif _run.ensure():
        _run.apply()
        _core.resume()


def trace(on: bool) -> None:
    """For omnitrace.user: started profilers profile only while this is on."""
    with _lock:
        _look_at_launch()
        _switch(_started, not on)


def take_launch(on: bool) -> None:
    """Note that the launcher has begun a run; ``on``: it profiles the whole program."""
    global _started, _launched
    _started = int(on)
    _launched = on
    _run.take(_config.settings())


def _look_at_launch() -> None:
    """Find out whether the program was started with its trace stopped (OMNITRACE_INIT_ENABLED=OFF)."""
    global _launched, _stopped
    if _launched:
        _launched = False
        _stopped = _core.paused()


class Profiler:
    """Profiles the code that runs while it is started. ``debug`` is accepted and has no effect."""

    def __init__(self, *, debug: bool = False) -> None:
        self.debug = debug
        self._count = 0
        self._holds = False

    @staticmethod
    def condition(functor: "Callable[[], object]") -> None:
        """Set the function that every start calls: profiling begins where it returns a true value."""
        global _condition
        _condition = functor

    @staticmethod
    def is_enabled() -> bool:
        """Return the result of condition()'s function; True without one, False if it raises an exception."""
        if _condition is None:
            return True
        try:
            with _core.unrecorded():
                return bool(_condition())
        except Exception:
            return False

    def configure(self) -> None:
        """Apply the configuration now; each start does."""
        if _core.running():
            _run.apply()

    def update(self) -> None:
        """Do nothing: each start evaluates the condition."""

    def start(self) -> int:
        """Begin to profile; return the number of starts not yet undone."""
        with _lock:
            _look_at_launch()
            self._count += 1
            if self._count == 1 and self.is_enabled():
                self._holds = True
                _switch(_started + 1, _stopped)
            return self._count

    def stop(self) -> int:
        """Undo one start; return the number left. Profiling ends with the last one."""
        with _lock:
            self._count = max(self._count - 1, 0)
            if self._count == 0 and self._holds:
                self._holds = False
                _switch(_started - 1, _stopped)
            return self._count

    def __call__(self, func: "_F") -> "_F":
        """Return the function decorated."""
        decorated: _F = _decorated(self, func)
        return decorated

    def __enter__(self) -> None:
        self.start()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: "TracebackType | None" = None,
    ) -> None:
        self.stop()

    def run(self, cmd: "str | Sequence[str]") -> "Self":
        """Execute ``cmd``, or its words, in ``__main__``."""
        import __main__

        names = vars(__main__)
        return self.runctx(cmd if isinstance(cmd, str) else " ".join(cmd), names, names)

    def runctx(
        self, cmd: "str | bytes | CodeType", globals: "dict[str, Any]", locals: "dict[str, Any] | None" = None
    ) -> "Self":
        """Execute ``cmd`` with these names."""
        with self:
            exec(cmd, globals, globals if locals is None else locals)
        return self

    def runcall(self, func: "Callable[..., _T]", *args: "Any", **kw: "Any") -> "_T":
        """Call the function and return its result."""
        with self:
            return func(*args, **kw)


class FakeProfiler:
    """Leaves out the calling thread's calls in the block or the decorated function; user regions are recorded."""

    def __init__(self, *, debug: bool = False) -> None:
        self.debug = debug
        self._block = _core.hidden()

    condition = staticmethod(Profiler.condition)

    @staticmethod
    def is_enabled() -> bool:
        """Return False."""
        return False

    def __call__(self, func: "_F") -> "_F":
        """Return the function decorated."""
        decorated: _F = _decorated(self, func)
        return decorated

    def __enter__(self) -> None:
        self._block.__enter__()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: "TracebackType | None" = None,
    ) -> None:
        self._block.__exit__(exc_type, exc_value, traceback)


profile = Profiler
noprofile = FakeProfiler


def _decorated(block: "Profiler | FakeProfiler", func: "Callable[..., Any]") -> "Any":
    """Return ``func`` in the block. Each step of a coroutine or generator runs in its own block."""
    with _core.unrecorded():
        from timeloom import _decorators

    def in_block(step: "Any") -> "Any":
        return _core.block_steps(block, step)

    def inner(*args: "Any", **kwds: "Any") -> "Any":
        with block:
            return func(*args, **kwds)

    return _decorators.wrap(func, in_block, inner)


_by_hand = Profiler()


def profiler_init() -> None:
    """Begin to profile, as ``Profiler().start()``."""
    _by_hand.start()


def profiler_finalize() -> None:
    """End the profiling that profiler_init() has begun."""
    _by_hand.stop()


def profiler_function(frame: "FrameType", event: str, arg: object) -> None:
    """For ``sys.setprofile()``, where it does nothing: calls are observed without it."""
