"""Brings the workers of a Dask cluster that runs already into the measurement of this process.

The cluster carries the names of functions of our modules, the path and the settings of the run, and answers in words:
each worker finds Timeloom where it is installed for it, and records into the run by a file system that both see. Where
they see none in common, the worker records on its own host, and the cluster carries the records home as well
(_dask_records.py). The clocks of other hosts are compared (_dask_clocks.py).
"""

from __future__ import annotations

import asyncio
import atexit
import fnmatch
import os
import secrets
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from timeloom import _core
from timeloom._engines import _dask_clocks, _dask_records
from timeloom_follow import workers_setting

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLES = ("TIMELOOM_PARENT", "TIMELOOM_RUN_ID")
_MEASURED, _AT_HOME = "measured already", "records on its own host"
_MOST = 3  # workers that a line names
_JOIN_SECONDS = 60  # for all workers to begin
_CLOCK_SECONDS = 30  # for all comparisons of clocks
_LEAVE_SECONDS = 30  # for all workers to end


def join(variables: dict[str, str], token: str, settings: bytes) -> str:
    """Begin to record this worker in the run that the variables name; return the reason if that fails.

    Runs in the worker. _MEASURED: a measured program has started it. _AT_HOME: it sees no directory of the run, and
    records in the directory of the token.
    """
    if _core.running():
        return _MEASURED
    from timeloom_follow import records_of

    parent, joined = variables["TIMELOOM_PARENT"], ""
    try:
        if records_of(parent) is None:
            parent, joined = _dask_records.begin_here(token, os.path.basename(parent), settings), _AT_HOME
            variables = {"TIMELOOM_PARENT": parent}
        os.environ.update(variables)
        _core.follow(parent, "program")
    except Exception as error:  # the worker goes on in any case
        leave()
        return str(error).partition(" [TL")[0] or type(error).__name__
    return joined


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


async def _join_workers(client: Any, variables: dict[str, str], token: str) -> list[str]:
    """Return the addresses of the workers that have begun to record. `token`: of the directories on other hosts."""
    version = metadata.version("timeloom")
    versions = await client.run(metadata.version, "timeloom", on_error="return")
    wrong = {address: reason for address, told in versions.items() if (reason := _reason(told, version))}
    able = [address for address in versions if address not in wrong]
    chosen = await _chosen(client, variables["TIMELOOM_PARENT"], list(versions), able)
    _print_unable({address: reason for address, reason in wrong.items() if address in chosen})
    able = [address for address in able if address in chosen]
    if not able:
        return []
    settings = _dask_records.settings_of(variables["TIMELOOM_PARENT"])
    answers = await client.run(join, variables, token, settings, workers=able, on_error="return")
    known = ("", _MEASURED, _AT_HOME)
    _print_failed({address: str(answer) for address, answer in answers.items() if answer not in known})
    return [address for address, answer in answers.items() if answer in ("", _AT_HOME)]


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _scheduler_of(client: Any) -> str:
    return str(getattr(getattr(client, "scheduler", None), "address", "its scheduler"))


def _has_lost_its_scheduler(client: Any) -> bool:
    """Return True after client.shutdown() and after the scheduler's end: a call would wait for it in vain."""
    stream = getattr(client, "scheduler_comm", None)
    return stream is None or stream.comm.closed()


async def _compare_clocks(client: Any, workers: list[str]) -> None:
    """Compare the clocks of other hosts, if there are any; if that fails, weaving compares their times of day."""
    try:
        await asyncio.wait_for(_dask_clocks.compare_clocks(client, workers), _CLOCK_SECONDS)
    except Exception as error:  # a worker may have gone
        sys.stderr.write(f"timeloom: clocks of hosts are not compared: {_first_line(error)} [TL178]\n")


async def _end_workers(client: Any, workers: list[str], variables: dict[str, str], token: str) -> None:
    """End the recording of the workers, and fetch what lies on other hosts."""
    alive = await asyncio.wait_for(client.run(_dask_clocks.clock_here, on_error="ignore"), _LEAVE_SECONDS)
    left = [address for address in workers if address in alive]
    await _compare_clocks(client, left)
    if left:
        await asyncio.wait_for(client.run(leave, workers=left, on_error="ignore"), _LEAVE_SECONDS)
    run = [variables[name] for name in _VARIABLES]
    for place, reason in (await _dask_records.fetch_records(client, token, *run)).items():
        sys.stderr.write(
            f"timeloom: the records of workers on the host of {place} are not in the run: {reason} [TL179]\n"
        )


class _End:
    """The end of the recording of workers, before their client closes: they outlive it, and the run is to be finished.

    A client that is closed by a thread of the program waits for it. Dask would give it some seconds, and two at the end
    of the program.
    """

    def __init__(self, client: Any, workers: list[str], variables: dict[str, str], token: str) -> None:
        self._client, self._facts, self._ended = client, (workers, variables, token), False
        self._close, self._close_in_loop = client.close, client._close
        client.close, client._close = self.close, self.close_in_loop
        atexit.register(self.end_now)  # runs before the handler of Dask that closes the client

    async def end(self) -> None:
        """End the recording, if that has not been done."""
        client = self._client
        if self._ended or client.status == "closed" or _has_lost_its_scheduler(client):
            return
        self._ended = True
        try:
            await _end_workers(client, *self._facts)
        except Exception as error:  # the client closes in any case
            _print_failed({_scheduler_of(client): _first_line(error)})

    def end_now(self) -> None:
        """Do it from a thread of the program; a client in an event loop of the program does it there."""
        if not self._ended and self._client.status == "running" and not self._client.asynchronous:
            self._client.sync(self.end)

    def close(self, *arguments: Any, **named: Any) -> Any:
        """Stand for the method of the client."""
        self.end_now()
        atexit.unregister(self.end_now)
        return self._close(*arguments, **named)

    async def close_in_loop(self, *arguments: Any, **named: Any) -> Any:
        """Stand for the method of the client that closes it in its event loop."""
        await self.end()
        return await self._close_in_loop(*arguments, **named)


async def measure_workers(client: Any) -> None:
    """Measure all workers that the client knows now, until the client closes. Prints a line for those it cannot."""
    variables = {name: os.environ.get(name, "") for name in _VARIABLES}
    if not all(variables.values()) or not _core.running():
        return
    try:
        token = secrets.token_hex(16)
        joined = await asyncio.wait_for(_join_workers(client, variables, token), _JOIN_SECONDS)
        if joined:
            _End(client, joined, variables, token)
        await _compare_clocks(client, joined)
    except Exception as error:  # the program goes on in any case
        _print_failed({_scheduler_of(client): _first_line(error)})
