"""Programs of mpi4py under Timeloom: messages match, and bytes equal the program's, with each library."""

import json
import re
import subprocess
import sys

import mpi_runs
import pytest
from converted import Chrome, Perfetto, converter
from cube_files import sums_by_region
from mpi_runs import PATTERNS, SLOW_RANK, archive, assert_matched, each_library, messages
from streams import environment

pytestmark = pytest.mark.one_python

SEND, RECEIVE = ("MpiSend", "MpiIsend"), ("MpiRecv", "MpiIrecv")
EXCHANGING = {"MPI_Sendrecv", "MPI_Isend", "MPI_Irecv", "MPI_Waitall"}


def check(mpi, ranks, directory, pattern):
    """The archive has the messages and collective operations that the program printed."""
    known, _ = mpi_runs.run(mpi, ranks, directory, PATTERNS, pattern)
    return check_known(known, ranks, directory)


def check_known(known, ranks, directory, most_backwards=0):
    read = archive(directory / "run")
    assert sorted(known) == sorted(read["processes"]) == list(range(ranks))
    assert_matched(read, most_backwards)
    for rank, one in known.items():
        assert sorted(messages(read, rank, *SEND)) == sorted(one["sent"])
        assert sorted(messages(read, rank, *RECEIVE)) == sorted(one["received"])
        made = [[name, out, into] for name, _, _, out, into in read["processes"][rank]["collectives"]
                if name not in ("CREATE_HANDLE", "DESTROY_HANDLE")]
        assert made == one["collectives"]
    return read


@each_library
def test_a_ring_of_two(mpi, tmp_path):
    read = check(mpi, 2, tmp_path, "ring")
    assert read["processes"][0]["regions"]["MPI_Init_thread"] == 1
    world = next(one for one in read["communicators"].values() if one["name"] == "MPI_COMM_WORLD")
    assert world["members"] == [0, 1]


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.many_ranks)])
@each_library
def test_neighbours(mpi, ranks, tmp_path):
    check(mpi, ranks, tmp_path, "neighbours")


@each_library
def test_the_report(mpi, tmp_path, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "halo")
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    assert [[one["from"], one["to"], one["messages"], one["bytes"]] for one in facts["messages"]] == [
        [0, 1, 4, 1600], [1, 0, 4, 1600]
    ]  # fmt: skip
    assert facts["matched"] == 8
    spent = sum(one["send_s"] + one["receive_s"] for one in facts["messages"])
    calls = sum(row["total_s"] for row in facts["functions"] if row["name"].removesuffix("_c") in EXCHANGING)
    assert spent == pytest.approx(calls)
    assert facts["unmatched"] == facts["backwards"] == 0
    names = {row["name"] for row in facts["functions"]}
    assert any("MPI_Sendrecv" in name for name in names)
    assert any("halo" in row["name"] for row in facts["callers"])
    text = timeloom("report", "--mpi", tmp_path / "run").stdout
    assert "1.60 kB" in text
    assert "(4)" in text
    picture = [line.split("|") for line in text.splitlines() if line.count("|") == 4]
    assert [bool(cells[1][i].strip()) for cells in picture for i in (0, 2)] == [False, True, True, False]


@each_library
def test_exports_show_messages_and_collective_operations(mpi, tmp_path, program, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "both")
    assert_exported(tmp_path / "run", program, timeloom)


