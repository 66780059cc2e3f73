"""The libraries that are linked into the programs of a wheel, built from their authors' sources as Debian keeps them,
and the licences of everything in a wheel."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import tarfile

from scripts import environments
from scripts.release import old_glibc, release_tools

COMMON = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON", "-DBUILD_SHARED_LIBS=OFF")


@dataclasses.dataclass(frozen=True)
class Library:
    name: str
    package: str  # of Debian, with its headers
    version: str
    place: str  # path in Debian's pool
    sha256: str
    licence: str  # its SPDX name
    licence_file: str
    headers: tuple[str, ...]  # files and folders of the source
    archive: str  # the static library, if it is built
    options: tuple[str, ...] = ()


LIBRARIES = (
    Library(
        "otf2", "libopen-trace-format2-dev", "3.0.2", "pool/main/o/otf2/otf2_3.0.2.orig.tar.xz",
        "f037aafd3f9d3b677aa8004663c527041dcaecbb04b5c804a2997d08efe0fe17",
        "BSD-3-Clause", "COPYING", ("include/otf2",), "libotf2.a",
    ),
    Library(
        "expat", "libexpat1-dev", "2.8.3", "pool/main/e/expat/expat_2.8.3.orig.tar.gz",
        "533659a16e0184035a99fd8e783f1ad61a887a7bf8586a8681740b9d7ed42389",
        "MIT", "COPYING", ("expat/lib/expat.h", "expat/lib/expat_external.h"), "libexpat.a",
        ("-DEXPAT_SHARED_LIBS=OFF", "-DEXPAT_BUILD_TOOLS=OFF", "-DEXPAT_BUILD_EXAMPLES=OFF",
         "-DEXPAT_BUILD_TESTS=OFF", "-DEXPAT_BUILD_DOCS=OFF"),
    ),
    Library(
        "zlib", "zlib1g-dev", "1.3.1", "pool/main/z/zlib/zlib_1.3.dfsg+really1.3.1.orig.tar.gz",
        "60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
        "Zlib", "LICENSE", ("zlib.h", "zconf.h"), "libz.a",
    ),
    Library(
        "zstd", "libzstd-dev", "1.5.4", "pool/main/libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz",
        "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953",
        "BSD-3-Clause", "LICENSE", ("lib/zstd.h", "lib/zstd_errors.h"), "libzstd.a",
        ("-DZSTD_BUILD_SHARED=OFF", "-DZSTD_BUILD_PROGRAMS=OFF", "-DZSTD_BUILD_TESTS=OFF",
         "-DZSTD_MULTITHREAD_SUPPORT=OFF", "-DZSTD_LEGACY_SUPPORT=OFF"),
    ),
)  # fmt: skip


# Packages of Debian whose headers or library become part of the compiled code.
@dataclasses.dataclass(frozen=True)
class Headers:
    name: str
    package: str
    licence: str


HEADERS = (
    Headers("CLI11", "libcli11-dev", "BSD-3-Clause"),
    Headers("fmt", "libfmt-dev", "MIT"),
    Headers("nlohmann-json", "nlohmann-json3-dev", "MIT"),
    Headers("toml++", "libtomlplusplus-dev", "MIT"),
    Headers("boost", "libboost-dev", "BSL-1.0"),
    Headers("libstdc++", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1"),
)


def headers_of_machine_will_do(library: Library) -> bool:
    """True if this machine has its headers, and not of a newer version: a library works with code compiled for older
    headers. The objects are then the same as in every other build, and come from its cache."""
    command = ["dpkg-query", "-W", "-f", "${source:Upstream-Version}", library.package]
    here = subprocess.run(command, capture_output=True, text=True).stdout
    return bool(here) and subprocess.run(["dpkg", "--compare-versions", here, "le", library.version]).returncode == 0


def unpack(library: Library, directory: pathlib.Path) -> pathlib.Path:
    """The directory of the source, which is the only one in the archive."""
    shutil.rmtree(directory, ignore_errors=True)
    with tarfile.open(release_tools.download(library.place, library.sha256)) as archive:
        archive.extractall(directory, filter="data")
    (top,) = directory.iterdir()
    return top


def build_by_cmake(
    library: Library, architecture: old_glibc.Architecture, source: pathlib.Path, env: dict[str, str]
) -> pathlib.Path:
    build = source.parent / "build"
    system = ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={architecture.name}"]
    command = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build), *COMMON, *library.options]
    subprocess.run([*command, *([] if architecture.is_here else system)], check=True, env=env)
    subprocess.run(["cmake", "--build", str(build)], check=True, env=env)
    return build


def build_zlib(source: pathlib.Path, env: dict[str, str]) -> pathlib.Path:
    """Debian's source lacks files that zlib's CMake description names."""
    subprocess.run(["./configure", "--static"], check=True, cwd=source, env={**env, "CFLAGS": "-O3 -fPIC"})
    subprocess.run(["make", "libz.a"], check=True, cwd=source, env=env)
    return source


def build_otf2(architecture: old_glibc.Architecture, source: pathlib.Path, env: dict[str, str]) -> pathlib.Path:
    build = source.parent / "build"
    build.mkdir()
    here = old_glibc.ARCHITECTURES[os.uname().machine]
    other = [] if architecture.is_here else [architecture.triplet, here.triplet]
    script = environments.ROOT / "packaging" / "otf2" / "build.sh"
    subprocess.run([str(script), str(source), "1", *other], check=True, cwd=build, env=env)
    return build


def build_one(
    library: Library, architecture: old_glibc.Architecture, prefix: pathlib.Path, env: dict[str, str]
) -> None:
    release_tools.say(f"{library.name} {library.version} for {architecture.name}")
    source = unpack(library, prefix.parent / library.name)
    if library.name == "otf2":
        built = build_otf2(architecture, source, env)
    elif library.name == "zlib":
        built = build_zlib(source, env)
    else:
        description = {"expat": "expat", "zstd": "build/cmake"}[library.name]
        built = build_by_cmake(library, architecture, source / description, env)
    for name in library.headers:
        target = prefix / "include" / pathlib.PurePath(name).name
        # OTF2's configure script generates some headers.
        for place in (source / name, built / name):
            if place.is_dir():
                shutil.copytree(place, target, dirs_exist_ok=True)
            elif place.exists():
                shutil.copy(place, target)
    (archive,) = built.rglob(library.archive)
    shutil.copy(archive, prefix / "lib")
    shutil.copy(source / library.licence_file, prefix / "licenses" / f"{library.name}.txt")


def build(architecture: old_glibc.Architecture, prefix: pathlib.Path, env: dict[str, str]) -> None:
    """Fills `prefix` with the missing parts of lib/, include/ and licenses/."""
    for name in ("lib", "include", "licenses"):
        (prefix / name).mkdir(parents=True, exist_ok=True)
    for library in LIBRARIES:
        made = prefix / f"made-{library.name}"
        if not made.exists() or made.read_text() != repr(library):
            build_one(library, architecture, prefix, env)
            made.write_text(repr(library))
    for headers in HEADERS:
        shutil.copy(f"/usr/share/doc/{headers.package}/copyright", prefix / "licenses" / f"{headers.name}.txt")
