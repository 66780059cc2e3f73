"""Tells the Python workers of Spark where the run is, also on executors that do not have the program's environment.

The extension calls tell_workers() in the program when pyspark is about to hand a function to the JVM
(src/python/observe/engines/engine_tasks.cpp). Spark starts its workers with the variables in
`SparkContext.environment`.
"""

import os

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from typing import Any

_VARIABLES = ("TIMELOOM_PARENT", "TIMELOOM_RUN_ID")


_told: set[str] = set()  # values of this run and of earlier ones of this process


def tell_workers(context: "Any") -> None:
    """Add the variables by which workers find the run; values that the program has set itself stay."""
    for name in _VARIABLES:
        present = context.environment.get(name)
        if present is not None and present not in _told:
            continue
        if name in os.environ:
            context.environment[name] = os.environ[name]
            _told.add(os.environ[name])
        elif present is not None:
            del context.environment[name]
