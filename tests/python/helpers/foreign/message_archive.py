"""Writes an OTF2 archive with messages as another tool would: with the Python bindings of OTF2.

echo '[[[TIME, KIND, ...], ...], ...]' | /usr/bin/python3 message_archive.py DIRECTORY

There is a list of events for each process; all processes are in one communicator. Times are microseconds. The kinds:
["enter", REGION], ["leave"], ["send" | "recv", PEER, TAG, BYTES], ["isend" | "irecv", PEER, TAG, BYTES, REQUEST],
["request", REQUEST] of a receive, ["collective", NAME, ROOT or null, SENT, RECEIVED].
"""

import json
import sys

import otf2
from otf2.enums import CollectiveOp, GroupType, Paradigm

NO_ROOT = 2**32 - 1


class Process:
    def __init__(self, trace, rank, regions, node):
        group = trace.definitions.location_group(f"MPI Rank {rank}", system_tree_parent=node)
        self.location = trace.definitions.location("Master thread", group=group)
        self.writer = trace.event_writer_from_location(self.location)
        self.trace, self.regions, self.open, self.world = trace, regions, [], None

    def add(self, time, kind, *words):
        getattr(self, kind)(time, *words)

    def enter(self, time, name):
        if name not in self.regions:
            self.regions[name] = self.trace.definitions.region(name, source_file="mpi")
        self.open.append(self.regions[name])
        self.writer.enter(time, self.open[-1])

    def leave(self, time):
        self.writer.leave(time, self.open.pop())

    def send(self, time, peer, tag, size):
        self.writer.mpi_send(time, peer, self.world, tag, size)

    def recv(self, time, peer, tag, size):
        self.writer.mpi_recv(time, peer, self.world, tag, size)

    def isend(self, time, peer, tag, size, request):
        self.writer.mpi_isend(time, peer, self.world, tag, size, request)

    def irecv(self, time, peer, tag, size, request):
        self.writer.mpi_irecv(time, peer, self.world, tag, size, request)

    def request(self, time, request):
        self.writer.mpi_irecv_request(time, request)

    def collective(self, time, name, root, sent, received):
        self.writer.mpi_collective_end(time, getattr(CollectiveOp, name), self.world, NO_ROOT if root is None else root, sent,
                                       received)  # fmt: skip


def write_archive(directory, processes):
    with otf2.writer.open(directory, timer_resolution=1_000_000) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node17")
        regions = {}
        ranks = [Process(trace, rank, regions, node) for rank in range(len(processes))]
        places = [rank.location for rank in ranks]
        definitions.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=places)
        members = definitions.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=places)
        world = definitions.comm("MPI_COMM_WORLD", group=members)
        for rank, events in zip(ranks, processes, strict=True):
            rank.world = world
            for event in events:
                rank.add(*event)


if __name__ == "__main__":
    write_archive(sys.argv[1], json.load(sys.stdin))
