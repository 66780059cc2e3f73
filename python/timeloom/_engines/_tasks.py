"""The tasks of an engine in a run, from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# The parameters, as tables of events name them.
_KEY, _NEEDS, _SUBMITS = "task key", "task needs", "task submits"
_READY, _SENT = "task ready before ns", "task sent before ns"  # in _SPARK_TIMES
_TIMES = {"task queued ns": "queued_s", "task fetched ns": "fetched_s", "task at worker ns": "at_worker_s"}
_NUMBERS = {"task stage": "stage", "task partition": "partition", "task attempt": "attempt"}  # of Spark
_WORKER = "Dask worker "
_SPARK, _SPARK_TIMES = "Spark worker ", "times of tasks"
_OTHERS = ("Ray worker ", "Ray actor ", _SPARK)
_Told = list[tuple[str, float, float, float]]  # keys, and when a task was ready, when sent, and when Spark told so
_MAIN = "MainThread"
_THREADS = ("-Dask-Default-Threads", "-Dask-Actor-Threads", "-Dask-Async-Tasks", "-Dask-Transfers")


def worker_name(process: str, thread: str) -> str:
    """Return the name of the worker that runs a task, by the same rules as src/profile/engine_counts.cpp."""
    if process.startswith(_WORKER):
        return process.removeprefix(_WORKER)
    named = next((thread.partition(mark)[0] for mark in _THREADS if mark in thread), "")
    if named or process.startswith(_OTHERS):
        return named or process
    name = process.rpartition("/")[2]
    return name if thread == _MAIN else f"{name} {thread}"


class _Thread:
    """The tasks, and the requests for tasks, in the events of a thread."""

    def __init__(self, process: str, name: str) -> None:
        self.worker, self.name = worker_name(process, name), name
        self.tasks: list[dict[str, Any]] = []
        self.requests: dict[str, tuple[float, list[str]]] = {}  # times and needs, by the key of the task
        self.told: _Told = []
        self._open: list[dict[str, Any]] = []  # enters
        self._running: list[tuple[int, dict[str, Any]]] = []  # with their depths
        self._facts: dict[str, float | int] = {}  # which come before the key of the task
        self._needs: list[str] = []  # of the last task, or of the last request for one

    def take(self, event: dict[str, Any]) -> None:
        """Follow the next event."""
        kind = event["event"]
        if kind == "enter":
            self._open.append(event)
        elif kind == "leave":
            self._leave(event)
        elif kind == "parameter" and self._open:
            self._parameter(event["name"], event)

    def _leave(self, event: dict[str, Any]) -> None:
        if self._running and self._running[-1][0] == event["depth"]:
            self._running.pop()[1]["end_s"] = event["time_ns"] * 1e-9
        if self._open:
            self._open.pop()

    def _parameter(self, name: str, event: dict[str, Any]) -> None:
        if name in _TIMES:
            self._facts[_TIMES[name]] = event["number"] * 1e-9
        elif name in _NUMBERS:
            self._facts[_NUMBERS[name]] = int(event["number"])
        elif name == _NEEDS:
            self._needs.append(event["text"])
        elif name == _KEY:
            self._start(event["text"])
        elif self._open[-1]["name"] == _SPARK_TIMES:
            self._tell(name, event)
        elif name == _SUBMITS:
            self._needs = []
            self.requests.setdefault(event["text"], (self._open[-1]["time_ns"] * 1e-9, self._needs))

    def _tell(self, name: str, event: dict[str, Any]) -> None:
        now = self._open[-1]["time_ns"] * 1e-9
        if name == _SUBMITS:
            self.told.append((event["text"], now, now, now))
        elif name in (_READY, _SENT) and self.told:
            key, ready, sent, _ = self.told[-1]
            time = now - event["number"] * 1e-9
            self.told[-1] = (key, time, sent, now) if name == _READY else (key, ready, time, now)

    def _start(self, key: str) -> None:
        enter = self._open[-1]
        self._needs = []
        task = {
            "key": key, "prefix": enter["name"], "worker": self.worker, "thread": self.name,
            "start_s": enter["time_ns"] * 1e-9, "end_s": None, "queued_s": None, "fetched_s": None,
            "at_worker_s": None, "needs": self._needs, **self._facts,
        }  # fmt: skip
        self._facts = {}
        self.tasks.append(task)
        self._running.append((enter["depth"], task))


def _add_requests(tasks: list[dict[str, Any]], requests: dict[str, tuple[float, list[str]]]) -> None:
    """Add the time since its request to the first run of each task, and to all runs the keys of their values."""
    first = dict.fromkeys(requests, True)
    for task in tasks:
        if task["key"] not in requests:
            continue
        time, needs = requests[task["key"]]
        task["needs"] = task["needs"] or needs
        if first[task["key"]] and task["queued_s"] is None and time <= task["start_s"]:
            task["queued_s"] = task["start_s"] - time
        first[task["key"]] = False


def _add_times(tasks: list[dict[str, Any]], told: _Told) -> None:
    """Add the time in the queue to tasks of Spark.

    The keys of a session start again at 0: times count for a task that started between `ready` and the time at which
    Spark told them.
    """
    by_key: dict[str, _Told] = {}
    for one in told:
        by_key.setdefault(one[0], []).append(one)
    for task in tasks:
        start = task["start_s"]
        if not task["worker"].startswith(_SPARK) or task["queued_s"] is not None:
            continue
        for _, ready, sent, last in by_key.get(task["key"], ()):
            if ready <= start <= last:
                task["queued_s"] = start - ready
                task["at_worker_s"] = min(max(start - sent, 0.0), start - ready)


def tasks_in(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tasks in order of their starts, from rows of a table of events."""
    threads: dict[tuple[str, str], _Thread] = {}
    for event in events:
        place = (event["process"], event["thread"])
        if place not in threads:
            threads[place] = _Thread(*place)
        threads[place].take(event)
    tasks = sorted((task for one in threads.values() for task in one.tasks), key=lambda task: float(task["start_s"]))
    _add_requests(tasks, {key: request for one in threads.values() for key, request in one.requests.items()})
    _add_times(tasks, [told for one in threads.values() for told in one.told])
    return tasks
