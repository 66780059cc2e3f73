"""Cells that record MPI, in the kernel's own process and under mpirun: counts and bytes equal the cell's."""

import json
import os
import sys

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("mpi4py")

from mpi_runs import each_library
from notebooks import Kernel, read

pytestmark = pytest.mark.one_python

ARGV = [sys.executable, "-m", "timeloom_kernel", "--mpi", "-f", "{connection_file}"]
# The process alone in its world: three messages to itself, and collective operations.
ALONE = """
for lap in range(3):
    world.Sendrecv(np.zeros(10 + lap), 0, lap, np.empty(20), 0, lap)
world.Barrier()
world.Allreduce(np.zeros(4), np.empty(4))
"""
RANKS = """
import numpy as np
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
def exchange(count):
    room = np.empty(count)
    world.Sendrecv(np.full(count, float(rank)), 1 - rank, 5, room, 1 - rank, 5)
    return room
for lap in range(4):
    exchange(start + lap)
total = world.reduce(rank + 1)
window = MPI.Win.Create(np.zeros(8), disp_unit=8, comm=world)
window.Fence()
window.Put([np.ones(3), MPI.DOUBLE], 1 - rank)
window.Fence()
window.Free()
"""


def regions(path):
    """Visits, of functions with counts of 64 bits under the name of the others."""
    visits = {}
    for row in read(path).flat:
        name = row["name"].removesuffix("_c")
        visits[name] = visits.get(name, 0) + row["visits"]
    return visits


def report(timeloom, run):
    return json.loads(timeloom("report", "--mpi", "--json", run).stdout)


@pytest.fixture
def start(tmp_path):
    kernels = []

    def begin(mpi, **variables):
        (tmp_path / "notebook").mkdir()
        kernels.append(Kernel(tmp_path / "jupyter", tmp_path / "notebook", argv=ARGV, **{**mpi.variables, **variables}))
        return kernels[0]

    yield begin
    for kernel in kernels:
        kernel.close()


@each_library
def test_a_cell_of_the_kernel_records_mpi(mpi, start, timeloom):
    kernel = start(mpi)
    begun = kernel.run("import numpy as np\nfrom mpi4py import MPI\nworld = MPI.COMM_WORLD\nworld.Get_size()")
    assert (begun.status, begun.result) == ("ok", "1"), begun.messages
    for _ in range(2):  # each cell has its own
        answer = kernel.run(f"%%timeloom --mpi\n{ALONE}")
        assert answer.status == "ok", answer.messages
        visits = regions(answer.run)
        assert {name: count for name, count in visits.items() if name.startswith("MPI_")} == {
            "MPI_Sendrecv": 3, "MPI_Barrier": 1, "MPI_Allreduce": 1, **{
                name: count for name, count in visits.items() if name.startswith(("MPI_Op_", "MPI_Comm_", "MPI_Type_"))}}  # fmt: skip
        facts = report(timeloom, answer.run)
        assert [(one["from"], one["to"], one["messages"], one["bytes"]) for one in facts["messages"]] == [(0, 0, 3, 8 * 33)]
        assert sorted((one["operation"], one["calls"], one["bytes_sent"]) for one in facts["collectives"]) == [
            ("Allreduce", 1, 32), ("Barrier", 1, 0)]  # fmt: skip
    plain = kernel.run(f"%%timeloom\n{ALONE}")
    assert not [name for name in regions(plain.run) if name.startswith("MPI_")]


@each_library
def test_a_cell_of_ranks_records_each(mpi, start, tmp_path, timeloom):
    programs = tmp_path / "bin"
    programs.mkdir()
    launcher = programs / "mpirun"
    launcher.write_text(f'#!/bin/sh\nexec {mpi.launcher} {" ".join(mpi.options)} "$@"\n')
    launcher.chmod(0o755)
    kernel = start(mpi, PATH=f"{programs}:{os.environ['PATH']}")
    assert kernel.run("start = 10").status == "ok"
    answer = kernel.run(f"%%timeloom --ranks 2 --return total\n{RANKS}")
    assert answer.status == "ok", answer.messages
    assert kernel.run("total").result == "3"
    visits = regions(answer.run)
    assert [visits[name] for name in ("__main__.exchange", "MPI_Sendrecv", "MPI_Put", "MPI_Win_fence")] == [8, 8, 2, 4]
    facts = report(timeloom, answer.run)
    assert facts["processes"] == ["MPI Rank 0", "MPI Rank 1"]
    traffic = {(one["from"], one["to"]): (one["messages"], one["bytes"]) for one in facts["messages"]}
    assert traffic[0, 1] == (4, 8 * (10 + 11 + 12 + 13))
    assert traffic[1, 0][0] >= 4  # and what reduce sends of an object
    put = [row["bytes_put"] for row in facts["bytes"] if row["name"].startswith("MPI_Put")]
    assert put == [2 * 3 * 8]
