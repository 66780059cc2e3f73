"""The classes of instrumenters under their names in the bindings; all are the class in :mod:`scorep.instrumenter`."""
