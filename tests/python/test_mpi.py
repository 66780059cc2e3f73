"""Programs of mpi4py under Timeloom: messages match, bytes are those of the program, with each library."""

import json
import re
import subprocess
import sys
from pathlib import Path

import mpi_runs
import pytest
from converted import Chrome, Perfetto, converter
from cube_files import sums_by_region
from mpi_runs import PATTERNS, SLOW_RANK, archive, assert_matched, implementations, messages
from streams import environment

pytestmark = pytest.mark.one_python

SEND, RECEIVE = ("MpiSend", "MpiIsend"), ("MpiRecv", "MpiIrecv")
EXCHANGING = {"MPI_Sendrecv", "MPI_Isend", "MPI_Irecv", "MPI_Waitall"}
LIBRARY = Path(__file__).resolve().parents[2] / "src" / "preload" / "mpi" / "abi.cpp"


def each_library(function):
    known = [pytest.param(one, id=one.name) for one in implementations()]
    missing = pytest.param(None, id="none", marks=pytest.mark.skip(reason="mpi4py, Open MPI and MPICH are not installed"))
    return pytest.mark.parametrize("mpi", known or [missing])(function)


def check(mpi, ranks, directory, pattern):
    """The messages and collective operations of the archive are what the program knows."""
    known, _ = mpi_runs.run(mpi, ranks, directory, PATTERNS, pattern)
    return check_known(known, ranks, directory)


def check_known(known, ranks, directory):
    read = archive(directory / "run")
    assert sorted(known) == sorted(read["processes"]) == list(range(ranks))
    assert_matched(read)
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
    """Of the pipeline of slow_rank.py, on a network that takes no time: rank by rank, from one meeting to the next."""
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
def test_a_rank_that_is_killed_leaves_what_it_has_sent(mpi, tmp_path, timeloom):
    mpi_runs.run(mpi, 2, tmp_path, PATTERNS, "killed", status=None)
    timeloom("info", tmp_path / "run")  # weaves what is left
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
    assert_matched(archive(tmp_path / "run"))


PROBE = r"""
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#define INTEGER(name) printf(#name " %lld\n", (long long)(name))
int main(void) {
  MPI_Status status;
  printf("handle_bytes %d\n", (int)sizeof(MPI_Comm));
  printf("status_bytes %d\n", (int)sizeof status);
  printf("source_at %d\n", (int)offsetof(MPI_Status, MPI_SOURCE));
  printf("tag_at %d\n", (int)offsetof(MPI_Status, MPI_TAG));
  printf("proc_null %d\n", MPI_PROC_NULL);
  printf("any_source %d\n", MPI_ANY_SOURCE);
  printf("any_tag %d\n", MPI_ANY_TAG);
  printf("root %d\n", MPI_ROOT);
  printf("undefined %d\n", MPI_UNDEFINED);
  printf("in_place %lld\n", (long long)(size_t)MPI_IN_PLACE);
  printf("no_status %lld\n", (long long)(size_t)MPI_STATUS_IGNORE);
  printf("no_status %lld\n", (long long)(size_t)MPI_STATUSES_IGNORE);
  printf("mode_create %d\n", MPI_MODE_CREATE);
  printf("mode_write_only %d\n", MPI_MODE_WRONLY);
  printf("mode_read_write %d\n", MPI_MODE_RDWR);
  printf("mode_exclusive %d\n", MPI_MODE_EXCL);
  printf("mode_append %d\n", MPI_MODE_APPEND);
  printf("funneled %d\n", MPI_THREAD_FUNNELED);
  printf("cart %d\ngraph %d\ndist_graph %d\n", MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH);
#ifndef OPEN_MPI
  printf("world %lld\n", (long long)MPI_COMM_WORLD);
  printf("self %lld\n", (long long)MPI_COMM_SELF);
  printf("no_comm %lld\n", (long long)MPI_COMM_NULL);
  printf("no_request %lld\n", (long long)MPI_REQUEST_NULL);
  printf("no_info %lld\n", (long long)MPI_INFO_NULL);
  printf("byte %lld\n", (long long)MPI_BYTE);
  printf("unsigned_long %lld\n", (long long)MPI_UNSIGNED_LONG);
  printf("max %lld\n", (long long)MPI_MAX);
  printf("no_op %lld\n", (long long)MPI_NO_OP);
#endif
  return MPI_SUCCESS;
}
"""


