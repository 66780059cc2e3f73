"""Refuses the import where Timeloom was built without this door."""

from timeloom import _core

if "omnitrace" not in _core.doors:
    raise ImportError("this Timeloom was built without its door 'omnitrace'", name="omnitrace")
