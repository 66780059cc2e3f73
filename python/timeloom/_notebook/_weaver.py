"""Weaves the runs of cells beside the next cells, one after the other.

The runs are complete before that: if the kernel ends or is killed meanwhile, any command of timeloom weaves them.
"""

from __future__ import annotations

import atexit
import queue
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from timeloom import _core

if TYPE_CHECKING:
    from collections.abc import Callable

_PROGRAM = Path(_core.__file__).parent / "bin" / "timeloom"


class Weaving:
    """A run that is being woven."""

    def __init__(self, run: str, keep_spool: bool, done: Callable[[], None]) -> None:
        self.run = run
        self.keep_spool = keep_spool
        self.error = ""
        self._done = done
        self._ended = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is woven; False if that takes longer."""
        return self._ended.wait(timeout)

    def weave(self) -> None:
        """Weave it and notify the requester; on the weaver's thread."""
        try:
            self.error = _weave(self.run, self.keep_spool)
        finally:
            self._ended.set()
        self._done()


def _weave(run: str, keep_spool: bool) -> str:
    options = ["--keep-spool"] if keep_spool else []
    try:
        done = subprocess.run(
            [str(_PROGRAM), "weave", *options, run], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", start_new_session=True,  # an interrupt of the cell must not reach it
        )
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"timeloom weave ended with {done.returncode}"


class Weaver:
    """A separate thread, from the first run on; never recorded."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[Weaving | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._last: Weaving | None = None

    def weave(self, weaving: Weaving) -> None:
        """Weave the run after those already waiting; returns at once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="timeloom-weaver", daemon=True)
            self._thread.start()
            assert self._thread.native_id is not None
            _core.keep_off_threads([self._thread.native_id])
            atexit.register(self.stop)
        self._last = weaving
        self._waiting.put(weaving)

    def wait(self) -> None:
        """Wait until all is woven."""
        if self._last is not None:
            self._last.wait()

    def stop(self) -> None:
        """Start no further weave."""
        self._waiting.put(None)

    def _work(self) -> None:
        while (weaving := self._waiting.get()) is not None:
            try:
                weaving.weave()
            except Exception as error:
                weaving.error = str(error)