def table(name):
    """The entries of one Abi in library.cpp."""
    text = re.search(r"constexpr Abi " + name + r"\{(.*?)\};", LIBRARY.read_text(), re.DOTALL).group(1)
    values = dict(re.findall(r"\.(\w+) = ([^,\s}]+(?:\{0\})?)", text))
    return {key: -1 if value.startswith("~") else int(value, 0) for key, value in values.items() if value[0] != '"'}


@pytest.mark.parametrize(
    ("compiler", "name"),
    [("mpicc.openmpi", "kOpenMpi"), ("mpicc.mpich", "kMpich"), ("mpicc", "kMpich"), ("mpicc_abi", "kStandard")],
)
def test_the_tables_are_those_of_the_headers(compiler, name, tmp_path):
    (tmp_path / "probe.c").write_text(PROBE)
    probe = mpi_runs.compiled(tmp_path / "probe.c", compiler, tmp_path)
    lines = subprocess.run([probe], capture_output=True, text=True, check=True).stdout.splitlines()
    expected = table(name)
    for line in lines:
        key, value = line.split()
        assert expected[key] == int(value), line


IN_C = [(2, "mpicc"), (2, "mpicc_abi"), *(pytest.param(4, name, marks=pytest.mark.many_ranks) for name in mpi_runs.COMPILERS),
        pytest.param(16, "mpicc_abi", marks=pytest.mark.many_ranks)]  # fmt: skip


@pytest.mark.parametrize(("ranks", "compiler"), IN_C)
def test_a_program_in_c(ranks, compiler, tmp_path, timeloom, timeloom_program):
    """Also with the binary interface of the standard, for which mpi4py's wheels have no module."""
    program = mpi_runs.compiled(PATTERNS.with_suffix(".c"), compiler, tmp_path)
    known, said = mpi_runs.run_native(mpi_runs.library_of(compiler), ranks, tmp_path, timeloom_program, program, tmp_path / "written")
    assert said == ""
    check_known(known, ranks, tmp_path)
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    assert facts["unmatched"] == facts["backwards"] == 0
    printed = subprocess.run(["otf2-print", tmp_path / "run" / "traces.otf2"], capture_output=True, text=True, check=True)
    (opened,) = [line for line in printed.stdout.splitlines() if line.startswith("IO_CREATE_HANDLE ")]
    assert "Access Mode: WRITE_ONLY" in opened
    assert "Creation Flags: {CREATE}" in opened
    assert (tmp_path / "written").read_text() == str(tmp_path / "written")[:10]


def test_a_library_that_nobody_knows(tmp_path, timeloom, timeloom_program):
    """Its calls are regions, its messages are not recorded, and a line says so."""
    source = PATTERNS.with_name("foreign.c")
    library, program = tmp_path / "libforeign.so", tmp_path / "program"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    subprocess.run(["cc", "-DPROGRAM", source, library, f"-Wl,-rpath,{tmp_path}", "-o", program], check=True)
    done = subprocess.run(
        [timeloom_program, "run", "--quiet", "--mpi", "-o", tmp_path / "run", "--program", program],
        capture_output=True, text=True, env=mpi_runs.environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert "the MPI library of the program is none that is known" in line
    facts = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)
    assert {row["name"]: row["visits"] for row in facts["functions"]} == {"MPI_Init": 1, "MPI_Send": 1, "MPI_Finalize": 1}
    assert facts["messages"] == []


