"""The package :mod:`omnitrace` under the name of its successor, ROCm Systems Profiler.

(PYTEST_DONT_REWRITE: see the package timeloom.)
"""

import sys

from rocprofsys import _door as _door  # isort: skip
from omnitrace import *  # noqa: F403
from omnitrace import __all__ as __all__
from omnitrace import profiler, user

sys.modules["rocprofsys.profiler"] = profiler
sys.modules["rocprofsys.user"] = user
