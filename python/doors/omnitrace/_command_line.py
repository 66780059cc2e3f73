"""The command line of ``omnitrace-python``, as one table.

The help, the errors and docs/omnitrace.md are made from it. Imports nothing, because its imports would come before the
program's.
"""

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from timeloom._core import _Program

TRUE = ("yes", "true", "t", "y", "1")
FALSE = ("no", "false", "n", "f", "0")
LABELS = ("args", "file", "line", "qualname")


class Option:
    """``kind``: the parser of its values, a method of _Parser; ``name``: the attribute that stores them."""

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

_PYTHON = ("python", "python3")  # and python3.12
_PYTHON_FLAGS = "bBdEiIOPqRsSuvx"
_PYTHON_FLAGS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


class UsageError(Exception):
    """One line, without the leading ``omnitrace: ``."""


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
    """Return the CommandLine of the words. Raises UsageError."""
    return _Parser(list(words)).parse()


class _Parser:
    def __init__(self, words: list[str]) -> None:
        self.line = CommandLine()
        self.all = words
        self.words = list(words)

    def parse(self) -> CommandLine:
        while self.words and not self.line.help:
            word = self.words[0]
            if word == "--":
                self._end_options()
                self.line.marked = True
                _take_program(self.line, self.words[1:])
                break
            if not word.startswith("-") or word in ("-", "-m"):
                self._end_options()
                _take_program(self.line, self.words)
                break
            self.words.pop(0)
            self._take(word)
        return self.line

    def _end_options(self) -> None:
        self.line.options = self.all[: len(self.all) - len(self.words)]

    def _take(self, word: str) -> None:
        option, name, value = self._option(word)
        if option.kind == "flag":
            if value is not None:
                raise UsageError(f"{name} takes no value")
            setattr(self.line, option.name, True)
            return
        if value is not None:
            self.words.insert(0, value)
            # The value of --option=value is its only one.
            kept, self.words = self.words[1:], self.words[:1]
            getattr(self, f"_{option.kind}")(option, name)
            if self.words:
                raise UsageError(f"{name}: {value!r} is not accepted; {self._accepted(option)}")
            self.words = kept
        else:
            getattr(self, f"_{option.kind}")(option, name)

    def _accepted(self, option: Option) -> str:
        return f"write one of {', '.join(LABELS)}" if option.kind == "labels" else "write yes or no"

    def _option(self, word: str) -> tuple[Option, str, str | None]:
        """Return the option of a word, its name in the word, and the value in the same word."""
        name, equals, value = word.partition("=")
        for option in OPTIONS:
            if name in (option.short, option.long):
                return option, name, value if equals else None
        if word.startswith("--"):
            found = [option for option in OPTIONS if option.long.startswith(name)]
            if len(found) == 1:
                return found[0], found[0].long, value if equals else None
            if found:
                names = ", ".join(option.long for option in found)
                raise UsageError(f"{name} may be {names}; write one of them")
        else:
            for option in sorted(OPTIONS, key=lambda option: -len(option.short)):
                if option.short and word.startswith(option.short):
                    if option.kind != "flag":
                        return option, option.short, word[len(option.short) :]
                    self.words.insert(0, "-" + word[2:])  # -bF
                    return option, option.short, None
        raise UsageError(_unknown(name))

    def _one(self, option: Option, name: str) -> str:
        if not self.words or self.words[0] == "--":
            raise UsageError(f"{name} needs a value: {option.value}")
        return self.words.pop(0)

    def _text(self, option: Option, name: str) -> None:
        value = self._one(option, name)
        if option.name == "config":
            self.line.config.append(value)
        else:
            self.line.setup = value

    def _number(self, option: Option, name: str) -> None:
        value = self._one(option, name)
        try:
            self.line.verbosity = int(value)
        except ValueError:
            raise UsageError(f"{name}: {value!r} is no whole number") from None

    def _switch(self, option: Option, name: str) -> None:
        value = True
        if self.words and self.words[0].lower() in TRUE + FALSE:
            value = self.words.pop(0).lower() in TRUE
        self.line.properties[option.name] = value

    def _labels(self, option: Option, name: str) -> None:
        given = []
        while self.words and self.words[0] in LABELS:
            given.append(self.words.pop(0))
        for label, name_of_property in zip(LABELS, _LABEL_PROPERTIES):
            self.line.properties[name_of_property] = label in given

    def _texts(self, option: Option, name: str) -> None:
        values = [self._one(option, name)]
        while self.words and not self.words[0].startswith("-"):
            values.append(self.words.pop(0))
        self.line.properties.setdefault(option.name, []).extend(values)


_LABEL_PROPERTIES = ("include_args", "include_filename", "include_line", "include_qualname")


def _unknown(name: str) -> str:
    from timeloom import _core

    known = [option.long for option in OPTIONS] if name.startswith("--") else []
    nearest = _core.nearest_name(name, known)
    return f"there is no option {name}{f'; did you mean {nearest}?' if nearest else '; see --help'}"


def _take_program(line: CommandLine, words: list[str]) -> None:
    """Take the words from the program on."""
    if words and is_python(words[0]):
        words = _take_python_flags(line, words[1:])
    if not words:
        return
    first, *rest = words
    if first in ("-m", "-c"):
        if not rest:
            raise UsageError(f"{first} needs what is to run after it")
        line.program = ("module" if first == "-m" else "command", rest[0], rest[1:])
    elif first == "-":
        line.program = ("stdin", first, rest)
    elif not first:
        raise UsageError("the name of the script is empty")
    else:
        line.program = ("file", first, rest)


def is_python(word: str) -> bool:
    """True if a word is the name of a Python interpreter: python3, /usr/bin/python3.12."""
    name = word[word.rfind("/") + 1 :]
    if name in _PYTHON:
        return True
    version = name.removeprefix("python3.")
    return version != name and version.rstrip("t").isdigit()


def _take_python_flags(line: CommandLine, words: list[str]) -> list[str]:
    """Take the options of python itself, and return the words that follow."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "-m", "-c"):
        word = words[at]
        if word in _PYTHON_FLAGS_WITH_VALUE:
            at += 1
        elif not word.startswith(_PYTHON_FLAGS_WITH_VALUE) and word[1:].strip(_PYTHON_FLAGS):
            raise UsageError(f"{word} is no option of python that can be given here")
        at += 1
    line.python = words[:at]
    return words[at:]