def several(directory, libraries, *options, visible="RTLD_LOCAL"):
    """The words of a program that uses so many MPI libraries, each of which but the program has loaded."""
    source = PATTERNS.with_name("several.c")

    def build(name, *words):
        subprocess.run(["cc", "-O1", source, *words, f"-Wl,-rpath,{directory}", "-o", directory / name], check=True)
        return directory / name

    users = []
    for number in range(1, libraries + 1):
        library = build(f"libmpi{number}.so", "-shared", "-fPIC", f"-DLIBRARY={number}", *options)
        users.append(build(f"user{number}.so", "-shared", "-fPIC", "-DUSER", library))
    return [build("program", f"-DVISIBLE={visible}", "-ldl"), *users]


def visits_of(timeloom, run):
    facts = json.loads(timeloom("report", "--mpi", "--json", run).stdout)
    return {row["name"]: row["visits"] for row in facts["functions"]}


@pytest.mark.parametrize(("libraries", "visible"), [(1, "RTLD_LOCAL"), (2, "RTLD_LOCAL"), (3, "RTLD_LOCAL"), (2, "RTLD_GLOBAL")])
def test_several_libraries(libraries, visible, tmp_path, timeloom, timeloom_program):
    """Each caller has the library that it was linked with; calls of the first that begins are recorded."""
    done = subprocess.run(
        [timeloom_program, "run", "--quiet", "--mpi", "-o", tmp_path / "run", "--program",
         *several(tmp_path, libraries, visible=visible)],
        capture_output=True, text=True, env=mpi_runs.environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert visits_of(timeloom, tmp_path / "run") == {
        "MPI_Init": 1, "MPI_Initialized": 2, "MPI_Comm_rank": 2, "MPI_Finalize": 1
    }  # fmt: skip
    said = [line for line in done.stderr.splitlines() if "more than one MPI library" in line]
    assert said == [] if libraries == 1 else f"calls of {tmp_path}/libmpi1.so are recorded" in said[0] and len(said) == 1


@pytest.mark.parametrize("options", [("-DWITHOUT_PMPI",), ("-Wl,--hash-style=sysv",)], ids=["no PMPI", "older table"])
def test_a_library_that_is_built_in_another_way(options, tmp_path, timeloom, timeloom_program):
    done = subprocess.run(
        [timeloom_program, "run", "--quiet", "--mpi", "-o", tmp_path / "run", "--program",
         *several(tmp_path, 1, *options)],
        capture_output=True, text=True, env=mpi_runs.environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "no MPI library" not in done.stderr, done.stderr
    assert visits_of(timeloom, tmp_path / "run") == {
        "MPI_Init": 1, "MPI_Initialized": 2, "MPI_Comm_rank": 2, "MPI_Finalize": 1
    }  # fmt: skip


@each_library
@pytest.mark.parametrize(("loaded", "mode"), [(0, "LOCAL"), (1, "LOCAL"), (1, "GLOBAL")])
def test_mpi4py_beside_another_library(mpi, loaded, mode, tmp_path, timeloom):
    """One that is loaded and never used, before or after that of mpi4py, and where all may see it."""
    others = [one for one in mpi_runs.implementations() if one.name != mpi.name]
    if not others:
        pytest.skip("there is only one MPI library")
    program = tmp_path / "program.py"
    lines = [f"import ctypes; ctypes.CDLL({str(others[0].library)!r}, ctypes.RTLD_{mode})", "from mpi4py import MPI"]
    program.write_text("\n".join([*lines[::1 - 2 * loaded], "MPI.COMM_WORLD.barrier()", "MPI.COMM_WORLD.barrier()"]))
    _, said = mpi_runs.run(mpi, 2, tmp_path, program)
    assert said.count(f"calls of {mpi.library} are recorded, those of others are not") == 2, said
    assert visits_of(timeloom, tmp_path / "run")["MPI_Barrier"] == 4
