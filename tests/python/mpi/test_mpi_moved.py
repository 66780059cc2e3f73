"""The bytes of one-sided communication and of MPI files equal the program's, by function."""

import json

import mpi_runs
import pytest
from cube_files import sums_by_region
from mpi_runs import MOVED, archive, each_library

pytestmark = [pytest.mark.any_python]

MODES = pytest.mark.parametrize("mode", [(), ("--profile",)], ids=["trace", "profile"])


def by_function(rows):
    """{function: [bytes, bytes]}, of functions with counts of 64 bits under the name of the others."""
    sums = {}
    for name, first, second in rows:
        if first or second:
            one = sums.setdefault(name.removesuffix("_c"), [0, 0])
            one[0] += first
            one[1] += second
    return sums


def known_sums(known, table):
    rows = [(name, *two) for rank in known.values() for name, two in rank[table].items()]
    return by_function(rows)


def of_report(run, timeloom, out, into):
    rows = json.loads(timeloom("report", "--mpi", "--json", run).stdout)["bytes"]
    return by_function([(row["name"], row[out], row[into]) for row in rows])


def of_profile(run, out, into):
    first, second = (sums_by_region(run / "profile.cubex", metric) for metric in (out, into))
    names = sorted(first.keys() | second.keys())
    return by_function([(name, first.get(name, 0), second.get(name, 0)) for name in names])


def run_and_compare(mpi, mode, directory, timeloom, table, metrics, functions):
    """Return the program's numbers, after checking that report and profile have the same; and the run."""
    known, _ = mpi_runs.run(mpi, 2, directory, MOVED, table, options=mode)
    run = directory / "run"
    expected = known_sums(known, table)
    assert len(expected) == functions
    assert of_report(run, timeloom, *metrics) == of_profile(run, *metrics) == expected
    return known, expected, run


@each_library
@MODES
def test_one_sided(mpi, mode, tmp_path, timeloom):
    metrics = ("bytes_put", "bytes_get")
    _, _, run = run_and_compare(mpi, mode, tmp_path, timeloom, "one_sided", metrics, 10)
    text = timeloom("report", "--mpi", run).stdout
    assert "bytes by function" in text and "MPI_Put" in text


@each_library
@MODES
def test_files(mpi, mode, tmp_path, timeloom):
    metrics = ("io_bytes_read", "io_bytes_written")
    known, expected, run = run_and_compare(mpi, mode, tmp_path, timeloom, "files", metrics, 14)
    found = json.loads(timeloom("report", "--io", "--json", run).stdout)
    paths = [(row["path"][-1], row["operation"], row["bytes"]) for row in found["call_paths"]]
    assert by_function([(name, size * (operation == "read"), size * (operation == "write"))
                        for name, operation, size in paths]) == expected  # fmt: skip
    if not mode:
        assert_files(found["files"], known, tmp_path)
        counts = [process["counts"] for process in archive(run)["processes"].values()]
        transfers = sum(row["operations"] for row in found["files"])
        assert sum(one["IoOperationBegin"] for one in counts) == transfers
        assert sum(one["IoOperationComplete"] for one in counts) == transfers
        assert [(one["IoCreateHandle"], one["IoDestroyHandle"]) for one in counts] == [(2, 2), (2, 2)]


def assert_files(rows, known, directory):
    """Sums over both ranks, by file and operation."""
    assert {row["interface"] for row in rows} == {"MPI I/O"}
    assert {row["file"] for row in rows} == {str((directory / name).resolve()) for name in ("data", "other")}
    sums = {operation: sum(row["bytes"] for row in rows if row["operation"] == operation)
            for operation in ("read", "write", "flush")}  # fmt: skip
    moved = [sum(two[index] for rank in known.values() for two in rank["files"].values()) for index in (0, 1)]
    assert sums == {"read": moved[0], "write": moved[1], "flush": 0}


@each_library
def test_what_a_cell_without_measurement_opens_is_known_later(mpi, tmp_path, timeloom):
    """Recording begins after the file was opened."""
    program = tmp_path / "app.py"
    program.write_text(LATE)
    mpi_runs.run(mpi, 2, tmp_path, program)
    (row,) = json.loads(timeloom("report", "--io", "--json", tmp_path / "run").stdout)["files"]
    assert (row["file"], row["operation"], row["operations"], row["bytes"]) == (str((tmp_path / "late").resolve()), "write", 2, 20)


LATE = """
import timeloom
timeloom.disable_recording()
from mpi4py import MPI
file = MPI.File.Open(MPI.COMM_WORLD, "late", MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at(0, b"x" * 30)
timeloom.enable_recording()
file.Write_at(0, b"x" * 10)
file.Close()
"""
