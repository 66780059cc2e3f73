"""The run of this process: started by the launcher, by hand, or by the first profiler."""

import sys

from omnitrace import _config
from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from timeloom._core import _Program

_REFUSED = "omnitrace: nothing is measured: {} [TL019]\n"

_begun = False  # by this module
_finalized = False
_refused = False  # because of an unreadable variable or file
_applied: "dict[str, Any] | None" = None  # the current settings


def initialize(command: "str | Sequence[str]" = "") -> None:
    """Begin the run; ``command``, or its first word, names its output. Profiles nothing yet.

    Raises RuntimeError if there is a run already.
    """
    if is_initialized():
        raise RuntimeError("Error! omnitrace is already initialized")
    _begin([command] if isinstance(command, str) else list(command))


def finalize() -> None:
    """Write all outputs; nothing is profiled afterwards. Raises RuntimeError if they are written already."""
    global _finalized
    if _finalized:
        raise RuntimeError("Error! omnitrace is already finalized")
    _finalized = True
    _core.finish_run_now()


def is_initialized() -> bool:
    """True if a run has begun, even if it has ended."""
    return _begun or _finalized or _core.running()


def is_finalized() -> bool:
    """True if its outputs have been written."""
    return _finalized


def ensure() -> bool:
    """Begin the run if there is none; False if nothing can be recorded, or nothing more."""
    if not _begun and not _finalized and not _refused and not _core.running():
        _begin(sys.argv)
    return _core.running()


def apply() -> None:
    """Continue with the current configuration."""
    global _applied
    wanted = _config.settings()
    if wanted != _applied:
        _core.change_run(wanted)
        _applied = wanted


def take(settings: "dict[str, Any]") -> None:
    """Note that the launcher has begun the run with these settings."""
    global _applied
    _applied = settings


def _begin(words: "Sequence[str]") -> None:
    global _begun, _refused, _applied
    from timeloom._launch import _read_pyproject as read_pyproject
    from timeloom._text import without_id

    settings = _config.settings()
    try:
        with _core.unrecorded():
            _core.begin_run("omnitrace", {**settings, "paused": True}, read_pyproject(), _program(words))
    except _core.Error as error:
        if str(error).partition(":")[0] in settings:
            raise  # the program has set it
        _refused = True
        sys.stderr.write(_REFUSED.format(without_id(error)))
        return
    _begun = True
    _applied = settings


def _program(words: "Sequence[str]") -> "_Program":
    first = words[0] if words else ""
    rest = list(words[1:])
    if first == "-c":
        return "command", "", rest
    return ("file", first, rest) if first else ("stdin", "-", rest)
