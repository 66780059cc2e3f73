"""`timeloom view` of archives with messages: each with its ends and waits, joined when many, equal to `report
--mpi`."""

import dataclasses
import json
import struct
import subprocess
from pathlib import Path

import mpi_runs
import pytest
from archives import DEBIAN_PYTHON
from mpi_runs import PATTERNS, each_library
from test_view_html import sections_of
from view_client import EVER, Fields, Viewer

pytestmark = [pytest.mark.any_python]

WRITER = Path(__file__).parents[1] / "helpers" / "foreign" / "message_archive.py"
ALLREDUCE, BCAST = 11, 1

# The first message is received late, the second is waited for; then all meet, and the last to arrive does not wait.
TWO = [
    [[0, "enter", "main"], [10, "enter", "MPI_Send"], [11, "send", 1, 7, 80], [20, "leave"],
     [100, "enter", "MPI_Isend"], [101, "isend", 1, 8, 160, 5], [102, "leave"],
     [150, "enter", "MPI_Allreduce"], [180, "collective", "ALLREDUCE", None, 16, 16], [181, "leave"],
     [200, "enter", "MPI_Bcast"], [210, "collective", "BCAST", 0, 64, 32], [211, "leave"], [300, "leave"]],
    [[0, "enter", "main"], [40, "enter", "MPI_Recv"], [50, "recv", 0, 7, 80], [51, "leave"],
     [60, "enter", "MPI_Irecv"], [61, "request", 3], [62, "leave"],
     [70, "enter", "MPI_Wait"], [110, "irecv", 0, 8, 160, 3], [111, "leave"],
     [120, "enter", "MPI_Allreduce"], [180, "collective", "ALLREDUCE", None, 16, 16], [181, "leave"],
     [190, "enter", "MPI_Bcast"], [212, "collective", "BCAST", 0, 0, 32], [213, "leave"], [300, "leave"]],
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Message:
    count: int
    sent: int
    last_sent: int
    received: int
    last_received: int
    bytes: int
    waited_sender: int
    waited_receiver: int
    from_track: int
    to_track: int
    communicator: int
    tag: int


def archive_of(directory, processes):
    subprocess.run([DEBIAN_PYTHON, WRITER, directory], input=json.dumps(processes), text=True, check=True)
    return directory / "traces.otf2"


def question(limit=10_000, columns=64, begin=0.0, end=EVER, tracks=()):
    return struct.pack(f"<2I2d2I{len(tracks)}I", limit, columns, begin, end, len(tracks), 0, *tracks)


def items_of(body, reals, numbers):
    fields = Fields(body)
    count, complete = fields.u32(2)
    (every,) = fields.f64(1)
    columns = [fields.f64(count) for _ in range(reals)] + [fields.u32(count) for _ in range(numbers)]
    assert fields.is_at_end()
    return list(zip(*columns, strict=True)), every, complete == 1


def messages_of(body):
    items, every, complete = items_of(body, 8, 4)
    return [Message(*item) for item in items], every, complete


def ring(ranks, rounds):
    """Each sends to the next one; a round takes 10 microseconds."""
    return [[event for turn in range(rounds) for event in (
        [10 * turn + 1, "send", (rank + 1) % ranks, 0, turn], [10 * turn + 5, "recv", (rank - 1) % ranks, 0, turn],
    )] for rank in range(ranks)]  # fmt: skip


def test_each_message_with_its_ends_and_waits(program, tmp_path):
    with Viewer(program, archive_of(tmp_path / "run", TWO)) as viewer:
        description = viewer.wait().description()
        assert (description["ticks_per_second"], description["communicators"]) == (1_000_000, ["MPI_COMM_WORLD"])
        assert json.loads(viewer.ask("side"))["messages"] == {
            "count": 2, "collectives": 4, "unmatched": 0, "backwards": 0, "complete": True}  # fmt: skip
        # The sender left at 20, before the receive started: it has not waited. The receive of the second waited from 70
        # on.
        first, second = Message(1, 11, 11, 50, 50, 80, 0, 0, 0, 1, 0, 7), Message(1, 101, 101, 110, 110, 160, 0, 30, 0, 1, 0, 8)
        assert messages_of(viewer.ask("messages", question())) == ([first, second], 2, True)
        assert messages_of(viewer.ask("messages", question(begin=51.0))) == ([second], 1, True)
        assert messages_of(viewer.ask("messages", question(end=101.0)))[0] == [first]
        assert messages_of(viewer.ask("messages", question(tracks=(1, 1))))[1] == 2
        visits, every, complete = items_of(viewer.ask("collectives", question()), 6, 4)
        assert (every, complete) == (4, True)
        # count, begin, end, waited, sent, received, track, communicator, kind, operation
        assert visits == [(1, 120, 181, 30, 16, 16, 1, 0, ALLREDUCE, 0), (1, 150, 181, 0, 16, 16, 0, 0, ALLREDUCE, 0),
                          (1, 190, 213, 10, 0, 32, 1, 0, BCAST, 1), (1, 200, 211, 0, 64, 32, 0, 0, BCAST, 1)]  # fmt: skip
        assert items_of(viewer.ask("collectives", question(begin=185.0, tracks=(1,))), 6, 4)[0] == visits[2:3]
        assert items_of(viewer.ask("matrix", question(end=100.0)), 4, 2) == ([(1, 80, 0, 0, 0, 1)], 1, True)


def test_many_messages_are_joined(program, tmp_path):
    ranks, rounds = 4, 300
    with Viewer(program, archive_of(tmp_path / "run", ring(ranks, rounds))) as viewer:
        viewer.wait()
        each, every, complete = messages_of(viewer.ask("messages", question()))
        assert (len(each), every, complete) == (ranks * rounds, ranks * rounds, True)
        for limit, columns, left in [(1000, 64, 64), (100, 64, 16), (100, 4, 4), (4, 256, 1)]:
            found, every, complete = messages_of(viewer.ask("messages", question(limit, columns, 0.0, 3000.0)))
            assert (len(found), every, complete) == (ranks * left, ranks * rounds, True)
            assert sum(one.count for one in found) == every
            assert sum(one.bytes for one in found) == ranks * sum(range(rounds))
            for one in found:
                members = [other for other in each if other.from_track == one.from_track and one.sent <= other.sent <= one.last_sent]
                assert (one.count, one.bytes) == (len(members), sum(other.bytes for other in members))
                assert (one.received, one.last_received) == (members[0].received, members[-1].received)
        found, every, complete = messages_of(viewer.ask("messages", question(3, 64)))
        assert (len(found), every, complete) == (3, ranks * rounds, False)
        pairs, every, complete = items_of(viewer.ask("matrix", question(2)), 4, 2)
        assert (len(pairs), every, complete) == (2, ranks * rounds, False)


def test_odd_messages_are_counted_or_left_out(program, tmp_path):
    odd = [
        [[5, "send", 1, 0, 8], [6, "send", 9, 0, 8], [7, "send", 1, 1, 8], [20, "recv", 0, 3, 8]],
        [[2, "recv", 0, 0, 8], [3, "request", 1], [4, "irecv", 0, 1, 8, 77], [9, "collective", "BARRIER", None, 0, 0]],
    ]
    with Viewer(program, archive_of(tmp_path / "run", odd)) as viewer:
        facts = json.loads(viewer.wait().ask("side"))["messages"]
        # One goes to a rank that does not exist, one receive has no send; two arrive before they are sent.
        assert facts == {"count": 2, "collectives": 1, "unmatched": 2, "backwards": 2, "complete": True}
        assert len(messages_of(viewer.ask("messages", question(begin=3.0, end=5.0)))[0]) == 2
        for wrong in (b"", question()[:-1], question() + b"x", question(limit=0), question(limit=10_001), question(columns=3),
                      question(columns=512), question(columns=0), question(tracks=(2,)), question(begin=float("nan"))):  # fmt: skip
            for name in ("messages", "collectives", "matrix"):
                assert viewer.request("POST", f"/api/{name}", wrong, X_Timeloom_Token=viewer.token)[0] == 400
        assert messages_of(viewer.ask("messages", question(begin=9.0, end=2.0)))[1] == 0


def test_a_file_holds_what_was_matched(program, timeloom, tmp_path):
    archive, file = archive_of(tmp_path / "run", TWO), tmp_path / "out.html"
    timeloom("view", archive, "--html", file)
    sections = dict(sections_of(file.read_text()))
    with Viewer(program, archive) as viewer:
        viewer.wait()
        assert json.loads(sections[6]) == json.loads(viewer.ask("side"))["messages"]
        assert sections[7] == viewer.ask("messages", question())
        assert sections[8] == viewer.ask("collectives", question())


@pytest.mark.one_python
@each_library
def test_a_run_of_our_own(mpi, tmp_path, timeloom, program):
    mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "halo")
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    with Viewer(program, tmp_path / "run") as viewer:
        side = json.loads(viewer.wait().ask("side"))["messages"]
        assert (side["count"], side["unmatched"], side["backwards"]) == (facts["matched"], 0, 0)
        pairs, every, _ = items_of(viewer.ask("matrix", question()), 4, 2)
        assert every == facts["matched"]
        assert [(pair[4], pair[5], pair[0], pair[1]) for pair in pairs] == [
            (one["from"], one["to"], one["messages"], one["bytes"]) for one in facts["messages"]]  # fmt: skip
        names = [region["name"] for region in viewer.description()["regions"]]
        sent = [one.sent for one in messages_of(viewer.ask("messages", question()))[0]]
        inside = [(begin, end) for track in range(2) for begin, end, _, region, _ in viewer.calls(track) if names[region].startswith("MPI_")]
        assert all(any(begin <= time <= end for begin, end in inside) for time in sent)
