"""Every way to create and to finish a task: each call is counted once, as the program itself counts it."""

import collections
import json

import pytest
from spool_reader import stream
from streams import plain
from task_runs import each_instrumenter, measure, needs

PROGRAM = """
import asyncio, collections, json, sys

counts = collections.Counter()
EAGER = {"eager_start": True} if sys.version_info >= (3, 12) else {}

def step():
    counts["step"] += 1

async def leaf(waits):
    counts["leaf"] += 1
    for _ in range(waits):
        await asyncio.sleep(0)
        step()

async def worker(waits, fails=False):
    counts["worker"] += 1
    await leaf(waits)
    if fails:
        raise ValueError

async def patient():
    counts["patient"] += 1
    try:
        await asyncio.sleep(100)
    finally:
        await leaf(1)

async def nested(Task, depth):
    counts["nested"] += 1
    if depth:
        await Task(nested(Task, depth - 1), loop=asyncio.get_running_loop(), **EAGER)
    await asyncio.sleep(0)

async def numbers(Task):
    counts["numbers"] += 1
    for i in range(2):
        await Task(worker(1), loop=asyncio.get_running_loop(), **EAGER)
        yield i
        counts["numbers"] += 1  # its consumer has asked for more

async def make(Task):
    counts["make"] += 1
    loop = asyncio.get_running_loop()
    tasks = []
    for waits in range(3):
        tasks += [asyncio.create_task(worker(waits)), loop.create_task(worker(waits)),
                  asyncio.ensure_future(worker(waits)), Task(worker(waits), loop=loop),
                  Task(worker(waits), loop=loop, **EAGER), Task(worker(waits, True), loop=loop, **EAGER)]
        if EAGER:
            tasks += [asyncio.eager_task_factory(loop, worker(waits)),
                      asyncio.create_eager_task_factory(Task)(loop, worker(waits, True))]
        await worker(waits)
    await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.TaskGroup() as group:
        for waits in range(3):
            group.create_task(worker(waits))
    await nested(Task, 5)
    await asyncio.wait_for(worker(2), 100)
    await asyncio.shield(worker(2))
    async for i in numbers(Task):
        step()

async def end(Task):
    counts["end"] += 1
    loop = asyncio.get_running_loop()
    begun = counts["patient"]
    early = asyncio.create_task(patient())
    early.cancel()
    if counts["patient"] == begun:  # something is thrown into it, which enters it
        counts["patient"] += 1
    late = [asyncio.create_task(patient()), Task(patient(), loop=loop), Task(patient(), loop=loop, **EAGER)]
    await asyncio.sleep(0)
    for task in late:
        task.cancel()
    await asyncio.wait([early, *late])
    try:
        await asyncio.wait_for(patient(), 0.001)
    except asyncio.TimeoutError:
        pass
    closed = asyncio.SelectorEventLoop()
    closed.close()
    for _ in range(5):  # a task that is never made, and a coroutine that may be at its address
        coroutine = worker(0)
        try:
            closed.create_task(coroutine)
        except RuntimeError:
            coroutine.close()
            if not EAGER:  # 3.11 enters it, to throw into it
                counts["worker"] += 1
        del coroutine
        await worker(1)

async def main():
    counts["main"] += 1
    for Task in (asyncio.tasks._CTask, asyncio.tasks._PyTask):
        await make(Task)
        await end(Task)
    if EAGER:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        await make(asyncio.Task)
        await end(asyncio.Task)

RUN(main())
print(json.dumps(counts, sort_keys=True))
"""


def calls(spool):
    """Enters by function, and the functions that were open twice on one location."""
    entered, open_twice = collections.Counter(), set()
    for location in spool.locations():
        open_now = collections.Counter()
        for kind, name, *_ in stream(spool, location):
            if kind not in ("enter", "leave") or not name.startswith("__main__."):
                continue
            function = name.removeprefix("__main__.")
            open_now[function] += 1 if kind == "enter" else -1
            entered[function] += kind == "enter"
            if open_now[function] > 1:
                open_twice.add(function)
    return entered, open_twice


def assert_counted(program, instrumenter, directory, *options):
    wanted = json.loads(plain(program, directory).stdout)
    for layout in ("lanes", "locations"):
        run = directory / layout
        run.mkdir()
        entered, open_twice = calls(measure(program, instrumenter, run, *options, layout=layout).spool)
        assert open_twice == set()
        del entered["<module>"]
        assert entered == wanted


@each_instrumenter
def test_tasks_of_asyncio(instrumenter, tmp_path):
    assert_counted(PROGRAM.replace("RUN", "asyncio.run"), instrumenter, tmp_path)


@needs("uvloop")
@each_instrumenter
def test_tasks_of_uvloop(instrumenter, tmp_path):
    # Its create_task() passes eager_task_factory an argument that the one of 3.13.0 does not accept.
    program = PROGRAM.replace("asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)", "pass")
    assert_counted(program.replace("RUN", "__import__('uvloop').run"), instrumenter, tmp_path)


@each_instrumenter
def test_tasks_that_another_tool_sees_each_operation_of(instrumenter, tmp_path):
    """The place where a coroutine waits is found even if a trace function has replaced it."""
    program = PROGRAM.replace("RUN(main())", """
def look(frame, event, argument):
    frame.f_trace_opcodes = True
    return look

sys.settrace(look)
asyncio.run(main())
sys.settrace(None)
""")  # fmt: skip
    assert_counted(program, instrumenter, tmp_path)


@needs("anyio")
@needs("trio")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@each_instrumenter
def test_tasks_of_anyio(instrumenter, backend, tmp_path):
    program = f"""
import anyio, collections, json

counts = collections.Counter()

async def child(waits):
    counts["child"] += 1
    for _ in range(waits):
        await leaf()

async def leaf():
    counts["leaf"] += 1
    await anyio.sleep(0)

async def starts(*, task_status):
    counts["starts"] += 1
    await leaf()
    task_status.started()
    await leaf()

async def patient():
    counts["patient"] += 1
    try:
        await anyio.sleep(100)
    finally:
        with anyio.CancelScope(shield=True):
            await leaf()

async def main():
    counts["main"] += 1
    async with anyio.create_task_group() as group:
        for waits in range(3):
            group.start_soon(child, waits)
        await group.start(starts)
        await anyio.to_thread.run_sync(step)
    async with anyio.create_task_group() as group:
        group.start_soon(patient)
        while counts["patient"] == 0:
            await anyio.sleep(0)
        group.cancel_scope.cancel()
    with anyio.move_on_after(0.001):
        await patient()

def step():
    counts["step"] += 1
    anyio.from_thread.run(leaf)

anyio.run(main, backend={backend!r})
print(json.dumps(counts, sort_keys=True))
"""
    assert_counted(program, instrumenter, tmp_path)
