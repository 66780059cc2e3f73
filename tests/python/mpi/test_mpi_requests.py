"""MPI requests whose end is not seen, or that fail: later requests with the same handles are not confused with them."""

import json
import subprocess
import sys

import pytest
from mpi_runs import archive, each_library
from streams import environment

pytestmark = pytest.mark.one_python

BEGIN = """
import timeloom
from mpi4py import MPI
me, room = MPI.COMM_WORLD, bytearray(8)
def receive(tag):
    request = me.Irecv(room, 0, tag)
    me.Send(bytes(tag), 0, tag)
    request.Wait()
"""


def run_alone(mpi, directory, timeloom, text):
    """A program of one process that measures blocks of itself."""
    (directory / "app.py").write_text(BEGIN + text)
    preload = timeloom("preload", "--print", "--mpi").stdout.strip()
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=directory, capture_output=True, text=True, timeout=200, check=False,
        env={**environment(), **mpi.variables, "LD_PRELOAD": preload},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def of_run(name, directory):
    """The only rank of a job may have its own."""
    (run,) = directory.glob(f"{name}*")
    return run


def of_requests(directory):
    """[KIND, index of the request among the run's] of the only process."""
    (process,) = archive(directory)["processes"].values()
    numbers = sorted({number for _, number in process["requests"]})
    return [[kind, numbers.index(number)] for kind, number in process["requests"]]


@each_library
def test_a_request_that_ends_after_the_measurement(mpi, tmp_path, timeloom):
    run_alone(mpi, tmp_path, timeloom, """
with timeloom.Measurement(output="first", mpi=True):
    requests = [me.Irecv(bytearray(8), 0, 1) for _ in range(4)]
for request in requests:
    me.Send(bytes(1), 0, 1)
    request.Wait()
with timeloom.Measurement(output="second", mpi=True):
    requests = [me.Irecv(bytearray(8), 0, 2) for _ in range(4)]
    for request in requests:
        me.Send(bytes(2), 0, 2)
        request.Wait()
""")  # fmt: skip
    assert of_requests(of_run("first", tmp_path)) == [["MpiIrecvRequest", i] for i in range(4)]
    assert of_requests(of_run("second", tmp_path)) == [[kind, i] for kind in ("MpiIrecvRequest", "MpiIrecv") for i in range(4)]


@each_library
@pytest.mark.parametrize("wait", ["never.Wait()", "MPI.Request.Waitall([first, never])"], ids=["one", "all"])
def test_a_receive_that_fails(mpi, wait, tmp_path, timeloom):
    """A message that is longer than the room for it."""
    said = run_alone(mpi, tmp_path, timeloom, f"""
with timeloom.Measurement(output="run", mpi=True):
    first, never = me.Irecv(room, 0, 1), me.Irecv(bytearray(2), 0, 2)
    me.Send(bytes(1), 0, 1), me.Send(bytes(8), 0, 2)
    try:
        {wait}
    except MPI.Exception as error:
        print(error)
    first.Wait()
    receive(3), receive(4)
""").stdout  # fmt: skip
    if said == "":
        pytest.skip("the library does not say so")
    asked, arrived = "MpiIrecvRequest", "MpiIrecv"
    assert of_requests(of_run("run", tmp_path)) == [
        [asked, 0], [asked, 1], [arrived, 0], [asked, 2], [arrived, 2], [asked, 3], [arrived, 3]
    ]  # fmt: skip


@each_library
def test_a_send_that_is_cancelled(mpi, tmp_path, timeloom):
    """Open MPI cancels none: there it has a receive."""
    said = run_alone(mpi, tmp_path, timeloom, """
with timeloom.Measurement(output="run", mpi=True):
    never, status = me.Issend(bytes(3), 0, 5), MPI.Status()
    never.Cancel()
    if not never.Test(status):
        me.Recv(room, 0, 5)
        never.Wait(status)
    receive(6)
print(status.Is_cancelled())
""").stdout  # fmt: skip
    end = "MpiRequestCancelled" if said == "True\n" else "MpiIsendComplete"
    assert of_requests(of_run("run", tmp_path)) == [["MpiIsend", 0], [end, 0], ["MpiIrecvRequest", 1], ["MpiIrecv", 1]]
    facts = json.loads(timeloom("report", "--mpi", "--json", of_run("run", tmp_path)).stdout)
    assert facts["unmatched"] == 0
    assert sum(one["messages"] for one in facts["messages"]) == (1 if said == "True\n" else 2)


@each_library
def test_persistent_requests_that_are_made_before(mpi, tmp_path, timeloom):
    run_alone(mpi, tmp_path, timeloom, """
requests = [me.Recv_init(room, 0, 1), me.Send_init(bytes(5), 0, 1)]
for name in ("first", "second"):
    with timeloom.Measurement(output=name, mpi=True):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
for request in requests:
    request.Free()
with timeloom.Measurement(output="third", mpi=True):
    receive(2)
""")  # fmt: skip
    both = [["MpiIrecvRequest", 0], ["MpiIsend", 1], ["MpiIrecv", 0], ["MpiIsendComplete", 1]]
    assert of_requests(of_run("first", tmp_path)) == of_requests(of_run("second", tmp_path)) == both
    assert of_requests(of_run("third", tmp_path)) == [["MpiIrecvRequest", 0], ["MpiIrecv", 0]]