@each_library
@pytest.mark.parametrize("mode", [(), ("--profile",)], ids=["trace", "profile"])
def test_the_profile_has_the_bytes_and_types_of_score_p(mpi, mode, tmp_path, timeloom):
    known, _ = mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "both", options=mode)
    run = tmp_path / "run"
    messages = {key: sum(size for one in known.values() for _, _, size in one[key]) for key in ("sent", "received")}
    operations = [sum(one[index] for rank in known.values() for one in rank["collectives"]) for index in (1, 2)]
    sent, received = (sums_by_region(run / "profile.cubex", f"bytes_{key}") for key in ("sent", "received"))
    assert sum(sent.values()) == messages["sent"] + operations[0] > 0
    assert sum(received.values()) == messages["received"] + operations[1] > 0
    assert [one.get(name, 0) + one.get(f"{name}_c", 0) for one, name in (
        (sent, "MPI_Sendrecv"), (received, "MPI_Sendrecv"), (sent, "MPI_Isend"))] == [1600] * 3  # fmt: skip
    assert sum(value for name, value in received.items() if name.startswith("MPI_Wait")) > 1600  # and of Iallreduce
    if not mode:
        report = json.loads(timeloom("report", "--mpi", "--json", run).stdout)
        assert sum(sent.values()) == sum(one["bytes"] for one in report["messages"]) + sum(
            one["bytes_sent"] for one in report["collectives"])  # fmt: skip
        assert sum(received.values()) == sum(one["bytes"] for one in report["messages"]) + sum(
            one["bytes_received"] for one in report["collectives"])  # fmt: skip
    types = {words[-1].removesuffix("_c"): words[0] for words in map(str.split, timeloom("score", "-r", run).stdout.splitlines()) if words}
    assert (types["MPI"], types["COM"]) == ("MPI", "COM")
    assert (types["MPI_Sendrecv"], types["__main__.halo"], types["__main__.sent"]) == ("MPI", "COM", "USR")


def assert_exported(run, program, timeloom):
    """Every message has an arrow between its ends and its marks, every collective operation a mark."""
    read = archive(run)
    names = {ref: one["name"] or f"communicator {ref}" for ref, one in read["communicators"].items()}
    world = {place: rank for rank, process in read["processes"].items() for place in [read["groups"][str(rank)]]}
    expected = {
        rank: (sorted((time, "send" if "send" in kind.lower() else "receive", size, tag, names[str(communicator)])
                      for kind, time, communicator, _, tag, size in process["messages"]),
               [(name, sent, received) for name, _, _, sent, received in process["collectives"]])
        for rank, process in read["processes"].items()
    }  # fmt: skip
    matched = json.loads(timeloom("report", "--mpi", "--json", run).stdout)["matched"]
    assert matched == sum(len(ends) for ends, _ in expected.values()) / 2 > 0
    for format, reader in (("perfetto", Perfetto), ("chrome", Chrome)):
        file = reader(converter(program, run, run.parent)(format))
        shown = {world[place[0]]: marks for place, marks in file.transfers.items()}
        for rank, marks in shown.items():
            ends = sorted((time, name, one["bytes"], one["tag"], one["communicator"])
                          for time, name, one in marks if name in ("send", "receive"))  # fmt: skip
            operations = [(name.upper(), one["sent"], one["received"])
                          for _, name, one in marks if "tag" not in one and "handle" not in name]  # fmt: skip
            assert (ends, operations) == (expected[rank][0], [
                one for one in expected[rank][1] if one[0] not in ("CREATE_HANDLE", "DESTROY_HANDLE")])  # fmt: skip
        assert shown.keys() == expected.keys()
        arrows = [(one["s"], one["f"]) for key, one in file.flows.items()
                  if (key[0] == "message" if format == "chrome" else key >> 63)]  # fmt: skip
        assert len(arrows) == matched
        for (sender, sent), (receiver, arrived) in arrows:
            assert sent <= arrived
            out = {(one["to"], one["tag"], one["bytes"])
                   for time, name, one in file.transfers[sender] if (time, name) == (sent, "send")}  # fmt: skip
            into = {(one["from"], one["tag"], one["bytes"])
                    for time, name, one in file.transfers[receiver] if (time, name) == (arrived, "receive")}  # fmt: skip
            to, source = world[receiver[0]], world[sender[0]]
            assert {one[1:] for one in out if one[0] == to} & {one[1:] for one in into if one[0] == source}


def ideal_runtime(processes):
    """The pipeline of slow_rank.py on a network that takes no time: rank by rank, from one meeting to the next."""
    begin = min(process["first"] for process in processes.values())
    time = {rank: process["first"] - begin for rank, process in processes.items()}
    calls = {rank: list(process["calls"]) for rank, process in processes.items()}
    while any(calls.values()):
        sent, met = None, False
        for rank in sorted(processes):
            while calls[rank]:
                name, work, *_ = calls[rank].pop(0)
                time[rank] += work
                name = name.removesuffix("_c")  # with counts of 64 bits
                if name == "MPI_Recv":
                    time[rank] = max(time[rank], sent)
                elif name == "MPI_Send":
                    sent = time[rank]
                elif name in ("MPI_Init_thread", "MPI_Barrier"):
                    met = True
                    break
        if met:
            time = dict.fromkeys(time, max(time.values()))
    return max(time[rank] + process["work_after"] for rank, process in processes.items())


