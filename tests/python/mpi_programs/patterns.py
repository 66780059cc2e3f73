"""Patterns of communication, by name; each process prints what it has sent and received.

One line a process: JSON with its rank, its messages as [peer, tag, bytes] in order, and its collective operations as
[name, bytes sent, bytes received].
"""

import json
import os
import signal
import sys
import time

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
known = {"rank": rank, "sent": [], "received": [], "collectives": []}


def sent(peer, tag, data):
    known["sent"].append([peer, tag, data.nbytes])


def received(peer, tag, data):
    known["received"].append([peer, tag, data.nbytes])


def collective(name, out, into):
    known["collectives"].append([name, out, into])


def ring():
    """A token goes round, and grows."""
    before, after = (rank - 1) % size, (rank + 1) % size
    for lap in range(3):
        token = np.zeros(10 + lap, dtype="f8")
        if rank == 0:
            world.Send(token, after, tag=lap)
            sent(after, lap, token)
            world.Recv(token, before, tag=lap)
            received(before, lap, token)
        else:
            world.Recv(token, before, tag=lap)
            received(before, lap, token)
            world.Send(token, after, tag=lap)
            sent(after, lap, token)


def halo():
    """Neighbours exchange their edges, with Sendrecv and without blocking."""
    edge, ghost = np.full(100, rank, dtype="f4"), np.empty(100, dtype="f4")
    for step, (to, source) in enumerate([((rank + 1) % size, (rank - 1) % size), ((rank - 1) % size, (rank + 1) % size)]):
        world.Sendrecv(edge, to, step, ghost, source, step)
        sent(to, step, edge)
        received(source, step, ghost)
    left, right = (rank - 1) % size, (rank + 1) % size
    ghosts = [np.empty(100, dtype="f4") for _ in range(2)]
    requests = [world.Irecv(ghosts[0], left, 7), world.Irecv(ghosts[1], right, 8),
                world.Isend(edge, right, 7), world.Isend(edge, left, 8)]
    MPI.Request.Waitall(requests)
    received(left, 7, ghosts[0])
    received(right, 8, ghosts[1])
    sent(right, 7, edge)
    sent(left, 8, edge)


def some():
    """Rank 0 receives messages, some at a time; persistent requests; one to MPI_PROC_NULL; one that is cancelled."""
    if rank == 0:
        rooms = {source: np.empty(5, dtype="i4") for source in range(1, size)}
        requests = [world.Irecv(rooms[source], source, 3) for source in rooms]
        left = len(requests)
        while left:
            done = MPI.Request.Waitsome(requests)
            left -= len(done)
            for index in done:
                received(index + 1, 3, rooms[index + 1])
        never = world.Irecv(np.empty(1), MPI.ANY_SOURCE, 99)
        never.Cancel()
        never.Wait()
    else:
        data = np.arange(5, dtype="i4")
        request = world.Isend(data, 0, 3)
        while not request.Test():
            pass
        sent(0, 3, data)
    world.Send(np.zeros(3), MPI.PROC_NULL)
    out, into = np.zeros(4), np.zeros(4)
    to, source = (rank + 1) % size, (rank - 1) % size
    pair = [world.Send_init(out, to, 5), world.Recv_init(into, source, 5)]
    for _ in range(3):
        MPI.Prequest.Startall(pair)
        MPI.Request.Waitall(pair)
        sent(to, 5, out)
        received(source, 5, into)
    for request in pair:
        request.Free()


def workers():
    """Rank 0 gives out tasks of different sizes, a new one to each rank that has finished one, until none is left."""
    task, result, end = 1, 2, 3
    tasks = [np.zeros(1 + number % 5) for number in range(3 * size)]
    if rank == 0:
        busy = 0
        for worker in range(1, size):
            data = tasks.pop()
            world.Send(data, worker, tag=task)
            sent(worker, task, data)
            busy += 1
        while busy:
            status, room = MPI.Status(), np.empty(10)
            world.Recv(room, MPI.ANY_SOURCE, tag=result, status=status)
            worker = status.Get_source()
            received(worker, result, room[:status.Get_count(MPI.DOUBLE)])
            data, tag = (tasks.pop(), task) if tasks else (np.zeros(0), end)
            busy -= tag == end
            world.Send(data, worker, tag=tag)
            sent(worker, tag, data)
        return
    while True:
        status, room = MPI.Status(), np.empty(5)
        world.Recv(room, 0, tag=MPI.ANY_TAG, status=status)
        count = status.Get_count(MPI.DOUBLE)
        received(0, status.Get_tag(), room[:count])
        if status.Get_tag() == end:
            return
        answer = np.zeros(2 * count)
        world.Send(answer, 0, tag=result)
        sent(0, result, answer)


def collectives():
    one, many = np.full(4, rank, dtype="i4"), np.empty(4 * size, dtype="i4")
    b, all_ = one.nbytes, many.nbytes
    world.Barrier()
    collective("BARRIER", 0, 0)
    world.Bcast(one, root=1)
    collective("BCAST", size * b if rank == 1 else 0, b)
    world.Gather(one, many, root=0)
    collective("GATHER", b, all_ if rank == 0 else 0)
    world.Scatter(many, one, root=0)
    collective("SCATTER", all_ if rank == 0 else 0, b)
    world.Allgather(one, many)
    collective("ALLGATHER", all_, all_)
    back = np.empty_like(many)
    world.Alltoall(many, back)
    collective("ALLTOALL", all_, all_)
    world.Allreduce(MPI.IN_PLACE, one)
    collective("ALLREDUCE", (size - 1) * b, (size - 1) * b)
    result = np.empty_like(one)
    world.Reduce(one, result, root=1)
    collective("REDUCE", b, size * b if rank == 1 else 0)
    world.Scan(one, result)
    collective("SCAN", (size - rank) * b, (rank + 1) * b)
    world.Exscan(one, result)
    collective("EXSCAN", (size - rank - 1) * b, rank * b)
    counts = [i + 1 for i in range(size)]
    part = np.zeros(rank + 1, dtype="i4")
    whole = np.zeros(sum(counts), dtype="i4")
    world.Gatherv(part, [whole, counts], root=0)
    collective("GATHERV", part.nbytes, whole.nbytes if rank == 0 else 0)
    world.Scatterv([whole, counts], part, root=0)
    collective("SCATTERV", whole.nbytes if rank == 0 else 0, part.nbytes)
    world.Allgatherv(part, [whole, counts])
    collective("ALLGATHERV", size * part.nbytes, whole.nbytes)
    world.Reduce_scatter_block(many, one)
    collective("REDUCE_SCATTER_BLOCK", size * b, size * b)
    world.Iallreduce(one, result).Wait()
    collective("ALLREDUCE", size * b, size * b)
    world.Ibarrier().Wait()
    collective("BARRIER", 0, 0)


