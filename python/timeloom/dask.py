"""Measures the workers of a Dask cluster that the program has not started itself.

``timeloom run app.py`` measures the workers of a ``LocalCluster`` in the program without this. For a cluster that runs
already, on this machine or with a file system in common, one line brings its workers into the run::

    client = distributed.Client("tcp://scheduler:8786")
    timeloom.dask.measure(client)

With ``DASK_DISTRIBUTED__CLIENT__PRELOAD=timeloom.dask`` in the environment the program need not be changed.
"""

from __future__ import annotations

from typing import Any

from timeloom._engines._dask import measure_workers

__all__ = ["measure"]


def measure(client: Any) -> Any:
    """Record the workers of the cluster of ``client`` in the run of this program, until the client closes.

    Workers that come later are among them. Does nothing without a measurement, and nothing to workers that this program
    measures already. A line on stderr names workers that cannot be measured, such as those whose environment has no
    Timeloom, or those that another program measures; they work on as before. Returns what
    ``client.sync`` returns: ``None``, or for an asynchronous client an awaitable.
    """
    return client.sync(measure_workers, client)


async def dask_setup(client: Any) -> None:
    """Do the same for a client that starts: ``distributed`` calls it as a preload."""
    await measure_workers(client)
