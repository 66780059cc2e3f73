"""Brings the records of Dask workers home that do not see the directory of the run.

When the client closes, it asks one worker of each host for the files there, part by part through Dask. A worker that
has died by then is among them, if another worker of its host is left.
"""

from __future__ import annotations

from typing import Any

from timeloom._engines._dask_worker import in_thread
from timeloom._engines._home import Home, fetch_from
from timeloom._engines._host_records import Place, place_here


class _Host:
    """The records on another host, which one of its workers hands out."""

    def __init__(self, client: Any, address: str, token: str) -> None:
        self._client, self._address, self._token = client, address, token

    async def ask(self, function: Any, *arguments: Any) -> Any:
        """Return the answer of a function of _host_records.py to the worker."""
        question = (in_thread, function, self._token, *arguments)  # a copy of all files may take a while
        return (await self._client.run(*question, workers=[self._address]))[self._address]


async def fetch_records(client: Any, token: str, parent: str, run_id: str) -> dict[str, str]:
    """Fetch the records of all hosts into the run of this process; return the reason for each address that fails."""
    places = await client.run(place_here, token, on_error="ignore")
    chosen: dict[Place, str] = {}
    for address, place in sorted(places.items()):
        if place is not None:
            chosen.setdefault(tuple(place), address)
    failed = {}
    for address in chosen.values():
        try:
            with Home(parent, run_id) as home:
                await fetch_from(_Host(client, address, token).ask, home)
        except Exception as error:  # the program ends in any case
            failed[address] = f"{type(error).__name__}: {error}".splitlines()[0]
    return failed
