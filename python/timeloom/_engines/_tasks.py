"""The tasks of an engine in a run, from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEY, _NEEDS = "task key", "task needs"  # the parameters, as tables of events name them
_TIMES = {"task queued ns": "queued_s", "task fetched ns": "fetched_s"}
_NUMBERS = {"task stage": "stage", "task partition": "partition", "task attempt": "attempt"}  # of Spark
_WORKER = "Dask worker "
_OTHERS = ("Ray worker ", "Ray actor ", "Spark worker ")
_MAIN = "MainThread"
_THREADS = ("-Dask-Default-Threads", "-Dask-Actor-Threads")


def worker_name(process: str, thread: str) -> str:
    """Return the name of the worker that runs a task, by the same rules as src/profile/engine_counts.cpp."""
    if process.startswith(_WORKER):
        return process.removeprefix(_WORKER)
    named = next((thread.partition(mark)[0] for mark in _THREADS if mark in thread), "")
    if named or process.startswith(_OTHERS):
        return named or process
    name = process.rpartition("/")[2]
    return name if thread == _MAIN else f"{name} {thread}"


def tasks_in(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tasks in order of their starts, from rows of a table of events."""
    tasks: list[dict[str, Any]] = []
    entered: dict[tuple[str, str], dict[str, Any]] = {}  # the last enter on each thread
    times: dict[tuple[str, str], dict[str, float]] = {}  # before the key of the task
    numbers: dict[tuple[str, str], dict[str, int]] = {}  # as well
    running: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}  # with their depths
    for event in events:
        thread = (event["process"], event["thread"])
        kind = event["event"]
        if kind == "enter":
            entered[thread] = event
        elif kind == "leave":
            open_tasks = running.get(thread)
            if open_tasks and open_tasks[-1][0] == event["depth"]:
                task = open_tasks.pop()[1]
                task["end_s"] = event["time_ns"] * 1e-9
        elif kind == "parameter" and event["name"] in _TIMES:
            times.setdefault(thread, {})[_TIMES[event["name"]]] = event["number"] * 1e-9
        elif kind == "parameter" and event["name"] == _NEEDS and running.get(thread):
            running[thread][-1][1]["needs"].append(event["text"])  # behind the key of the task
        elif kind == "parameter" and event["name"] in _NUMBERS:
            numbers.setdefault(thread, {})[_NUMBERS[event["name"]]] = int(event["number"])
        elif kind == "parameter" and event["name"] == _KEY and thread in entered:
            enter = entered[thread]
            task = {
                "key": event["text"], "prefix": enter["name"], "worker": worker_name(*thread), "thread": thread[1],
                "start_s": enter["time_ns"] * 1e-9, "end_s": None, "queued_s": None, "fetched_s": None, "needs": [],
                **times.pop(thread, {}), **numbers.pop(thread, {}),
            }  # fmt: skip
            tasks.append(task)
            running.setdefault(thread, []).append((enter["depth"], task))
    return sorted(tasks, key=lambda task: float(task["start_s"]))
