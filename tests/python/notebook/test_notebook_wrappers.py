"""Kernels with wrapper libraries: cells that request I/O, MPI or threads record it, and others do not."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("ipykernel")

from notebooks import Kernel, execute, read

WRITES = """
import os
file = os.open("data", os.O_CREAT | os.O_RDWR)
for _ in range(3):
    os.write(file, b"x" * 500)
os.pread(file, 200, 0)
os.close(file)
"""
ARGV = [sys.executable, "-m", "timeloom_kernel", "--io=posix", "--mpi", "--thread=pthread", "-f", "{connection_file}"]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebook"), argv=ARGV)
    yield kernel
    kernel.close()


def regions(path):
    return {row["name"]: row["visits"] for row in read(path).flat}


def test_a_cell_shows_its_bytes(kernel):
    answer = kernel.run(f"%%timeloom --io\n{WRITES}")
    assert answer.status == "ok", answer.messages
    assert "read 200 B in 1 call, wrote 1.5 kB in 3 calls" in answer.shown[0].splitlines()
    run = read(answer.run)
    rows = [(Path(row["file"]).name, row["operation"], row["operations"], row["bytes"]) for row in run.io["files"]]
    assert sorted(rows) == [("data", "read", 1, 200), ("data", "write", 3, 1500)]
    assert {row["path"][0] for row in run.io["call_paths"]} == {f"In [{answer.reply['content']['execution_count']}]"}


def test_nothing_of_the_kernel_is_recorded(kernel):
    """Its native threads, which belong to zmq, read and write while a cell prints."""
    for _ in range(10):
        answer = kernel.run("%%timeloom --io --thread\nimport time\nfor n in range(20):\n    print(n, flush=True)\n    time.sleep(0.001)")
        run = read(answer.run)
        assert [thread["name"] for thread in run.threads] == ["MainThread"]
        assert run.io["files"] == [] and not {"read", "write"} & set(regions(answer.run))


def test_cells_that_do_not_ask_record_none(kernel):
    for magic in ("%%timeloom", "%%timeloom --io none", "%%execute_with_scorep"):
        answer = kernel.run(f"{magic}\n{WRITES}")
        assert answer.status == "ok"
        assert not {"write", "open", "pread"} & set(regions(answer.run)), magic


def test_arguments_of_the_bindings_ask_for_it(kernel):
    kernel.run("%%scorep_python_binding_arguments\n--io=runtime:posix")
    answer = kernel.run(f"%%execute_with_scorep\n{WRITES}")
    kernel.run("%%scorep_python_binding_arguments")
    assert (regions(answer.run)["write"], regions(answer.run)["pread"]) == (3, 1)


def test_a_cell_records_threads(kernel):
    code = "import threading\nthread = threading.Thread(target=int)\nthread.start()\nthread.join()"
    assert regions(kernel.run(f"%%timeloom --thread\n{code}").run)["pthread_create"] == 1
    assert "pthread_create" not in regions(kernel.run(f"%%timeloom\n{code}").run)


def test_nothing_is_left_for_children(kernel):
    answer = kernel.run("import os, subprocess\nsubprocess.run(['env'], capture_output=True, text=True).stdout.count('PRELOAD')")
    assert answer.result == "0"


def test_nbclient_sees_the_bytes(tmp_path):
    done = execute([f"%%timeloom --io posix\n{WRITES}"], tmp_path / "jupyter", tmp_path, argv=ARGV)
    (output,) = [one for one in done.cells[0].outputs if one["output_type"] == "display_data"]
    assert "wrote 1.5 kB in 3 calls" in output["data"]["text/plain"]
    assert "wrote 1.5 kB in 3 calls" in output["data"]["text/html"]
