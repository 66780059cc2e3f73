"""Runs a command of the ``timeloom`` program, for a limited time and with output of limited size."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from timeloom import _core
from timeloom._mcp._refused import Refused

_PROGRAM = Path(_core.__file__).parent / "bin" / "timeloom"
_MOST_BYTES = 64 << 20
_MOST_SECONDS = 300
_MOST_NOTES = 64 << 10  # bytes of standard error


async def json_of(words: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the object that the command prints with ``--json``; ``notes``: its lines on standard error."""
    text, notes = await output_of([words[0], "--json", *words[1:]], folder, variables)
    answer: dict[str, Any] = json.loads(text)
    losses = answer.get("losses", [])
    answer["notes"] = [note for note in notes if note not in losses]
    return answer


async def output_of(
    words: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> tuple[str, list[str]]:
    """Return what the command prints on standard output, and the lines on standard error. Raises Refused."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", **(variables or {})}
    with tempfile.TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            str(_PROGRAM), *words, cwd=folder, env=environment,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=said,
        )  # fmt: skip
        try:
            async with asyncio.timeout(_MOST_SECONDS):
                output = await _read(process, words)
                status = await process.wait()
        except TimeoutError:
            raise _too_much(words, f"takes longer than {_MOST_SECONDS // 60} minutes") from None
        finally:
            if process.returncode is None:  # also when the agent has withdrawn its question
                process.kill()
                await process.wait()
        notes = _lines(said)
    if status != 0:
        raise Refused(notes[-1] if notes else f"timeloom {words[0]} ended with status {status} [TL498]")
    return output.decode(errors="replace"), notes


async def _read(process: asyncio.subprocess.Process, words: Sequence[str]) -> bytes:
    assert process.stdout is not None
    output = bytearray()
    while block := await process.stdout.read(1 << 16):
        output += block
        if len(output) > _MOST_BYTES:
            raise _too_much(words, f"prints more than {_MOST_BYTES >> 20} MB")
    return bytes(output)


def _too_much(words: Sequence[str], what: str) -> Refused:
    return Refused(
        f"'{shlex.join(['timeloom', *words])}' {what}; ask for less (from_s and to_s, thread, a larger min_percent), "
        "or run it in a shell [TL497]"
    )


def _lines(said: IO[bytes]) -> list[str]:
    said.seek(0)
    text = said.read(_MOST_NOTES).decode(errors="replace")
    return [line.removeprefix("timeloom: ") for line in text.splitlines() if line.strip()]
