"""Switches the automatic instrumentation, for all threads of the process.

All functions may be called from any thread and do nothing without a measurement. User regions, parameters and rewinds
are recorded whether the instrumentation is on or off.
"""

from timeloom import _core
from timeloom._api import Block, close_block, open_block

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, TracebackType
    from typing import Any, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])

_TYPES = ("profile", "trace", "cProfile", "cTrace", "dummy")

global_instrumenter: "Instrumenter | None" = None


class Instrumenter:
    """The automatic instrumentation of this process; :func:`get_instrumenter` creates the only object."""

    def __init__(self, enable_instrumenter: bool = True) -> None:
        self._enabled = enable_instrumenter

    def register(self) -> None:
        """Switch the instrumentation on."""
        _core.resume()

    def unregister(self) -> None:
        """Switch the instrumentation off."""
        _core.pause()

    def get_registered(self) -> bool | None:
        """Return True if calls are observed; None without an instrumenter that could observe them."""
        measurement = _core.so_far()
        if measurement is None or measurement["instrumenter"] == "dummy":
            return None
        return _core.instrumenting()

    def run(
        self,
        cmd: "str | bytes | CodeType",
        globals: "dict[str, Any] | None" = None,
        locals: "dict[str, Any] | None" = None,
    ) -> None:
        """Execute ``cmd`` with the instrumentation on, if it was enabled; afterwards it is off."""
        globals = {} if globals is None else globals
        if self._enabled:
            self.register()
        try:
            exec(cmd, globals, globals if locals is None else locals)
        finally:
            self.unregister()

    def region_begin(
        self,
        module_name: str,
        function_name: str,
        file_name: str,
        line_number: int,
        code_object: "CodeType | None" = None,
    ) -> None:
        """Enter the region ``module_name:function_name``; the code object is not used."""
        _core.scorep_begin(module_name, function_name, file_name, line_number)

    def region_end(self, module_name: str, function_name: str, code_object: "CodeType | None" = None) -> None:
        """Leave that region; one that was never entered is recorded as ``error_region``."""
        _core.scorep_end(module_name, function_name)

    def try_region_begin(self, code_object: "CodeType") -> bool:
        """Enter the region of ``code_object``; return False if the instrumentation does not know it."""
        return _core.scorep_try_begin(code_object)

    def try_region_end(self, code_object: "CodeType") -> bool:
        """Leave the region of ``code_object``; return False if the instrumentation does not know it."""
        return _core.scorep_try_end(code_object)

    def rewind_begin(self, name: str, file_name: str | None = None, line_number: int | None = None) -> None:
        """As :func:`scorep.user.rewind_begin`."""
        _core.rewind_begin(name)

    def rewind_end(self, name: str, value: object) -> None:
        """As :func:`scorep.user.rewind_end`."""
        _core.rewind_end(name, bool(value))

    def user_enable_recording(self) -> None:
        """As :func:`scorep.user.enable_recording`."""
        _core.enable_recording()

    def user_disable_recording(self) -> None:
        """As :func:`scorep.user.disable_recording`."""
        _core.disable_recording()

    def user_parameter_int(self, name: str, val: int) -> None:
        """As :func:`scorep.user.parameter_int`."""
        _core.parameter_int(name, val)

    def user_parameter_uint(self, name: str, val: int) -> None:
        """As :func:`scorep.user.parameter_uint`."""
        _core.parameter_uint(name, val)

    def user_parameter_string(self, name: str, string: str) -> None:
        """As :func:`scorep.user.parameter_string`."""
        _core.parameter_string(name, string)

    def force_finalize(self) -> None:
        """As :func:`scorep.user.force_finalize`."""
        _core.finish_run_now()

    def reregister_exit_handler(self) -> None:
        """As :func:`scorep.user.reregister_exit_handler`."""
        _core.finish_run_earlier()


def has_c_instrumenter() -> bool:
    """Return True: the instrumenters are written in C++."""
    return True


def get_instrumenter(enable_instrumenter: bool = False, instrumenter_type: str = "dummy") -> Instrumenter:
    """Return the instrumenter of this process; the first call creates it with its arguments.

    With ``enable_instrumenter``, :meth:`Instrumenter.run` switches the instrumentation on. The type of a running
    measurement does not change. Raises RuntimeError if the first call names an unknown type.
    """
    global global_instrumenter
    if global_instrumenter is None:
        if instrumenter_type not in _TYPES:
            raise RuntimeError(f'instrumenter_type "{instrumenter_type}" unkown')
        global_instrumenter = Instrumenter(enable_instrumenter)
    return global_instrumenter


def register() -> None:
    """Switch the automatic instrumentation on."""
    get_instrumenter().register()


def unregister() -> None:
    """Switch the automatic instrumentation off. User regions are still recorded."""
    get_instrumenter().unregister()


class _Switch:
    """A state of the instrumentation, for a ``with`` block or as a decorator.

    Acts only if it changes the state; then its region, if it has a name, is
    ``user_instrumenter:name``.
    """

    _on: bool

    def __init__(self, region_name: str = "") -> None:
        self.region_name = region_name
        self._blocks: list[tuple[Block, bool]] = []  # open ones, innermost last; True: with a region

    def __call__(self, func: "_F") -> "_F":
        decorated: _F = _decorated(type(self), self.region_name, func)
        return decorated

    def __enter__(self) -> None:
        before = bool(get_instrumenter().get_registered())
        changes = self._on != before
        self._blocks.append((open_block(self._on, before), changes))
        if not changes:
            return
        # The region is recorded on the side where nothing is observed.
        if not self._on:
            unregister()
        if self.region_name:
            _core.scorep_begin("user_instrumenter", self.region_name)
        if self._on:
            register()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: "TracebackType | None" = None,
    ) -> None:
        block, has_region = self._blocks.pop()
        state = close_block(block)
        restores = state is not None and state != self._on
        if restores and self._on:
            unregister()
        if has_region and self.region_name:
            _core.scorep_end("user_instrumenter", self.region_name)
        if restores and not self._on:
            register()


class enable(_Switch):
    """The instrumentation is on in the block or the decorated function, also under ``--noinstrumenter``."""

    _on = True


class disable(_Switch):
    """The instrumentation is off in the block or the decorated function."""

    _on = False


def _decorated(switch: "type[_Switch]", name: str, func: "Callable[..., Any]") -> "Any":
    """Return ``func`` under ``enable`` or ``disable``.

    Each step of a coroutine or generator is a separate block: other code runs while it waits, and between the values
    that it yields.
    """
    with _core.unrecorded():
        from timeloom import _decorators

    def in_block(step: "Any") -> "Any":
        return _core.block_steps(switch(name), step)

    def inner(*args: "Any", **kwds: "Any") -> "Any":
        with switch(name):
            return func(*args, **kwds)

    return _decorators.wrap(func, in_block, inner)
