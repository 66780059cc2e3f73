"""Says what MPI did in an OTF2 archive as another tool reads it: with the Python bindings of OTF2.

    /usr/bin/python3 mpi_reader.py ANCHOR

Prints JSON: the communicators with the ranks of MPI_COMM_WORLD in them, and of each process, by its rank there, its
messages as [KIND, NANOSECONDS, COMMUNICATOR, PEER (in the world), TAG, BYTES], its collective operations as [NAME,
COMMUNICATOR, ROOT, SENT, RECEIVED], the numbers of events of requests, communicators and files, the requests of
messages as [KIND, NUMBER], the names of the regions of MPI that it has entered, its calls of MPI as [NAME, WORK BEFORE, BEGIN, END], times of its first and last event,
and its work after the last call. Work is the time in regions outside MPI.
"""

import collections
import json
import sys
from typing import Any

import otf2
from otf2.enums import Paradigm
from otf2.events import Enter, Leave

MESSAGES = {"MpiSend": "receiver", "MpiIsend": "receiver", "MpiRecv": "sender", "MpiIrecv": "sender"}
COUNTED = ("MpiIsendComplete", "MpiIrecvRequest", "MpiRequestCancelled", "NonBlockingCollectiveRequest", "CommCreate",
           "CommDestroy", "MpiCollectiveBegin", "IoCreateHandle", "IoDestroyHandle", "IoOperationBegin",
           "IoOperationComplete")


class Ranks:
    def __init__(self, definitions):
        of_mpi = [one for one in definitions.comms if one.group.paradigm == Paradigm.MPI]
        world = next(one for one in of_mpi if one.name == "MPI_COMM_WORLD")
        self.by_location = {place._ref: rank for rank, place in enumerate(self.members(world))}
        self.communicators = {one._ref: one for one in of_mpi}

    @staticmethod
    def members(communicator):
        return list(communicator.group.members)

    def of(self, communicator, rank):
        members = self.members(communicator)
        return self.by_location[members[rank]._ref] if members else None


def new_process() -> dict[str, Any]:
    return {"messages": [], "requests": [], "collectives": [], "counts": collections.Counter(), "regions": collections.Counter(),
            "calls": [], "first": None, "last": None, "work_after": 0}


class Calls:
    """Follows the regions of one process."""

    def __init__(self, of):
        self.of, self.open, self.since = of, [], 0

    def add(self, event, time):
        of = self.of
        of["first"], of["last"] = time if of["first"] is None else of["first"], time
        if not isinstance(event, (Enter, Leave)):
            return
        in_mpi = any(self.open)
        if self.open and not in_mpi:
            of["work_after"] += time - self.since
        self.since = time
        if isinstance(event, Leave):
            self.open.pop()
            if in_mpi and not any(self.open):
                of["calls"][-1].append(time)
            return
        self.open.append(event.region.paradigm == Paradigm.MPI)
        if self.open[-1] and not in_mpi:
            of["calls"].append([event.region.name, of["work_after"], time])
            of["work_after"] = 0


def described(event, name, ranks):
    if name in MESSAGES:
        peer = getattr(event, MESSAGES[name])
        return [name, event.communicator._ref, ranks.of(event.communicator, peer), event.msg_tag, event.msg_length]
    if name in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
        operation = str(event.collective_op).rpartition(".")[2]
        return [operation, event.communicator._ref, event.root, event.size_sent, event.size_received]
    return None


def main():
    with otf2.reader.open(sys.argv[1]) as trace:
        ranks = Ranks(trace.definitions)
        process = collections.defaultdict(new_process)
        clock = trace.definitions.clock_properties
        names = {one._ref: one.name for one in trace.definitions.locations}
        follow: dict[Any, Calls] = {}
        groups = {}
        for location, event in trace.events:
            name = type(event).__name__
            rank = ranks.by_location.get(location._ref)
            of = process[rank]
            groups[rank] = location.group.name
            time = (event.time - clock.global_offset) * 10**9 // clock.timer_resolution
            follow.setdefault(rank, Calls(of)).add(event, time)
            if name.startswith("Mpi") and hasattr(event, "request_id"):
                of["requests"].append([name, event.request_id])
            if name in MESSAGES:
                kind, *rest = described(event, name, ranks)
                of["messages"].append([kind, time, *rest])
            elif words := described(event, name, ranks):
                of["collectives"].append(words)
            elif name in COUNTED:
                of["counts"][name] += 1
            elif isinstance(event, Enter) and event.region.paradigm == Paradigm.MPI:
                of["regions"][event.region.name] += 1
        communicators = {
            ref: {
                "name": one.name,
                "parent": one.parent._ref if one.parent is not None else None,
                "members": [ranks.by_location.get(place._ref) for place in ranks.members(one)],
            }
            for ref, one in ranks.communicators.items()
        }
    json.dump({"communicators": communicators, "processes": process, "groups": groups, "locations": names}, sys.stdout)


if __name__ == "__main__":
    main()
