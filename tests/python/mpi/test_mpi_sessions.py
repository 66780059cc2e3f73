"""An MPI program without MPI_Init does not have MPI_COMM_WORLD: its calls are regions."""

import json

import mpi_runs
import pytest
from mpi_runs import each_library

pytestmark = pytest.mark.one_python

PROGRAM = """
import json
import sys
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
said = {"rank": 0, "there": True}
try:
    session = MPI.Session.Init()
except NotImplementedError:
    said["there"] = False
else:
    group = session.Create_group("mpi://WORLD")
    all = MPI.Intracomm.Create_from_group(group)
    said["rank"] = all.rank
    all.Barrier()
    twin = all.Dup()
    twin.Sendrecv(bytes(4), all.rank, 1, bytearray(4), all.rank, 1)
    half = twin.Split(all.rank)
    for one in (half, twin, all, group):
        one.Free()
    session.Finalize()
sys.stdout.write(json.dumps(said) + "\\n")
"""


@each_library
def test_a_program_that_uses_sessions_alone(mpi, tmp_path, timeloom):
    (tmp_path / "app.py").write_text(PROGRAM)
    known, _ = mpi_runs.run(mpi, 2, tmp_path, "app.py")
    if not all(one["there"] for one in known.values()):
        pytest.skip("the library has no sessions")
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    calls = {row["name"]: row["visits"] for row in facts["functions"]}
    assert (calls["MPI_Barrier"], calls["MPI_Comm_split"]) == (2, 2)
    assert facts["messages"] == []
