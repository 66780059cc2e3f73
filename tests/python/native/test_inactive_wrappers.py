"""The cost of a wrapped call while nothing is measured: instructions, counted one by one."""

import functools
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from io_runs import wrapped_functions
from streams import environment

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the counter is for x86-64"),
]

SOURCE = Path(__file__).resolve().parents[2] / "native" / "count_steps.c"
COUNTED = set(re.findall(r"^ +(?:CALL|RUN)\((\w+)", SOURCE.read_text(), re.MULTILINE))
FUNCTIONS = {name for name in COUNTED if not name.startswith("MPI_")}
# Their arguments must be put into a list, for the variant that takes lists.
OF_ANY_NUMBER = {"printf", "fprintf", "dprintf", "scanf", "fscanf"}
# With up to twelve arguments; Initialized and Finalized look whether another library has been loaded.
IN_MPI = {**dict.fromkeys(["Send", "Recv", "Allreduce", "Put", "Gatherv", "Sendrecv", "Get_accumulate"], 10),
          "Initialized": 100, "Finalized": 100}  # fmt: skip


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "count_steps"
    subprocess.run(["cc", "-O0", "-fno-builtin", SOURCE, "-o", path, "-pthread"], check=True)
    return path


@pytest.fixture(scope="module", params=["mpicc.openmpi", "mpicc.mpich"])
def mpi_counter(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("mpi") / "count_steps"
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    command = [request.param, "-O0", "-fno-builtin", "-DWITH_MPI", SOURCE, "-o", path, "-pthread"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "mpi.h: No such file" in built.stderr:  # openmpi-bin alone brings mpicc.openmpi
        pytest.skip(f"{request.param} is without mpi.h")
    assert built.returncode == 0, built.stderr
    return path


@pytest.fixture(scope="module")
def preload(timeloom_program):
    @functools.cache
    def preload(*options):
        command = [timeloom_program, "preload", "--print", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return preload


def steps(counter, function, libraries):
    variables = {"LD_PRELOAD": libraries, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                 "OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1"}  # fmt: skip
    done = subprocess.run([counter, function], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env=environment(variables))  # fmt: skip
    if done.returncode == 2:
        pytest.skip("ptrace is not allowed here")
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])  # behind the output of puts() and others


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_few_instructions(counter, preload, function):
    most = 30 if function in OF_ANY_NUMBER else 10
    assert 0 < steps(counter, function, preload("--io", "posix", "--thread", "pthread")) <= most


def test_every_function_is_counted(timeloom_program):
    """Except for sync(), which would wait for the whole machine."""
    assert wrapped_functions(timeloom_program) - FUNCTIONS == {"sync"}


@pytest.mark.parametrize("function", IN_MPI)
def test_calls_of_mpi(mpi_counter, preload, function):
    assert 0 < steps(mpi_counter, f"MPI_{function}", preload("--mpi")) <= IN_MPI[function]
