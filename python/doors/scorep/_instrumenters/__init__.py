"""The classes of instrumenters by their names in the bindings; all are the one of :mod:`scorep.instrumenter`."""
