#!/usr/bin/env python3
"""Finds the Pythons of this machine that Timeloom can be built for and tested with.

usage: python3 -m scripts.pythons [--paths]

Looks for python3 and python3.X in TIMELOOM_PYTHONS (interpreters, or directories
that contain them, separated by colons or spaces) and then on PATH, runs each to find
its version, and takes the first usable one of each version. Prints them all, the
unusable ones with the reason; with --paths only the paths of the usable ones.
"""

import dataclasses
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

SUPPORTED = ("3.11", "3.12", "3.13", "3.14", "3.15")
FREE_THREADED = ("3.13t", "3.14t", "3.15t")
OLDEST = (3, 11)

NAME = re.compile(r"python3(\.\d+t?)?")
PROBE = """
import importlib.util, json, os, sys, sysconfig
print(json.dumps({
    "executable": sys.executable,
    "implementation": sys.implementation.name,
    "version": list(sys.version_info[:3]),
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
}))
"""


@dataclasses.dataclass(frozen=True)
class Python:
    path: str
    tag: str  # "3.12", for a free-threaded build "3.13t"; "" if it does not run
    version: tuple[int, ...] = ()
    problem: str = ""  # why it is unusable; "" if it is usable

    @property
    def full_version(self) -> str:
        return ".".join(map(str, self.version))


def promised_tag(path: str | pathlib.Path) -> str:
    """The version in the name: "3.12" for python3.12, "3" for python3, otherwise the path itself."""
    name = pathlib.Path(path).name
    return name.removeprefix("python") if NAME.fullmatch(name) else str(path)


def too_old(name: str) -> bool:
    match = re.fullmatch(r"python(\d+)\.(\d+)t?", name)
    return match is not None and (int(match[1]), int(match[2])) < OLDEST


def interpreters_in(directory: pathlib.Path) -> list[str]:
    """The interpreters in a directory by name; python3 last, because it is one of the others."""
    try:
        entries = os.listdir(directory)
    except OSError:  # not a directory, or not readable
        return []
    names = [name for name in entries if NAME.fullmatch(name) and not too_old(name)]
    paths = [str(directory / name) for name in sorted(names, key=lambda name: (name == "python3", name))]
    return [path for path in paths if os.access(path, os.X_OK) and not os.path.isdir(path)]


def named_by_user(words: str) -> list[str]:
    found = []
    for word in re.split(r"[:\s]+", words):
        path = pathlib.Path(word).expanduser()
        if word and os.path.isdir(path):
            found += interpreters_in(path / "bin") + interpreters_in(path)
        elif word:
            found.append(str(path))
    return found


def candidates(environment: dict[str, str]) -> list[str]:
    # An empty part of PATH is the current directory, which may contain anything.
    path = [pathlib.Path(word) for word in environment.get("PATH", "").split(os.pathsep) if word]
    found = named_by_user(environment.get("TIMELOOM_PYTHONS", ""))
    for directory in path:
        found += interpreters_in(directory)
    return list(dict.fromkeys(found + behind_shims(path)))


def behind_shims(path: list[pathlib.Path]) -> list[str]:
    """A shim of pyenv runs only the versions that its user has enabled; all lie beside it."""
    homes = []
    for directory in path:
        if directory.name == "shims":
            # glob.glob() skips unreadable directories.
            homes += glob.glob(os.path.join(glob.escape(str(directory.parent)), "versions", "*", "bin"))
    found = [python for home in sorted(homes, reverse=True) for python in interpreters_in(pathlib.Path(home))]
    return [python for python in found if not python.endswith("/python3")]


def examine(path: str) -> Python:
    """Runs an interpreter, because the name of a shim of pyenv need not be its version."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", PROBE],
            capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        facts = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return Python(path, "", problem=f"does not run: {error}")
    if facts is None:
        said = done.stderr.strip().splitlines()
        return Python(path, "", problem=f"does not run: {said[0] if said else 'no message'}")
    return judge(path, facts)


def judge(path: str, facts: dict[str, Any]) -> Python:
    version = tuple(facts["version"])
    tag = f"{version[0]}.{version[1]}{'t' if facts['free_threaded'] else ''}"
    problem = ""
    if facts["implementation"] != "cpython":
        problem = f"is {facts['implementation']}, not CPython"
    elif version[:2] < OLDEST:
        problem = f"is older than {'.'.join(map(str, OLDEST))}"
    elif not facts["headers"]:
        problem = f"lacks its headers (Debian: python{tag}-dev)"
    elif not facts["venv"]:
        problem = f"lacks venv or ensurepip (Debian: python{tag}-venv)"
    return Python(facts["executable"] or path, tag, version, problem)


def find(environment: dict[str, str]) -> list[Python]:
    """The usable Pythons, one of each version, and the unusable ones of other versions; sorted by version."""
    usable: dict[str, Python] = {}
    unusable: dict[str, Python] = {}
    for path in candidates(environment):
        if promised_tag(path) in usable:
            continue
        python = examine(path)
        key = python.tag or promised_tag(path)
        (unusable if python.problem else usable).setdefault(key, python)
    found = [*usable.values(), *(python for key, python in unusable.items() if key not in usable)]
    return sorted(found, key=lambda python: (python.version[:2], python.tag, python.path))


def missing(found: list[Python]) -> list[str]:
    """The supported versions of which nothing was found, neither usable nor unusable."""
    seen = {python.tag or promised_tag(python.path) for python in found}
    return [tag for tag in SUPPORTED if tag not in seen]


def describe(python: Python) -> str:
    return f"Python {python.full_version} ({python.path})" if python.version else python.path


def main() -> int:
    found = find(dict(os.environ))
    usable = [python for python in found if not python.problem]
    if "--paths" in sys.argv[1:]:
        print("\n".join(python.path for python in usable))
    else:
        for python in found:
            print(f"{describe(python)}: {python.problem or 'usable'}")
        for tag in missing(found):
            print(f"Python {tag}: not found on PATH or in TIMELOOM_PYTHONS")
    return 0 if usable else 1


if __name__ == "__main__":
    sys.exit(main())
