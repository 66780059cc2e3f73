"""Recorded functions of compiled code, by the symbol tables of the objects."""

import functools

from native_programs import output
from spool_reader import spools_of, stream


@functools.cache
def symbols(path):
    """The names of the functions of an object, by their addresses."""
    lines = [line.split(maxsplit=2) for line in output("nm", "-C", "--defined-only", path).splitlines()]
    return {int(address, 16): name for address, kind, name in lines if kind in "tTW"}


def named(spool):
    """The spool, whose regions have the names of the symbols at their addresses, without namespace and arguments."""
    for region, (key, address, construct) in spool.addresses.items():
        assert construct == ""
        name = symbols(spool.objects[key][0])[address].partition("(")[0]
        assert spool.regions[region]["paradigm"] == 2
        spool.regions[region]["name"] = name.rpartition("::")[2]
    return spool


def recorded(run, location=0):
    """The calls of a thread of the only process, but for allocations."""
    (spool,) = spools_of(run)
    return stream(named(spool), location, lambda name: name != "malloc")
