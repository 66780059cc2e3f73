"""Programs with LLVM's OpenMP, whose runs OMPT tells."""

import collections
import shutil
import sysconfig
from pathlib import Path

import pytest
from native_programs import config, output
from spool_reader import stream

__all__ = ["config", "wrapper"]  # fixtures

PYPI = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
DEBIAN = sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so"))

RUNTIMES = {"PyPI": PYPI / "lib" / "libomp.so", **({"Debian": DEBIAN[-1]} if DEBIAN else {})}
OPTIONS = ("--no-weave", "--quiet")
needs_runtime = pytest.mark.skipif(not (PYPI / "lib" / "libomp.so").exists(), reason="cmeel-libomp is not installed")


@pytest.fixture(scope="module")
def wrapper(config):
    return str(Path(config("--kokkos")[0]).with_name("libtimeloom_wrap_openmp.so"))


def linked(compiler, runtime, source):
    """The source's program with a runtime of LLVM."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    include = [f"-I{PYPI / 'include'}"] if compiler == "clang" else []
    compiled, program = source.with_suffix(".o"), source.with_suffix("")
    output(compiler, "-g", "-O1", "-fopenmp", *include, "-c", source, "-o", compiled)
    output("cc", compiled, runtime, f"-Wl,-rpath,{runtime.parent}", "-pthread", "-o", program)
    return program


def counted(spool):
    """How often each region was entered, and each other event met, on all threads."""
    met = collections.Counter()
    for location in spool.locations():
        met.update(name if kind == "enter" else kind for kind, name, *_ in stream(spool, location) if kind != "leave")
    return met
