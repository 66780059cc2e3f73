"""Writes an OTF2 archive with a record of some kind, as another tool would: with the Python bindings of OTF2.

    /usr/bin/python3 records_archive.py DIRECTORY KIND

Each KIND is a function below, which is called between an enter and its leave. Times are microseconds.
"""

import sys

import otf2
from otf2.enums import (
    GroupType,
    IoAccessMode,
    IoCreationFlag,
    IoHandleFlag,
    IoParadigmClass,
    IoParadigmFlag,
    IoStatusFlag,
    Paradigm,
    Type,
)


def nothing(trace, writer, region):
    pass


def flush(trace, writer, region):
    writer.buffer_flush(3, 5)


def attribute(trace, writer, region):
    colour = trace.definitions.attribute("colour", "of the call", Type.UINT64)
    writer.enter(3, region, attributes={colour: 7})
    writer.leave(4, region)


def fork(trace, writer, region):
    writer.thread_fork(3, Paradigm.OPENMP, 4)
    writer.thread_join(4, Paradigm.OPENMP)


def window(trace, writer, region):
    group = trace.definitions.group("", group_type=GroupType.COMM_SELF, paradigm=Paradigm.MPI, members=[])
    writer.rma_win_create(3, trace.definitions.rma_win("window", trace.definitions.comm("self", group=group)))


def io(trace, writer, region):
    definitions = trace.definitions
    posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS)
    file = definitions.io_regular_file("/data", definitions.system_tree_node("node18"))
    handle = definitions.io_handle("", file, posix, IoHandleFlag.NONE)
    writer.io_create_handle(3, handle, IoAccessMode.READ_ONLY, IoCreationFlag.NONE, IoStatusFlag.NONE)


def sample(trace, writer, region):
    definitions = trace.definitions
    context = definitions.calling_context(region, definitions.source_code_location("/src/a.c", 3), None)
    writer.calling_context_sample(3, context, 1, definitions.interrupt_generator("timer", period=10))


def definitions(trace, writer, region):
    """Definitions that no event needs."""
    definitions = trace.definitions
    definitions.region("described", description="a long text", begin_line_number=3)
    definitions.source_code_location("/src/a.c", 3)
    definitions.callpath(None, region)
    definitions.attribute("colour", "of nothing", Type.STRING)


def write_archive(directory, kind):
    with otf2.writer.open(directory, timer_resolution=1_000_000) as trace:
        node = trace.definitions.system_tree_node("node17")
        process = trace.definitions.location_group("Process", system_tree_parent=node)
        writer = trace.event_writer("Master thread", group=process)
        region = trace.definitions.region("work", source_file="/src/work.c")
        for begin in range(10, 1000, 10):
            writer.enter(begin, region)
            writer.leave(begin + 5, region)
        writer.enter(2000, region)
        kind(trace, Shifted(writer), region)
        writer.leave(3000, region)


class Shifted:
    """Adds 2000 to all times."""

    def __init__(self, writer):
        self.writer = writer

    def __getattr__(self, name):
        return lambda time, *words, **named: getattr(self.writer, name)(time + 2000, *words, **named)


if __name__ == "__main__":
    write_archive(sys.argv[1], globals()[sys.argv[2]])
