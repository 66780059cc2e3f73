"""Builds wheels that run on any Linux with glibc 2.28 or later, into build/dist.

usage: python3 -m scripts.release.wheels [--only 3.X[,3.Yt]] [--arch x86_64[,aarch64]]

For each Python from 3.11 to 3.15, with and (from 3.13 on) without a GIL, and each architecture. Only the headers of the
Python are needed (scripts/release/python_headers.py), so a wheel for a Python or an architecture that this machine
cannot run is built like the others. The program and the recorder are compiled as in every other build, once for each
architecture, and linked with glibc 2.28 (scripts/release/old_glibc.py) and with the libraries of
scripts/release/bundled.py. Ends with a line for each wheel: its size and its parts. Fails if one could not
be made, or does not pass scripts/release/check_wheel.py.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

from scripts import environments, pythons
from scripts.release import bundled, check_wheel, old_glibc, python_headers, release_tools


@dataclasses.dataclass(frozen=True)
class Workshop:
    """The tools and libraries for the wheels of one architecture."""

    architecture: old_glibc.Architecture
    directory: pathlib.Path
    prefix: pathlib.Path  # the bundled libraries
    env: dict[str, str]


def workshop(architecture: old_glibc.Architecture) -> Workshop:
    directory = release_tools.WHEELS / architecture.name
    directory.mkdir(parents=True, exist_ok=True)
    flags = old_glibc.flags(architecture, release_tools.tools(), directory)
    env = release_tools.environment(CC=architecture.tool("gcc"), CXX=architecture.tool("g++"), LDFLAGS=flags)
    bundled.build(architecture, directory / "prefix", env)
    return Workshop(architecture, directory, directory / "prefix", env)


def libraries(shop: Workshop) -> dict[str, str]:
    """The places where CMake finds the libraries. Warnings are errors as in `make test`, whose objects ccache
    reuses."""
    values = {"TIMELOOM_WERROR": "ON"}
    for library in bundled.LIBRARIES:
        values[f"{library.name.upper()}_LIBRARY"] = str(shop.prefix / "lib" / library.archive)
        if not bundled.headers_of_machine_will_do(library):
            values[f"{library.name.upper()}_INCLUDE_DIR"] = str(shop.prefix / "include")
    if not shop.architecture.is_here:
        # Only the headers of fmt are used, but its CMake files lie among libraries of this machine.
        values["fmt_DIR"] = f"/usr/lib/{old_glibc.ARCHITECTURES[os.uname().machine].triplet}/cmake/fmt"
    return values


def defines(shop: Workshop, tag: str, headers: python_headers.Headers) -> dict[str, str]:
    values = {
        "TIMELOOM_PYTHON_HEADERS": ";".join(str(path) for path in headers.directories),
        "TIMELOOM_PYTHON_SOABI": f"cpython-{tag.replace('.', '')}-{shop.architecture.triplet}",
        "TIMELOOM_ONE_PROGRAM": "ON",
        "TIMELOOM_LICENCES": str(shop.prefix / "licenses"),
        **libraries(shop),
    }
    if not shop.architecture.is_here:
        values |= {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": shop.architecture.name}
    return values


def run(shop: Workshop, *words: str) -> None:
    subprocess.run([str(release_tools.tools()), *words], check=True, env=shop.env, cwd=environments.ROOT)


def only_file(directory: pathlib.Path) -> pathlib.Path:
    (path,) = directory.glob("*.whl")
    return path


def build(shop: Workshop, tag: str, headers: python_headers.Headers) -> pathlib.Path:
    """A wheel in build/dist; subprocess.CalledProcessError if it cannot be made."""
    platform, abi = shop.architecture.name, f"cp{tag.replace('.', '')}"
    python = abi.removesuffix("t")
    raw = shop.directory / f"raw-{tag}"
    shutil.rmtree(raw, ignore_errors=True)
    # As deep as the other build directories, because ccache sees relative paths.
    settings = {"build-dir": str(environments.BUILD / f"wheel-{tag}-{platform}")}
    settings |= {f"cmake.define.{name}": value for name, value in defines(shop, tag, headers).items()}
    words = [f"--config-settings={name}={value}" for name, value in settings.items()]
    run(shop, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(raw), *words, ".")
    run(
        shop, "-m", "wheel", "tags", "--remove", f"--python-tag={python}", f"--abi-tag={abi}",
        f"--platform-tag=linux_{platform}", str(only_file(raw)),
    )  # fmt: skip
    repaired = shop.directory / f"repaired-{tag}"
    shutil.rmtree(repaired, ignore_errors=True)
    # For another machine's wheels auditwheel finds the policy itself, so none is given.
    own = f"manylinux_{old_glibc.GLIBC.replace('.', '_')}_{platform}"
    policy = own if shop.architecture.is_here else "auto"
    run(
        shop, "-m", "auditwheel", "repair", "--plat", policy, "--only-plat", "--zip-compression-level=9",
        "-w", str(repaired), str(only_file(raw)),
    )  # fmt: skip
    release_tools.DIST.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(shutil.copy(only_file(repaired), release_tools.DIST))


def outcome(shop: Workshop, tag: str) -> tuple[bool, str]:
    """True if the wheel is correct, with a report on it."""
    headers = python_headers.headers(tag, shop.architecture)
    if headers is None:
        return False, "NOT BUILT: neither Debian nor this machine has the headers of that Python"
    release_tools.say(f"Python {tag} for {shop.architecture.name}: {headers.origin}")
    try:
        wheel = build(shop, tag, headers)
    except subprocess.CalledProcessError as error:
        return False, f"FAILED: {error}"
    problems = check_wheel.problems(wheel)
    facts = f"{wheel.name}, {wheel.stat().st_size / 1e6:.2f} MB, {headers.origin}"
    return not problems, "; ".join([facts, *problems])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = ",".join(pythons.SUPPORTED + pythons.FREE_THREADED)
    parser.add_argument("--only", default=every, help="versions, separated by commas")
    parser.add_argument("--arch", default=",".join(old_glibc.ARCHITECTURES), help="architectures, separated by commas")
    arguments = parser.parse_args()
    results = {}
    for name in arguments.arch.split(","):
        shop = workshop(old_glibc.ARCHITECTURES[name])
        for tag in arguments.only.split(","):
            results[f"{tag} {name}"] = outcome(shop, tag)
    release_tools.say("Wheels")
    for what, (_, text) in results.items():
        print(f"{what}: {text}")
    return 0 if all(fine for fine, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
