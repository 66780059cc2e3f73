"""CMake's messages if the OTF2 library, whose source may be built in, or a compiler is missing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed"),
]

ROOT = Path(__file__).resolve().parents[3]
# The file under test, in a project with the function that it uses.
PROJECT = f"""\
cmake_minimum_required(VERSION 3.25)
project(tried NONE)
function(timeloom_foreign_library target headers library)
  message(STATUS "declared with ${{library}}")
  message(STATUS "headers in ${{headers}}")
  add_library(${{target}} INTERFACE)
endfunction()
include({ROOT}/cmake/TimeloomOtf2.cmake)
"""
MISSING = (
    " The OTF2 library (3.0 or later) is missing: install libopen-trace-format2-dev (Debian),"
    " otf2-devel (Fedora) or otf2 (conda-forge), or take a wheel or the sdist, which have it inside (the sdist needs make)."
)


@pytest.fixture
def configure(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)

    def run(**values):
        defines = [f"-D{name}={value}" for name, value in values.items()]
        command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", *defines]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, [line.strip() for line in (done.stdout + done.stderr).splitlines()]

    return run


@pytest.fixture
def headers(tmp_path):
    def make(version):
        place = tmp_path / "include" / "otf2"
        place.mkdir(parents=True)
        (place / "OTF2_GeneralDefinitions.h").write_text(f"#define OTF2_VERSION_MAJOR  {version}\n")
        return place.parent

    return make


def test_a_library_that_is_there_is_taken(configure, headers):
    status, lines = configure(OTF2_LIBRARY="/here/libotf2.a", OTF2_INCLUDE_DIR=headers(3), TIMELOOM_OTF2_SOURCE="/a.tar.gz")
    assert status == 0 and "-- declared with /here/libotf2.a" in lines


def test_one_line_says_what_to_install(configure):
    status, lines = configure(OTF2_LIBRARY="", TIMELOOM_OTF2_SOURCE="")
    assert status == 1 and MISSING.strip() in lines


def test_a_library_that_is_too_old_is_missing(configure, headers):
    status, lines = configure(OTF2_LIBRARY="/here/libotf2.a", OTF2_INCLUDE_DIR=headers(2), TIMELOOM_OTF2_SOURCE="")
    assert status == 1 and MISSING.strip() in lines


def test_source_needs_make(configure, tmp_path):
    (tmp_path / "otf2.tar.gz").write_bytes(b"")
    status, lines = configure(OTF2_LIBRARY="", TIMELOOM_OTF2_SOURCE=tmp_path / "otf2.tar.gz", TIMELOOM_MAKE="")
    assert status == 1 and MISSING.strip() in lines


def test_the_source_is_built_where_the_library_is_missing(configure, tmp_path):
    archive = tmp_path / "otf2.tar.gz"
    archive.write_bytes(b"")
    status, lines = configure(OTF2_LIBRARY="", TIMELOOM_OTF2_SOURCE=archive)
    place = tmp_path / "build" / "otf2"
    built = place / "build" / "build-backend" / ".libs" / "libotf2.a"
    assert status == 0 and f"-- The OTF2 library is missing, and is built from {archive}" in lines
    assert f"-- declared with {built}" in lines
    assert f"-- headers in {place / 'source' / 'include'};{place / 'build' / 'include'}" in lines


def test_one_line_says_that_there_is_no_compiler(tmp_path):
    """Of this machine's programs only CMake is available."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "cmake").symlink_to(os.path.realpath(shutil.which("cmake") or "cmake"))
    command = [programs / "cmake", "-S", ROOT, "-B", tmp_path / "build"]
    done = subprocess.run(command, env={"PATH": str(programs)}, capture_output=True, text=True)
    assert done.returncode == 1 and "CMAKE_CXX_COMPILER" not in done.stdout + done.stderr
    line = "A C++ compiler is missing: install build-essential (Debian), gcc-c++ (Fedora) or cxx-compiler (conda-forge), or take a wheel, which needs none."
    assert line in [line.strip() for line in done.stderr.splitlines()]


def test_one_line_says_that_the_c_library_is_another(tmp_path):
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "features.h").write_text("")  # as musl's, which names nobody
    command = ["cmake", "-S", ROOT, "-B", tmp_path / "build"]
    done = subprocess.run(command, env={**os.environ, "CXXFLAGS": f"-I{tmp_path}/headers"}, capture_output=True, text=True)
    assert done.returncode == 1
    line = (
        "Timeloom needs Linux with glibc, and this compiler makes programs for another C library: in containers take an "
        "image with glibc, such as python:3.13-slim in the place of python:3.13-alpine."
    )
    assert line in [line.strip() for line in done.stderr.splitlines()]
