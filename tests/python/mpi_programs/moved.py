"""One-sided communication and files of MPI, by name; each process prints how many bytes it has moved by each function.

One line a process: JSON with its rank, {function: [bytes put, bytes got]} and {function: [bytes read, bytes written]}.
"""

import json
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
other = (rank + 1) % size
known = {"rank": rank, "one_sided": {}, "files": {}}


def moved(table, function, out, into):
    sums = known[table].setdefault(function, [0, 0])
    sums[0] += out
    sums[1] += into


def put_and_get(window):
    numbers, room = np.arange(10, dtype="f8"), np.empty(10, dtype="f8")
    window.Fence()
    for count in (10, 3, 0):
        window.Put([numbers, count, MPI.DOUBLE], other)
        moved("one_sided", "MPI_Put", 8 * count, 0)
    window.Fence()
    window.Get([room, 4, MPI.DOUBLE], other)
    moved("one_sided", "MPI_Get", 0, 32)
    window.Get([room, 10, MPI.DOUBLE], MPI.PROC_NULL)  # of nobody
    window.Fence()
    window.Accumulate([numbers, 5, MPI.DOUBLE], other, op=MPI.SUM)
    moved("one_sided", "MPI_Accumulate", 40, 0)
    window.Fence()


def locked(window):
    numbers, room = np.arange(10, dtype="f8"), np.empty(10, dtype="f8")
    one, result = np.ones(1, dtype="f8"), np.empty(1, dtype="f8")
    window.Lock_all()
    requests = [window.Rput([numbers, 6, MPI.DOUBLE], other), window.Rget([room, 7, MPI.DOUBLE], other),
                window.Raccumulate([numbers, 2, MPI.DOUBLE], other, op=MPI.SUM)]
    MPI.Request.Waitall(requests)
    moved("one_sided", "MPI_Rput", 48, 0)
    moved("one_sided", "MPI_Rget", 0, 56)
    moved("one_sided", "MPI_Raccumulate", 16, 0)
    window.Get_accumulate([numbers, 3, MPI.DOUBLE], [room, 3, MPI.DOUBLE], other, op=MPI.SUM)
    moved("one_sided", "MPI_Get_accumulate", 24, 24)
    window.Get_accumulate([numbers, 3, MPI.DOUBLE], [room, 3, MPI.DOUBLE], other, op=MPI.NO_OP)
    moved("one_sided", "MPI_Get_accumulate", 0, 24)
    window.Rget_accumulate([numbers, 2, MPI.DOUBLE], [room, 2, MPI.DOUBLE], other, op=MPI.SUM).Wait()
    moved("one_sided", "MPI_Rget_accumulate", 16, 16)
    window.Fetch_and_op([one, MPI.DOUBLE], [result, MPI.DOUBLE], other, op=MPI.SUM)
    window.Fetch_and_op([one, MPI.DOUBLE], [result, MPI.DOUBLE], other, op=MPI.NO_OP)
    moved("one_sided", "MPI_Fetch_and_op", 8, 16)
    window.Unlock_all()


def compared():
    memory = np.zeros(4, dtype="i4")
    value, expected, result = np.ones(1, "i4"), np.zeros(1, "i4"), np.empty(1, "i4")
    window = MPI.Win.Create(memory, disp_unit=4, comm=world)
    window.Lock_all()
    window.Compare_and_swap([value, MPI.INT], [expected, MPI.INT], [result, MPI.INT], other)
    moved("one_sided", "MPI_Compare_and_swap", 4, 4)
    window.Unlock_all()
    window.Free()


def one_sided():
    window = MPI.Win.Create(np.zeros(20, dtype="f8"), disp_unit=8, comm=world)
    put_and_get(window)
    locked(window)
    window.Free()
    compared()


def blocking(file):
    data = np.full(100, rank, dtype="u1")
    file.Seek(100 * rank)
    file.Write(data)
    file.Write_at(200 + 100 * rank, data[:50])
    file.Write_at_all(400 + 100 * rank, data[:60])
    file.Seek(600 + 100 * rank)
    file.Write_all(data[:70])
    file.Write_shared(data[:10])
    file.Write_ordered(data[:20])
    for function, bytes_ in (("", 100), ("_at", 50), ("_at_all", 60), ("_all", 70), ("_shared", 10), ("_ordered", 20)):
        moved("files", f"MPI_File_write{function}", 0, bytes_)
    file.Sync()
    world.Barrier()
    file.Sync()
    file.Seek(0)
    file.Read(data[:30])
    file.Read_at(0, data[:40])
    file.Read_at_all(0, data[:50])
    file.Read_all(data[:25])
    for function, bytes_ in (("", 30), ("_at", 40), ("_at_all", 50), ("_all", 25)):
        moved("files", f"MPI_File_read{function}", bytes_, 0)


def without_blocking(file):
    """Bytes belong to the function that completes a request; a read beyond the end finds fewer."""
    data = np.zeros((4, 40), dtype="u1")
    requests = [file.Iwrite_at(40 * rank, data[0]), file.Iwrite_at(200 + 40 * rank, data[1][:30])]
    MPI.Request.Waitall(requests)
    moved("files", "MPI_Waitall", 0, 70)
    file.Sync()
    world.Barrier()
    file.Iread_at(0, data[2]).Wait()
    moved("files", "MPI_Wait", 40, 0)
    world.Barrier()
    end = file.Get_size()
    file.Read_at(end - 7, data[3])
    moved("files", "MPI_File_read_at", 7, 0)
    world.Barrier()  # the other process's next write is beyond this end
    file.Write_at_all_begin(2000 + 40 * rank, data[0])
    file.Write_at_all_end(data[0])
    moved("files", "MPI_File_write_at_all_end", 0, 40)
    file.Seek(0)
    file.Read_all_begin(data[1][:9])
    file.Read_all_end(data[1][:9])
    moved("files", "MPI_File_read_all_end", 9, 0)


def files():
    file = MPI.File.Open(world, "data", MPI.MODE_CREATE | MPI.MODE_RDWR)
    blocking(file)
    file.Close()
    file = MPI.File.Open(world, "other", MPI.MODE_CREATE | MPI.MODE_RDWR)
    without_blocking(file)
    file.Close()


def work():
    for pattern in sys.argv[1].split("+"):
        {"one_sided": one_sided, "files": files}[pattern]()


work()
sys.stdout.write(json.dumps(known) + "\n")
sys.stdout.flush()
