"""The command line of ``python -m scorep``, as one table.

The help, the errors and docs/scorep.md are made from it. Imports nothing, because its imports would come before the
program's.
"""

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Sequence

    from timeloom._core import _Program

# Options of scorep-config with a value that the table below does not list, and the notes that are printed for them.
_OF_VALUES = {
    "--thread=": "threads of this kind are not recorded; those of Python always are",
    "--mutex=": "locks are not recorded",
    "--libwrap=": "calls of libraries are not recorded",
    "--wrap-linker-gen=": "nothing is linked",
}
_NOT_RECORDED = "is not recorded; leave the option out"

# Each option with its effect. Options with a value end in "=".
OPTIONS = {
    "--help": "Print this help; also -h.",
    "--keep-files": "Keep the raw records beside the results.",
    "--verbose": "Say what is measured and where the results go; also -v.",
    "--noinstrumenter": "Begin with the instrumentation off; the program can switch it on.",
    "--nopython": "The same.",
    "--instrumenter-type=": "How calls are observed: cProfile (the best way of this Python), "
    "profile, trace, cTrace, dummy (not at all), or a name of timeloom run.",
    "--instrumenter-file=": "Run this Python file before the program.",
    "-m": "Run a module instead of a script.",
    "-c": "Run a command instead of a script.",
    "--": "What follows is the program.",
}

# Options of scorep-config. The text names the data that are not recorded; None: nothing is missing.
CONFIG_OPTIONS = {
    "--mpi": None,
    "--mpp=none": None,
    "--mpp=mpi": None,
    "--mpp=shmem": "SHMEM",
    "--thread=none": None,
    "--thread=pthread": None,
    "--thread=omp": None,
    "--io=none": None,
    "--io=posix": None,
    "--io=isoc": None,
    "--io=runtime:posix": None,
    "--io=runtime:isoc": None,
    "--user": None,
    "--nouser": None,
    "--compiler": None,
    "--nocompiler": None,
    "--pomp": None,
    "--nopomp": None,
    "--openmp": None,
    "--noopenmp": None,
    "--opari": None,
    "--noopari": None,
    "--memory": None,
    "--nomemory": None,
    "--cuda": None,
    "--nocuda": None,
    "--opencl": "OpenCL",
    "--noopencl": None,
    "--openacc": "OpenACC",
    "--noopenacc": None,
    "--kokkos": None,
    "--nokokkos": None,
    "--hip": "HIP",
    "--nohip": None,
    "--mutex=none": None,
    "--mutex=pthread": None,
    "--mutex=pthread:spinlock": None,
    "--mutex=pthread:wrap": None,
    "--preprocess": None,
    "--nopreprocess": None,
    "--dynamic": None,
    "--static": None,
}
# Options whose value may be a list: --mpp=mpi,shmem.
_LISTS = ("--mpp=", "--io=")

# Options that have the constructs of OpenMP recorded, and notes on the ones that ask for more than its runtimes show.
OPENMP = {
    "--openmp": None,
    "--opari": "nothing is instrumented; OpenMP is recorded as its runtimes show it",
    "--pomp": "regions of POMP are not recorded; OpenMP is, as its runtimes show it",
}

# Options whose recorders Kokkos and CUDA load themselves, and their settings.
LOADED = {"--kokkos": "kokkos", "--cuda": "gpu"}

# Instrumenter types of the bindings, and their names in Timeloom.
TYPES = {
    "cProfile": "auto",
    "profile": "profile",
    "cTrace": "trace",
    "trace": "trace",
    "dummy": "dummy",
    "auto": "auto",
    "monitoring": "monitoring",
    "frame": "frame",
}


class CommandLine:
    """The options and the program after ``python -m scorep``."""

    def __init__(self) -> None:
        self.help = False
        self.keep_files = False
        self.verbose = False
        self.instrumenter = "auto"
        self.off = False  # starts without instrumentation
        self.locks = False  # mutex calls are recorded together with native threads
        self.openmp = False  # is recorded, beside the threads that were mentioned
        self.loaded: dict[str, bool] = {}  # the settings of libraries that Kokkos and CUDA load, where mentioned
        self.wrappers: dict[str, str | bool] = {}  # the settings of wrappers that were mentioned
        self.file: str | None = None  # to run before the program
        self.notes: list[str] = []  # lines for stderr
        self.program: _Program | None = None  # (kind, target, arguments)


def help_text() -> str:
    lines = ["Usage: python -m scorep [options] [--] <script> [args]", ""]
    lines += ["Runs a Python program and records what it does, as the SCOREP_ variables say.", ""]
    for option, meaning in OPTIONS.items():
        name = option + "<value>" if option.endswith("=") else option
        lines.append(f"  {name:<28} {meaning}")
    lines += ["", "Options of scorep-config (--mpp=, --thread=, --compiler, ...) are accepted; one that asks"]
    lines += ["for what is not recorded is answered with a line on stderr.", ""]
    lines += ["The variables: scorep-info config-vars --full", ""]
    return "\n".join(lines)


