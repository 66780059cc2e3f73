"""Prints the messages between processes of several groups in an OTF2 archive, with the Python bindings of OTF2.

/usr/bin/python3 mpi_groups_reader.py ANCHOR

Prints JSON: the names of the processes (location groups), the communicators with the names of the members of their
group, or of both, the messages as [KIND, NANOSECONDS, COMMUNICATOR, OWN PROCESS, PROCESS OF THE PEER, TAG, BYTES], and
the collective operations as [NAME, COMMUNICATOR, OWN PROCESS, ROOT, SENT, RECEIVED].
"""

import json
import sys

import otf2
from otf2.enums import Paradigm

MESSAGES = {"MpiSend": "receiver", "MpiIsend": "receiver", "MpiRecv": "sender", "MpiIrecv": "sender"}
COLLECTIVES = ("MpiCollectiveEnd", "NonBlockingCollectiveComplete")


# The bindings (3.0.2) put the fields of Comm before the fields of InterComm, which has only the name of them.
_FIELDS = otf2.definitions.InterComm._fields
otf2.definitions.InterComm._fields = _FIELDS[:1] + _FIELDS[-4:]


def names(group):
    return [place.group.name for place in group.members]


def groups_of(one):
    return [names(one.groupA), names(one.groupB)] if hasattr(one, "groupA") else [names(one.group)]


def main():
    with otf2.reader.open(sys.argv[1]) as trace:
        between = {one._ref: one for one in trace.definitions.inter_comms}
        plain = {one._ref: one for one in trace.definitions.comms
                 if one._ref not in between and one.group.paradigm == Paradigm.MPI}  # fmt: skip
        communicators = {ref: {"name": one.name, "groups": groups_of(one)} for ref, one in {**plain, **between}.items()}
        clock = trace.definitions.clock_properties
        messages, collectives = [], []
        for location, event in trace.events:
            kind, own = type(event).__name__, location.group.name
            if kind in MESSAGES:
                ref = event.communicator._ref
                groups = communicators[ref]["groups"]
                peers = groups[0] if len(groups) == 1 or own in groups[1] else groups[1]
                time = (event.time - clock.global_offset) * 10**9 // clock.timer_resolution
                messages.append([kind, time, ref, own, peers[getattr(event, MESSAGES[kind])], event.msg_tag, event.msg_length])
            elif kind in COLLECTIVES:
                operation = str(event.collective_op).rpartition(".")[2]
                collectives.append([operation, event.communicator._ref, own, event.root, event.size_sent, event.size_received])
        processes = [one.name for one in trace.definitions.location_groups]
    json.dump({"processes": processes, "communicators": communicators, "messages": messages, "collectives": collectives},
              sys.stdout)  # fmt: skip


if __name__ == "__main__":
    main()
