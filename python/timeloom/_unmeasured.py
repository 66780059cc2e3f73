"""For a Python that the extension was not built for, or cannot be loaded in.

Imported only there. ``import timeloom`` fails with one line that names the package to install; ``python -m timeloom``
prints it and continues as ``python``, so that the program runs unmeasured. In a sub-interpreter the import succeeds,
and nothing is recorded. Python 3.6 has to understand this file, as it does __init__.py and timeloom_follow.py.
"""

import os
import re
import shlex
import sys
from importlib.machinery import EXTENSION_SUFFIXES

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_PROGRAM = os.path.join(_PACKAGE, "bin", "timeloom")
_OLDEST, _NEWEST = (3, 11), (3, 15)  # versions that this Timeloom supports
_NAMES = {"pypy": "PyPy", "graalpy": "GraalPy", "rustpython": "RustPython"}


def _version(tag: str) -> str:
    """Return the version in the name of an extension: "3.13t" for "313t"."""
    return f"{tag[0]}.{tag[1:]}"


def _is_for_this_python() -> bool:
    return any(os.path.exists(os.path.join(_PACKAGE, f"_core{suffix}")) for suffix in EXTENSION_SUFFIXES)


def _reason(error: ImportError) -> str:
    names = [name for name in os.listdir(_PACKAGE) if name.startswith("_core.")]
    this = f"{'.'.join(map(str, sys.version_info[:3]))}{'t' if 't' in getattr(sys, 'abiflags', '') else ''}"
    kind = sys.implementation.name
    if kind != "cpython":
        return f"Timeloom measures CPython, and this is {_NAMES.get(kind, kind)} {this}; use python3 of CPython [TL601]"
    install = f"{shlex.quote(sys.executable)} -m pip install"
    if sys.version_info[:2] < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        return f"Timeloom needs Python {oldest} or later, and this is {this}; use a newer python3 [TL601]"
    if sys.version_info[:2] > _NEWEST:
        oldest, newest = (".".join(map(str, version)) for version in (_OLDEST, _NEWEST))
        return (
            f"this Timeloom knows Python {oldest} to {newest}, not {this}; "
            f"write: {install} --upgrade timeloom [TL601]"
        )
    if _is_for_this_python():
        return f"its extension does not load: {error}; write: {install} --force-reinstall timeloom [TL601]"
    found = [re.match(r"_core\.cpython-(\d+t?)-", name) for name in names]
    built = sorted(_version(one[1]) for one in found if one)
    return f"Timeloom is installed for Python {' and '.join(built)}, not for {this}; write: {install} timeloom [TL601]"


def _command_line() -> "list[str]":
    """Return the words that started this Python; before 3.10 it does not keep them."""
    words = getattr(sys, "orig_argv", None)
    if words is None:
        with open("/proc/self/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    return list(words)


def _flags_of_interpreter() -> "list[str] | None":
    """Return the words between python and ``-m timeloom`` or the path of ``__main__.py``.

    None: this Python was not started to run a program under Timeloom.
    """
    line = _command_line()
    words = line[1 : len(line) - len(sys.argv) + 1]
    if words and os.path.abspath(words[-1]) == os.path.join(_PACKAGE, "__main__.py"):
        return words[:-1]
    started = re.search(r"(?:^|\0)-(\w*)m\0?timeloom$", "\0".join(words))
    if started is None or sys.argv[0] != "-m":
        return None
    flags = "\0".join(words)[: started.start()].split("\0") + [f"-{started[1]}"]
    return [flag for flag in flags if flag not in ("", "-")]


def _in_sub_interpreter() -> bool:
    try:
        from timeloom_follow import in_sub_interpreter
    except ImportError:  # the package was copied without it
        return False
    return in_sub_interpreter()


def take_over(error: ImportError) -> None:
    """Become the program without Timeloom; raise ImportError if there is none.

    Returns in a sub-interpreter, with a stand-in for the extension.
    """
    if _in_sub_interpreter():
        from timeloom import _nothing

        sys.modules["timeloom._core"] = _nothing
        return
    flags = _flags_of_interpreter()
    if flags is None and _is_for_this_python():
        raise error
    reason = _reason(error)
    if flags is None:
        raise ImportError(reason) from None
    # The program reads the command line, and starts Python again.
    os.environ["TIMELOOM_UNMEASURED"] = f"{sys.executable}\n{reason}"
    os.execv(_PROGRAM, [_PROGRAM, "run", *flags, *sys.argv[1:]])
