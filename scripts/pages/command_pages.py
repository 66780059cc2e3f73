"""Writes the manual pages of the timeloom program and of the other installed commands, and completions for bash,
zsh and fish, below share/.

usage: python3 -m scripts.pages.command_pages PROGRAM [--check]

PROGRAM is the timeloom program of an environment into which this tree is installed: it knows its commands,
their options and the registry of settings, and the other commands are beside it. With --check lists the files
that are out of date, and fails if there is one.

The files are committed and not made by the build, because a build cannot always run their source:
the wheels for another architecture, or for a Python that is not installed (scripts/release/wheels.py), contain a
program and an extension for another machine, and the help of scorep-python and omnitrace-python comes from the
extension inside an installed package. So an installation runs nothing, and a build needs no second build for
the machine that builds.
"""

import json
import pathlib
import subprocess
import sys
from typing import Any

from scripts.pages import completions, door_pages, manual_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE = ROOT / "share"


def described(program: str) -> dict[str, Any]:
    said = subprocess.run([program, "describe-commands"], check=True, capture_output=True, text=True)
    commands: dict[str, Any] = json.loads(said.stdout)
    if (commands.get("format"), commands.get("version")) != ("timeloom-commands", 1):
        raise ValueError(f"{program} describes its commands in another way")
    for command in commands["commands"]:
        if command["usage"] and not any(option["group"] for option in command["options"]):
            command["options"] = door_pages.options_of_help(command["usage"])
    return commands


def pages(commands: dict[str, Any], doors: list[dict[str, Any]]) -> dict[pathlib.Path, str]:
    """The text of each file."""
    files = {SHARE / "man" / "man1" / name: text for name, text in manual_pages.pages(commands).items()}
    files[SHARE / "bash-completion" / "completions" / "timeloom"] = completions.bash(commands)
    files[SHARE / "zsh" / "site-functions" / "_timeloom"] = completions.zsh(commands)
    files[SHARE / "fish" / "vendor_completions.d" / "timeloom.fish"] = completions.fish(commands)
    for command in doors:
        for name in (command["name"], *command["other_names"]):
            files[SHARE / "man" / "man1" / f"{name}.1"] = manual_pages.page(name, command)
            files |= completion_of_door(name, command) if command["is_program"] else {}
    return files


def completion_of_door(name: str, command: dict[str, Any]) -> dict[pathlib.Path, str]:
    return {
        SHARE / "bash-completion" / "completions" / name: completions.bash_alone(name, command),
        SHARE / "zsh" / "site-functions" / f"_{name}": completions.zsh_alone(name, command),
        SHARE / "fish" / "vendor_completions.d" / f"{name}.fish": completions.fish_alone(name, command),
    }


def out_of_date(files: dict[pathlib.Path, str]) -> list[pathlib.Path]:
    """The files that differ from the texts, and existing files whose command is gone."""
    there = {path for path in SHARE.rglob("*") if path.is_file()}
    wrong = {path for path, text in files.items() if not path.is_file() or path.read_text() != text}
    return sorted(wrong | (there - set(files)))


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    files = pages(described(words[0]), door_pages.described(words[0]))
    wrong = out_of_date(files)
    if "--check" in sys.argv[1:]:
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is out of date; write: python3 -m scripts.pages.command_pages {words[0]}")
        return 1 if wrong else 0
    for path in wrong:
        path.unlink(missing_ok=True)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