def neighbours():
    """Operations between neighbours: in a line, whose ends have one, in a graph, and in a directed graph."""
    line = world.Create_cart([size], periods=[False])
    there = (rank > 0) + (rank < size - 1)
    two, four = np.zeros(2, dtype="i4"), np.zeros(4, dtype="i4")
    line.Neighbor_allgather(two, four)
    collective("ALLGATHER", 8 * there, 8 * there)
    line.Ineighbor_alltoall(four, np.zeros_like(four)).Wait()
    collective("ALLTOALL", 8 * there, 8 * there)
    line.Neighbor_alltoallv([four, [1, 3]], [np.zeros(4, dtype="i4"), [3, 1]])  # the left and the right one
    collective("ALLTOALLV", 4 * (rank > 0) + 12 * (rank < size - 1), 12 * (rank > 0) + 4 * (rank < size - 1))
    star = world.Create_graph([size - 1] + list(range(size, 2 * size - 1)), list(range(1, size)) + [0] * (size - 1))
    degree = size - 1 if rank == 0 else 1
    parts = np.zeros(3 * degree, dtype="i4")
    star.Neighbor_allgatherv(np.zeros(3, dtype="i4"), [parts, [3] * degree])
    collective("ALLGATHERV", 12 * degree, 12 * degree)
    others = list(range(1, size))
    way = world.Create_dist_graph_adjacent(others, []) if rank == 0 else world.Create_dist_graph_adjacent([], [0])
    nothing, one = [np.zeros(1), [], [], []], [np.zeros(1), [1], [0], [MPI.DOUBLE]]
    rooms = [np.zeros(size - 1), [1 for _ in others], [8 * i for i in range(size - 1)], [MPI.DOUBLE for _ in others]]
    if rank == 0:
        way.Neighbor_alltoallw(nothing, rooms)
    else:
        way.Neighbor_alltoallw(one, nothing)
    collective("ALLTOALLW", 0 if rank == 0 else 8, 8 * (size - 1) if rank == 0 else 0)
    for one in (line, star, way):
        one.Free()


def both():
    halo()
    collectives()


def split():
    """Messages in communicators that were split, duplicated and made of groups, and on a grid."""
    half = world.Split(rank % 2, -rank)  # ranks the other way round
    data = np.full(half.Get_rank() + 1, rank, dtype="f8")
    if half.Get_size() > 1:
        peer = half.Get_size() - 1 - half.Get_rank()
        into = np.empty(peer + 1)
        half.Sendrecv(data, peer, 0, into, peer, 0)
        (in_world,) = MPI.Group.Translate_ranks(half.Get_group(), [peer], world.Get_group())
        sent(in_world, 0, data)
        received(in_world, 0, into)
    twin = world.Dup()
    twin.Set_name("twin")
    grid = twin.Create_cart([size], periods=[True])
    source, to = grid.Shift(0, 1)
    grid.Sendrecv(np.zeros(2), to, 1, np.zeros(2), source, 1)
    sent(to, 1, np.zeros(2))
    received(source, 1, np.zeros(2))
    group = world.Get_group().Incl([0, size - 1])
    if rank in (0, size - 1):
        ends = world.Create_group(group)
        ends.Barrier()
        collective("BARRIER", 0, 0)
        ends.Free()
    request_twin, request = world.Idup()
    request.Wait()
    request_twin.Barrier()
    collective("BARRIER", 0, 0)
    for one in (half, grid, twin, request_twin):
        one.Free()


def objects():
    """Pickled objects of mpi4py, which probes for them."""
    if rank == 0:
        for peer in range(1, size):
            world.send({"to": peer, "data": list(range(100))}, peer, tag=peer)
    else:
        assert world.recv(source=0, tag=rank)["to"] == rank
    everybody = world.allgather(("rank", rank))
    assert len(everybody) == size


def late():
    """Objects that are sent long after the receiver waits for them."""
    for tag in range(3):
        world.Barrier()
        if rank == 0:
            time.sleep(0.1)
            world.send("late", 1, tag=tag)
        elif rank == 1:
            assert world.recv(source=0, tag=tag) == "late"


def killed():
    """The last rank dies in the middle."""
    data = np.zeros(10)
    world.Sendrecv(data, (rank + 1) % size, 0, np.empty(10), (rank - 1) % size, 0)
    world.Barrier()
    if rank == size - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    world.Barrier()


def without_end():
    """MPI_Finalize is never called."""
    ring()
    world.Barrier()  # MPICH ends all when one has left
    sys.stdout.write(json.dumps(known) + "\n")
    sys.stdout.flush()
    os._exit(0)


def main():
    globals()[sys.argv[1]]()
    sys.stdout.write(json.dumps(known) + "\n")


main()
