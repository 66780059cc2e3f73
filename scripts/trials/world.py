"""Code shared by the attacks: commands that are stopped when they hang, and the state of files that no command may
change."""

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

COMMANDS = pathlib.Path(sys.executable).parent
TIMELOOM = os.environ.get("TIMELOOM_PROGRAM") or str(COMMANDS / "timeloom")
LONGEST = 300  # seconds; only a hang takes so long

Word = str | pathlib.Path


class Fallen(Exception):
    """The finding of an attack, with the place of its files."""


@dataclasses.dataclass(frozen=True)
class Done:
    words: list[str]
    status: int
    output: bytes
    errors: str

    def __str__(self) -> str:
        return f"{' '.join(self.words)} (status {self.status}): {self.errors[-1500:]}"


def environment(home: pathlib.Path, **more: str) -> dict[str, str]:
    """An environment without the user's settings, with its home in a directory of the trial."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(home), "TMPDIR": str(home), **more}


def start(words: Sequence[Word], home: pathlib.Path, variables: dict[str, str] | None = None, memory: int = 0,
          **more: Any) -> Done:  # fmt: skip
    """Runs a command to its end; a hang raises Fallen. `memory`: bytes of address space; `more` goes to Popen."""

    def limit() -> None:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    said = [str(word) for word in words]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            said, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True,
            env=environment(home, **(variables or {})), preexec_fn=limit, **more,  # noqa: PLW1509  # without threads
        )  # fmt: skip
        try:
            process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            raise Fallen(f"{' '.join(said)} has not ended after {LONGEST} s") from None
        finally:
            end_group(process)
        output.seek(0)
        errors.seek(0)
        return Done(said, process.returncode, output.read(), errors.read().decode(errors="replace"))


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def checked(*arguments: Any, statuses: Sequence[int] = (0,), **more: Any) -> Done:
    """start() for a command that must end with one of these statuses."""
    done = start(*arguments, **more)
    if done.status not in statuses:
        raise Fallen(str(done))
    return done


def snapshot(directory: pathlib.Path) -> dict[str, tuple[int, int, int, str]]:
    """Mode, owner, modification time and contents of everything in `directory`."""
    result = {}
    for path in [directory, *sorted(directory.rglob("*"))]:
        status = path.lstat()
        what = ""
        if stat.S_ISREG(status.st_mode):
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        elif stat.S_ISLNK(status.st_mode):
            what = str(path.readlink())
        result[str(path)] = (status.st_mode, status.st_uid, status.st_mtime_ns, what)
    return result


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The paths that are new, gone or changed."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
