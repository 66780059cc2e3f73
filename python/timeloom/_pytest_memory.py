"""Limits of a test's memory, for ``pytest --timeloom-memory``.

Allocations are seen by a library that must be loaded before the C library, so pytest begins again with it, before it
has read a test or captured its output. Sizes are exact: the bytes that the process holds, less the bytes that it held
when the test began.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from timeloom import _core
from timeloom._text import size_text, without_id

_SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
LIMITS = ("peak", "leaks")  # arguments of the marker
_BEGUN = "TIMELOOM_PYTEST_MEMORY"  # set for the process that is to have the library


class Unreadable(Exception):
    """A run that shows nothing of memory; the text gives the reason."""


def timeloom(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the program ``timeloom`` of this package, and return its output."""
    program = Path(_core.__file__).parent / "bin" / "timeloom"
    return subprocess.run([str(program), *words], capture_output=True, text=True, errors="replace")


def _is_loaded(library: str) -> bool:
    """Whether this process has the library, whatever LD_PRELOAD contains."""
    is_loaded = library in Path("/proc/self/maps").read_text(errors="replace")
    if is_loaded:
        os.environ.pop(_BEGUN, None)
    return is_loaded


def _is_command(arguments: list[str]) -> bool:
    """Whether this process is pytest's command, so that beginning again repeats nothing of a program."""
    path = Path(sys.argv[0])
    is_pytest = path.stem in ("pytest", "py.test") or path.parts[-2:] == ("pytest", "__main__.py")
    return is_pytest and arguments == sys.argv[1:]


def begin_again(arguments: list[str]) -> str:
    """Replace this process by one that has the library; return the reason if that cannot be.

    Returns an empty text if the library is loaded, or pytest is measured by ``timeloom run``, whose limits are not
    checked.
    """
    done = timeloom("preload", "--print", "--memory")
    library = done.stdout.strip()
    if done.returncode != 0 or not library:
        return without_id(done.stderr.strip()) or "timeloom preload --memory prints no library"
    loaded = os.environ.get("LD_PRELOAD", "")
    if _is_loaded(library) or _core.running():
        return ""
    if os.environ.pop(_BEGUN, ""):
        return f"{library} was not loaded: something has removed it from LD_PRELOAD"
    if not _is_command(arguments):
        return 'pytest was called by a program; start that with LD_PRELOAD="$(timeloom preload --print --memory)"'
    environment = {**os.environ, "LD_PRELOAD": f"{library}:{loaded}" if loaded else library, _BEGUN: "1"}
    try:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
    except OSError as error:
        return f"{sys.executable} cannot be started again: {error.strerror}"


def _size(name: str, value: Any) -> int:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return int(value)
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMG]?B|[KMG]iB)\s*", value)):
        return int(float(found[1]) * _SIZES[found[2]])
    raise ValueError(f"{name} takes bytes, or a size such as '100MB' or '64MiB', not {value!r}")


def limits_of(wanted: dict[str, Any]) -> dict[str, int]:
    """Take the limits of memory out of a marker's arguments: bytes, by name.

    Raises ValueError for a value that is not a size.
    """
    values = {name: wanted.pop(name, None) for name in LIMITS}
    return {name: _size(name, value) for name, value in values.items() if value is not None}


def _processes(run: str) -> list[dict[str, Any]]:
    done = timeloom("report", "--memory", "--json", run)
    if done.returncode != 0:
        raise Unreadable(without_id(done.stderr.strip()) or f"timeloom report ended with status {done.returncode}")
    processes: list[dict[str, Any]] = json.loads(done.stdout)["processes"]
    if incomplete := [one for one in processes if one["lost"] or one["foreign_allocator"]]:
        raise Unreadable(f"{incomplete[0]['name']} has allocations that were not recorded")
    return processes


def broken(run: str, limits: dict[str, int]) -> list[str]:
    """Return a line for each limit that a process of the run exceeds. Raises Unreadable."""
    lines = []
    processes = _processes(run)
    for process in processes:
        name_of_process = "the test" if len(processes) == 1 else process["name"]
        start = process["start_bytes"]
        own = process["measurement"]
        ours = max(0, own["allocated_bytes"] - own["freed_bytes"])
        taken = {"peak": process["peak_bytes"] - start - ours, "leaks": process["end_bytes"] - start - ours}
        words = {"peak": "held {} at its peak", "leaks": "held {} at its end"}
        lines += [f"{name_of_process} {words[name].format(size_text(taken[name]))} more than before, "
                  f"allowed are {size_text(most)}"
                  for name, most in limits.items() if taken[name] > most]
    return lines