_SHORT = {"--help": "-h", "--verbose": "-v"}
_SWITCHES = {"--help": "help", "--keep-files": "keep_files", "--verbose": "verbose", "--noinstrumenter": "off",
             "--nopython": "off"}  # fmt: skip
_OF_PROGRAM = ("-m", "-c", "--")  # known to every command line


def _table() -> "list[tuple[str, int, int, str, str, bool]]":
    table: dict[str, tuple[str, int, int, str, str, bool]] = {}
    for option in [*OPTIONS, *CONFIG_OPTIONS, *_OF_VALUES]:
        name, equals, _ = option.partition("=")
        values = 1 if equals else 0
        joined = option not in OPTIONS  # scorep-config takes no value from the next word
        if option not in _OF_PROGRAM:
            table.setdefault(name, (f"{_SHORT.get(name, '')} {name}", values, values, "", f"write {name}=...", joined))
    return list(table.values())


def parse(words: "Sequence[str]") -> CommandLine:
    """The CommandLine of the words; raises Error."""
    line = CommandLine()
    taken, _, line.program, _ = _core.read_options(_table(), words, "python -m scorep --help", False, False)
    for option, _, values in taken:
        _take(line, option, *values)
    if line.locks:
        line.wrappers.setdefault("thread", "pthread")
    if line.openmp:
        threads = line.wrappers.get("thread", "none")
        line.wrappers["thread"] = "omp" if threads == "none" else f"{threads},omp"
    if line.program is None and not line.help:
        raise _core.Error("Did not find a script to run")
    return line


def _take(line: CommandLine, name: str, value: str | None = None) -> None:
    if name in ("--instrumenter-type", "--instrumenter-file"):
        if not value:
            raise _core.Error(f"{name} needs a value: write {name}=... [TL108]")
        if name == "--instrumenter-type":
            line.instrumenter = _type(value)
        else:
            line.file = value
    elif name in _SWITCHES:
        setattr(line, _SWITCHES[name], True)
    else:
        _take_config_option(line, name if value is None else f"{name}={value}")


def _notes_on(word: str) -> list[str] | None:
    """Return the note on an option of scorep-config; None for an unknown one."""
    name, equals, value = word.partition("=")
    words = [word]
    if name + equals in _LISTS:
        kind, colon, values = value.rpartition(":")  # --io=runtime:posix,isoc
        words = [f"{name}={kind}{colon}{one}" for one in values.split(",")]
    if all(one in CONFIG_OPTIONS for one in words):
        missing = dict.fromkeys(CONFIG_OPTIONS[one] for one in words)
        return [f"{what} {_NOT_RECORDED}" for what in missing if what is not None]
    return [_OF_VALUES[name + equals]] if name + equals in _OF_VALUES else None


def _type(value: str) -> str:
    if value not in TYPES:
        raise _core.Error(f'instrumenter_type "{value}" unkown; write one of {", ".join(TYPES)}')
    return TYPES[value]


def _take_config_option(line: CommandLine, word: str) -> None:
    if word == "--mpi":
        line.notes.append(
            "Warning: The option '--mpi' is deprecated and will be removed in future."
        )
    if word.startswith("--mpp=") or word == "--mpi":
        line.wrappers["mpi"] = "mpi" in word.partition("=")[2].split(",") or word == "--mpi"
    if word.startswith("--thread="):
        kinds = [one.partition(":")[0] for one in word.partition("=")[2].split(",")]
        line.wrappers["thread"] = "pthread" if "pthread" in kinds else "none"
        line.openmp = "omp" in kinds
    if word in OPENMP or word.removeprefix("--no") in ("openmp", "opari", "pomp"):
        line.openmp = word in OPENMP
    if word in ("--compiler", "--nocompiler"):
        line.wrappers["compiler"] = word == "--compiler"
    if word in ("--memory", "--nomemory"):
        line.wrappers["memory"] = word == "--memory"
    if word.startswith("--mutex="):
        line.locks = word.partition("=")[2].partition(":")[0] == "pthread"  # pthread:spinlock as well
    if (recorded := word.replace("--no", "--", 1)) in LOADED:
        line.loaded[LOADED[recorded]] = word == recorded
    if word.startswith("--io="):
        line.wrappers["io"] = "none" if word == "--io=none" else "posix"
    notes = _notes_on(word)
    if notes is not None and OPENMP.get(word):
        notes.append(str(OPENMP[word]))
    if notes is None:
        raise _core.Error(f"unknown option {word}; see python -m scorep --help [TL109]")
    line.notes += [f"{word}: {note} [TL708]" for note in notes]
