"""Programs that use Kokkos, with a client of Kokkos Tools (tests/native/kokkos_client.cpp) in the place of Kokkos."""

import csv
import io
import os
import shutil
import subprocess
import sys

import pytest
from native_programs import NATIVE, calls, config, output, record
from spool_reader import spools_of, stream

__all__ = ["config", "record"]  # fixtures

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")]

KINDS = {
    "axpy": ("KOKKOS_PARALLEL_FOR", "parallel"),
    "f": ("KOKKOS_PARALLEL_REDUCE", "parallel"),
    "solver::Axpy": ("KOKKOS_PARALLEL_SCAN", "parallel"),
    "solver::Axpy/solver::Tag": ("KOKKOS_PARALLEL_FOR", "parallel"),
    "solve": ("KOKKOS_REGION", "code"),
    "assemble": ("KOKKOS_REGION", "code"),
    "factor": ("KOKKOS_REGION", "code"),
    "copy from HostSpace to Cuda": ("KOKKOS_COPY", "data transfer"),
    "Kokkos::deep_copy: fence": ("KOKKOS_FENCE", "barrier"),
    "allocate in HostSpace": ("KOKKOS_MEMORY", "allocate"),
    "allocate in Cuda": ("KOKKOS_MEMORY", "allocate"),
    "deallocate in HostSpace": ("KOKKOS_MEMORY", "deallocate"),
    "deallocate in Cuda": ("KOKKOS_MEMORY", "deallocate"),
}
ROLES = {"code": 2, "barrier": 12, "parallel": 18, "data transfer": 35, "allocate": 36, "deallocate": 37}
PARADIGM = 9


def memory(what, space, present):
    region = f"{what} in {space}"
    return [("enter", region), ("metric", (f"Kokkos {space}", "bytes"), present), ("leave", region)]


def region(name, *inside):
    return [("enter", name), *inside, ("leave", name)]