def assert_efficiency(facts, read):
    """All factors, from the events; times in nanoseconds."""
    found, processes = facts["efficiency"], read["processes"]
    work = {rank: sum(call[1] for call in one["calls"]) + one["work_after"] for rank, one in processes.items()}
    mean, most = sum(work.values()) / len(work), max(work.values())
    runtime = max(one["last"] for one in processes.values()) - min(one["first"] for one in processes.values())
    ideal = ideal_runtime(processes)
    expected = {
        "processes": len(work), "runtime_s": runtime / 1e9, "ideal_runtime_s": ideal / 1e9, "mean_work_s": mean / 1e9,
        "most_work_s": most / 1e9, "load_balance": mean / most, "communication": most / runtime,
        "parallel": mean / runtime, "serialisation": most / ideal, "transfer": ideal / runtime,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-4)
    assert most <= ideal <= runtime
    assert facts["processes"][found["busiest"]] == read["groups"][str(max(work, key=work.__getitem__))]
    assert found["not_known"] == ""


@each_library
def test_efficiency_of_a_slow_rank(mpi, tmp_path, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, SLOW_RANK)
    assert_efficiency(json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout), archive(tmp_path / "run"))
    text = timeloom("report", "--mpi", tmp_path / "run").stdout
    factors = re.findall(r"^(parallel efficiency|communication) [\d.]+% = (.*)$", text, re.MULTILINE)
    assert [re.sub(r"[\d.]+%", "N%", factor) for _, factor in factors] == [
        "load balance N% x communication N%", "serialisation N% x transfer N%"]
    timeloom("check", tmp_path / "run", "efficiency > 0%", "balance <= 100%", "communication < 100%")


@each_library
def test_a_receiver_of_objects_waits_in_the_probe(mpi, tmp_path, timeloom):
    """comm.recv() of mpi4py waits in MPI_Mprobe, and then receives the message."""
    mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "late")
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    sender, receiver = (archive(tmp_path / "run")["processes"][rank]["calls"] for rank in (0, 1))
    sent = [begin for name, _, begin, _ in sender if name.removesuffix("_c") in ("MPI_Send", "MPI_Isend")]
    probes = [(begin, end) for name, _, begin, end in receiver if name == "MPI_Mprobe"]
    receives = [end - begin for name, _, begin, end in receiver if name.removesuffix("_c") == "MPI_Mrecv"]
    late = [time - begin for time, (begin, _) in zip(sent, probes, strict=True)]
    assert len(late) == 3 and min(late) > 0
    found = [(one["process"], one["count"], one["time_s"]) for one in facts["waits"] if one["kind"] == "late sender"]
    assert found == [(1, 3, pytest.approx(sum(late) / 1e9))]
    (pair,) = facts["messages"]
    spent = sum(receives) + sum(end - begin for begin, end in probes)
    assert pair["receive_s"] == pytest.approx(spent / 1e9)


@pytest.mark.many_ranks
@each_library
def test_efficiency_of_four_ranks_and_of_a_profile(mpi, tmp_path, timeloom):
    mpi_runs.run(mpi, 4, tmp_path, SLOW_RANK)
    assert_efficiency(json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout), archive(tmp_path / "run"))
    (tmp_path / "only").mkdir()
    mpi_runs.run(mpi, 2, tmp_path / "only", SLOW_RANK, options=["--profile"])
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "only" / "run").stdout)["efficiency"]
    assert facts["serialisation"] is facts["transfer"] is None
    assert facts["not_known"] == "the run has a profile and no trace"
    assert 0 < facts["parallel"] < 1
    assert facts["parallel"] == pytest.approx(facts["load_balance"] * facts["communication"])


