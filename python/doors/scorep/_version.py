"""The version of the bindings whose interface this is."""

__version__ = "4.5.1"
