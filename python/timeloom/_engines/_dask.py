"""Brings the workers of a Dask cluster that runs already into the measurement of this process.

The cluster carries the names of functions of our modules, the path and the settings of the run, and answers in words:
each worker finds Timeloom where it is installed for it, and records into the run by a file system that both see
(_dask_worker.py). Where they see none in common, the worker records on its own host, and the cluster carries the
records home as well (_dask_records.py). The clocks of other hosts are compared (_dask_clocks.py). Workers that come
later are measured from then on.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import secrets
import sys
from typing import Any

from timeloom import _core
from timeloom._engines import _dask_clocks, _dask_records, _dask_worker
from timeloom._engines._clocks import clock_here
from timeloom._engines._dask_join import Workers, print_failed

_VARIABLES = _dask_worker.VARIABLES
_JOIN_SECONDS = 60  # for all workers to begin
_CLOCK_SECONDS = 30  # for all comparisons of clocks
_LEAVE_SECONDS = 30  # for all workers to end
_LOOK_MS = 500  # between two looks for workers that have come


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
    alive = await asyncio.wait_for(client.run(clock_here, on_error="ignore"), _LEAVE_SECONDS)
    left = [address for address in workers if address in alive]
    await _compare_clocks(client, left)
    if left:
        await asyncio.wait_for(client.run(_dask_worker.leave, workers=left, on_error="ignore"), _LEAVE_SECONDS)
    run = [variables[name] for name in _VARIABLES]
    for place, reason in (await _dask_records.fetch_records(client, token, *run)).items():
        sys.stderr.write(
            f"timeloom: the records of workers on the host of {place} are not in the run: {reason} [TL179]\n"
        )


class _Measured:
    """The workers of a client until it closes. They outlive it, and the run is to be finished.

    A client that is closed by a thread of the program waits for the end of the recording. Dask would give it some
    seconds, and two at the end of the program.
    """

    def __init__(self, client: Any, variables: dict[str, str]) -> None:
        self._client, self._variables, self._token = client, variables, secrets.token_hex(16)
        self._workers, self._seen, self._ended = Workers(client, variables, self._token), set[str](), False
        self._failed = False  # a look has, and a line was printed
        self._one_at_a_time = asyncio.Lock()
        self._close, self._close_in_loop = client.close, client._close
        client.close, client._close = self.close, self.close_in_loop
        atexit.register(self.end_now)  # runs before the handler of Dask that closes the client

    async def begin(self) -> None:
        """Measure the workers that are there, and have the client look for others."""
        from tornado.ioloop import PeriodicCallback

        await self.look()
        looks = PeriodicCallback(self.look, _LOOK_MS)
        self._client._periodic_callbacks["timeloom"] = looks  # which the client stops
        looks.start()

    async def look(self) -> None:
        """Measure the workers that have come since the last look."""
        client = self._client
        if self._ended or _has_lost_its_scheduler(client):
            return
        async with self._one_at_a_time:
            try:
                await asyncio.wait_for(self._measure_new(), _JOIN_SECONDS)
            except Exception as error:  # the program goes on in any case
                if not self._failed:
                    print_failed({_scheduler_of(client): _first_line(error)})
                self._failed = True

    async def _measure_new(self) -> None:
        there = set(await self._client.scheduler.ncores())
        new, self._seen = there - self._seen, there
        if new and (joined := await self._workers.join(sorted(new))):
            await _compare_clocks(self._client, joined)

    async def end(self) -> None:
        """End the recording, if that has not been done."""
        client = self._client
        if self._ended or client.status == "closed" or _has_lost_its_scheduler(client):
            return
        self._ended = True
        async with self._one_at_a_time:
            if not self._workers.joined:
                return
            try:
                await _end_workers(client, self._workers.joined, self._variables, self._token)
            except Exception as error:  # the client closes in any case
                print_failed({_scheduler_of(client): _first_line(error)})

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
    """Measure all workers of the cluster until the client closes. Prints a line for those it cannot."""
    variables = {name: os.environ.get(name, "") for name in _VARIABLES}
    if not all(variables.values()) or not _core.running():
        return
    try:
        await _Measured(client, variables).begin()
    except Exception as error:  # the program goes on in any case
        print_failed({_scheduler_of(client): _first_line(error)})