@pytest.mark.many_ranks
@each_library
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("pattern", ["ring", "halo", "workers", "some", "collectives", "split"])
def test_patterns(mpi, ranks, pattern, tmp_path):
    read = check(mpi, ranks, tmp_path, pattern)
    if pattern == "some":
        assert read["processes"][0]["counts"]["MpiRequestCancelled"] == 1
    if pattern == "split":
        members = {one["name"]: one["members"] for one in read["communicators"].values()}
        assert members["twin"] == list(range(ranks))
        halves = sorted(one["members"] for one in read["communicators"].values() if len(one["members"]) == ranks // 2)
        if ranks == 4:
            assert halves[-2:] == [[2, 0], [3, 1]]


@pytest.mark.many_ranks
@each_library
@pytest.mark.parametrize(("pattern", "pairs"), [("halo", 2 * 16), ("workers", 2 * 15)])
def test_sixteen_ranks(mpi, pattern, pairs, tmp_path, timeloom):
    check(mpi, 16, tmp_path, pattern)
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    assert len(facts["messages"]) == pairs
    assert facts["unmatched"] == facts["backwards"] == 0
    lines = timeloom("report", "--mpi", tmp_path / "run").stdout.splitlines()
    picture = [line.split("|")[1] for line in lines if line.count("|") == 4]
    sends = {(one["from"], one["to"]) for one in facts["messages"]}
    assert [[cell != " " for cell in row] for row in picture] == [[(i, j) in sends for j in range(16)] for i in range(16)]


@pytest.mark.many_ranks
@each_library
def test_pickled_objects(mpi, tmp_path):
    mpi_runs.run(mpi, 3, tmp_path, PATTERNS, "objects")
    read = archive(tmp_path / "run")
    assert_matched(read)
    assert len(messages(read, 0, *SEND)) == 2
    assert [peer for peer, _, _ in messages(read, 2, *RECEIVE)] == [0]


@each_library
@pytest.mark.parametrize("level", ["funneled", "serialized", "multiple"])
def test_score_p_is_told_of_threads_that_call_mpi(mpi, level, tmp_path):
    """Once, where Score-P warns in each rank."""
    (tmp_path / "app.py").write_text(f"import mpi4py; mpi4py.rc.thread_level = {level!r}; import mpi4py.MPI\n")
    done = subprocess.run(
        [*mpi.command(2), sys.executable, "-m", "scorep", "--mpp=mpi", "app.py"], cwd=tmp_path, capture_output=True,
        text=True, check=True, env={**environment(), **mpi.variables, "SCOREP_EXPERIMENT_DIRECTORY": "run"},
    )  # fmt: skip
    line = "[Score-P] MPI_THREAD_(SERIALIZED|MULTIPLE) is in use: calls of all threads are recorded\n"
    assert done.stderr == ("" if level == "funneled" else line)


@pytest.mark.many_ranks
@each_library
def test_mpi_abort_is_named(mpi, tmp_path, timeloom):
    """For the rank that has called it; the launcher ends the others."""
    text = "from mpi4py import MPI\nworld = MPI.COMM_WORLD\nworld.barrier()\nif world.rank == 1: world.Abort(7)\nworld.recv(source=1)\n"
    (tmp_path / "app.py").write_text(text)
    mpi_runs.run(mpi, 2, tmp_path, "app.py", status=None)
    groups = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)["groups"]
    assert groups[1]["ending"] == "ended by MPI_Abort(7)"


@pytest.mark.many_ranks
@each_library
def test_a_rank_that_is_killed_leaves_what_it_has_sent(mpi, tmp_path, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "killed", status=None)
    timeloom("info", tmp_path / "run")  # weaves the rest
    read = archive(tmp_path / "run")
    assert sorted(read["processes"]) == [0, 1]
    assert messages(read, 1, *SEND) == [[0, 0, 80]]
    assert_matched(read)


@pytest.mark.many_ranks
@each_library
def test_a_program_that_does_not_end_mpi(mpi, tmp_path, timeloom):
    known, _ = mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "without_end", status=None)
    timeloom("info", tmp_path / "run")
    read = archive(tmp_path / "run")
    assert_matched(read)
    for rank, one in known.items():
        assert sorted(messages(read, rank, *SEND)) == sorted(one["sent"])


@pytest.mark.many_ranks
@each_library
def test_clocks_are_compared_where_each_rank_counts_as_a_host(mpi, tmp_path):
    mpi_runs.run(mpi, 3, tmp_path, PATTERNS, "ring", TIMELOOM_COMPARE_CLOCKS="each")
    assert_matched(archive(tmp_path / "run"), mpi_runs.MOST_BACKWARDS)
