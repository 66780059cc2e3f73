#!/usr/bin/env python3
"""Checks the contents of wheels: names, sizes, and the system libraries that their programs need.

usage: python3 -m scripts.release.check_wheel WHEEL...

Prints a line for each defect, and fails if there is one.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

LIMIT = 8_000_000
# The libraries of every Linux with glibc; libtimeloom.so.N is inside the wheel.
SYSTEM = re.compile(
    r"(libc|libm|libpthread|libdl|librt|libgcc_s|ld-linux-x86-64|ld-linux-aarch64|libtimeloom)\.so\.\d+"
)
# Patterns of names; each must match at least one file.
PARTS = {
    "the extension": r"timeloom/_core\.cpython-\d+t?-[\w-]+\.so",
    "the recorder under its own name": r"timeloom/lib/libtimeloom\.so\.\d+",
    "what -ltimeloom finds": r"timeloom/lib/libtimeloom\.so",
    "the header": r"timeloom/include/timeloom/timeloom\.h",
    "the CMake package": r"timeloom/lib/cmake/timeloom/timeloom-config\.cmake",
    "timeloom-config": r"timeloom-[\d.]+\.data/scripts/timeloom-config",
    "the program": r"timeloom-[\d.]+\.data/scripts/timeloom",
    "the program of the package": r"timeloom/bin/timeloom",
    "what children are followed by": r"(timeloom-[\d.]+\.data/platlib/)?timeloom\.pth",
    "our licence": r"timeloom-[\d.]+\.dist-info/licenses/LICENSE",
    "the licence of OTF2": r"timeloom-[\d.]+\.dist-info/licenses/bundled/otf2\.txt",
    "the licence of expat": r"timeloom-[\d.]+\.dist-info/licenses/bundled/expat\.txt",
    "the licence of zstd": r"timeloom-[\d.]+\.dist-info/licenses/bundled/zstd\.txt",
    "manual pages": r"timeloom-[\d.]+\.data/data/share/man/man1/timeloom\.1",
    "completion": r"timeloom-[\d.]+\.data/data/share/bash-completion/completions/timeloom",
}


def limits(wheel: pathlib.Path) -> tuple[tuple[int, ...], str]:
    """The newest glibc that the wheel's tag permits, and its architecture."""
    match = re.search(r"-manylinux_(\d+)_(\d+)_(\w+)\.whl$", wheel.name)
    if match is None:
        raise ValueError(f"{wheel.name} has no tag of manylinux alone")
    return (int(match[1]), int(match[2])), match[3]


def problems_of_elf(name: str, path: pathlib.Path, newest: tuple[int, ...], machine: str) -> list[str]:
    command = ["readelf", "--wide", "--file-header", "--sections", "--dynamic", "--version-info", str(path)]
    said = subprocess.run(
        command, check=True, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    )
    text, found = said.stdout, []
    if not re.search(rf"Machine:.*{'X86-64' if machine == 'x86_64' else 'AArch64'}", text):
        found.append(f"{name} is not for {machine}")
    for version in sorted(set(re.findall(r"Name: GLIBC_([\d.]+)", text))):
        if tuple(map(int, version.split("."))) > newest:
            found.append(f"{name} needs glibc {version}")
    if re.search(r"Name: (GLIBCXX|CXXABI)_", text):
        found.append(f"{name} needs a C++ library")
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", text):
        if not SYSTEM.fullmatch(library):
            found.append(f"{name} needs {library}")
    for place in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text):
        if not place.startswith("$ORIGIN"):
            found.append(f"{name} looks for libraries in {place}")
    if re.search(r"\] \.(symtab|debug_\w+) ", text):
        found.append(f"{name} is not stripped")
    return found


def problems(wheel: pathlib.Path) -> list[str]:
    found = []
    if wheel.stat().st_size > LIMIT:
        found.append(f"larger than {LIMIT / 1e6:.0f} MB")
    newest, machine = limits(wheel)
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as directory:
        names = archive.namelist()
        for what, pattern in PARTS.items():
            if not any(re.fullmatch(pattern, name) for name in names):
                found.append(f"lacks {what}")
        found += [f"has {name}, which auditwheel put there" for name in names if ".libs/" in name]
        for name in names:
            path = pathlib.Path(archive.extract(name, directory))
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                found += problems_of_elf(name, path, newest, machine)
    return found


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = False
    for wheel in map(pathlib.Path, sys.argv[1:]):
        for line in problems(wheel):
            print(f"{wheel.name}: {line}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