SOLVE = [
    *memory("allocate", "HostSpace", 800),
    *memory("allocate", "Cuda", 400),
    *region(
        "solve",
        *calls("axpy f.."),
        *calls("solver::Axpy."),
        *calls("solver::Axpy/solver::Tag."),
        *region(
            "copy from HostSpace to Cuda",
            ("metric", ("Kokkos bytes copied", "bytes"), 400),
            *region("Kokkos::deep_copy: fence"),
        ),
    ),
    *calls("factor."),
    *calls("assemble."),
    *memory("deallocate", "Cuda", 0),
    *memory("allocate", "HostSpace", 1000),
    *memory("deallocate", "HostSpace", 0),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """The client as a program, and as a library for a Python program."""
    directory = tmp_path_factory.mktemp("kokkos")
    source = NATIVE / "kokkos_client.cpp"
    output("c++", source, "-o", directory / "client", "-ldl", "-pthread")
    output("c++", "-DAS_LIBRARY", "-shared", "-fPIC", source, "-o", directory / "libclient.so", "-ldl", "-pthread")
    return directory


def kinds_of(spool):
    return {r["name"]: (r["file"], r["role"]) for r in spool.regions.values() if r["paradigm"] == PARADIGM}


WANTED = {name: (file, ROLES[role]) for name, (file, role) in KINDS.items()}


def test_a_program_records_all_events_in_order(client, record, tmp_path):
    record(client / "client", options=("--kokkos", "--no-weave", "--quiet"))
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended and spool.lost == 0 and spool.threads == {0: "Master thread"}
    assert stream(spool, 0) == SOLVE
    assert kinds_of(spool) == WANTED
    assert {r["group"] for r in spool.regions.values()} == {"Kokkos"}
    assert [(place, text) for place, _, text in spool.markers] == [(0, "half way")]


def test_the_variable_alone_is_enough(client, config, record, tmp_path):
    (library,) = config("--kokkos")
    record(client / "client", KOKKOS_TOOLS_LIBS=library)
    (spool,) = spools_of(tmp_path / "run")
    assert stream(spool, 0) == SOLVE


PROGRAM = """\
import ctypes, sys
def solve():
    ctypes.CDLL(sys.argv[1]).run_kokkos()
solve()
"""


def test_an_extension_records_inside_the_function_that_calls_it(client, timeloom, tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    timeloom("run", "--kokkos", "--no-weave", "--quiet", "-o", "run", "app.py", client / "libclient.so", cwd=tmp_path)
    (spool,) = spools_of(tmp_path / "run")
    kokkos = set(WANTED)
    events = stream(spool, 0, lambda name: name in kokkos or name == "__main__.solve")
    assert events == region("__main__.solve", *SOLVE)
    assert kinds_of(spool) == WANTED


def test_threads_have_their_own_regions(client, record, tmp_path):
    record(client / "client", "threads", options=("--kokkos", "--no-weave", "--quiet"))
    (spool,) = spools_of(tmp_path / "run")
    assert stream(spool, 0) == calls("main.")
    assert stream(spool, 1) == calls("other axpy..")


def test_a_forked_child_goes_on(client, record, tmp_path):
    record(client / "client", "fork", options=("--kokkos", "--no-weave", "--quiet"))
    parent, child = spools_of(tmp_path / "run")
    assert stream(parent, 0) == calls("parent.")
    assert stream(child, 0) == region("parent (forked)", *region("in the child"))


def test_numbers_that_were_not_given_out_end_nothing(client, record, tmp_path):
    record(client / "client", "wrong", options=("--kokkos", "--no-weave", "--quiet"))
    (spool,) = spools_of(tmp_path / "run")
    never = [("enter", "never ended")] * 3000 + [("leave", "never ended")] * 3000
    assert stream(spool, 0) == [*calls("outer inner.."), *never]


def test_without_a_measurement_nothing_is_recorded_or_printed(client, config):
    (library,) = config("--kokkos")
    variables = {**os.environ, "KOKKOS_TOOLS_LIBS": library}
    done = subprocess.run([client / "client"], capture_output=True, text=True, check=True, env=variables)
    assert (done.stdout, done.stderr) == ("", "")
    done = subprocess.run([client / "client", "help"], capture_output=True, text=True, check=True, env=variables)
    assert done.stdout == "" and done.stderr.count("\n") == 1


@pytest.mark.parametrize("program", ["python", "other"])
def test_another_tool_stays(client, program, timeloom_program, tmp_path):
    (tmp_path / "app.py").write_text("import os; print(os.environ['KOKKOS_TOOLS_LIBS'])")
    words = ["app.py"] if program == "python" else ["--program", sys.executable, "app.py"]
    done = subprocess.run(
        [timeloom_program, "run", "--kokkos", "--quiet", "-o", "run", *words], cwd=tmp_path, capture_output=True,
        text=True, check=True, env={**os.environ, "KOKKOS_TOOLS_LIBS": "/opt/libother.so"},
    )  # fmt: skip
    assert done.stdout == "/opt/libother.so\n"
    assert done.stderr.splitlines()[0] == (
        "timeloom: Kokkos is not recorded: KOKKOS_TOOLS_LIBS names the library of another tool, /opt/libother.so; "
        "unset it [TL027]"
    )


def test_a_report_has_kernels_and_bytes(client, timeloom, tmp_path):
    timeloom("run", "--kokkos", "--quiet", "-o", "run", "--program", client / "client", cwd=tmp_path)
    rows = csv.DictReader(io.StringIO(timeloom("report", "--csv", "run", cwd=tmp_path).stdout))
    regions = {(row["name"], row["file"]): row for row in rows}
    assert regions[("solver::Axpy/solver::Tag", "KOKKOS_PARALLEL_FOR")]["visits"] == "1"
    copy = regions[("copy from HostSpace to Cuda", "KOKKOS_COPY")]
    assert copy["metric.Kokkos bytes copied.sum"] == "400"
    assert regions[("allocate in HostSpace", "KOKKOS_MEMORY")]["metric.Kokkos HostSpace.max"] == "1000"
