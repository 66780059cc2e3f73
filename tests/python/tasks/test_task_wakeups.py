"""Wakes of tasks: each once, from the place that caused it to the place where the task continues."""

import collections
import csv
import signal

import pytest
from spool_reader import spools_of
from streams import run_python
from task_runs import each_instrumenter, measure, needs

IMPORTS = "import asyncio, threading\n"
RUN = "\nasyncio.run(main())\n"


def places(spool):
    """By the number of a wake: the location that wakes, and the woken one."""
    wakes, woken = {}, {}
    for location in spool.locations():
        for kind, name, value, _ in spool.events(location):
            if kind == "parameter_uint" and name in ("timeloom::wakes", "timeloom::woken"):
                ends = wakes if name == "timeloom::wakes" else woken
                assert value not in ends
                ends[value] = location
    return wakes, woken


def edges_of(spool):
    wakes, woken = places(spool)
    assert set(woken) <= set(wakes)
    short = {index: name.rsplit(" (", 1)[0] for index, name in spool.threads.items()}
    return collections.Counter((short[wakes[number]], short[woken[number]]) for number in woken)


def edges(program, instrumenter, directory, **options):
    return edges_of(measure(IMPORTS + program + options.pop("run", RUN), instrumenter, directory, **options).spool)


QUEUE = """
async def produce(queue):
    for n in range(3):
        queue.put_nowait(n)
        await asyncio.sleep(0)

async def consume(queue):
    for _ in range(3):
        await queue.get()

async def main():
    queue = asyncio.Queue()
    consumer = asyncio.create_task(consume(queue), name="consumer")
    await asyncio.sleep(0)
    await asyncio.create_task(produce(queue), name="producer")
    await consumer
"""
OF_QUEUE = {("producer", "consumer"): 3, ("producer", "Task-1"): 1}


@each_instrumenter
def test_a_queue(instrumenter, tmp_path):
    assert edges(QUEUE, instrumenter, tmp_path) == OF_QUEUE


@each_instrumenter
def test_tasks_and_futures_in_python(instrumenter, tmp_path):
    program = IMPORTS + "from asyncio import futures, tasks\n" + QUEUE + """
class Loop(asyncio.SelectorEventLoop):
    def create_future(self):
        return futures._PyFuture(loop=self)

loop = Loop()
loop.set_task_factory(lambda loop, coroutine, **options: tasks._PyTask(coroutine, loop=loop, **options))
current = getattr(tasks, "_py_current_task", tasks.current_task)  # before 3.12 there is only that in Python
tasks.current_task, tasks._enter_task, tasks._leave_task = current, tasks._py_enter_task, tasks._py_leave_task
asyncio.current_task = current
loop.run_until_complete(loop.create_task(main(), name="Task-1"))  # 3.13.0 gives it the name "None"
loop.close()
"""
    assert edges_of(measure(program, instrumenter, tmp_path).spool) == OF_QUEUE


