"""The commands besides timeloom: their descriptions, from their help texts, in the form of `timeloom
describe-commands`. scripts/pages/command_pages.py turns them into pages and completions."""

import dataclasses
import json
import pathlib
import re
import subprocess
from typing import Any

NAME = r"--?[A-Za-z][\w-]*"
# "  -v, --verbosity VALUE  help"; the help may be on separate lines.
OPTION = re.compile(rf"  ({NAME}(?:, {NAME})*)((?:=| )[\[<{{A-Z]\S*(?: \S+)*?)?(?:  +(\S.*))?")

# Facts that are in no help text: the options of the kernel's installation, which each version of argparse formats
# differently, and the values of an option that is explained in a sentence.
FACTS = """
import json
from timeloom import _scorep_words
from timeloom._notebook import _install
kernel = [[a.option_strings, a.nargs, a.metavar or a.dest.upper(), a.help] for a in _install._parser()._actions]
print(json.dumps({"kernel": kernel, "types": list(_scorep_words.TYPES)}))
"""


@dataclasses.dataclass(frozen=True)
class Door:
    name: str
    about: str
    runs_program: bool = True
    other_names: tuple[str, ...] = ()
    is_program: bool = True  # or a module, for which shells do not complete


DOORS = (
    Door("scorep", "runs a command in the way of Score-P"),
    Door("scorep-python", "runs a Python program and records it, with the options of Score-P's bindings"),
    Door("omnitrace-python", "runs a Python program and profiles it, with the options of Omnitrace",
         other_names=("rocprof-sys-python",)),
    Door("scorep-score", "says how large a trace would be, with the options and tables of Score-P", False),
    Door("scorep-info", "prints the variables of Score-P that are read, and what of it there is", False),
    Door("scorep-config", "answers build scripts for Score-P", False),
    Door("scorep-preload-init", "prints what to preload so that input, output, threads and MPI are recorded", False),
    Door("timeloom-config", "prints how native code is compiled and linked with Timeloom", False),
)  # fmt: skip
KERNEL = Door("timeloom_kernel.install", "installs the kernel of notebooks", False, is_program=False)
KERNEL_USAGE = "usage: python -m timeloom_kernel.install [options]\n\nTells Jupyter of the kernel that measures cells."


def option(names: list[str], value: str, text: str, choices: list[str] | None = None) -> dict[str, Any]:
    return {"names": names, "value": value, "choices": choices or [], "help": text, "group": ""}


def options_of_help(text: str) -> list[dict[str, Any]]:
    """The options listed in a help text."""
    options: list[dict[str, Any]] = []
    for line in text.splitlines():
        match = OPTION.fullmatch(line)
        if match:
            value = (match[2] or "")[1:].strip("<>")
            choices = re.search(r"\{(.*)\}", value)
            named = option(match[1].split(", "), value, match[3] or "", choices[1].split(",") if choices else None)
            options.append(named)
        elif options and line.startswith("    "):
            options[-1]["help"] = f"{options[-1]['help']} {' '.join(line.split())}".lstrip()
    return options


def said(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def command(door: Door, usage: str, options: list[dict[str, Any]]) -> dict[str, Any]:
    texts = {"help": door.about, "usage": usage, "footer": ""}
    return {**dataclasses.asdict(door), **texts, "options": options, "positionals": []}


def kernel_option(names: list[str], nargs: int | str | None, metavar: str | list[str], text: str) -> dict[str, Any]:
    value = metavar if isinstance(metavar, str) else " ".join(metavar)
    value = f"[{value}]" if nargs == "?" else value
    return option(names, "" if nargs == 0 else value, text.replace("%%", "%"))


def described(program: str) -> list[dict[str, Any]]:
    """The commands that are installed beside a timeloom program, as in DOORS, and the kernel's installation, which is a
    module."""
    directory = pathlib.Path(program).parent
    facts = json.loads(said(directory / "python", "-c", FACTS))
    commands = []
    for door in DOORS:
        text = said(directory / door.name, "--help")
        options = options_of_help(text)
        for one in options:
            if "--instrumenter-type" in one["names"]:
                one["choices"] = facts["types"]
        commands.append(command(door, text, options))
    options = [kernel_option(*one) for one in facts["kernel"]]
    return [*commands, command(KERNEL, KERNEL_USAGE, options)]
