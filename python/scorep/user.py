"""User regions, parameters and the switch of all recording.

All functions may be called from any thread; without a measurement they do nothing.
Region names are ``str``; the region of ``name`` is called ``user:name``.
"""

from timeloom import _core
from timeloom._core import scorep_region as region


def region_begin(name, file_name=None, line_number=None):
    """Enter ``user:name``; without a file or a line both are those of the caller."""
    _core.scorep_begin("user", name, file_name, line_number)


def region_end(name):
    """Leave ``user:name``. One that was never begun is recorded as ``error_region``."""
    _core.scorep_end("user", name)


def instrument_function(fun, instrumenter_fun=region):
    """``fun`` as a region of its own, or under the ``enable`` or ``disable`` given."""
    return instrumenter_fun()(fun)


def instrument_module(module, instrumenter_fun=region):
    """Do that to every Python function in the namespace of ``module``."""
    function = type(instrument_module)
    for name, value in list(vars(module).items()):
        if isinstance(value, function):
            setattr(module, name, instrument_function(value, instrumenter_fun))


def rewind_begin(name, file_name=None, line_number=None):
    """Begin a part of the trace that ``rewind_end`` may discard."""
    _core.rewind_begin(name)


def rewind_end(name, value):
    """End it. With a true ``value`` the trace has no event of this thread since its begin."""
    _core.rewind_end(name, bool(value))


def enable_recording():
    """Record again what ``disable_recording`` has switched off."""
    _core.enable_recording()


def disable_recording():
    """Record nothing, on any thread, until ``enable_recording``."""
    _core.disable_recording()


def parameter_int(name, val):
    """Attach a signed 64-bit integer to the current region."""
    _core.parameter_int(name, val)


def parameter_uint(name, val):
    """Attach an unsigned 64-bit integer to the current region."""
    _core.parameter_uint(name, val)


def parameter_string(name, string):
    """Attach a text to the current region."""
    _core.parameter_string(name, string)


def force_finalize():
    """Write the results now; what happens later is not recorded."""
    _core.finish_run_now()


def reregister_exit_handler():
    """Write the results before the exit handlers that were registered up to now."""
    _core.finish_run_earlier()
