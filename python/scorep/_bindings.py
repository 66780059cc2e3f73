"""The names of the bindings' extension module."""

import os

from timeloom import _core
from timeloom._core import (
    disable_recording,
    enable_recording,
    parameter_int,
    parameter_string,
    parameter_uint,
    rewind_begin as _rewind_begin,
    rewind_end,
    scorep_try_begin as try_region_begin,
    scorep_try_end as try_region_end,
)
from scorep.user import force_finalize, reregister_exit_handler

__all__ = [
    "CInstrumenter",
    "abspath",
    "disable_recording",
    "enable_recording",
    "force_finalize",
    "get_experiment_dir_name",
    "parameter_int",
    "parameter_string",
    "parameter_uint",
    "region_begin",
    "region_end",
    "reregister_exit_handler",
    "rewind_begin",
    "rewind_end",
    "try_region_begin",
    "try_region_end",
]


def region_begin(module, function, file_name, line_number, code_object=None):
    _core.scorep_begin(module, function, file_name, line_number)


def region_end(module, function, code_object=None):
    _core.scorep_end(module, function)


def rewind_begin(name, file_name=None, line_number=None):
    _rewind_begin(name)


def get_experiment_dir_name():
    """The directory that is being written; empty without a measurement."""
    measurement = _core.so_far()
    return "" if measurement is None else measurement["run"]


def abspath(path):
    return os.path.abspath(path)


class CInstrumenter:
    """Switches the automatic instrumentation of the measurement."""

    def __init__(self, interface="Profile"):
        if interface not in ("Profile", "Trace"):
            raise TypeError(f"interface must be Trace or Profile, not {interface}")
        self.interface = interface

    def _enable_instrumenter(self):
        _core.resume()

    def _disable_instrumenter(self):
        _core.pause()

    def __call__(self, frame, event, arg):
        return self
