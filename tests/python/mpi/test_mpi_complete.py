"""The archive's property OTF2::MPI_COMMUNICATION_COMPLETE: true if all messages are there."""

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


# Rank 0 does not record the first two of its sends.
LATE = BEGIN + """
if world.rank == 0:
    timeloom.disable_recording()
for number in range(5):
    if world.rank == 0:
        if number == 2:
            timeloom.enable_recording()
        world.send(number, 1, tag=7)
    else:
        world.recv(source=0, tag=7)
    world.barrier()
"""


def test_messages_after_those_that_were_not_recorded_are_not_matched(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(LATE)
    mpi_runs.run(mpi_runs.implementations()[0], 2, tmp_path, "app.py")
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    assert (facts["matched"], facts["unmatched"], facts["backwards"], facts["uncertain"]) == (1, 3 + 5, 0, True)
    assert [one for one in facts["waits"] if one["kind"] == "wait at barrier"] == []
    assert facts["efficiency"]["not_known"] == "calls of MPI may be missing, since recording was off or events are lost"
    text = timeloom("report", "--mpi", tmp_path / "run").stdout
    assert "8 messages sent or received that are not matched\nrecording was off for a while" in text
    assert "clocks" not in text


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
