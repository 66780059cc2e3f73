"""Greenlets: a switch of the stack does not mix up call paths, with or without tracks."""

import sys

import pytest
from streams import INSTRUMENTERS, measure, plain
from task_runs import each_instrumenter, needs
from task_runs import measure as measure_tracks

pytestmark = needs("greenlet")

PING_PONG = """
from greenlet import greenlet

def ping(n):
    for i in range(n):
        step(i)
        to_pong()

def to_pong():
    two.switch()

def pong():
    while True:
        step(0)
        one.switch()

def step(i): pass

def start():
    one.switch(2)

one, two = greenlet(ping), greenlet(pong)
start()
step(0)
"""


def calls(events):
    """The events of a stream as text: + enters, - leaves."""
    return " ".join({"enter": "+", "leave": "-"}[kind] + name.removeprefix("__main__.") for kind, name in events)


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_functions_of_a_greenlet_are_left_while_it_does_not_run(instrumenter, tmp_path):
    (stream,), done = measure(PING_PONG, instrumenter, tmp_path)
    assert done.returncode == 0, done.stderr
    step = "+step -step "
    assert calls(stream) == (
        "+<module> +start +ping " + step + "+to_pong -to_pong -ping "
        "+pong " + step + "-pong "
        "+ping +to_pong -to_pong " + step + "+to_pong -to_pong -ping "
        "+pong " + step + "-pong "
        "+ping +to_pong -to_pong -ping "
        "-start " + step + "-<module>"
    )


@each_instrumenter
def test_every_greenlet_is_a_track(instrumenter, tmp_path):
    found = measure_tracks(PING_PONG, instrumenter, tmp_path)
    assert found.lines("MainThread") == ["<module>", "  start", "  step"]
    ping, pong = found.all("greenlet")
    assert ping == ["ping"] + 2 * ["  step", "  to_pong"]
    assert pong[:3] == ["pong", "  step", "  step"]


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_exceptions_threads_and_greenlets_that_die(instrumenter, tmp_path):
    program = """
import threading
from greenlet import greenlet, GreenletExit, getcurrent

def step(): pass

def fails():
    step()
    raise ValueError

def forever():
    try:
        while True:
            step()
            getcurrent().parent.switch()
    except GreenletExit:
        step()
        raise

def nested(n):
    if n:
        greenlet(nested).switch(n - 1)
    step()

def work():
    try:
        greenlet(fails).switch()
    except ValueError:
        step()
    g = greenlet(forever)
    g.switch()
    g.switch()
    del g           # throws GreenletExit into it
    nested(3)
    step()

work()
threads = threading.Thread(target=work), threading.Thread(target=work)
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""
    streams, done = measure(program, instrumenter, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    work = (
        "+work +fails +step -step -fails +step -step "
        "+forever +step -step -forever +forever +step -step -forever +forever +step -step -forever "
        # The main greenlet's stays open; of the others, only the running one's.
        "+nested +nested -nested +nested -nested +nested +step -step -nested "
        "+nested +step -step -nested +nested +step -step -nested +step -step -nested +step -step -work"
    )
    main, *threads = sorted((calls(stream) for stream in streams), key=len, reverse=True)
    assert [main] + threads == [f"+<module> {work} -<module>"] + 2 * [work]


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_a_tracer_of_the_program_is_called_as_well(instrumenter, tmp_path):
    program = """
import greenlet
seen = []
greenlet.settrace(lambda event, args: seen.append(event))
def f(): greenlet.getcurrent().parent.switch()
g = greenlet.greenlet(f)
g.switch()
g.switch()
print(seen)
"""
    _, done = measure(program, instrumenter, tmp_path)
    assert (done.stdout, done.stderr) == (plain(program, tmp_path).stdout, "")


@needs("gevent")
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="no gevent yet")
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_gevent(instrumenter, tmp_path):
    """Each of fifty greenlets counts its own calls."""
    program = """
import gevent

def worker(n):
    for _ in range(n):
        outer()

def outer():
    step()
    gevent.sleep(0)
    step()

def step(): pass

workers = []
for n in range(50):
    workers.append(gevent.spawn(worker, n))
gevent.joinall(workers)
"""
    (stream,), done = measure(program, instrumenter, tmp_path)
    assert done.returncode == 0, done.stderr
    open_regions, steps, paths = [], 0, set()
    for kind, name in stream:
        if kind == "leave":
            open_regions.pop()
            continue
        open_regions.append(name.removeprefix("__main__."))
        steps += open_regions[-1] == "step"
        paths.add("/".join(open_regions))
    assert steps == 2 * sum(range(50))
    assert paths == {"<module>", "<module>/worker", "<module>/worker/outer", "<module>/worker/outer/step"}
