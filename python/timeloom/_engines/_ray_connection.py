"""The connection of a program to a cluster of Ray: its beginning and its end are told to the watch of the hosts."""

from __future__ import annotations

import os
import sys
from typing import Any

from timeloom._engines._ray_hosts import Hosts, print_not_compared

_PROGRAM = 0  # Ray's SCRIPT_MODE

_waiting: list[Hosts] = []  # for Ray to connect this program; at most one


def forget_connection() -> None:
    """Have nobody told: Ray begins another attempt to connect, or has been told of none."""
    _waiting.clear()


def watch_connection(token: str, variables: dict[str, str]) -> None:
    """Have Ray, which is about to connect this program, tell of its connection and its end.

    Raises an exception in a version that connects in another way. An attempt to connect may fail: nothing is told then,
    and the next one is watched in its place.
    """
    worker: Any = sys.modules["ray._private.worker"]
    hosts, hooks, _ = Hosts(token, variables), worker._post_init_hooks, worker.disconnect
    if _begin not in hooks:
        hooks.append(_begin)  # it stays: Ray goes through the list, and would leave out a hook behind one that goes
    _waiting.append(hosts)


def _begin() -> None:
    worker: Any = sys.modules["ray._private.worker"]
    if not _waiting or worker.global_worker.mode != _PROGRAM:
        return
    hosts = _waiting.pop()
    disconnect, process = worker.disconnect, os.getpid()

    def end(*arguments: Any, **named: Any) -> Any:
        worker.disconnect = disconnect
        if os.getpid() == process:
            hosts.end()
        return disconnect(*arguments, **named)

    try:
        hosts.begin()
    except RuntimeError as error:  # no more threads can be started
        print_not_compared(error)
    else:
        worker.disconnect = end
