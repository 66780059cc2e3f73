"""The table of layers and the other rules, as data. CONTRIBUTING.md gives the reasons."""

import dataclasses
import re

# The folders that each folder of src may include besides itself. "formats" stands for every folder in src/formats,
# "formats/*" for those without a line of their own.
ALLOWED: dict[str, tuple[str, ...]] = {
    "os": (),
    "core": ("os",),
    "settings": ("core", "os"),
    "run": ("core", "os"),
    "packing": ("core", "os"),
    "spool": ("packing", "core", "os"),
    "record": ("spool", "symbols", "core", "os"),
    "sample": ("record", "spool", "core", "os"),
    "profile": ("core",),
    "exchange": ("profile", "core", "os"),
    "formats/otf2": ("core",),
    "formats/cube": ("profile", "core"),
    "formats/packed": ("packing", "core", "os"),
    "formats/sample_file": ("packing", "core", "os"),
    "formats/memory_file": ("packing", "core", "os"),
    "formats/*": ("exchange", "profile", "core"),
    "doors/*/settings": ("settings", "core", "os"),
    "doors/*/format": ("exchange", "profile", "core"),
    "symbols": ("core", "os"),
    "weave": ("run", "spool", "profile", "formats", "symbols", "core", "os"),
    "python": ("sample", "record", "settings", "run", "core", "os"),
    "preload": ("record", "core", "os"),
    "gpu": ("record", "spool", "core", "os"),
    "view": ("exchange", "formats", "profile", "core", "os"),
    "tools": ("weave", "view", "exchange", "formats", "profile", "settings", "run", "core", "os"),
}
# Parts of doors that are compiled into a target of another folder, with the rights of that target.
PARTS_OF = {"launch": "python", "tools": "tools"}
# The folders that a layer of a door may use in addition to its own folder.
BESIDE = {"launch": ("settings",), "tools": ("settings", "format")}

# These folders are built and tested without the layers above them, so their tests include no more than they do. Other
# tests may set up anything.
TESTED_ALONE = ("os", "core", "packing", "spool", "record", "sample")

# Packages of python/ that each package may import.
ALLOWED_IMPORTS: dict[str, tuple[str, ...]] = {
    "timeloom": (),
    "scorep": ("timeloom",),
    "omnitrace": ("timeloom",),
    "rocprofsys": ("omnitrace",),
    "timeloom_kernel": ("timeloom",),
    "scorep_jupyter": ("timeloom", "timeloom_kernel"),
}


def package_place(package: str) -> str:
    """The directory of a package: the packages of doors are in python/doors."""
    return f"python/{package}" if package == "timeloom" else f"python/doors/{package}"


@dataclasses.dataclass(frozen=True)
class ForeignHeaders:
    """External headers that only some files of src may include."""

    whose: str
    pattern: re.Pattern[str]
    home: re.Pattern[str]  # of paths below src, of others below the root
    home_name: str


CPYTHON = r"(.*/)?Python\.h|(internal/)?pycore_\w+\.h|(cpython/.*|frameobject|structmember)\.h"

FOREIGN_HEADERS = (
    ForeignHeaders(
        "CPython's header",
        re.compile(CPYTHON),
        re.compile(r"python/|doors/[^/]+/launch/"),
        "src/python and src/doors/*/launch",
    ),
    ForeignHeaders(
        "OTF2's header",
        re.compile(r"otf2/.*\.h|OTF2_\w+\.h"),
        re.compile(r"formats/otf2/|tests/unit/otf2/"),
        "src/formats/otf2",
    ),
    ForeignHeaders(
        "zstd's header",
        re.compile(r"zstd\w*\.h"),
        re.compile(r"packing/"),
        "src/packing",
    ),
    ForeignHeaders(
        "MPI's header",
        re.compile(r"mpi\.h"),
        re.compile(r"preload/|weave/mpi[^/]*$"),
        "src/preload and src/weave/mpi*",
    ),
)


@dataclasses.dataclass(frozen=True)
class Conditions:
    """Names that only some files may test in an #if."""

    what: str
    pattern: re.Pattern[str]
    home: re.Pattern[str]  # of paths below src, of others below the root
    home_name: str


