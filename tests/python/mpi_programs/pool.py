"""Calls in processes that mpi4py.futures spawns."""

import sys

from mpi4py.futures import MPIPoolExecutor


def square(number):
    return number * number


if __name__ == "__main__":
    with MPIPoolExecutor(max_workers=2) as pool:
        assert list(pool.map(square, range(8))) == [number * number for number in range(8)]
        sys.stdout.write("squares\n")
