"""The options of ``%%timeloom`` and the arguments of the Score-P bindings, as settings of a measurement."""

from __future__ import annotations

import functools
import os
import re
import shlex
from typing import Any, NamedTuple

from timeloom import Error, _core, _scorep_words
from timeloom._notebook import _wrappers

# Options of the cell itself; all others are settings of `timeloom run`.
_OWN = {"fresh": False, "ranks": True, "return": True, "repeat": True}  # True: it has a value
_SEPARATE = {"fresh", "ranks"}  # a separate process, which loads its wrappers itself
_LISTS = ("exclude", "include")

# Frames between a measurement and the cell: the kernel's own, and its libraries'.
HIDDEN = [
    "IPython", "ipykernel", "ipykernel_launcher", "jupyter_client", "jupyter_core", "traitlets", "zmq", "tornado",
    "comm", "debugpy", "decorator", "matplotlib_inline", "pydevd", "_pydevd_bundle", "_pydev_bundle",
    "__main__.<module>", "__main__.<cell line: *>", "__main__:<module>", "__main__:<cell line: *>",
]
# The event loop, for cells with await: the kernel runs on it, too.
EVENT_LOOP = ["asyncio", "selectors", "nest_asyncio", "nest_asyncio2"]


class CellOptions(NamedTuple):
    """The options in the line of a measuring magic."""

    settings: dict[str, Any]
    own: dict[str, str]  # options of the cell itself


def of_timeloom(line: str) -> CellOptions:
    """Return the options of ``%%timeloom``. Raises Error for unknown ones."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise Error(f"{line}: {error}") from None
    settings: dict[str, Any] = {}
    own: dict[str, str] = {}
    while words:
        name, value = _wrappers.completed(*_next_option(words))
        if name in _OWN:
            own[name] = value if isinstance(value, str) else ""
            if _OWN[name] and not own[name]:
                raise Error(f"--{name} needs a value [TL630]")
        elif value is True and name.removeprefix("no-") not in _switches():
            raise Error(f"--{name} needs a value [TL630]")
        elif name in _LISTS:
            settings.setdefault(name, []).append(value)
        elif name.startswith("no-") and value is True:
            settings[name[3:].replace("-", "_")] = False
        else:
            settings[name.replace("-", "_")] = value
    if own.keys() & _SEPARATE:
        return CellOptions(settings, own)
    for name in _wrappers.OPTIONS.keys() & settings.keys():
        if settings[name] not in ("none", "off", False) and (why := _wrappers.missing(name)):
            raise Error(f"--{name}: {why}")
    return CellOptions({**_wrappers.inactive(), **settings}, own)


@functools.cache
def _switches() -> frozenset[str]:
    """Return the settings that are on or off; unknown ones are refused where they are used."""
    page = _core.settings_page()
    others = set(re.findall(r"^\| `(?:-\w, )?--([a-z-]+) ", page, re.MULTILINE))
    return frozenset(set(re.findall(r"--([a-z-]+)", page)) - others)


def _next_option(words: list[str]) -> tuple[str, str | bool]:
    word = words.pop(0)
    if word == "-o" and words:
        return "output", words.pop(0)
    if not word.startswith("--") or len(word) < 3:
        raise Error(f"{word}: options begin with --, and the code is in the lines below [TL630]")
    name, equals, value = word[2:].partition("=")
    if equals:
        return name, value
    if words and not words[0].startswith("-") and _OWN.get(name, True):
        return name, words.pop(0)
    return name, True


def of_scorep(arguments: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The settings of arguments of the Score-P bindings, and notes on them. Raises Error."""
    line = _scorep_words.parse([*arguments, "--", "cell"])
    settings: dict[str, Any] = {
        "layout": "scorep", "region_names": "scorep", "location_names": "scorep", "imports": True, "waiting": False,
        "instrumenter": line.instrumenter, "paused": line.off, "keep_spool": line.keep_files,
    }
    notes = []
    settings |= _wrappers.inactive()
    options = (("--mpp=mpi", "mpi"), ("--io", "io"), ("--thread=pthread", "thread"), ("--compiler", "compiler"),
               ("--memory", "memory"))  # fmt: skip
    for option, name in options:
        value = line.wrappers.get(name)
        if value in (None, False, "none"):
            settings |= {} if value is None else {name: value}
            continue
        if why := _wrappers.missing(name):
            notes.append(f"{option}: {why}")
        else:
            settings[name] = value
    if line.loaded.get("kokkos") and "KOKKOS_TOOLS_LIBS" not in os.environ:
        notes.append("--kokkos: start the kernel with KOKKOS_TOOLS_LIBS=$(timeloom-config --kokkos)")
    if line.loaded.get("gpu"):
        notes.append("--cuda: CUDA is not recorded in a notebook; use python -m scorep --cuda")
    return settings, line.notes + notes


def with_hidden(settings: dict[str, Any], has_await: bool) -> dict[str, Any]:
    """Return the settings with patterns that hide the kernel's own frames; the user's patterns follow and take
    precedence."""
    hidden = HIDDEN + EVENT_LOOP if has_await else HIDDEN
    exclude, include = settings.get("exclude", []), settings.get("include", [])
    rest = {name: value for name, value in settings.items() if name not in _LISTS}
    if include and not exclude:  # everything else is left out anyway
        return {**rest, "include": include, "exclude": hidden}
    return {**rest, "exclude": hidden + exclude, "include": include}


def environment(words: str) -> dict[str, str]:
    """Return the variables of lines NAME=VALUE. Raises Error for other lines."""
    variables = {}
    for line in words.splitlines():
        if not line.strip():
            continue
        name, equals, value = line.strip().partition("=")
        if not equals or not name.strip():
            raise Error(f"{line.strip()}: write NAME=VALUE [TL630]")
        variables[name.strip()] = value.strip()
    return variables
