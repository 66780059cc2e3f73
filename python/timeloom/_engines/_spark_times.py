"""Asks Spark when its tasks could run, and when it sent them to their executors.

The extension calls these functions in the program before its SparkContext stops, and before the recording ends
(src/python/observe/engines/spark_times.cpp). The times are in Spark's own store, from which its pages in the browser
are made, also where these are switched off. Only modules that pyspark has imported are used, and nothing that fails
here is the program's matter.
"""

from __future__ import annotations

import _thread
import sys
import time
from typing import Any

from timeloom import _core

_CONTEXTS = ("pyspark.core.context", "pyspark.context")  # from 4.0 on, and before
_TASK, _STAGE = "org.apache.spark.status.TaskDataWrapper", "org.apache.spark.status.StageDataWrapper"
_MOST_TASKS = 100_000  # that are asked for: as many as Spark keeps of a stage
_AT_ONCE = 1000
_QUIET_MS = 2000  # for what Spark has not noted yet
_SECONDS = 15  # for all answers
_MS = 1_000_000  # in nanoseconds

_Key = tuple[int, int]  # a stage and its attempt


def context() -> Any:
    """Return the SparkContext of this process; None: it has none, or that has stopped, or its JVM has ended."""
    kind = next((getattr(sys.modules[name], "SparkContext", None) for name in _CONTEXTS if name in sys.modules), None)
    found = getattr(kind, "_active_spark_context", None)
    if getattr(found, "_jsc", None) is None:
        return None
    jvm = getattr(getattr(found, "_gateway", None), "proc", None)
    return found if jvm is None or jvm.poll() is None else None


class _Store:
    """Spark's store, whose objects the JVM turns into columns of numbers."""

    def __init__(self, found: Any) -> None:
        jvm, spark = found._jvm, found._jsc.sc()
        self._classes, self._store = jvm.java.lang.Class, spark.statusStore().store()
        self._mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._mapper.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())

    def rows(self, kind: str, names: tuple[str, ...], last: float) -> list[tuple[int | None, ...]]:
        """Return the numbers with these names of all objects of a class; None: the object has no such number."""
        found: list[tuple[int | None, ...]] = []
        loaded = self._classes.forName(kind)
        count = min(int(self._store.count(loaded)), _MOST_TASKS)
        while len(found) < count and time.monotonic() < last:
            view = self._store.view(loaded).skip(len(found)).max(min(_AT_ONCE, count - len(found)))
            tree = self._mapper.valueToTree(view)
            columns = [_numbers(tree.findValuesAsText(name).toString()) for name in names]
            rows = list(zip(*columns, strict=True))
            if not rows:
                break
            found += rows
        return found


def _numbers(text: str) -> list[int | None]:
    """Return the numbers in the text of a list of Java."""
    inner = text.strip()[1:-1]
    return [int(part) if part.lstrip("-").isdecimal() else None for part in inner.split(", ")] if inner else []


def _wait_for_events(found: Any) -> None:
    try:
        found._jsc.sc().listenerBus().waitUntilEmpty(_QUIET_MS)
    except Exception:  # some of the last tasks may be unknown
        return


def _times(found: Any, last: float) -> list[tuple[str, int, int]]:
    _wait_for_events(found)
    store = _Store(found)
    stages = store.rows(_STAGE, ("stageId", "attemptId", "submissionTime"), last)
    submitted = {(stage, attempt): time_ms for stage, attempt, time_ms in stages if time_ms is not None}
    times = []
    for key, stage, stage_attempt, attempt, launched in store.rows(
        _TASK, ("taskId", "stageId", "stageAttemptId", "attempt", "launchTime"), last
    ):
        if key is None or launched is None:
            continue
        # An attempt after the first could run when the one before it had failed, which the stage does not tell.
        ready = submitted.get((stage, stage_attempt), launched) if attempt == 0 else launched
        times.append((str(key), min(ready, launched) * _MS, launched * _MS))
    return times


def times_of_tasks(found: Any) -> list[tuple[str, int, int]]:
    """Return the id of each task that Spark knows, when it could run, and when it was sent to its executor.

    Times are in nanoseconds since 1970, by the clock of this host; Spark's have milliseconds. Returns nothing if Spark
    does not answer in time, or is of a version that keeps them elsewhere.
    """
    answers: list[list[tuple[str, int, int]]] = []

    def ask() -> None:
        _core.keep_off_threads([_thread.get_native_id()])
        try:
            answers.append(_times(found, time.monotonic() + _SECONDS / 2))
        except Exception:  # py4j's errors, and whatever differs in another version
            answers.append([])
        finally:
            answered.release()

    answered = _thread.allocate_lock()
    answered.acquire()
    _thread.start_new_thread(ask, ())  # the start of a threading.Thread would be recorded
    answered.acquire(timeout=_SECONDS)
    return answers[0] if answers else []
