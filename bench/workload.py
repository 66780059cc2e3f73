"""Times loops under one hook, in a process of its own, for bench/overhead.py.

usage: workload.py HOOK LOOP CALLS REPEATS RESULT

HOOK    plain, floor-monitoring, floor-clock (floor-monitoring that reads the
        time-stamp counter at each event), floor-frame, floor-frame-clock (the same with
        it), floor-profile, cProfile, viztracer, viztracer-python (without its C function
        events), or paused (between timeloom.pause() and timeloom.resume()). Under
        `python -m timeloom` the hook is Timeloom's, and HOOK is plain.
LOOP    call (an empty function), floor-with (`with Empty("x")`), region
        (`with timeloom.region("x")`) or scorep-region (`with scorep.user.region("x")`)
RESULT  gets the nanoseconds per iteration of the loop, and of the same loop
        with an empty body, as JSON: medians over REPEATS runs of CALLS iterations

The floors have to be on the path of modules (PYTHONPATH) where they are used.
"""

import itertools
import json
import os
import statistics
import sys
import time

WARM_UP = 20_000


def nothing():
    pass


def call_loop(iterations, function):
    for _ in iterations:
        function()


def with_loop(iterations, manager):
    for _ in iterations:
        with manager("x"):
            pass


def empty_loop(iterations, _):
    for _ in iterations:
        pass


def subject_of(loop):
    """What the loop is run with."""
    if loop == "call":
        return call_loop, nothing
    if loop == "floor-with":
        import floors

        return with_loop, floors.Empty
    if loop == "scorep-region":
        import scorep

        return with_loop, scorep.user.region
    import timeloom

    return with_loop, timeloom.region


def watch_by_monitoring(clock=False):
    import floors

    monitoring = sys.monitoring
    tool = 3
    monitoring.use_tool_id(tool, "floor")
    events = monitoring.events
    for event in (events.PY_START, events.PY_RETURN):
        monitoring.register_callback(tool, event, floors.Callback(clock=clock))
    monitoring.set_events(tool, events.PY_START | events.PY_RETURN)


def watch_by_frame(clock=False):
    import floors

    floors.set_frame_hook(clock)


def watch_by_profile():
    import floors

    floors.set_profile()


def watch_by_cprofile():
    # bench/profile.py is not the module `profile` that it imports.
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    import cProfile

    cProfile.Profile().enable()


def watch_by_viztracer(**options):
    import viztracer

    viztracer.VizTracer(verbose=0, **options).start()


def pause():
    import timeloom

    timeloom.pause()


HOOKS = {
    "plain": lambda: None,
    "floor-monitoring": watch_by_monitoring,
    "floor-clock": lambda: watch_by_monitoring(clock=True),
    "floor-frame": watch_by_frame,
    "floor-frame-clock": lambda: watch_by_frame(clock=True),
    "floor-profile": watch_by_profile,
    "cProfile": watch_by_cprofile,
    "viztracer": watch_by_viztracer,
    "viztracer-python": lambda: watch_by_viztracer(ignore_c_function=True),
    "paused": pause,
}


def timed(loop, subject, count):
    iterations = itertools.repeat(None, count)
    begin = time.perf_counter_ns()
    loop(iterations, subject)
    return (time.perf_counter_ns() - begin) / count


def main():
    hook, loop_name, calls, repeats, result = sys.argv[1:]
    loop, subject = subject_of(loop_name)
    HOOKS[hook]()
    timed(loop, subject, WARM_UP)
    timed(empty_loop, None, WARM_UP)
    loop_times, empty_times = [], []
    for _ in range(int(repeats)):
        loop_times.append(timed(loop, subject, int(calls)))
        empty_times.append(timed(empty_loop, None, int(calls)))
    if hook == "paused":
        import timeloom

        timeloom.resume()
    figures = {"loop": statistics.median(loop_times), "empty": statistics.median(empty_times)}
    with open(result, "w", encoding="utf-8") as file:
        json.dump(figures, file)


if __name__ == "__main__":
    main()
