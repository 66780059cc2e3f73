"""Finds the name and the numbers of the task that a Python worker of Spark is about to run.

The extension calls task_of() in the worker when pyspark begins to process the data of a task
(src/python/observe/engines/spark_tasks.cpp). Spark has names for stages alone, so a task has the names of the program's
functions in it, which lie in the closures of pyspark's functions. Only modules that pyspark has imported are used.
"""

import sys

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SPARK_FILES = ("/pyspark/worker.py", "/pyspark/daemon.py")  # one of them may be __main__
_NO_FUNCTION = "task"  # all functions in it are Spark's
_HOLDERS = ("Aggregator", "SimpleAggregator")  # pyspark's objects that hold functions of reduceByKey and the like
_IN_C = type(len)
_TYPES_OF_SPARK = ("abc", "builtins", "collections", "pandas", "pyarrow", "typing")  # in which it converts values
_MOST_NAMES = 3
_MOST_OBJECTS = 1000  # that are looked at
_MOST_ITEMS = 16  # of a list, which may hold data


def _is_of_spark(function: "Any") -> bool:
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if module == "__main__":
        code = getattr(function, "__code__", None)
        return code is not None and code.co_filename.endswith(_SPARK_FILES)
    return module.partition(".")[0] in ("pyspark", "py4j")


def _is_function_of_program(found: "Any") -> bool:
    if not callable(found) or _is_of_spark(found):
        return False
    return not isinstance(found, type) or found.__module__.partition(".")[0] not in _TYPES_OF_SPARK


def _cells(function: "Any") -> "Iterator[Any]":
    """Yield the values in a closure. The last one first: prev_func, which runs before func, comes after it."""
    for cell in reversed(getattr(function, "__closure__", None) or ()):
        try:
            yield cell.cell_contents
        except ValueError:  # it is still empty
            continue


def _parts(found: "Any") -> "Iterator[Any]":
    """Yield the objects in which functions of the program may lie."""
    if type(found) in (list, tuple):
        yield from found[:_MOST_ITEMS]
    elif _is_of_spark(found):
        yield from _cells(getattr(found, "__func__", found))
        if type(found).__name__ in _HOLDERS:
            yield from vars(found).values()


def _name(function: "Any") -> str:
    while type(function).__qualname__ == "partial" and type(function).__module__ == "functools":
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


def functions_in(function: "Any") -> "list[str]":
    """Return the names of the program's functions that a function of pyspark is going to call.

    Classes, and functions written in C, count if there are no others: pyspark itself uses operator.add and the like.
    """
    names: dict[str, None] = {}
    others: dict[str, None] = {}
    waiting, seen = [function], {id(function)}
    while waiting and len(seen) < _MOST_OBJECTS:
        found = waiting.pop()
        if _is_function_of_program(found):
            (others if type(found) in (_IN_C, type) else names)[_name(found)] = None
            continue
        for part in reversed(list(_parts(found))):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return list(names or others)


def task_of(function: "Any") -> "tuple[str, str, int, int, int]":
    """Return the name of the task, its id within the SparkContext, its stage, partition and attempt."""
    context = sys.modules["pyspark.taskcontext"].TaskContext.get()
    names = functions_in(function)
    prefix = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    numbers = context.stageId(), context.partitionId(), context.attemptNumber()
    return prefix or _NO_FUNCTION, str(context.taskAttemptId()), *numbers
