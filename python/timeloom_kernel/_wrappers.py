"""Wrapper libraries in a kernel: loaded when it starts, dormant until a cell asks for what they record.

The dynamic linker loads them when a process begins, so only a kernel that was installed with the option has them.
"""

from __future__ import annotations

from timeloom import _core

# By the setting: the option of the installation, and what is recorded.
OPTIONS = {
    "io": ("--io posix", "input and output of the system"),
    "mpi": ("--mpi", "MPI"),
    "thread": ("--thread", "threads of native code"),
}


def take(words: list[str]) -> dict[str, str | bool]:
    """Take the options of wrappers off the words of a kernel: the settings that they are."""
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


def words_of(settings: dict[str, str | bool]) -> list[str]:
    """The words that take() understands."""
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in settings.items()]


def load(settings: dict[str, str | bool]) -> None:
    """Load what the settings ask for: begins the process again, unless it is loaded. Raises timeloom.Error."""
    known = _core.wrappers()
    _core.load_wrappers({name: value for name, value in settings.items() if name in known})


def missing(name: str) -> str:
    """Why a cell cannot record what that setting asks for; empty: it can."""
    known = _core.wrappers()
    option, what = OPTIONS[name]
    if name not in known:
        return f"this Timeloom has no wrapper for {what}"
    if known[name]:
        return ""
    return f"{what} cannot be recorded in this kernel; python -m timeloom_kernel.install {option} makes one that can"


def dormant() -> dict[str, str | bool]:
    """Settings by which no wrapper records."""
    return {name: "none" if name in ("io", "thread") else False for name in _core.wrappers()}
