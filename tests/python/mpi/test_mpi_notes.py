"""Options of MPI that do not fit the launcher or the program: one line on stderr, and the program runs."""

import subprocess
import sys

import mpi_runs
import pytest
from launchers import ranks  # noqa: F401
from streams import environment

pytestmark = pytest.mark.any_python

APP = "import sys\nprint('ran', *sys.argv[1:])\nsys.exit(3)\n"
ALONE = "--mpp=mpi: no launcher (mpirun, srun) has started this process: it is a run of its own [TL031]\n"
NO_LIBRARY = "the program has loaded no MPI library: there are no calls of MPI [TL033]\n"
OFF = {"SCOREP_ENABLE_PROFILING": "false", "SCOREP_ENABLE_TRACING": "false"}


def run(directory, *words, **variables):
    (directory / "app.py").write_text(APP)
    done = subprocess.run([sys.executable, "-m", *words, "app.py", "word"], cwd=directory, capture_output=True,
                          text=True, check=False, env=environment(variables))  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "ran word\n")
    return done.stderr


def test_score_p_without_a_launcher_and_without_mpi(tmp_path):
    assert run(tmp_path, "scorep", "--mpp=mpi") == f"scorep: {ALONE}scorep: --mpp=mpi: {NO_LIBRARY}"
    assert run(tmp_path, "scorep", "--mpp=mpi", **OFF) == ""
    assert run(tmp_path, "scorep", "--mpp=none") == run(tmp_path, "scorep") == ""


def test_timeloom_without_mpi(tmp_path):
    assert run(tmp_path, "timeloom", "--mpi", "--quiet", "-o", "a") == f"timeloom: --mpi: {NO_LIBRARY}"
    assert NO_LIBRARY not in run(tmp_path, "timeloom", "-o", "b")


LIBRARY = "int PMPI_Init(void* a, void* b) { return 0; }\n"


def test_a_library_of_mpi_is_found_wherever_it_is(tmp_path):
    (tmp_path / "mpi.c").write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "mpi.c", "-o", "libany.so"], cwd=tmp_path, check=True)
    (tmp_path / "app.py").write_text("import ctypes\nctypes.CDLL('./libany.so')\n")
    done = subprocess.run([sys.executable, "-m", "timeloom", "--mpi", "--quiet", "app.py"], cwd=tmp_path,
                          capture_output=True, text=True, check=True, env=environment())  # fmt: skip
    assert done.stderr == ""


def said(ranks, *words, **variables):
    (ranks.directory / "app.py").write_text(APP.replace("sys.exit(3)\n", ""))
    done = ranks.start(2, sys.executable, "-m", *words, "app.py", **variables)
    return [line for line in done.stderr.splitlines() if line.startswith(("scorep: ", "timeloom: "))]


def test_a_launcher_without_the_option(ranks):
    name = {"openmpi": "Open MPI", "mpich": "MPICH"}.get(ranks.launcher, ranks.launcher)
    (line,) = said(ranks, "scorep", SCOREP_EXPERIMENT_DIRECTORY="e")
    assert line.startswith("scorep: started by ") and name.lower() in line.lower()
    assert line.endswith(" without --mpp=mpi: calls of MPI are not recorded [TL032]")
    assert ranks.names == ["e"]  # the records are not affected
    assert said(ranks, "scorep", "--mpp=none", SCOREP_EXPERIMENT_DIRECTORY="f") == []
    assert said(ranks, "scorep", **OFF) == []


def test_one_rank_says_that_there_is_no_mpi(ranks):
    line = f"--mpp=mpi: {NO_LIBRARY}".rstrip()
    assert said(ranks, "scorep", "--mpp=mpi", SCOREP_EXPERIMENT_DIRECTORY="e") == ["scorep: " + line]
    assert said(ranks, "timeloom", "--mpi", "--quiet", "-o", "f") == ["timeloom: --mpi: " + NO_LIBRARY.rstrip()]
    assert said(ranks, "timeloom", "--quiet", "-o", "g") == []


@pytest.mark.one_python
@pytest.mark.skipif(not mpi_runs.implementations(), reason="mpi4py, Open MPI and MPICH are not installed")
def test_with_mpi_and_a_launcher_nothing_is_said(tmp_path):
    mpi = mpi_runs.implementations()[0]
    (tmp_path / "app.py").write_text("import mpi4py\nmpi4py.rc.threads = False\nfrom mpi4py import MPI\n")
    done = subprocess.run([*mpi.command(2), sys.executable, "-m", "scorep", "--mpp=mpi", "app.py"], cwd=tmp_path,
                          capture_output=True, text=True, check=True, env={**environment(), **mpi.variables})  # fmt: skip
    assert done.stderr == ""