VERSION = r"\bPY_(VERSION_HEX|MAJOR_VERSION|MINOR_VERSION|MICRO_VERSION)\b"
PLATFORM = (
    r"\b(__linux__|__linux|linux|__unix__|__APPLE__|__FreeBSD__|__ANDROID__|__CYGWIN__|_WIN32|_WIN64"
    r"|__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__ARM_ARCH|__riscv|__powerpc__|__powerpc64__"
    r"|__GLIBC__|__GLIBC_PREREQ|__SIZEOF_POINTER__|__BYTE_ORDER__)\b"
)

CONDITIONS = (
    Conditions(
        "the version of CPython",
        re.compile(VERSION),
        re.compile(r"python/interpreter/compat(_\w+)?\.(hpp|c)$"),
        "src/python/interpreter/compat*",
    ),
    Conditions("the platform", re.compile(PLATFORM), re.compile(r"os/"), "src/os"),
)

# Names of the standard library that a header may use only if it includes their header itself: precompiled headers and
# the headers of neighbours hide what is missing. Names that nearly every header brings (size_t, move) are not here.
STANDARD_HEADERS = {
    name: header
    for header, names in {
        "array": "array",
        "atomic": "atomic",
        "bitset": "bitset",
        "chrono": "chrono",
        "condition_variable": "condition_variable",
        "cstdint": "int64_t",
        "deque": "deque",
        "exception": "exception_ptr",
        "filesystem": "filesystem",
        "functional": "function",
        "limits": "numeric_limits",
        "map": "map",
        "memory": "make_shared make_unique shared_ptr unique_ptr",
        "mutex": "mutex",
        "optional": "optional",
        "set": "set",
        "span": "span",
        "stdexcept": "logic_error runtime_error",
        "string": "string",
        "system_error": "error_code",
        "thread": "thread",
        "tuple": "tuple",
        "unordered_map": "unordered_map",
        "unordered_set": "unordered_set",
        "variant": "variant",
        "vector": "vector",
    }.items()
    for name in names.split()
}

# The namespace of the code in a folder, if it differs from the folder's name. A name with this namespace counts as a
# use of the folder, whichever header declares it.
NAMESPACES = {
    "otf2": "formats/otf2",
    "packed": "formats/packed",
    "cube": "formats/cube",
    "sample_file": "formats/sample_file",
    "memory_file": "formats/memory_file",
} | {
    name: name
    for name in (
        "os", "run", "packing", "spool", "record", "profile", "exchange", "symbols", "weave", "view", "tools", "python",
    )
}

# The most entries of a folder, so that a reader finds a file by looking.
MOST_FILES = 40

# Folders that are tested alone must not be linked to these. The folders that they use are tested alone as well, so they
# get none of these indirectly.
NEVER_LINKED = re.compile(r"otf2|open-trace-format|mpi|python", re.IGNORECASE)


def folder_of(path: str) -> str | None:
    """The folder of the table that contains a path below src; None: no folder."""
    parts = path.split("/")
    if parts[0] == "doors":
        return "/".join(parts[:3]) if len(parts) > 3 else None
    if parts[0] == "formats":
        return "/".join(parts[:2]) if len(parts) > 2 else None
    return parts[0] if len(parts) > 1 else None


def target_of(folder: str) -> str:
    """The name of a folder's target without timeloom_: otf2, omnitrace_settings."""
    parts = folder.split("/")
    return "_".join(parts[1:]) if parts[0] == "doors" else parts[-1]


def row_of(folder: str) -> tuple[str, ...] | None:
    """The folders that a folder may use; None if the table does not know the folder."""
    if folder.startswith("doors/"):
        return row_of_door(*folder.split("/")[1:])
    if folder not in ALLOWED and folder.startswith("formats/"):
        return ALLOWED["formats/*"]
    return ALLOWED.get(folder)


def row_of_door(door: str, layer: str) -> tuple[str, ...] | None:
    host = PARTS_OF.get(layer)
    if host is None:
        return ALLOWED.get(f"doors/*/{layer}")
    return (host, *ALLOWED[host], *(f"doors/{door}/{other}" for other in BESIDE[layer]))


def may_use(folder: str, used: str) -> bool:
    row = row_of(folder) or ()
    return used == folder or used in row or (used.startswith("formats/") and "formats" in row)


def describe_row(folder: str) -> str:
    return ", ".join(row_of(folder) or ()) or "nothing"
