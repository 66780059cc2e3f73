"""Ranks that differ in their functions, strings and threads, with messages, files, tasks and a child."""

import asyncio
import json
import multiprocessing
import os
import threading

from mpi4py import MPI

import timeloom

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
half = world.Split(rank % 2, rank)


def leaf(n):
    timeloom.parameter_int("n", n % 3)


for number in range(rank + 1):
    exec(f"def own_{rank}_{number}(): pass\nown_{rank}_{number}()")


def step(n):
    world.send(n, dest=(rank + 1) % size, tag=n % 5)
    world.recv(source=(rank - 1) % size, tag=n % 5)
    for i in range(20):
        leaf(i)
    name = f"out.{rank}.{n % 3}"
    with open(name, "a") as file:
        file.write("x" * 10)
    if n % 7 == 0:
        os.remove(name)


def work():
    for n in range(2000):
        leaf(n)


async def task():
    for n in range(30):
        leaf(n)
        await asyncio.sleep(0)


async def tasks():
    await asyncio.gather(*(task() for _ in range(6 + rank)))


def main():
    for n in range(40):
        step(n)
    thread = threading.Thread(target=work, name=f"helper of {rank}")
    thread.start()
    thread.join()
    timeloom.parameter_string("who", f"rank {rank}")
    timeloom.parameter_float("share", rank / 7)
    asyncio.run(tasks())
    half.allreduce(rank)
    if rank == 1:
        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
        child.join()
    world.barrier()
    os.write(1, (json.dumps({"rank": rank}) + "\n").encode())


main()
