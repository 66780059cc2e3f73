"""Every way of observing calls that bench/workload.py times, as context managers.

All of them can be removed again, so they run in turn in one process. The floors need the module `floors` (bench/floors)
on the path.
"""

import contextlib
import cProfile
import functools
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

TOOL = 3  # of sys.monitoring; Timeloom uses another one
ENTRIES = 1_000_000  # of viztracer's ring, its default


@contextlib.contextmanager
def floor_monitoring(clock: bool = False) -> Iterator[None]:
    """With clock, each callback reads the time-stamp counter."""
    import floors

    monitoring: Any = vars(sys)["monitoring"]  # of Python 3.12 and later
    events = monitoring.events
    monitoring.use_tool_id(TOOL, "floor")
    for event in (events.PY_START, events.PY_RETURN):
        monitoring.register_callback(TOOL, event, floors.Callback(clock=clock))
    monitoring.set_events(TOOL, events.PY_START | events.PY_RETURN)
    yield
    monitoring.set_events(TOOL, events.NO_EVENTS)
    monitoring.free_tool_id(TOOL)


@contextlib.contextmanager
def floor_frame(clock: bool = False) -> Iterator[None]:
    """With clock, the time-stamp counter is read before and after each frame."""
    import floors

    floors.set_frame_hook(clock)
    yield
    floors.set_frame_hook(None)


@contextlib.contextmanager
def floor_profile() -> Iterator[None]:
    import floors

    floors.set_profile()
    yield
    sys.setprofile(None)


@contextlib.contextmanager
def cprofile() -> Iterator[None]:
    profiler = cProfile.Profile()
    profiler.enable()
    yield
    profiler.disable()


@functools.cache
def tracer_with_full_ring(**options: Any) -> Any:
    """A VizTracer in the state of a long run."""
    import viztracer

    tracer = viztracer.VizTracer(verbose=0, tracer_entries=ENTRIES, **options)
    tracer.start()
    for _ in range(ENTRIES):
        os.fsencode("")  # a Python function, which calls C functions
    tracer.stop()
    return tracer


@contextlib.contextmanager
def viztracer(**options: Any) -> Iterator[None]:
    tracer = tracer_with_full_ring(**options)
    tracer.start()
    yield
    tracer.stop()


@contextlib.contextmanager
def measured(paused: bool = False, **settings: Any) -> Iterator[None]:
    """Observed by Timeloom with these settings, or paused meanwhile."""
    import timeloom

    with tempfile.TemporaryDirectory() as directory:
        run = os.path.join(directory, "run")
        measurement = timeloom.Measurement(output=run, weave=False, quiet=True, **settings)
        with measurement, timeloom.pause() if paused else contextlib.nullcontext():
            yield


@contextlib.contextmanager
def scorep() -> Iterator[None]:
    """In a program started by `python -m scorep --noinstrumenter`."""
    import scorep

    with scorep.instrumenter.enable():
        yield


@contextlib.contextmanager
def omnitrace(**excluded: str) -> Iterator[None]:
    """Observed by the Omnitrace door with its default filters, and more. The process belongs to that door from here
    on."""
    import omnitrace as door

    kept = {name: getattr(door.config, name) for name in excluded}
    for name, expression in excluded.items():
        setattr(door.config, name, [*kept[name], expression])
    with door.profile():
        yield
    for name, expressions in kept.items():
        setattr(door.config, name, expressions)