@each_instrumenter
def test_an_event_wakes_all_who_wait(instrumenter, tmp_path):
    assert edges("""
async def wait(event):
    await event.wait()

async def main():
    event = asyncio.Event()
    waiting = [asyncio.create_task(wait(event), name=f"waiter {n}") for n in range(2)]
    await asyncio.sleep(0)
    event.set()
    for one in waiting:
        await one
""", instrumenter, tmp_path) == {("Task-1", "waiter 0"): 1, ("Task-1", "waiter 1"): 1, ("waiter 0", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_the_end_of_a_task_wakes_each_who_awaits_it(instrumenter, tmp_path):
    assert edges("""
async def short():
    await asyncio.sleep(0)

async def wait(task):
    await task

async def main():
    one = asyncio.create_task(short(), name="short")
    waiting = [asyncio.create_task(wait(one), name=f"waiter {n}") for n in range(3)]
    await asyncio.gather(*waiting)
""", instrumenter, tmp_path) == {**{("short", f"waiter {n}"): 1 for n in range(3)}, ("waiter 2", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_the_last_of_what_is_gathered_wakes_and_a_timer_is_the_event_loop(instrumenter, tmp_path):
    assert edges("""
async def child(event, n):
    if n == 0:
        await asyncio.sleep(0.001)
        await asyncio.sleep(0.001)
        event.set()
    else:
        await event.wait()

async def main():
    event = asyncio.Event()
    await asyncio.gather(*(asyncio.create_task(child(event, n), name=f"child {n}") for n in range(2)))
""", instrumenter, tmp_path) == {("MainThread", "child 0"): 2, ("child 0", "child 1"): 1, ("child 1", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_the_loop_wakes_for_what_happens_outside(instrumenter, tmp_path):
    assert edges("""
import socket

async def reader(sock):
    await asyncio.get_running_loop().sock_recv(sock, 1)

async def main():
    here, there = socket.socketpair()
    here.setblocking(False)
    task = asyncio.create_task(reader(here), name="reader")
    await asyncio.sleep(0)
    there.send(b"x")
    await task
    here.close(), there.close()
""", instrumenter, tmp_path) == {("MainThread", "reader"): 1, ("reader", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_threads(instrumenter, tmp_path):
    assert edges("""
def set_later(loop, event):
    loop.call_soon_threadsafe(event.set)

async def main():
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    thread = threading.Thread(target=set_later, args=(loop, event), name="helper")
    thread.start()
    await event.wait()
    thread.join()
    future = loop.create_future()
    thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(future.set_result, 1), name="other")
    thread.start()
    await future
    thread.join()
""", instrumenter, tmp_path) == {("helper", "Task-1"): 1, ("other", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_an_executor(instrumenter, tmp_path):
    found = edges("""
async def main():
    begun = threading.Event()
    asyncio.get_running_loop().call_later(0.001, begun.set)   # the result comes when it is awaited
    await asyncio.to_thread(begun.wait)
""", instrumenter, tmp_path)  # fmt: skip
    assert found[("asyncio_0", "Task-1")] == 1, found
    assert {woken for _, woken in found} <= {"Task-1", "Task-3"}  # the one that shuts the executor down


@each_instrumenter
def test_who_cancels_wakes(instrumenter, tmp_path):
    assert edges("""
async def patient():
    await asyncio.sleep(100)

async def main():
    task = asyncio.create_task(patient(), name="patient")
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    try:
        async with asyncio.timeout(0.001):
            await asyncio.Event().wait()
    except TimeoutError:
        pass
""", instrumenter, tmp_path) == {("Task-1", "patient"): 1, ("patient", "Task-1"): 1, ("MainThread", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_callbacks_are_those_of_who_handed_them_to_the_loop(instrumenter, tmp_path):
    assert edges("""
async def setter(future):
    loop = asyncio.get_running_loop()
    loop.call_soon(loop.call_soon, future.set_result, 1)
    await asyncio.sleep(0)

async def main():
    loop = asyncio.get_running_loop()
    future, later = loop.create_future(), loop.create_future()
    task = asyncio.create_task(setter(future), name="setter")
    await future
    loop.call_later(0.001, later.set_result, 1)   # a timer, whoever has set it
    await later
    await task
""", instrumenter, tmp_path) == {("setter", "Task-1"): 1, ("MainThread", "Task-1"): 1}  # fmt: skip


@each_instrumenter
def test_a_task_that_gives_way_is_not_woken(instrumenter, tmp_path):
    program = "async def main():\n    for _ in range(5): await asyncio.sleep(0)\n"
    assert edges(program, instrumenter, tmp_path) == {}


@each_instrumenter
def test_lanes(instrumenter, tmp_path):
    spool = measure(IMPORTS + QUEUE + RUN, instrumenter, tmp_path, layout="lanes").spool
    assert sum(edges_of(spool).values()) == 4
    wakes, woken = places(spool)
    assert all(location in spool.owners for number, location in wakes.items() if number in woken)


@needs("trio")
@each_instrumenter
def test_trio(instrumenter, tmp_path):
    spool = measure("""
import trio, trio.testing

async def waiter(event):
    await event.wait()

async def main():
    event = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiter, event, name="waiter")
        await trio.testing.wait_all_tasks_blocked()
        event.set()

trio.run(main)
""", instrumenter, tmp_path).spool  # fmt: skip
    found = {pair: count for pair, count in edges_of(spool).items() if "waiter" in pair or pair[1].endswith("main")}
    (main,) = [name for name in spool.threads.values() if name.endswith("main")]
    # The run loop wakes at the end of a task; a task that waits for all others has given way.
    assert found == {("MainThread", main): 1, (main, "waiter"): 1}


@pytest.mark.parametrize("options, program", [
    ((), IMPORTS + QUEUE + RUN),
    (("--async-tasks",), "def f(): pass\nf()\n"),
])  # fmt: skip
def test_programs_without_tasks_have_nothing_of_it(options, program, tmp_path):
    (tmp_path / "app.py").write_text(program)
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", *options, "-o", "run", "app.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    (spool,) = spools_of(tmp_path / "run")
    assert spool.parameters == {} and b"timeloom::w" not in (spool.directory / "defs").read_bytes()


def test_a_program_that_is_killed(tmp_path, timeloom):
    killed = QUEUE.replace("    await consumer\n", "    import os; os.kill(os.getpid(), 9)\n")
    (tmp_path / "app.py").write_text(IMPORTS + killed + RUN)
    options = ["--quiet", "--async-tasks", "--task-layout", "locations", "-o", "run"]
    done = run_python(["-m", "timeloom", *options, "app.py"], tmp_path)
    assert done.returncode == -signal.SIGKILL
    (spool,) = spools_of(tmp_path / "run")
    assert edges_of(spool) == OF_QUEUE
    timeloom("convert", tmp_path / "run", "--to", "csv", "--events", "-o", tmp_path / "events.csv")
    ends = collections.defaultdict(dict)
    with open(tmp_path / "events.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["event"] in ("wakes", "woken"):
                ends[row["number"]][row["event"]] = row["thread"].split(" (")[0]
    found = [(one["wakes"], one["woken"]) for one in ends.values() if len(one) == 2]
    assert collections.Counter(found) == OF_QUEUE
