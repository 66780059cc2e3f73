"""Tasks that are named late, coroutines that never start, and greenlets that tasks start."""

import sys

import pytest
from native_programs import calls
from spool_reader import spools_of, stream
from streams import run_python

each_instrumenter = pytest.mark.parametrize(
    "instrumenter", ["monitoring", "frame"] if sys.version_info >= (3, 12) else ["frame"]
)


def record(directory, program, instrumenter, *options):
    (directory / "program.py").write_text(program)
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "--async-tasks",
                       *options, "-o", "run", "program.py"], directory)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(directory / "run")
    return spool


NAMED = """
import asyncio
async def plain(): await asyncio.sleep(0)
async def inner(): asyncio.current_task().set_name("inside"); await asyncio.sleep(0)
async def late(): await asyncio.sleep(.01); asyncio.current_task().set_name("afterwards"); await asyncio.sleep(0)
async def outside(): await asyncio.sleep(.01)
async def main():
    tasks = [asyncio.create_task(plain(), name="named"), asyncio.create_task(inner()), asyncio.create_task(late())]
    tasks += [asyncio.create_task(outside()), asyncio.create_task(outside())]
    tasks[3].set_name("before its first step")
    await asyncio.sleep(.005)
    tasks[4].set_name("by another")
    await asyncio.gather(*tasks)
asyncio.run(main())
"""
EAGER = """
import asyncio
async def plain(): await asyncio.sleep(0)
async def done(): pass
async def renames(): asyncio.current_task().set_name("inside")
async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    task = asyncio.create_task(plain(), name="eager")
    async with asyncio.TaskGroup() as group:
        group.create_task(plain(), name="in a group")
        group.create_task(done(), name="done in a group")
    asyncio.create_task(done(), name="done at once")
    asyncio.get_running_loop().create_task(done(), name="of the loop")
    asyncio.create_task(renames(), name="replaced")
    asyncio.get_running_loop().set_task_factory(lambda loop, coroutine, **options: asyncio.Task(
        coroutine, loop=loop, eager_start=True, **options))
    asyncio.create_task(done(), name="of my factory")
    create_task("of nobody")
    await task
def create_task(name): return asyncio.Task(done(), name="own", eager_start=True, loop=asyncio.get_running_loop())
asyncio.run(main())
"""
NAMES = {
    NAMED: ["named (plain)", "inside (inner)", "afterwards (late)", "before its first step (outside)", "by another (outside)"],
    EAGER: ["eager (plain)", "in a group (plain)", "done in a group (done)", "done at once (done)", "of the loop (done)",
            "inside (renames)", "of my factory (done)", "own (done)"],
}  # fmt: skip


@pytest.mark.parametrize("program", NAMES, ids=["named", "eager"])
@each_instrumenter
def test_the_name_at_the_end_of_a_task_counts(tmp_path, instrumenter, program):
    if program is EAGER and sys.version_info < (3, 12):
        pytest.skip("eager tasks came with 3.12")
    spool = record(tmp_path, program, instrumenter, "--task-layout", "locations")
    kept = ("plain", "done", "renames", "inner", "late", "outside")
    names = [name for name in spool.threads.values() if name.endswith(tuple(f"({end})" for end in kept))]
    assert names == NAMES[program]


@each_instrumenter
def test_a_task_on_a_lane_has_its_last_name_last(tmp_path, instrumenter):
    spool = record(tmp_path, NAMED, instrumenter)
    named = {}
    for location in spool.locations():
        task = None
        for event in stream(spool, location):
            if event[0] == "enter" and event[1] in ("plain", "inner", "late", "outside"):
                task = named.setdefault(event[1], [])
                task.append([])
            elif event[:2] == ("parameter_string", "timeloom::task") and task:
                task[-1].append(event[2])
    assert named["plain"] == [["named"]]
    assert [names[1:] for names in named["inner"] + named["late"]] == [["inside"], ["afterwards"]]
    assert named["outside"][0] == ["before its first step"] and named["outside"][1][1:] == ["by another"]


@each_instrumenter
def test_what_is_closed_before_it_begins_is_no_task(tmp_path, instrumenter):
    """Not on 3.11 either, which runs it for that."""
    program = "async def never(): pass\nasync def also(): yield\nnever().close(); also().aclose().close()\ndef f(): pass\nf()\n"
    spool = record(tmp_path, program, instrumenter)
    assert list(spool.threads.values()) == ["MainThread"]
    assert ("enter", "__main__.f") in [event[:2] for event in stream(spool, 0)]


SPAWNED = """
import asyncio, greenlet
def wait_for(awaitable): return greenlet.getcurrent().parent.switch(awaitable)
async def spawn(function, *arguments):
    inner = greenlet.greenlet(function)
    result = inner.switch(*arguments)
    while not inner.dead: result = inner.switch(await result)
    return result
def parse(): pass
def execute(n):
    parse()
    wait_for(asyncio.sleep(0.001 * n))
    parse()
    return n
async def query(n): assert await spawn(execute, n) == n
async def main(): await asyncio.gather(*[query(n) for n in range(1, 4)])
asyncio.run(main())
"""


@pytest.mark.parametrize("layout", ["lanes", "locations"])
@each_instrumenter
def test_a_greenlet_that_a_task_begins_is_below_the_task(tmp_path, instrumenter, layout):
    """As SQLAlchemy's asynchronous engines do it. While the task is suspended its functions are left."""
    pytest.importorskip("greenlet")
    spool = record(tmp_path, SPAWNED, instrumenter, "--task-layout", layout)
    expected = calls("query spawn execute parse. wait_for. . suspended. execute wait_for. parse. . . .")
    own = lambda name: name.startswith("__main__.") or name == "suspended"
    found = []
    for location in spool.locations():
        events = [(event[0], event[1].removeprefix("__main__.")) for event in stream(spool, location, own)]
        events = [event for event in events if event[0] in ("enter", "leave")]
        if ("enter", "execute") in events:
            found += [events]
    assert found == [expected] * 3
