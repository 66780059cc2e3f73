"""Programs with communicators between two groups, by name; each process prints what it has sent and received.

One line a process: JSON with its group ("job", or "spawn N" of what was spawned in the N-th place), its rank there, and
its messages as [group of the peer, its rank there, tag, bytes] in order.
"""

import json
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
known = {"group": "job", "rank": rank, "sent": [], "received": []}


def send(communicator, peer, group, tag, count=10):
    data = np.zeros(count, dtype="f8")
    communicator.Send(data, peer, tag=tag)
    known["sent"].append([group, peer, tag, data.nbytes])


def receive(communicator, peer, group, tag, count=10):
    data = np.empty(count, dtype="f8")
    communicator.Recv(data, peer, tag=tag)
    known["received"].append([group, peer, tag, data.nbytes])


def talk(communicator, group, root, first):
    """A broadcast from one group to the other, and messages both ways between processes of the same rank."""
    buffer = np.zeros(4, dtype="f8")
    communicator.Bcast(buffer, root=root)
    if rank < communicator.Get_remote_size():
        if first:
            send(communicator, rank, group, 1)
            receive(communicator, rank, group, 2, 20)
        else:
            receive(communicator, rank, group, 1)
            send(communicator, rank, group, 2, 20)
    communicator.Barrier()


def root_of_first():
    return MPI.ROOT if rank == 0 else MPI.PROC_NULL


def spawn(number, *words, processes=2):
    made = world.Spawn(sys.executable, args=[__file__, *words, str(number)], maxprocs=processes)
    talk(made, f"spawn {number}", root_of_first(), True)
    return made


def spawned(number):
    known["group"] = f"spawn {number}"
    parent = MPI.Comm.Get_parent()
    talk(parent, "job", 0, False)
    return parent


def merge(between, high):
    """All of both groups add up; messages in the merged communicator go from its first to its last process."""
    merged = between.Merge(high)
    total = np.zeros(1, dtype="i8")
    merged.Allreduce(np.array([merged.Get_rank()], dtype="i8"), total)
    assert total[0] == sum(range(merged.Get_size()))
    halves = merged.Split(merged.Get_rank() % 2, merged.Get_rank())
    halves.Barrier()
    halves.Free()
    merged.Free()


def parents():
    spawn(1, "children").Disconnect()


def children():
    spawned(1).Disconnect()


def merging():
    made = spawn(1, "merged")
    merge(made, False)
    made.Disconnect()


def merged():
    parent = spawned(1)
    merge(parent, True)
    parent.Disconnect()


def twice():
    first = spawn(1, "left_over")
    second = spawn(2, "left_over")
    first.Disconnect()
    second.Disconnect()


def left_over():
    spawned(int(sys.argv[2])).Disconnect()


def connected():
    """Nobody disconnects: MPI_Finalize does."""
    spawn(1, "still_connected")


def still_connected():
    spawned(1)


def dying():
    made = spawn(1, "dead")
    made.Disconnect()


def dead():
    spawned(1).Disconnect()
    if rank == 1:
        print(json.dumps(known), flush=True)
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)


def halves():
    """Two halves of MPI_COMM_WORLD, with a communicator between them."""
    half = world.Split(rank % 2, rank)
    between = half.Create_intercomm(0, world, 1 - rank % 2, tag=9)
    peer = between.Get_remote_size() > half.Get_rank()
    other = 2 * half.Get_rank() + 1 - rank % 2  # its rank in MPI_COMM_WORLD
    for communicator in (between, between.Dup()):
        if peer and rank % 2 == 0:
            communicator.Send(np.zeros(3, dtype="f8"), half.Get_rank(), tag=5)
            known["sent"].append(["job", other, 5, 24])
        elif peer:
            communicator.Recv(np.empty(3, dtype="f8"), half.Get_rank(), tag=5)
            known["received"].append(["job", other, 5, 24])
    whole = between.Merge(rank % 2 == 1)
    whole.Barrier()


globals()[sys.argv[1]]()
print(json.dumps(known), flush=True)
