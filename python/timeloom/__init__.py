"""Timeloom: where a Python program spends its time.

A program is measured with ``timeloom run script.py`` or ``python -m timeloom
script.py``; a block of a program that was started plainly, with
:class:`Measurement`. The functions here mark and steer what is recorded. Without
a measurement each of them does nothing.

All of them may be called from any thread. Names are ``str``.

(PYTEST_DONT_REWRITE: it is imported before a pytest that runs under Timeloom,
which would warn of that, as a plugin for it is in the package.)
"""

try:
    from timeloom._core import (
        Error,
        counter,
        disable_recording,
        enable_recording,
        marker,
        parameter_float,
        parameter_int,
        parameter_string,
        parameter_uint,
        region,
        region_begin,
        region_end,
    )
except ImportError as error:
    from timeloom._unmeasured import take_over

    take_over(error)

from timeloom._api import pause, resume, start, stop
from timeloom._measurement import Measurement

__version__ = "0.1.0"

__all__ = [
    "Error",
    "Measurement",
    "counter",
    "disable_recording",
    "enable_recording",
    "marker",
    "parameter_float",
    "parameter_int",
    "parameter_string",
    "parameter_uint",
    "pause",
    "region",
    "region_begin",
    "region_end",
    "resume",
    "start",
    "stop",
]
