#!/usr/bin/env python3
"""Makes the manual pages of the timeloom program and what bash, zsh and fish complete, below share/.

usage: scripts/command_pages.py PROGRAM [--check]

PROGRAM is a timeloom program that was built from this tree: it knows its commands, their options and
the registry of settings. The files are committed, so that an installation runs nothing; with
--check says which of them are out of date, and fails if there is one.
"""

import json
import pathlib
import re
import subprocess
import sys
from typing import Any

import completions
import manual_pages

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARE = ROOT / "share"


OPTION = re.compile(r"  (-\w)(, --\w+)?( [A-Z\[\]]+)?  +(\S.*)")


def options_of_help(text: str) -> list[dict[str, Any]]:
    """The options of a command that parses its own command line and says them only in its help."""
    options: list[dict[str, Any]] = []
    for line in text.splitlines():
        match = OPTION.fullmatch(line)
        if match:
            names = [name for name in (match[1], (match[2] or "").removeprefix(", ")) if name]
            value = (match[3] or "").strip().strip("[]")
            options.append({"names": names, "value": value, "choices": [], "help": match[4], "group": ""})
        elif options and line.startswith("    "):
            options[-1]["help"] += " " + " ".join(line.split())
    return options


def described(program: str) -> dict[str, Any]:
    said = subprocess.run([program, "describe-commands"], check=True, capture_output=True, text=True)
    commands: dict[str, Any] = json.loads(said.stdout)
    if (commands.get("format"), commands.get("version")) != ("timeloom-commands", 1):
        raise ValueError(f"{program} describes its commands in another way")
    for command in commands["commands"]:
        if command["usage"] and not any(option["group"] for option in command["options"]):
            command["options"] = options_of_help(command["usage"])
    return commands


def pages(commands: dict[str, Any]) -> dict[pathlib.Path, str]:
    """The text of each file."""
    files = {SHARE / "man" / "man1" / name: text for name, text in manual_pages.pages(commands).items()}
    files[SHARE / "bash-completion" / "completions" / "timeloom"] = completions.bash(commands)
    files[SHARE / "zsh" / "site-functions" / "_timeloom"] = completions.zsh(commands)
    files[SHARE / "fish" / "vendor_completions.d" / "timeloom.fish"] = completions.fish(commands)
    return files


def out_of_date(files: dict[pathlib.Path, str]) -> list[pathlib.Path]:
    """Also those that are there and have no command any more."""
    there = {path for path in SHARE.rglob("*") if path.is_file()}
    wrong = {path for path, text in files.items() if not path.is_file() or path.read_text() != text}
    return sorted(wrong | (there - set(files)))


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    files = pages(described(words[0]))
    wrong = out_of_date(files)
    if "--check" in sys.argv[1:]:
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is out of date; write: scripts/command_pages.py {words[0]}")
        return 1 if wrong else 0
    for path in wrong:
        path.unlink(missing_ok=True)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
