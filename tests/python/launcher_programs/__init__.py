"""Small programs that must behave the same under plain python and under Timeloom.

Each case is (name, command, files, stdin, environment). The command is what
follows `python`: flags of the interpreter, then the program. test_launcher.py
runs it both ways in the same directory.
"""

from textwrap import dedent
from typing import NamedTuple


class Case(NamedTuple):
    name: str
    flags: list[str]
    program: list[str]
    files: dict[str, str | bytes] = {}
    stdin: str | None = None
    environment: dict[str, str] = {}
    links: dict[str, str] = {}
    options: list[str] = []  # of Timeloom


CASES: list[Case] = []


def script(name, text, *arguments, flags=(), stdin=None, files=None, environment=None, options=()):
    """A program app.py."""
    contents = {"app.py": dedent(text) if isinstance(text, str) else text, **(files or {})}
    words = ["app.py", *arguments]
    CASES.append(
        Case(name, list(flags), words, contents, stdin, environment or {}, {}, list(options))
    )


def program(name, *words, flags=(), files=None, stdin=None, environment=None, links=None):
    """Any other way to start one."""
    contents = {
        path: dedent(text) if isinstance(text, str) else text
        for path, text in (files or {}).items()
    }
    CASES.append(
        Case(name, list(flags), list(words), contents, stdin, environment or {}, links or {})
    )


# Each adds its cases.
from launcher_programs import ends, frames, hooks, processes, state  # noqa: E402, F401
