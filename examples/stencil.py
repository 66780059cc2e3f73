"""Heat spreading in a square plate: a stencil solver on several threads.

usage: stencil.py [--size N] [--steps N] [--threads N]

The plate is cut into horizontal slabs, one a thread. In every step a thread
copies the edge rows of its neighbours (the halo) and then moves each inner
point towards the mean of its four neighbours. The result is the same to the
last bit with any number of threads, with and without measurement:

    python examples/stencil.py
    timeloom run examples/stencil.py
"""

import argparse
import itertools
import threading
import zlib

import numpy as np

import timeloom

HOT = 100.0
CHECK_EVERY = 20  # steps between two looks at how far the plate has settled


class Slab:
    """The rows of the plate that one thread owns, and a halo row above and below."""

    def __init__(self, rows: int, width: int) -> None:
        self.now = np.zeros((rows + 2, width))
        self.next = np.zeros((rows + 2, width))
        self.change = 0.0

    @property
    def inner(self) -> np.ndarray:
        return self.now[1:-1]

    def relax(self) -> None:
        """One step: every inner point becomes the mean of its neighbours."""
        now, target = self.now, self.next[1:-1, 1:-1]
        np.add(now[:-2, 1:-1], now[2:, 1:-1], out=target)
        target += now[1:-1, :-2]
        target += now[1:-1, 2:]
        target *= 0.25

    @timeloom.region("residual")
    def measure_change(self) -> None:
        self.change = float(np.max(np.abs(self.next[1:-1, 1:-1] - self.now[1:-1, 1:-1])))

    def advance(self) -> None:
        self.now, self.next = self.next, self.now


class Plate:
    """The whole plate: hot along its top edge, cold along the others."""

    def __init__(self, size: int, steps: int, threads: int) -> None:
        self.steps = steps
        bounds = [size * number // threads for number in range(threads + 1)]
        self.slabs = [Slab(end - begin, size) for begin, end in itertools.pairwise(bounds)]
        self.barrier = threading.Barrier(threads)
        for field in (self.slabs[0].now, self.slabs[0].next):
            field[0] = HOT

    def exchange(self, index: int) -> None:
        """Copies the edges of the neighbours into the halo of slab `index`."""
        slab = self.slabs[index]
        if index > 0:
            slab.now[0] = self.slabs[index - 1].now[-2]
        if index + 1 < len(self.slabs):
            slab.now[-1] = self.slabs[index + 1].now[1]

    def residual(self) -> float:
        return max(slab.change for slab in self.slabs)

    def step(self, index: int, number: int) -> None:
        slab = self.slabs[index]
        look = number % CHECK_EVERY == 0 or number == self.steps
        with timeloom.region("halo"):
            self.exchange(index)
        with timeloom.region("relax"):
            slab.relax()
        if look:
            slab.measure_change()
        with timeloom.region("wait"):
            self.barrier.wait()
        if look and index == 0:
            timeloom.counter("residual", self.residual(), "K")
        slab.advance()
        with timeloom.region("wait"):
            self.barrier.wait()

    def work(self, index: int) -> None:
        timeloom.parameter_int("slab", index)
        for number in range(1, self.steps + 1):
            self.step(index, number)

    @timeloom.region("solve")
    def solve(self) -> None:
        workers = [
            threading.Thread(target=self.work, args=(index,), name=f"slab {index}")
            for index in range(1, len(self.slabs))
        ]
        for worker in workers:
            worker.start()
        self.work(0)
        for worker in workers:
            worker.join()

    def field(self) -> np.ndarray:
        return np.concatenate([slab.inner for slab in self.slabs])


def main() -> None:
    parser = argparse.ArgumentParser(description="Heat spreading in a square plate.")
    parser.add_argument("--size", type=int, default=1000, help="points along an edge")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=4)
    arguments = parser.parse_args()
    if not 1 <= arguments.threads <= arguments.size or arguments.steps < 1 or arguments.size < 3:
        parser.error("need at least 1 step, a size of 3, and no more threads than rows")
    plate = Plate(arguments.size, arguments.steps, arguments.threads)
    plate.solve()
    field = plate.field()
    print(f"{arguments.size} x {arguments.size} points, {arguments.steps} steps")
    print(f"residual {plate.residual():.6f} K")
    print(f"checksum {zlib.crc32(field.tobytes()):08x}")


if __name__ == "__main__":
    main()
