"""The version of the bindings with this interface."""

__version__ = "4.5.1"
