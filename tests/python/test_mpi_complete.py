"""Whether the archive says that all messages are there: OTF2::MPI_COMMUNICATION_COMPLETE."""

import json

import mpi_runs
import pytest

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(not mpi_runs.implementations(), reason="mpi4py, Open MPI and MPICH are not installed"),
]

BEGIN = """
import json
import timeloom
from mpi4py import MPI
world = MPI.COMM_WORLD
if world.rank == 0:
    world.send("text", 1, tag=3)
else:
    world.recv(source=0, tag=3)
"""
# A small message waits for its receiver in the library.
ONE_END = BEGIN + "if world.rank == 0:\n    world.send(1, 1, tag=4)\n"
KILLED = BEGIN + "import os, signal\nworld.barrier()\nif world.rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
RECORDING_OFF = BEGIN + "timeloom.disable_recording()\nworld.barrier()\ntimeloom.enable_recording()\n"


@pytest.mark.parametrize(
    "text, options, complete",
    [(BEGIN, (), True), (ONE_END, (), False), (RECORDING_OFF, (), False), (BEGIN, ("--from", "json.dumps"), False),
     (KILLED, (), False), (BEGIN, ("--no-mpi",), False), (BEGIN, ("--profile",), False)],
    ids=["both ends", "one end", "recording off", "a window", "killed", "without MPI", "a profile"],
)  # fmt: skip
def test_messages_are_complete(text, options, complete, tmp_path, timeloom):
    mpi = mpi_runs.implementations()[0]
    (tmp_path / "app.py").write_text(text)
    mpi_runs.run(mpi, 2, tmp_path, "app.py", options=options, status=None)
    properties = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)["properties"]
    assert properties.get("OTF2::MPI_COMMUNICATION_COMPLETE", "false") == ("true" if complete else "false")
