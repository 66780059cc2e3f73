"""Builds floors.c for the running interpreter, once for each version.

Uses the compiler and flags of the interpreter's own build, so that the floors are as fast as an extension of that
interpreter can be.
"""

import pathlib
import shlex
import subprocess
import sys
import sysconfig

SOURCE = pathlib.Path(__file__).with_name("floors.c")
ROOT = SOURCE.parents[2]


def compiler() -> list[str]:
    return shlex.split(sysconfig.get_config_var("CC") or "cc")


def build() -> pathlib.Path:
    """Returns the directory to import floors from; compiles if the source is newer."""
    directory = ROOT / "build" / "floors" / (sys.implementation.cache_tag or "python")
    library = directory / f"floors{sysconfig.get_config_var('EXT_SUFFIX')}"
    if library.exists() and library.stat().st_mtime > SOURCE.stat().st_mtime:
        return directory
    directory.mkdir(parents=True, exist_ok=True)
    flags = shlex.split(sysconfig.get_config_var("CFLAGS") or "-O2")
    include = sysconfig.get_path("include")
    command = [*compiler(), *flags, "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
    subprocess.run([*command, "-shared", "-fPIC", f"-I{include}", "-o", library, SOURCE], check=True)
    return directory


if __name__ == "__main__":
    print(build())
