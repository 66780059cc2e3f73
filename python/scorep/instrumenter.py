"""Switching the automatic instrumentation, for all threads of the process."""

from timeloom import _core

_TYPES = ("profile", "trace", "cProfile", "cTrace", "dummy")

global_instrumenter = None


class Instrumenter:
    """What :func:`get_instrumenter` returns: the instrumentation of this process."""

    def __init__(self, enabled):
        self._enabled = enabled

    def register(self):
        _core.resume()

    def unregister(self):
        _core.pause()

    def get_registered(self):
        """Whether calls are observed; None where no instrumenter could do that."""
        measurement = _core.so_far()
        if measurement is None or measurement["instrumenter"] == "dummy":
            return None
        return _core.instrumenting()

    def run(self, cmd, globals=None, locals=None):
        """Execute ``cmd`` with the instrumentation on, if it is enabled; then it is off."""
        globals = {} if globals is None else globals
        if self._enabled:
            self.register()
        try:
            exec(cmd, globals, globals if locals is None else locals)
        finally:
            self.unregister()

    def region_begin(self, module_name, function_name, file_name, line_number, code_object=None):
        _core.scorep_begin(module_name, function_name, file_name, line_number)

    def region_end(self, module_name, function_name, code_object=None):
        _core.scorep_end(module_name, function_name)

    def try_region_begin(self, code_object):
        """Enter the region by which the instrumentation knows ``code_object``; False: none."""
        return _core.scorep_try_begin(code_object)

    def try_region_end(self, code_object):
        return _core.scorep_try_end(code_object)

    def rewind_begin(self, name, file_name=None, line_number=None):
        _core.rewind_begin(name)

    def rewind_end(self, name, value):
        _core.rewind_end(name, bool(value))

    def user_enable_recording(self):
        _core.enable_recording()

    def user_disable_recording(self):
        _core.disable_recording()

    def user_parameter_int(self, name, val):
        _core.parameter_int(name, val)

    def user_parameter_uint(self, name, val):
        _core.parameter_uint(name, val)

    def user_parameter_string(self, name, string):
        _core.parameter_string(name, string)

    def force_finalize(self):
        _core.finish_run_now()

    def reregister_exit_handler(self):
        _core.finish_run_earlier()


def has_c_instrumenter():
    """Whether there are instrumenters in C; there are."""
    return True


def get_instrumenter(enable_instrumenter=False, instrumenter_type="dummy"):
    """The instrumenter of this process. The first call decides; a measurement has decided before."""
    global global_instrumenter
    if global_instrumenter is None:
        if instrumenter_type not in _TYPES:
            raise RuntimeError(f'instrumenter_type "{instrumenter_type}" unkown')
        global_instrumenter = Instrumenter(enable_instrumenter)
    return global_instrumenter


def register():
    """Switch the automatic instrumentation on."""
    get_instrumenter().register()


def unregister():
    """Switch it off. User regions are recorded all the same."""
    get_instrumenter().unregister()


class _Switch:
    """A state of the instrumentation, for a ``with`` block or as a decorator.

    Acts only if it changes the state; then its region, if it has a name, is
    ``user_instrumenter:name``.
    """

    def __init__(self, region_name=""):
        self.region_name = region_name
        self._changed = []  # of the blocks that are open, innermost last

    def __call__(self, func):
        return _decorated(type(self), self.region_name, func)

    def _begin_region(self):
        if self.region_name:
            _core.scorep_begin("user_instrumenter", self.region_name)

    def _end_region(self):
        if self.region_name:
            _core.scorep_end("user_instrumenter", self.region_name)


class enable(_Switch):
    """Record calls in here, also under ``--noinstrumenter``."""

    def __enter__(self):
        changed = not get_instrumenter().get_registered()
        self._changed.append(changed)
        if changed:
            self._begin_region()
            register()

    def __exit__(self, exc_type=None, exc_value=None, traceback=None):
        if self._changed.pop():
            unregister()
            self._end_region()


class disable(_Switch):
    """Record no calls in here."""

    def __enter__(self):
        changed = bool(get_instrumenter().get_registered())
        self._changed.append(changed)
        if changed:
            unregister()
            self._begin_region()

    def __exit__(self, exc_type=None, exc_value=None, traceback=None):
        if self._changed.pop():
            self._end_region()
            register()


def _decorated(switch, name, func):
    """``func`` under ``switch``; the whole run of a coroutine or generator, not its creation."""
    import functools
    import inspect

    if inspect.iscoroutinefunction(func):

        @functools.wraps(func)
        async def inner(*args, **kwds):
            with switch(name):
                return await func(*args, **kwds)
    elif inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def inner(*args, **kwds):
            with switch(name):
                return (yield from func(*args, **kwds))
    else:

        @functools.wraps(func)
        def inner(*args, **kwds):
            with switch(name):
                return func(*args, **kwds)

    return inner
