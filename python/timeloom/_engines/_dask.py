"""Brings the workers of a Dask cluster that runs already into the measurement of this process.

The cluster carries nothing but the names of functions of this module, the path of the run and answers in words: each
worker finds Timeloom where it is installed for it, and records into the run by a file system that both see.
"""

from __future__ import annotations

import asyncio
import fnmatch
import os
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from timeloom import _core
from timeloom_follow import workers_setting

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLES = ("TIMELOOM_PARENT", "TIMELOOM_RUN_ID")
_MEASURED = "measured already"
_MOST = 3  # workers that a line names
_JOIN_SECONDS = 60  # for all workers to begin
_LEAVE_SECONDS = 10  # for all workers to end


def join(variables: dict[str, str]) -> str:
    """Begin to record this worker in the run that the variables name; return the reason if that fails.

    Runs in the worker. _MEASURED: a measured program has started it.
    """
    if _core.running():
        return _MEASURED
    from timeloom_follow import records_of

    parent = variables["TIMELOOM_PARENT"]
    if records_of(parent) is None:
        return f"it sees no {os.path.dirname(os.path.dirname(parent))}"
    os.environ.update(variables)
    try:
        _core.follow(parent, "program")
    except Exception as error:  # the worker goes on in any case
        leave()
        return str(error).partition(" [TL")[0]
    return ""


def leave() -> None:
    """End the recording of this worker. Runs in the worker."""
    _core.finish()
    for name in _VARIABLES:
        os.environ.pop(name, None)


def _workers(reasons: Mapping[str, str]) -> str:
    """Return the workers that are not measured, by their addresses, and the first reason."""
    named = ", ".join(sorted(reasons)[:_MOST]) + (", ..." if len(reasons) > _MOST else "")
    what = "1 worker of Dask is" if len(reasons) == 1 else f"{len(reasons)} workers of Dask are"
    return f"{what} not measured ({named}): {next(iter(reasons.values()))}"


def _print_unable(reasons: Mapping[str, str]) -> None:
    if reasons:
        sys.stderr.write(f"timeloom: {_workers(reasons)} [TL145]\n")


def _print_failed(reasons: Mapping[str, str]) -> None:
    if reasons:
        sys.stderr.write(f"timeloom: {_workers(reasons)} [TL146]\n")


def _reason(answer: object, version: str) -> str:
    """Return why a worker cannot be measured, from its answer: the version of its Timeloom, or an exception."""
    if isinstance(answer, metadata.PackageNotFoundError):
        return f"Timeloom is not installed there; write: python -m pip install timeloom=={version}"
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {answer}".splitlines()[0]
    return "" if answer == version else f"Timeloom {answer} is installed there, here {version}"


def name_here(dask_worker: Any = None) -> str:
    """Return the name of this worker. Runs in the worker."""
    return str(getattr(dask_worker, "name", ""))


async def _words(client: Any, addresses: list[str], able: list[str]) -> dict[str, list[str]]:
    """Return the texts of each worker that a pattern may match: its address, its name, and its name in the run.

    Only `able` workers, which have this module, are asked for their names.
    """
    names = await client.run(name_here, workers=able, on_error="return") if able else {}
    words = {address: [address] for address in addresses}
    for address, name in names.items():
        words[address] += [str(name), f"Dask worker {name} {address}"]
    return words


async def _chosen(client: Any, spool: str, addresses: list[str], able: list[str]) -> list[str]:
    """Return the workers that the setting workers chooses; print the number of the others."""
    setting = workers_setting(spool)
    if setting in ("", "all"):
        return addresses
    if setting == "none" or (setting.isascii() and setting.isdecimal()):
        chosen = sorted(addresses)[: 0 if setting == "none" else int(setting)]
    else:
        words = await _words(client, addresses, able)
        chosen = [one for one, own in words.items() if any(fnmatch.fnmatchcase(word, setting) for word in own)]
    if left := len(addresses) - len(chosen):
        sys.stderr.write(f"timeloom: {left} worker{'s' * (left > 1)} of Dask left out: --workers [TL479]\n")
    return chosen


async def _join_workers(client: Any, variables: dict[str, str]) -> list[str]:
    """Return the addresses of the workers that have begun to record."""
    version = metadata.version("timeloom")
    versions = await client.run(metadata.version, "timeloom", on_error="return")
    wrong = {address: reason for address, told in versions.items() if (reason := _reason(told, version))}
    able = [address for address in versions if address not in wrong]
    chosen = await _chosen(client, variables["TIMELOOM_PARENT"], list(versions), able)
    _print_unable({address: reason for address, reason in wrong.items() if address in chosen})
    able = [address for address in able if address in chosen]
    answers = await client.run(join, variables, workers=able, on_error="return") if able else {}
    failed = {address: str(answer) for address, answer in answers.items() if answer not in ("", _MEASURED)}
    _print_failed(failed)
    return [address for address, answer in answers.items() if answer == ""]


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _scheduler_of(client: Any) -> str:
    return str(getattr(getattr(client, "scheduler", None), "address", "its scheduler"))


def _has_lost_its_scheduler(client: Any) -> bool:
    """Return True after client.shutdown() and after the scheduler's end: a call would wait for it in vain."""
    stream = getattr(client, "scheduler_comm", None)
    return stream is None or stream.comm.closed()


def _leave_with(client: Any, workers: list[str]) -> None:
    """Have the workers end their recording when the client closes: they outlive it, and the run is to be finished."""
    close = getattr(client, "_close", None)
    if close is None or not workers:
        return

    async def leave_and_close(*arguments: Any, **named: Any) -> Any:
        try:
            if client.status != "closed" and not _has_lost_its_scheduler(client):
                await asyncio.wait_for(client.run(leave, workers=workers, on_error="ignore"), _LEAVE_SECONDS)
        except Exception as error:  # the client closes in any case
            _print_failed({_scheduler_of(client): _first_line(error)})
        finally:
            result = await close(*arguments, **named)
        return result

    client._close = leave_and_close


async def measure_workers(client: Any) -> None:
    """Measure all workers that the client knows now, until the client closes. Prints a line for those it cannot."""
    variables = {name: os.environ.get(name, "") for name in _VARIABLES}
    if not all(variables.values()) or not _core.running():
        return
    try:
        _leave_with(client, await asyncio.wait_for(_join_workers(client, variables), _JOIN_SECONDS))
    except Exception as error:  # the program goes on in any case
        _print_failed({_scheduler_of(client): _first_line(error)})
