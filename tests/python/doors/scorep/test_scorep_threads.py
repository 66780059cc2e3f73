"""The threads of a run in Score-P's layout, as another tool reads them: paradigms, groups, communicators, numbers."""

import json
import subprocess
import sys

import mpi_runs
import pytest
from archives import DEBIAN_PYTHON
from streams import environment

READER = """
import json, sys
import otf2
word = lambda value: str(value).rpartition(".")[2]
with otf2.reader.open(sys.argv[1]) as trace:
    all = trace.definitions
    names = {place._ref: f"{place.group.name}/{place.name}" for place in all.locations}
    result = {
        "paradigms": sorted([word(one.paradigm), one.name, word(one.paradigm_class)] for one in all.paradigms),
        "properties": sorted([word(one.paradigm), word(one.property), one.value] for one in all.paradigm_properties),
        "groups": [[one.name, word(one.group_type), [names[place._ref] for place in one.members]]
                   for one in all.groups if word(one.paradigm) == "PTHREAD" and "COMM" in word(one.group_type)],
        "communicators": {one._ref: [one.name, [names[place._ref] for place in one.group.members]]
                          for one in all.comms if word(one.group.paradigm) == "PTHREAD"},
        "of_mpi": [one._ref for one in all.comms if word(one.group.paradigm) == "MPI"],
        "numbers": {}}
    for location, event in trace.events:
        name = type(event).__name__
        if name.startswith("Thread"):
            words = result["numbers"].setdefault(name, [])
            words.append([event.thread_contingent._ref, event.sequence_count, names[location._ref]])
print(json.dumps(result))
"""

PROGRAM = """
import threading


def start(count):
    threads = [threading.Thread(target=len, args=("",)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

"""

PTHREAD = ["PTHREAD", "Pthread", "THREAD_CREATE_WAIT"]
ORPHAN = ["UNKNOWN", "Orphan thread", "THREAD_CREATE_WAIT"]


def run(directory, text, *options, launcher=(), **variables):
    (directory / "app.py").write_text(PROGRAM + text)
    done = subprocess.run(
        [*launcher, sys.executable, "-m", "scorep", *options, "app.py"], cwd=directory, capture_output=True, text=True,
        timeout=200, env=environment({"SCOREP_ENABLE_TRACING": "true", "SCOREP_EXPERIMENT_DIRECTORY": "e", **variables}),
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    words = [DEBIAN_PYTHON, "-c", READER, directory / "e" / "traces.otf2"]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def assert_numbered(read, process, communicator, count):
    """Each thread of the process has a separate number there, from 1."""
    places = {}
    for name in ("ThreadCreate", "ThreadBegin", "ThreadEnd", "ThreadWait"):
        of = [words for words in read["numbers"][name] if words[2].startswith(f"{process}/")]
        assert sorted(words[:2] for words in of) == [[communicator, number] for number in range(1, count + 1)]
        places[name] = {number: place for _, number, place in of}
    assert places["ThreadBegin"] == places["ThreadEnd"]
    assert set(places["ThreadCreate"].values()) == {f"{process}/Master thread"} == set(places["ThreadWait"].values())


def names_of(process, count, kind="Pthread"):
    return [f"{process}/Master thread", *(f"{process}/{kind} thread {k}" for k in range(1, count + 1))]


@pytest.mark.any_python
def test_threads_of_one_process(tmp_path):
    read = run(tmp_path, "start(2)\n", "--thread=pthread")
    names = names_of("Process", 2)
    assert read["paradigms"] == [PTHREAD, ORPHAN]
    assert read["groups"] == [["PTHREAD", "COMM_LOCATIONS", names], ["SCOREP_GROUP_PTHREAD", "COMM_GROUP", names]]
    assert read["communicators"] == {"0": ["", names]}
    assert_numbered(read, "Process", 0, 2)


@pytest.mark.any_python
def test_without_the_option_threads_are_orphans(tmp_path):
    read = run(tmp_path, "start(2)\n")
    assert read["paradigms"] == [PTHREAD, ORPHAN]
    assert read["communicators"] == {"0": ["", names_of("Process", 2, "Orphan")]}
    assert_numbered(read, "Process", 0, 2)


@pytest.mark.any_python
def test_without_threads_there_is_no_paradigm(tmp_path):
    read = run(tmp_path, "")
    assert (read["paradigms"], read["groups"], read["communicators"]) == ([], [], {})


@pytest.mark.any_python
def test_each_process_has_a_communicator(tmp_path):
    text = "import os\nif os.fork() == 0:\n    start(3)\nelse:\n    start(2)\n    os.wait()\n"
    read = run(tmp_path, text, "--thread=pthread")
    first, second = names_of("Process", 2), names_of("Process 1", 3)
    everybody, *processes = read["groups"]
    assert (everybody[:2], sorted(everybody[2])) == (["PTHREAD", "COMM_LOCATIONS"], sorted([*first, *second]))
    assert processes == [["SCOREP_GROUP_PTHREAD", "COMM_GROUP", one] for one in (first, second)]
    assert read["communicators"] == {"0": ["", first], "1": ["", second]}
    assert_numbered(read, "Process", 0, 2)
    assert_numbered(read, "Process 1", 1, 3)


@pytest.mark.one_python
@pytest.mark.skipif(not mpi_runs.implementations(), reason="mpi4py, Open MPI and MPICH are not installed")
def test_beside_the_communicators_of_mpi(tmp_path):
    mpi = mpi_runs.implementations()[0]
    text = "import mpi4py\nmpi4py.rc.threads = False\nfrom mpi4py import MPI\nstart(1 + MPI.COMM_WORLD.rank)\nMPI.COMM_WORLD.barrier()\n"
    read = run(tmp_path, text, "--thread=pthread", "--mpp=mpi", launcher=mpi.command(2), **mpi.variables)
    assert read["paradigms"] == [["MPI", "MPI", "PROCESS"], PTHREAD, ORPHAN]
    assert read["properties"] == [
        ["MPI", "COMM_NAME_TEMPLATE", "Comm ${id}"], ["MPI", "RMA_WIN_NAME_TEMPLATE", "Win ${id}"]]  # fmt: skip
    for rank in (0, 1):  # the library of MPI has threads, too
        created, begun = (
            sorted(words[:2] for words in read["numbers"][name] if words[2].startswith(f"MPI Rank {rank}/"))
            for name in ("ThreadCreate", "ThreadBegin")
        )
        assert created == begun == [[rank, number] for number in range(1, len(created) + 1)]
        assert len(created) >= 1 + rank
    assert min(read["of_mpi"]) == 2
