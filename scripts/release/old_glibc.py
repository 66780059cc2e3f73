"""Links the output of this machine's compiler with an older glibc: its symbols come from the stubs of the package
ziglang, missing functions from packaging/wheel/old_glibc.

The compiler and its headers are the same as in every other build, and so are the objects; only the linker sees the
older library, and rejects symbols that it does not have. A wheel compiled by zig itself would contain a C++ library in
each of its files, and exceptions could not pass from libtimeloom.so to the extension.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLIBC = "2.28"
# The libraries that -lNAME finds.
LIBRARIES = ("m", "pthread", "dl", "rt")


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str  # in the names of wheels
    triplet: str  # of compilers and of Debian's directories
    debian: str  # of Debian's packages

    @property
    def is_here(self) -> bool:
        return os.uname().machine == self.name

    def tool(self, name: str) -> str:
        """Return "gcc" or "objdump" for it. This machine's have no prefix, and ccache knows their output."""
        here = {"gcc": "cc", "g++": "c++"}.get(name, name)
        return here if self.is_here else f"{self.triplet}-{name}"


ARCHITECTURES = {
    "x86_64": Architecture("x86_64", "x86_64-linux-gnu", "amd64"),
    "aarch64": Architecture("aarch64", "aarch64-linux-gnu", "arm64"),
}


def found(directory: pathlib.Path, name: str) -> pathlib.Path:
    """The file with that name that zig has created."""
    return next(iter(sorted(directory.glob(f"o/*/{name}"))))


def make_stubs(architecture: Architecture, python: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """Links a program for the older glibc, which creates all files that such a program is linked with."""
    cache = directory / "zig"
    source = directory / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    variables = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    command = [str(python), "-m", "ziglang", "cc", "-target", f"{architecture.triplet}.{GLIBC}", str(source)]
    subprocess.run([*command, "-o", str(directory / "empty")], check=True, env={**os.environ, **variables})
    return cache


def linker_script(*files: str) -> str:
    return f"GROUP ( {' '.join(files)} )\n"


def file_of(architecture: Architecture, name: str) -> str:
    """A file of the compiler itself."""
    command = [architecture.tool("gcc"), f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def archive_of_newer(architecture: Architecture, lib: pathlib.Path) -> pathlib.Path:
    """The functions that the older glibc lacks. A member is linked if its symbol is still undefined at the end: a
    wrapper of such a function has its own, and a hidden one beside it would hide it."""
    made = lib / "libnewer.a"
    objects = []
    for source in sorted((ROOT / "packaging" / "wheel" / "old_glibc").glob("*.c")):
        objects.append(str(lib / f"{source.stem}.o"))
        command = [architecture.tool("gcc"), "-O2", "-fPIC", "-Wall", "-Werror", "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    subprocess.run([architecture.tool("ar"), "rcs", str(made), *objects], check=True)
    return made


def fill(architecture: Architecture, cache: pathlib.Path, lib: pathlib.Path) -> None:
    for stub in found(cache, "libc.so.6").parent.glob("*.so.*"):
        shutil.copy(stub, lib)
    # Programs of glibc before 2.34 call their constructors themselves; the newer crt1.o does not.
    for start in ("crt1.o", "Scrt1.o"):
        shutil.copy(found(cache, "crt1.o"), lib / start)
    shutil.copy(found(cache, "libc_nonshared.a"), lib)
    for name in ("crti.o", "crtn.o"):
        shutil.copy(file_of(architecture, name), lib)
    newer = archive_of_newer(architecture, lib)
    script = [f"{lib}/libc.so.6", f"{lib}/libc_nonshared.a", str(newer), "AS_NEEDED ("]
    script += [str(stub) for stub in sorted(lib.glob("*.so.*")) if stub.name != "libc.so.6"]
    (lib / "libc.so").write_text(linker_script(*script, ")"))
    for name in LIBRARIES:
        (stub,) = lib.glob(f"lib{name}.so.*")
        (lib / f"lib{name}.so").write_text(linker_script(f"AS_NEEDED ( {stub} )"))


def flags(architecture: Architecture, python: pathlib.Path, directory: pathlib.Path) -> str:
    """Flags for linking; `python` has ziglang. The files behind them stay in `directory`."""
    lib = directory / f"glibc-{GLIBC}"
    made = lib / "made"
    if not made.exists():
        shutil.rmtree(lib, ignore_errors=True)
        lib.mkdir(parents=True)
        fill(architecture, make_stubs(architecture, python, directory), lib)
        made.touch()
    # The compiler's own libgcc_s.so.1, which every distribution has, was linked with a newer glibc.
    return f"-B{lib}/ -L{lib} -static-libstdc++ -Wl,--allow-shlib-undefined -Wl,--exclude-libs,libstdc++.a"
