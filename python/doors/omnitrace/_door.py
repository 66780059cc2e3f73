"""Refuses the import with one line if Timeloom was built without this door."""

import os
import sys

from timeloom import _core

if "omnitrace" not in _core.doors:
    _LEFT_OUT = "this Timeloom was built without its door 'omnitrace' [TL123]"
    if os.path.basename(sys.argv[0]).startswith(("omnitrace-python", "rocprof-sys-python")):
        sys.exit(f"omnitrace: {_LEFT_OUT}")
    raise ImportError(_LEFT_OUT, name="omnitrace")
