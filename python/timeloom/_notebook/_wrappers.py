"""Wrapper libraries in a kernel: loaded when it starts, inactive until a cell requests their records.

The dynamic linker loads them when a process starts, so only a kernel that was installed with the option has them.
"""

from __future__ import annotations

from typing import NamedTuple

from timeloom import _core


class Option(NamedTuple):
    """The option and setting of a wrapper."""

    words: str  # of the installation
    what: str  # is recorded
    value: str | bool  # of the setting, where the option has none


OPTIONS = {
    "compiler": Option("--compiler", "compiled code", True),
    "io": Option("--io posix", "input and output of the system", "posix"),
    "memory": Option("--memory", "memory", True),
    "mpi": Option("--mpi", "MPI", True),
    "thread": Option("--thread pthread", "threads of native code", "pthread"),
}


def take(words: list[str]) -> dict[str, str | bool]:
    """Remove the options of wrappers from the words of a kernel; return them as settings."""
    settings: dict[str, str | bool] = {}
    rest = []
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and name in OPTIONS:
            settings[name] = value if equals else True
        else:
            rest.append(word)
    words[:] = rest
    return settings


def completed(name: str, value: str | bool) -> tuple[str, str | bool]:
    """Return an option of a cell, with the setting's name and value if it belongs to a wrapper."""
    if (name, value) == ("mpp", "mpi"):  # Score-P's words
        name, value = "mpi", True
    return name, OPTIONS[name].value if value is True and name in OPTIONS else value


def words_of(settings: dict[str, str | bool]) -> list[str]:
    """Return the words that take() understands."""
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in settings.items()]


def load(settings: dict[str, str | bool]) -> None:
    """Load the wrappers of the settings: starts the process again, unless they are loaded. Raises timeloom.Error."""
    known = _core.wrappers()
    _core.load_wrappers({name: value for name, value in settings.items() if name in known})


def missing(name: str) -> str:
    """Return why a cell cannot record with that setting; empty if it can."""
    known = _core.wrappers()
    option, what, _ = OPTIONS[name]
    if name not in known:
        return f"this Timeloom has no wrapper for {what}"
    if known[name]:
        return ""
    return f"{what} cannot be recorded in this kernel; python -m timeloom_kernel.install {option} makes one that can"


def inactive() -> dict[str, str | bool]:
    """Return settings with which no wrapper records. Compiled code needs no wrapper if it is linked with libtimeloom,
    so it is refused only if the wrapper is there."""
    return {name: False if OPTIONS[name].value is True else "none"
            for name, loaded in _core.wrappers().items() if loaded or name != "compiler"}  # fmt: skip
