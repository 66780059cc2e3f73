"""The command line of ``omnitrace-python``, as one table.

The help and the errors are made from it, and docs/omnitrace.md describes it. Imports next to nothing, because its
imports come before the program's.
"""

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from timeloom._core import _Program

TRUE = ("yes", "true", "t", "y", "1")
FALSE = ("no", "false", "n", "f", "0")
LABELS = ("args", "file", "line", "qualname")


class Option:
    """An option. ``kind``: of its values, a key of _VALUES; ``name``: the attribute of CommandLine that gets them."""

    def __init__(self, names: str, name: str, kind: str, value: str, meaning: str) -> None:
        *short, self.long = names.split()
        self.short = short[0] if short else ""
        self.name = name
        self.kind = kind
        self.value = value
        self.meaning = meaning


OPTIONS = (
    Option("-h --help", "help", "flag", "", "Print this help."),
    Option("-v --verbosity", "verbosity", "number", "VERBOSITY",
           "Say on stderr, once a function, what is left out: 2 what is excluded, 3 all; 4 also what is recorded."),
    Option("-b --builtin", "builtin", "flag", "",
           "Profile only what the program marks: @profile, or with profile: (both are builtins)."),
    Option("-c --config", "config", "text", "FILE", "Configuration file; goes over those of OMNITRACE_CONFIG_FILE."),
    Option("-s --setup", "setup", "text", "FILE",
           "Python file to run before the program, unprofiled; the program has its names."),
    Option("-F --full-filepath", "full_filepath", "switch", "[BOOL]", "With the file in the label, its whole path."),
    Option("--label", "label", "labels", "[{args,file,line,qualname} ...]",
           "Parts of the label of a function besides its name; qualname is Class.method in place of method."),
    Option("-I --function-include", "include_functions", "texts", "FUNC [FUNC ...]",
           "Profile functions of these names, whatever else says."),
    Option("-E --function-exclude", "exclude_functions", "texts", "FUNC [FUNC ...]",
           "Leave out functions of these names and all that they call."),
    Option("-R --function-restrict", "restrict_functions", "texts", "FUNC [FUNC ...]",
           "Profile only functions of these names."),
    Option("-MI --module-include", "include_modules", "texts", "FILE [FILE ...]",
           "Profile functions of these files, also where -ME leaves them out."),
    Option("-ME --module-exclude", "exclude_modules", "texts", "FILE [FILE ...]",
           "Leave out functions of these files."),
    Option("-MR --module-restrict", "restrict_modules", "texts", "FILE [FILE ...]",
           "Profile only functions of these files."),
    Option("--trace-c", "trace_c", "switch", "[BOOL]", "Profile calls of C functions, too."),
    Option("-a --annotate-trace", "annotate_trace", "switch", "[BOOL]",
           "Accepted: the file and line of each function are in the Perfetto trace anyway, and other facts are not."),
)  # fmt: skip

_MANY = 1 << 30
# Of a kind: the least and the largest number of values, the accepted ones, and what they are in the words of an error.
_VALUES = {
    "flag": (0, 0, "", ""),
    "text": (1, 1, "", ""),
    "number": (1, 1, "", ""),
    "switch": (0, 1, " ".join(TRUE + FALSE), "yes or no"),
    "labels": (0, _MANY, " ".join(LABELS), "one of " + ", ".join(LABELS)),
    "texts": (1, _MANY, "", ""),
}
_LABEL_PROPERTIES = ("include_args", "include_filename", "include_line", "include_qualname")
_PYTHON = ("python", "python3")  # and python3.12


class CommandLine:
    """The options, and the program after them."""

    def __init__(self) -> None:
        self.help = False
        self.builtin = False
        self.verbosity: int | None = None
        self.config: list[str] = []
        self.setup: str | None = None
        self.properties: dict[str, Any] = {}  # properties of omnitrace.profiler.config
        self.python: list[str] = []  # flags of the interpreter for the program
        self.options: list[str] = []  # the words of all options
        self.program: _Program | None = None
        self.marked = False  # with a -- in front of the program


def help_text() -> str:
    lines = ["Usage: omnitrace-python [options] [--] <script> [args]"]
    lines += ["       python -m omnitrace [options] -- [-m module | -c code | python3 script.py] [args]", ""]
    lines += ["Runs a Python program and profiles its functions, as the OMNITRACE_ variables say.", ""]
    for option in OPTIONS:
        names = ", ".join(name for name in (option.short, option.long) if name)
        lines += [f"  {names} {option.value}".rstrip(), f"        {option.meaning}"]
    lines += ["", "FUNC and FILE are regular expressions, found anywhere in the name of the function or"]
    lines += ["the path of the file. BOOL is yes or no, true or false, 1 or 0. Write -- after an option"]
    lines += ["that takes any number of values.", ""]
    return "\n".join(lines)


def parse(words: "Sequence[str]") -> CommandLine:
    """The CommandLine of the words; raises Error."""
    line = CommandLine()
    table = [_row(option) for option in OPTIONS]
    taken, _, program, line.marked = _core.read_options(table, words, "--help", True, False)
    by_name = {option.long: option for option in OPTIONS}
    for option, name, values in taken:
        _take(line, by_name[option], name, values)
    if program is not None:
        line.options = list(words[: len(words) - len(program[2]) - 1 - line.marked])
        _take_program(line, program)
    return line


def _row(option: Option) -> "tuple[str, int, int, str, str, bool]":
    least, most, accepted, wanted = _VALUES[option.kind]
    return f"{option.short} {option.long}", least, most, accepted, wanted or option.value, False


def _take(line: CommandLine, option: Option, name: str, values: list[str]) -> None:
    if option.kind == "flag":
        setattr(line, option.name, True)
    elif option.kind == "number":
        try:
            line.verbosity = int(values[0])
        except ValueError:
            raise _core.Error(f"{name}: {values[0]!r} is not a whole number [TL101]") from None
    elif option.name == "config":
        line.config += values
    elif option.name == "setup":
        line.setup = values[0]
    elif option.kind == "switch":
        line.properties[option.name] = not values or values[0].lower() in TRUE
    elif option.kind == "labels":
        given = [value.lower() for value in values]
        line.properties |= {part: label in given for label, part in zip(LABELS, _LABEL_PROPERTIES)}
    else:
        line.properties.setdefault(option.name, []).extend(values)


def _take_program(line: CommandLine, program: "_Program") -> None:
    """Takes the program, which may stand behind the name of a Python and its flags."""
    kind, target, arguments = program
    if kind == "file" and is_python(target):
        _, line.python, line.program, _ = _core.read_options((), arguments, "python --help", False, True)
    elif kind == "file" and target in ("-m", "-c"):  # behind --
        _, _, line.program, _ = _core.read_options((), [target, *arguments], "--help", False, False)
    else:
        line.program = program


def is_python(word: str) -> bool:
    """True if a word is the name of a Python interpreter: python3, /usr/bin/python3.12."""
    name = word[word.rfind("/") + 1 :]
    if name in _PYTHON:
        return True
    version = name.removeprefix("python3.")
    return version != name and version.rstrip("t").isdigit()
